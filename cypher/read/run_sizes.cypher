// title: Sizes of runs
// answers: How many nodes and relationships of each kind does each run have?
// parameters:
// columns: name, kind, nodes, relationships
MATCH (n:Run)
RETURN n.id AS name, 'Run' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Answer)
RETURN n.run AS name, 'Answer' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:ToolCall)
RETURN n.run AS name, 'ToolCall' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Score)
RETURN n.run AS name, 'Score' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Verdict)
RETURN n.run AS name, 'Verdict' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Claim)
RETURN n.run AS name, 'Claim' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Citation)
RETURN n.run AS name, 'Citation' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Execution)
RETURN n.run AS name, 'Execution' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Grading)
RETURN n.run AS name, 'Grading' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Judging)
RETURN n.run AS name, 'Judging' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (a:Answer)-[:WALKED]->(n:RetrievedPath)
RETURN a.run AS name, 'RetrievedPath' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (e:Execution)-[:RAN]->(n:CodeTestResult)
RETURN e.run AS name, 'CodeTestResult' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Run)-[r]->()
RETURN n.id AS name, type(r) AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (n:Answer)-[r]->()
RETURN n.run AS name, type(r) AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (n:ToolCall)-[r]->()
RETURN n.run AS name, type(r) AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (n:Claim)-[r]->()
RETURN n.run AS name, type(r) AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (n:Citation)-[r]->()
RETURN n.run AS name, type(r) AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (n:Execution)-[r]->()
RETURN n.run AS name, type(r) AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH ()-[r:TRAVERSED]->()
RETURN r.run AS name, 'TRAVERSED' AS kind, 0 AS nodes, count(r) AS relationships
