// title: Forget runs of deleted questions
// answers: Makes the runs that answered some questions load anew when they are asked for again.
// parameters: dataset, ids
// columns:
UNWIND $ids AS id
MATCH (:Question {dataset: $dataset, id: id})<-[:ANSWERS]-(:Answer)<-[:PRODUCED]-(r:Run)
SET r.digest = ''
