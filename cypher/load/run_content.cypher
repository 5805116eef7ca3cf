// title: Content of a run
// answers: Keeps the digest of a run's file, which earlier versions of graphkit didn't.
// parameters: id, content
// columns:
MATCH (r:Run {id: $id})
SET r.content = $content
