// title: Put back the values of nodes that an import set apart
// answers: Gives some nodes the values that the files of an import can't hold. Datasets and runs, which they mark as complete, come last.
// parameters: start, end, values, marks, limit
// columns: written
MATCH (n:SetApart)
WHERE n.set_apart >= $start AND n.set_apart < $end AND (n:Dataset OR n:Run) = $marks
WITH n LIMIT $limit
SET n += $values[n.set_apart - $start]
REMOVE n:SetApart, n.set_apart
RETURN count(*) AS written
