// title: Forget runs whose rows change
// answers: Makes runs of a dataset load anew when they are asked for again: all of them if their ids are split otherwise, else those whose edges are turned to the direction of gold, which may change.
// parameters: dataset, all
// columns:
MATCH (r:Run {dataset: $dataset}) WHERE $all OR r.directionless
SET r.digest = ''
