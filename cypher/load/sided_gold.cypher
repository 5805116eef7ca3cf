// title: Gold of several sides
// answers: Which questions of a dataset have gold paths with commits of their own, which paths are these, and at which commits?
// parameters: dataset
// columns: question, repositories, shas, gold
MATCH (g:GoldPath {sided_in: $dataset})
WITH g ORDER BY g.question, g.index
WITH g.question AS question, collect({sources: g.sources, relations: g.relations, targets: g.targets,
  repos: g.side_repos, names: g.side_names}) AS gold
MATCH (q:Question {dataset: $dataset, id: question})
RETURN question, q.pinned_repositories AS repositories, q.pinned_shas AS shas, gold
ORDER BY question
