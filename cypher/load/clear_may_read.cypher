// title: Clear what principals may read
// answers: Deletes some of the links of a dataset's principals to what they may read, and returns how many.
// parameters: dataset, limit
// columns: deleted
MATCH (:Principal {dataset: $dataset})-[m:MAY_READ]->()
WITH m LIMIT $limit
DELETE m
RETURN count(*) AS deleted
