// title: Clear pairs
// answers: Deletes the pairs of commits that a dataset's rows made.
// parameters: dataset
// columns:
MATCH (:Commit)-[p:COMPATIBLE_WITH|INCOMPATIBLE_WITH]->(:Commit) WHERE p.dataset = $dataset DELETE p
