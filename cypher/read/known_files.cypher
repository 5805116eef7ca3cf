// title: Known files
// answers: Which files does a dataset name, in the expectations of its questions and in artifacts whose ids don't show their paths?
// parameters: dataset
// columns: file
MATCH (q:Question {dataset: $dataset})
UNWIND q.expected_files AS file
RETURN DISTINCT file
UNION
MATCH (d:Dataset {name: $dataset})
UNWIND coalesce(d.files, []) AS file
RETURN DISTINCT file
