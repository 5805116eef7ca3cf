// title: Ids in traces
// answers: Which spans and responses are the answers of a run, in the traces of its system?
// parameters: run
// columns: question, trace_id, span_id, response_id
MATCH (:Run {id: $run})-[:PRODUCED]->(a:Answer)
RETURN a.question AS question, a.trace_id AS trace_id, a.span_id AS span_id, a.response_id AS response_id
