// title: Clear answers
// answers: Deletes some of the answers of a run with their paths, and returns how many.
// parameters: run, questions, limit
// columns: deleted
MATCH (a:Answer {run: $run}) WHERE $questions IS NULL OR a.question IN $questions
WITH a LIMIT $limit
OPTIONAL MATCH (a)-[:WALKED]->(p:RetrievedPath)
WITH a, collect(p) AS paths
FOREACH (p IN paths | DETACH DELETE p)
DETACH DELETE a
RETURN count(*) AS deleted
