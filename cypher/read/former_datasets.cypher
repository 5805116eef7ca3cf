// title: Datasets under migration
// answers: Under which digest was a dataset loaded whose migration was interrupted?
// parameters:
// columns: name, former
MATCH (d:Dataset) WHERE d.former IS NOT NULL
RETURN d.name AS name, d.former AS former
