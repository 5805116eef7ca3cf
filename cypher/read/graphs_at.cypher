// title: Graphs that know commits
// answers: Which of these knowledge graphs store the commits at which they read artifacts?
// parameters: graphs
// columns: graph
UNWIND $graphs AS graph
WITH graph WHERE EXISTS { MATCH (:Artifact)-[t:AT]->(:Commit) WHERE t.graph = graph }
RETURN graph
