"""DuckDB over the files, on as many threads as told: the ranking family in SQL, without looking for bad records."""

import sys

import duckdb

from benchmarks.contenders.common import finish, folder

NAMES = ("nDCG@10", "Recall@20", "RR", "Success@5")

QUERY = """
WITH answers AS (
  SELECT question_id, [chunk.id FOR chunk IN retrieved] AS ids
  FROM read_json($answers, format = 'newline_delimited',
    columns = {question_id: 'VARCHAR', retrieved: 'STRUCT(id VARCHAR, score DOUBLE)[]'})
), questions AS (
  SELECT id, map_keys(relevant) AS nodes, map_values(relevant) AS gains
  FROM read_json($questions, format = 'newline_delimited', columns = {id: 'VARCHAR', relevant: 'MAP(VARCHAR, DOUBLE)'})
), ranked AS (
  SELECT [list_position(ids, node) FOR node IN nodes] AS ranks, gains, list_reverse_sort(gains) AS best
  FROM questions JOIN answers ON question_id = id
)
SELECT
  avg(list_sum([CASE WHEN ranks[i] <= 10 THEN gains[i] / log2(ranks[i] + 1) ELSE 0 END
      FOR i IN range(1, len(gains) + 1)])
    / list_sum([best[i] / log2(i + 1) FOR i IN range(1, least(len(gains), 10) + 1)])),
  avg(len([rank FOR rank IN ranks IF rank <= 20]) / len(gains)),
  avg(coalesce(1 / list_min(ranks), 0)),
  avg(CASE WHEN list_min(ranks) <= 5 THEN 1 ELSE 0 END)
FROM ranked
"""

if __name__ == "__main__":
    data = folder()
    database = duckdb.connect(config={"threads": int(sys.argv[2])})
    files = {"questions": str(data / "questions.jsonl"), "answers": str(data / "runs/a.jsonl")}
    found = database.execute(QUERY, files).fetchone()
    assert found is not None
    finish(dict(zip(NAMES, found, strict=True)))
