// title: Stacks
// answers: Which commits did, or did not, work together, by the rows of a dataset, as these name them?
// parameters: dataset
// columns: id, compatible, environment, repositories, names
MATCH (s:Stack {dataset: $dataset})
RETURN s.id AS id, s.compatible AS compatible, s.environment AS environment, s.repositories AS repositories, s.names AS names
