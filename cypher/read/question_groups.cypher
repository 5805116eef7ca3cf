// title: Groups of questions
// answers: To which category, difficulty, group, repositories and relations does each of these questions belong?
// parameters: dataset, questions
// columns: question, category, difficulty, group, relevant, repositories, relations
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
RETURN q.id AS question, q.category AS category, q.difficulty AS difficulty, q.group AS group,
  q.relevant_repositories AS relevant,
  COLLECT { MATCH (q)-[:EXPECTS]->(g:GoldPath) UNWIND g.repositories AS repo RETURN DISTINCT repo } AS repositories,
  COLLECT { MATCH (q)-[:EXPECTS]->(g:GoldPath) UNWIND g.relations AS relation RETURN DISTINCT relation } AS relations
