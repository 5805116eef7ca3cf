// title: The subgraph of a question
// answers: Which gold edges does a question require, which did the run traverse, and which chunks did it retrieve, as paths to draw?
// order: 10
// parameters: run, question
// columns: path
MATCH (r:Run {id: $run})
MATCH path = (:Artifact)-[g:GOLD]->(:Artifact) WHERE g.question = $question AND g.dataset = r.dataset
RETURN path
UNION ALL
MATCH path = (:Artifact)-[t:TRAVERSED]->(:Artifact) WHERE t.run = $run AND t.question = $question
RETURN path
UNION ALL
MATCH path = (:Question)<-[:ANSWERS]-(a:Answer)-[:RETRIEVED]->(:Chunk)-[:OF]->(:Artifact)
WHERE a.run = $run AND a.question = $question
RETURN path
