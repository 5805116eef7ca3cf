// title: Align edges with gold
// answers: Turns traversed edges whose log has lost their direction to that in which the retrieved paths hold them.
// parameters: run, questions
// columns:
MATCH (r:Run {id: $run})
UNWIND $questions AS question
WITH r, question
MATCH (:Answer {run: $run, question: question})-[:WALKED]->(p:RetrievedPath) WHERE p.undirected IS NOT NULL
UNWIND [i IN range(0, size(p.sources) - 1) WHERE p.undirected[i] AND p.sources[i] <> p.targets[i]] AS i
WITH DISTINCT r, question, p.sources[i] AS source, p.targets[i] AS target
MATCH (b:Artifact {dataset: r.dataset, id: target})-[t:TRAVERSED {run: $run, question: question}]->
  (a:Artifact {dataset: r.dataset, id: source}) WHERE t.directed = false
WITH DISTINCT t, a, b, properties(t) AS held
CREATE (a)-[turned:TRAVERSED]->(b)
SET turned = held, turned.source_commit = held.target_commit, turned.target_commit = held.source_commit
DELETE t
