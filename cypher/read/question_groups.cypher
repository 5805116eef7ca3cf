// title: Groups of questions
// answers: To which category, difficulty, group, split and session does each of these questions belong, which repositories has its gold, what are its gold paths, and which commits is it about?
// parameters: dataset, questions
// columns: question, category, difficulty, group, split, session, relevant, repositories, relevant_ids, pins, stack_pins, paths
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
RETURN q.id AS question, q.category AS category, q.difficulty AS difficulty, q.group AS group, q.split AS split,
  q.session AS session,
  q.relevant_repositories AS relevant,
  COLLECT { MATCH (q)-[:EXPECTS]->(g:GoldPath) UNWIND g.repositories AS repo RETURN DISTINCT repo } AS repositories,
  q.relevant_ids AS relevant_ids,
  [i IN range(0, size(q.pinned_shas) - 1) | [q.pinned_repositories[i], q.pinned_shas[i]]] AS pins,
  COLLECT { MATCH (s:Stack {key: q.stack_key})-[:PINS]->(c:Commit) RETURN [c.repo, c.sha] } AS stack_pins,
  COLLECT {
    MATCH (q)-[:EXPECTS]->(g:GoldPath)
    RETURN {id: g.id, group: g.group, ordered: coalesce(g.ordered, true), sources: g.sources, targets: g.targets,
      relations: g.relations, optional: g.optional} AS path
    ORDER BY g.index
  } AS paths
