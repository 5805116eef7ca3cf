// title: Graphs that know commits
// answers: Which of these knowledge graphs tell at which commit they read an artifact?
// parameters: graphs
// columns: graph
UNWIND $graphs AS graph
WITH graph WHERE EXISTS { MATCH (:Artifact)-[t:AT]->(:Commit) WHERE t.graph = graph }
RETURN graph
