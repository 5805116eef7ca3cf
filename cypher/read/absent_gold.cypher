// title: Gold that the knowledge graph lacks
// answers: Which gold edges of a dataset does no knowledge graph of their question hold?
// parameters: dataset
// columns: question, place, source, relation, target
MATCH (q:Question {dataset: $dataset})-[:EXPECTS]->(p:GoldPath)
UNWIND [i IN range(0, size(coalesce(p.absent, [])) - 1) WHERE p.absent[i]] AS i
RETURN DISTINCT q.id AS question, p.index AS place, p.sources[i] AS source, p.relations[i] AS relation, p.targets[i] AS target
