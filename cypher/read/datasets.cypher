// title: Datasets
// answers: Which datasets does the graph hold?
// parameters:
// columns: name, folder, questions
MATCH (d:Dataset)
RETURN d.name AS name, d.folder AS folder, d.questions AS questions
ORDER BY name
