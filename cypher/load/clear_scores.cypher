// title: Clear scores
// answers: Deletes some of the scores of a run and returns how many: by some measures, of a grader and of some questions; all of each that is not named.
// parameters: run, measures, grader, questions, limit
// columns: deleted
MATCH (s:Score {run: $run}) WHERE ($measures IS NULL OR s.measure IN $measures)
  AND ($grader IS NULL OR coalesce(s.grader, '') = $grader) AND ($questions IS NULL OR s.question IN $questions)
WITH s LIMIT $limit
DETACH DELETE s
RETURN count(*) AS deleted
