// title: Stacks
// answers: Which commits did, or did not, work together, by the rows of a dataset?
// parameters: dataset
// columns: id, compatible, environment, members
MATCH (s:Stack {dataset: $dataset})-[:PINS]->(c:Commit)
RETURN s.id AS id, s.compatible AS compatible, s.environment AS environment, collect([c.repo, c.sha]) AS members
