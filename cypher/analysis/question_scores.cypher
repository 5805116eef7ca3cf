// title: The scores and paths of a question
// answers: What is the answer of a run to a question worth by each measure, and along which paths did gold and the run go, as paths to draw?
// order: 15
// parameters: run, question
// columns: path
MATCH path = (:Run)-[:PRODUCED]->(a:Answer)-[:SCORED]->(:Score) WHERE a.run = $run AND a.question = $question
RETURN path
UNION ALL
MATCH path = (a:Answer)-[:WALKED]->(:RetrievedPath) WHERE a.run = $run AND a.question = $question
RETURN path
UNION ALL
MATCH path = (a:Answer)-[:ANSWERS]->(:Question)-[:EXPECTS]->(:GoldPath) WHERE a.run = $run AND a.question = $question
RETURN path
