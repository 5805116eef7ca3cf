// title: Change a history
// answers: Counts that the history of a repository is about to change, or has changed.
// parameters: repo
// columns:
MERGE (r:Repository {name: $repo})
SET r.changes = coalesce(r.changes, 0) + 1
