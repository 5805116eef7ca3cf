// title: Ends of gold edges
// answers: From where to where do the gold edges of some questions lead?
// parameters: dataset, questions
// columns: question, ends
UNWIND $questions AS question
MATCH (:Question {dataset: $dataset, id: question})-[:EXPECTS]->(g:GoldPath)
UNWIND range(0, size(g.sources) - 1) AS i
RETURN question, collect(DISTINCT [g.sources[i], g.targets[i]]) AS ends
