// title: Clear gradings
// answers: Deletes the gradings of a run by some measures, or all if none is named, except those of some graders.
// parameters: run, measures, kept
// columns:
MATCH (g:Grading {run: $run}) WHERE ($measures IS NULL OR g.measure IN $measures) AND NOT [g.measure, g.grader] IN $kept
DETACH DELETE g
