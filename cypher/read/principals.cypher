// title: Principals
// answers: What may each principal of a dataset read?
// parameters: dataset
// columns: name, allow, deny
MATCH (p:Principal {dataset: $dataset})
RETURN p.name AS name, p.allow AS allow, p.deny AS deny
ORDER BY name
