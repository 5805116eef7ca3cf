// title: Size of a run
// answers: How many nodes and relationships does the graph hold of a run?
// parameters: run
// columns: kind, nodes, relationships
MATCH (n:Answer {run: $run})
RETURN 'Answer' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:ToolCall {run: $run})
RETURN 'ToolCall' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Score {run: $run})
RETURN 'Score' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Verdict {run: $run})
RETURN 'Verdict' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Claim {run: $run})
RETURN 'Claim' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Citation {run: $run})
RETURN 'Citation' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (n:Execution {run: $run})
RETURN 'Execution' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (:Answer {run: $run})-[r]->()
RETURN 'Answer' AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (:Claim {run: $run})-[r]->()
RETURN 'Claim' AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (:Citation {run: $run})-[r]->()
RETURN 'Citation' AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (:Execution {run: $run})-[r]->()
RETURN 'Execution' AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH (:Answer {run: $run})-[:WALKED]->(n:RetrievedPath)
RETURN 'RetrievedPath' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (:Execution {run: $run})-[:RAN]->(n:CodeTestResult)
RETURN 'CodeTestResult' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (:Run {id: $run})-[:GRADED]->(n:Grading)
RETURN 'Grading' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (:Run {id: $run})-[:JUDGED_BY]->(n:Judging)
RETURN 'Judging' AS kind, count(n) AS nodes, 0 AS relationships
UNION ALL
MATCH (:Run {id: $run})-[r]->()
RETURN 'Run' AS kind, 0 AS nodes, count(r) AS relationships
UNION ALL
MATCH ()-[r:TRAVERSED]->() WHERE r.run = $run
RETURN 'TRAVERSED' AS kind, 0 AS nodes, count(r) AS relationships
