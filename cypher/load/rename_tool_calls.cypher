// title: Rename the run of tool calls
// answers: Gives some tool calls of a run its new name, and returns how many.
// parameters: old, new, limit
// columns: renamed
MATCH (n:ToolCall {run: $old})
WITH n LIMIT $limit
SET n.run = $new
RETURN count(*) AS renamed
