// title: Stacks
// answers: Which commits did, or did not, work together?
// parameters:
// columns: id, dataset, compatible, environment, members
MATCH (s:Stack)-[:PINS]->(c:Commit)
RETURN s.id AS id, s.dataset AS dataset, s.compatible AS compatible, s.environment AS environment,
  collect([c.repo, c.sha]) AS members
