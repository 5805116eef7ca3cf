// title: Histories
// answers: How often have the histories of repositories changed? Results from another number may be outdated.
// parameters:
// columns: changes
OPTIONAL MATCH (r:Repository)
RETURN sum(coalesce(r.changes, 0)) AS changes
