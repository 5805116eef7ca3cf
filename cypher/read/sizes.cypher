// title: Size of a graph
// answers: How many nodes and relationships does the graph hold?
// parameters: 
// columns: kind, nodes, relationships
MATCH (n)
RETURN 'all' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH ()-[r]->()
RETURN 'all' AS kind, 0 AS nodes, count(r) AS relationships
