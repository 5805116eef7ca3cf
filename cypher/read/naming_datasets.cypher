// title: Datasets that name a repository
// answers: Which datasets name a repository?
// parameters: repo
// columns: name
MATCH (d:Dataset) WHERE $repo IN d.repositories
RETURN d.name AS name
ORDER BY name
