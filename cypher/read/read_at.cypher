// title: Commits of artifacts
// answers: At which commits did the knowledge graphs read these artifacts?
// parameters: dataset, ids
// columns: id, graph, repo, sha
UNWIND $ids AS id
MATCH (a:Artifact {dataset: $dataset, id: id})-[t:AT]->(c:Commit)
RETURN id, t.graph AS graph, c.repo AS repo, c.sha AS sha
