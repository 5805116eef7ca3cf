// title: Complete a run
// answers: Marks a run as complete: from here on it is scored. The numbers are those of the whole run; kept_questions is how many questions of it are stored of kept_of, null for all.
// parameters: id, questions, failed, kept_questions, kept_of, directionless
// columns:
MATCH (r:Run {id: $id})
SET r.complete = true, r.questions = $questions, r.failed = $failed, r.kept_questions = $kept_questions,
  r.kept_of = $kept_of, r.directionless = $directionless, r.loaded_at = datetime()
