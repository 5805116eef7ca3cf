// title: Size of a dataset
// answers: How many nodes and relationships does the graph hold of a dataset, beside the artifacts and commits that datasets share?
// parameters: dataset
// columns: kind, nodes, relationships
MATCH (n:Question {dataset: $dataset})
RETURN 'Question' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (:Question {dataset: $dataset})-[r:EXPECTS]->(n:GoldPath)
RETURN 'GoldPath' AS kind, count(n) AS nodes, count(r) AS relationships
UNION ALL
MATCH (q:Question {dataset: $dataset})
MATCH ()-[r:GOLD {question: q.id}]->()
RETURN 'GOLD' AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH ()-[r:EDGE]->() WHERE r.graph = $dataset OR r.graph STARTS WITH $dataset + '/'
RETURN 'EDGE' AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (n:Stack {dataset: $dataset})
RETURN 'Stack' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Deployment {dataset: $dataset})
RETURN 'Deployment' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (:Dataset {name: $dataset})-[r:LISTS]->(:Commit)
RETURN 'LISTS' AS kind, 0 AS nodes, count(r) AS relationships
