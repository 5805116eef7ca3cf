// title: Clear tool calls
// answers: Deletes some of the tool calls of a run, and returns how many.
// parameters: run, limit
// columns: deleted
MATCH (c:ToolCall {run: $run})
WITH c LIMIT $limit
DETACH DELETE c
RETURN count(*) AS deleted
