// title: Sizes of datasets
// answers: How many nodes and relationships of each kind does each dataset have, beside the commits that datasets share?
// parameters:
// columns: name, kind, nodes, relationships
MATCH (n:Dataset)
RETURN n.name AS name, 'Dataset' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Question)
RETURN n.dataset AS name, 'Question' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Stack)
RETURN n.dataset AS name, 'Stack' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Deployment)
RETURN n.dataset AS name, 'Deployment' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (q:Question)-[r:EXPECTS]->(n:GoldPath)
RETURN q.dataset AS name, 'GoldPath' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Dataset)-[r]->()
RETURN n.name AS name, type(r) AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (n:Question)-[r]->()
RETURN n.dataset AS name, type(r) AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (n:Stack)-[r]->()
RETURN n.dataset AS name, type(r) AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (n:Deployment)-[r]->()
RETURN n.dataset AS name, type(r) AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (n:Artifact)
RETURN n.dataset AS name, 'Artifact' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH ()-[r:GOLD]->()
RETURN r.dataset AS name, 'GOLD' AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (n:Artifact)-[r:EDGE|AT]->()
RETURN n.dataset AS name, type(r) AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (n:Chunk)
RETURN n.dataset AS name, 'Chunk' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Chunk)-[r]->()
RETURN n.dataset AS name, type(r) AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (:Commit)-[r:COMPATIBLE_WITH|INCOMPATIBLE_WITH]->()
RETURN r.dataset AS name, type(r) AS kind, 0 AS nodes, count(r) AS relationships
