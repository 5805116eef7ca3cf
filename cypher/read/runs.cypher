// title: Runs
// answers: Which runs does the graph hold, and of which file?
// parameters:
// columns: id, dataset, complete, questions, failed, file, origin, digest, kept, kept_questions, kept_of, schema, content, renamed_from, renaming
MATCH (r:Run)
RETURN r.id AS id, r.dataset AS dataset, r.complete AS complete, r.questions AS questions, r.failed AS failed,
  r.file AS file, coalesce(r.origin, r.file) AS origin, r.digest AS digest, r.kept AS kept,
  r.kept_questions AS kept_questions, r.kept_of AS kept_of,
  CASE WHEN coalesce(r.digest, '') IN ['', r.schema_digest] THEN r.schema END AS schema, r.content AS content,
  r.renamed_from AS renamed_from, r.renaming AS renaming
ORDER BY id
