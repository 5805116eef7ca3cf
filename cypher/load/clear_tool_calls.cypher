// title: Clear tool calls
// answers: Deletes some of the tool calls of a run, and returns how many.
// parameters: run, questions, limit
// columns: deleted
MATCH (c:ToolCall {run: $run}) WHERE $questions IS NULL OR c.question IN $questions
WITH c LIMIT $limit
DETACH DELETE c
RETURN count(*) AS deleted
