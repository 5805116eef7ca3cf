// title: Complete a run
// answers: Marks a run as complete: from here on it is scored.
// parameters: id, questions, failed
// columns:
MATCH (r:Run {id: $id})
SET r.complete = true, r.questions = $questions, r.failed = $failed, r.loaded_at = datetime()
