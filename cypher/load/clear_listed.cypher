// title: Clear listed commits
// answers: Deletes some of the links of a dataset to the commits that it lists, and returns how many.
// parameters: dataset, limit
// columns: deleted
MATCH (:Dataset {name: $dataset})-[l:LISTS]->(:Commit)
WITH l LIMIT $limit
DELETE l
RETURN count(*) AS deleted
