// title: Clear unnamed repositories
// answers: Deletes some of the repositories that have no commit, and returns how many.
// parameters: limit
// columns: deleted
MATCH (r:Repository) WHERE NOT EXISTS { MATCH (r)--() }
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS deleted
