"""Relevance judgements in the forms of TREC, BEIR and MS MARCO, made by hand: gold with the queries beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.imports.importer import import_log
from graphkit.plugins.gold.datasets.new_dataset import create_dataset
from graphkit.plugins.logs.judgements import are_gains, is_qrels, judged_questions
from graphkit.records.models import Answer, Question
from tests.helpers.cases import score
from tests.helpers.cli import inside, write_lines
from tests.helpers.datasets import read_jsonl

pytrec_eval = pytest.importorskip("pytrec_eval")

#: The judgements of every form below: q1 has d1 with 1 and d2 with 2, d9 judged not relevant; q2 has d3.
RELEVANT = {"q1": {"d1": 1.0, "d2": 2.0}, "q2": {"d3": 1.0}}
GAINS = [("q1", "d1", 1), ("q1", "d9", 0), ("q1", "d2", 2), ("q2", "d3", 1)]

TREC = "".join(f"{query} 0 {document} {gain}\n" for query, document, gain in GAINS)
BEIR = "query-id\tcorpus-id\tscore\n" + "".join(f"{query}\t{one}\t{gain}\n" for query, one, gain in GAINS)
ROWS = "".join(json.dumps({"query-id": query, "corpus-id": one, "score": gain}) + "\n" for query, one, gain in GAINS)
FORMS = {
    "qrels.txt": TREC,
    "qrels.tsv": BEIR,
    "marco.tsv": TREC.replace(" ", "\t"),
    "qrels.jsonl": ROWS,
    "qrels.csv": "query_id,doc_id,relevance,iteration\n" + "".join(f"{q},{d},{g},0\n" for q, d, g in GAINS),
    "qrels.json": json.dumps({"q1": {"d1": 1, "d9": 0, "d2": 2}, "q2": {"d3": 1}}),
}


def placed(folder: Path, name: str = "qrels.tsv", text: str = BEIR) -> Path:
    """Return a file of judgements in BEIR's layout: queries.jsonl in the folder above; q3 has no judgement."""
    rows: list[dict[str, Any]] = [
        {"_id": "q1", "text": 'What is "x"?', "metadata": {}},
        {"_id": "q2", "text": "2?"},
        {"_id": "q3", "text": "3?"},
    ]
    write_lines(folder / "queries.jsonl", rows)
    write_lines(folder / "corpus.jsonl", [{"_id": "d1", "title": "t", "text": "x"}])
    (folder / "qrels").mkdir(exist_ok=True)
    path = folder / "qrels" / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_gold(name: str, tmp_path: Path) -> None:
    """Each form gives the same questions; d9's gain of 0 isn't relevant, and q3 isn't judged."""
    path = placed(tmp_path, name, FORMS[name])
    problems = Problems()
    found = [fields for _, fields in judged_questions(path, problems)]
    assert {one["id"]: one["relevant"] for one in found} == RELEVANT
    assert [one["question"] for one in found] == ['What is "x"?', "2?"]
    assert list(problems.noted.values()) == [1]


def test_a_dataset_is_made_by_init_and_by_import(tmp_path: Path) -> None:
    """Both commands write the same questions."""
    path = placed(tmp_path)
    create_dataset(tmp_path / "a", path)
    assert inside("import", "gold", "qrels", path, "-o", tmp_path / "b", cwd=tmp_path).code == 0
    asked = read_jsonl(tmp_path / "a" / "questions.jsonl")
    assert {one["id"]: one["relevant"] for one in asked} == RELEVANT
    assert read_jsonl(tmp_path / "b" / "questions.jsonl") == asked


def test_names_become_ids_of_a_graph(tmp_path: Path) -> None:
    """With a graph, a document that it names in another case is found: D1 is its node d1."""
    path = placed(tmp_path, text=BEIR.replace("d1", "D1"))
    graph = tmp_path / "edges.csv"
    graph.write_text("source,relation,target\nd1,CITES,d2\n")
    create_dataset(tmp_path / "a", path, str(graph))
    assert read_jsonl(tmp_path / "a" / "questions.jsonl")[0]["relevant"] == RELEVANT["q1"]


def test_queries_of_ms_marco(tmp_path: Path) -> None:
    """Of several files of queries, the one with most of the judged ones; its texts may hold quotes."""
    path = tmp_path / "qrels.dev.small.tsv"
    path.write_text("7\t0\t2026790\t1\n8\t0\t7066866\t1\n")
    (tmp_path / "queries.train.tsv").write_text("7\tanother file\n")
    (tmp_path / "queries.dev.small.tsv").write_text('7\twhat is "a" corporation?\n8\t"why"\n9\tnot judged\n')
    found = [fields for _, fields in judged_questions(path, Problems())]
    assert [(one["id"], one["question"]) for one in found] == [("7", 'what is "a" corporation?'), ("8", '"why"')]


@pytest.mark.parametrize(
    "topics",
    [
        "<top>\n<num> Number: 301\n<title> Organized\nCrime\n\n<desc> Description:\nx\n</top>\n\n"
        "<top>\n<num> Number: 302\n<title> Polio &amp; more\n</top>\n",
        '<topics>\n<topic number="301"><query>Organized Crime</query><question>x</question></topic>\n'
        '<topic number="302">\n<query>Polio &amp; more</query></topic></topics>\n',
    ],
)
def test_topics_of_trec(topics: str, tmp_path: Path) -> None:
    """TREC's topics have a number and a title, or as XML a query."""
    (tmp_path / "topics.txt").write_text(topics)
    path = tmp_path / "qrels.txt"
    path.write_text("301 0 FBIS3-10082 1\n302 0 FR-1 2\n")
    found = [fields for _, fields in judged_questions(path, Problems())]
    assert [(one["id"], one["question"]) for one in found] == [("301", "Organized Crime"), ("302", "Polio & more")]


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    """No queries beside, a query without a text, two gains of one document, and a line that is no judgement."""
    alone = tmp_path / "alone" / "qrels"
    alone.mkdir(parents=True)
    (alone / "test.tsv").write_text(BEIR)
    with pytest.raises(InputError, match="no file beside them holds the texts"):
        create_dataset(tmp_path / "a", alone / "test.tsv")
    (alone / "queries.jsonl").write_text('{"_id": "q1", "text": "cut')
    with pytest.raises(InputError, match=r"queries.jsonl:1: this isn't JSON"):
        create_dataset(tmp_path / "a", alone / "test.tsv")
    with pytest.raises(InputError, match="has no text of this query"):
        create_dataset(tmp_path / "b", placed(tmp_path, text=BEIR + "q7\td1\t1\n"))
    with pytest.raises(InputError, match="'d1' has two gains: 1 and 2"):
        create_dataset(tmp_path / "c", placed(tmp_path, text=BEIR + "q1\td1\t2\n"))
    with pytest.raises(InputError, match=r"qrels.txt:5: this is no judgement: 'q1 0 d1'"):
        create_dataset(tmp_path / "d", placed(tmp_path, "qrels.txt", TREC + "q1 0 d1\n"))


def test_a_query_of_which_nothing_is_relevant(tmp_path: Path) -> None:
    """It stays a question, and the note says that it isn't scored."""
    problems = Problems()
    *_, (_, last) = judged_questions(placed(tmp_path, text=BEIR + "q3\td1\t0\n"), problems)
    assert (last["id"], last["relevant"]) == ("q3", {})
    assert any(what.startswith("no judged document is relevant") for what in problems.noted)


@pytest.mark.parametrize("name", FORMS)
def test_judgements_are_no_run(name: str, tmp_path: Path) -> None:
    """Each form is refused by its name, with a command that works."""
    path = placed(tmp_path, name, FORMS[name])
    create_dataset(tmp_path / "d", path)
    with pytest.raises(InputError, match="relevance judgements") as refusal:
        import_log(path, "auto", tmp_path / "d")
    assert f"graphkit init DATASET {path}" in str(refusal.value.remedy)


def test_rankings_stay_runs(tmp_path: Path) -> None:
    """Scores that are no whole numbers, ranks in a table, and 3, 2, 1 aren't judgements."""
    create_dataset(tmp_path / "d", placed(tmp_path))
    for text in ('{"q1": {"d1": 3, "d9": 2, "d2": 1}}', '{"query_id": "q1", "doc_id": "d1", "score": 0.5}'):
        log = tmp_path / "run.jsonl"
        log.write_text(text)
        (record,) = import_log(log, "auto", tmp_path / "d").records
        assert record["retrieved"][0]["id"] == "d1"
    assert not are_gains([])
    table = tmp_path / "questions.csv"
    table.write_text("question,answer\nHow many is 4,4\n")
    assert not is_qrels(table)


def test_ranking_measures_agree_with_trec_eval(tmp_path: Path) -> None:
    """A ranking of d9, d2, d7, d1 over the judgements of q1, as trec_eval scores it.

    RR: d2 at rank 2, 1/2. AP: (1/2 + 2/4) / 2 = 0.5. Recall@5 1. nDCG in trec_eval's form: gains 2 and 1 at ranks 2 and
    4 are 2/log2(3) + 1/log2(5) = 1.6926; ideal 2 + 1/log2(3) = 2.6309; 0.6433.
    """
    create_dataset(tmp_path / "d", placed(tmp_path))
    question = Question.model_validate(read_jsonl(tmp_path / "d" / "questions.jsonl")[0])
    ranked = ["d9", "d2", "d7", "d1"]
    answer = Answer.model_validate({"run": "r", "question_id": "q1", "retrieved": ranked})
    qrels = {"q1": {document: gain for query, document, gain in GAINS if query == "q1"}}
    run = {"q1": {document: float(-place) for place, document in enumerate(ranked)}}
    names = {"recip_rank": "RR", "map": "AP", "recall_5": "Recall@5", "ndcg_cut_5": "nDCG@5"}
    wanted = {"recip_rank", "map", "recall.5", "ndcg_cut.5"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(run)["q1"]
    ours = {trec: score(name, question, answer) for trec, name in names.items()}
    assert ours == pytest.approx({trec: theirs[trec] for trec in names})
    assert ours == pytest.approx({"recip_rank": 0.5, "map": 0.5, "recall_5": 1.0, "ndcg_cut_5": 0.6433}, abs=1e-4)
