// title: Commits that a dataset names
// answers: Which commits does a dataset name by whole shas beside those that it lists, and are they in a history that was read?
// parameters: dataset
// columns: key, history
MATCH (d:Dataset {name: $dataset})
UNWIND d.commits AS key
OPTIONAL MATCH (c:Commit {key: key})
RETURN key, coalesce(c.history, false) AS history
