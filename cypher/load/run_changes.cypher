// title: Begin to replace a run
// answers: Marks a run as incomplete, before anything of it is deleted; if what others gave goes with it, no content is that of the run any more.
// parameters: id, given
// columns:
MATCH (r:Run {id: $id})
SET r.complete = false, r.digest = '', r.content = CASE WHEN $given THEN null ELSE r.content END
