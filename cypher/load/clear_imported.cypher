// title: Delete the values that an import set apart
// answers: Deletes some of them, after they were put back.
// parameters: limit
// columns: deleted
MATCH (v:ImportedValues) WITH v LIMIT $limit
DELETE v
RETURN count(*) AS deleted
