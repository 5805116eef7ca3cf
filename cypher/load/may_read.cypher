// title: Load what principals may read
// answers: Links principals to artifacts that they may read, and to the repositories of these, unless they are linked.
// parameters: dataset, rows
// columns:
// Links are looked for from their ends, which few principals may read: a principal may read very many.
UNWIND $rows AS row
MATCH (p:Principal {dataset: $dataset, name: row.name})
CALL (p, row) {
  UNWIND row.ids AS id
  MATCH (a:Artifact {dataset: $dataset, id: id})
  WHERE NOT EXISTS { MATCH (a)<-[:MAY_READ]-(o:Principal) WHERE o.name = row.name }
  CREATE (p)-[:MAY_READ]->(a)
  RETURN count(*) AS artifacts
}
UNWIND row.repositories AS repository
MERGE (r:Repository {name: repository})
WITH p, row, r
WHERE NOT EXISTS { MATCH (r)<-[:MAY_READ]-(o:Principal) WHERE o.name = row.name AND o.dataset = $dataset }
CREATE (p)-[:MAY_READ]->(r)
