// title: Clear tool calls
// answers: Deletes some of the calls of tools of a run, and tells how many.
// parameters: run, limit
// columns: deleted
MATCH (c:ToolCall {run: $run})
WITH c LIMIT $limit
DETACH DELETE c
RETURN count(*) AS deleted
