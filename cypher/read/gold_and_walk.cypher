// title: Gold and walk of a question
// answers: Which gold edges does a question require, and which did the run traverse?
// parameters: run, question
// columns: path
MATCH (r:Run {id: $run})
MATCH path = (:Artifact)-[g:GOLD]->(:Artifact) WHERE g.question = $question AND g.dataset = r.dataset
RETURN path
UNION ALL
MATCH path = (:Artifact)-[t:TRAVERSED]->(:Artifact) WHERE t.run = $run AND t.question = $question
RETURN path
