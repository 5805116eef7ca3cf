// title: Forget runs of deleted questions
// answers: Makes the runs that answered some questions load anew when they are asked for again.
// parameters: ids
// columns:
UNWIND $ids AS id
MATCH (:Question {id: id})<-[:ANSWERS]-(:Answer)<-[:PRODUCED]-(r:Run)
SET r.digest = ''
