// title: Clear unnamed commits
// answers: Deletes some of the commits that no history, dataset, stack, deployment, chunk or artifact names, and returns how many.
// parameters: limit
// columns: deleted
MATCH (c:Commit) WHERE NOT coalesce(c.history, false) AND NOT EXISTS { MATCH (c)<-[:LISTS|PINS|DEPLOYS|AT]-() }
WITH c LIMIT $limit
DETACH DELETE c
RETURN count(*) AS deleted
