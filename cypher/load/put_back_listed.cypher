// title: Put back the values of listed commits that an import set apart
// answers: Gives some relationships the values that the files of an import can't hold.
// parameters: start, end, values, limit
// columns: written
MATCH (:Dataset)-[l:LISTS]->(:Commit)
WHERE l.set_apart >= $start AND l.set_apart < $end
WITH l LIMIT $limit
SET l += $values[l.set_apart - $start]
REMOVE l.set_apart
RETURN count(*) AS written
