// title: Violation of the context
// answers: May the question's principal not read a retrieved or ranked id?
// parameters: dataset, run, questions, unscored, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
OPTIONAL MATCH (p:Principal {dataset: $dataset, name: q.principal})
WITH q, a, p, coalesce(a.ranked, []) AS ranked
WITH q, a, EXISTS {
  MATCH (a)-[:RETRIEVED]->(c:Chunk)
  // A chunk may be no artifact of the dataset, so its id is compared.
  // Where its id lies in another repository than the record states, the statement allows nothing, but it may deny.
  WHERE NOT (coalesce(c.id =~ p.ids, false) OR (coalesce(c.repo =~ p.repositories, false)
      AND coalesce(c.own_repo =~ p.repositories, c.own_repo IS NULL)))
    OR coalesce(c.id =~ p.denied_ids, false) OR coalesce(c.repo =~ p.denied_repositories, false)
    OR coalesce(c.own_repo =~ p.denied_repositories, false)
} OR any(i IN range(0, size(ranked) - 1) WHERE
    NOT (coalesce(ranked[i] =~ p.ids, false) OR coalesce(a.ranked_repos[i] <> '' AND a.ranked_repos[i] =~ p.repositories, false))
    OR coalesce(ranked[i] =~ p.denied_ids, false)
    OR coalesce(a.ranked_repos[i] <> '' AND a.ranked_repos[i] =~ p.denied_repositories, false)) AS violated
RETURN q.id AS question,
  CASE WHEN q.principal IS NULL OR a IS NULL OR a.error IS NOT NULL THEN null WHEN violated THEN 1.0
    WHEN a.chunks_logged THEN 0.0 END AS value,
  CASE WHEN q.principal IS NULL THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT violated AND NOT a.chunks_logged THEN $unlogged END AS reason
