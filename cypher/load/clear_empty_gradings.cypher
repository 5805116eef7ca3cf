// title: Clear empty gradings
// answers: Deletes the gradings of a run whose scores by some measures have all been replaced; those of an interrupted load only for measures that score every question.
// parameters: run, measures, full, kept
// columns:
MATCH (g:Grading {run: $run})
WHERE g.measure IN $measures AND NOT [g.measure, g.grader] IN $kept AND (g.complete OR g.measure IN $full)
  AND NOT EXISTS {
    MATCH (s:Score {run: $run, measure: g.measure}) WHERE coalesce(s.grader, '') = g.grader
  }
DETACH DELETE g
