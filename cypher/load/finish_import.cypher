// title: Finish an import
// answers: Marks an import as complete.
// parameters: name
// columns:
MATCH (l:Load {name: $name}) WHERE l.finish IS NOT NULL
DELETE l
