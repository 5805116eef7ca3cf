// title: Datasets
// answers: Which datasets does the graph hold?
// parameters:
// columns: name, folder, digest, questions
MATCH (d:Dataset)
RETURN d.name AS name, d.folder AS folder, d.digest AS digest, d.questions AS questions
ORDER BY name
