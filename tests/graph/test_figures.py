"""The figures that graphkit shows of a run, each from a short query of docs/graph.md."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.analysis.board import board
from graphkit.analysis.config import Config
from graphkit.analysis.evaluation_findings import evaluation_brief
from graphkit.analysis.evaluation_plan import EvaluatedRuns, EvaluationPlan
from graphkit.analysis.failure_findings import failures_brief
from graphkit.analysis.gates import fail_question, stale
from graphkit.analysis.layers import score_layers
from graphkit.database.store import Store
from graphkit.graph.queries import failure_queries, named_query
from graphkit.measures.registry import lower_is_better
from graphkit.records.failed_rows import Failures
from graphkit.scoring.results import Evaluation
from tests.helpers import ROOT
from tests.helpers.datasets import STOREFRONT, read_jsonl, scored_copy, without_graph, write_jsonl
from tests.helpers.suites import one_fast

#: The section of the page that has the queries.
SECTION = (ROOT / "docs" / "graph.md").read_text("utf-8").partition("\n## The figures of")[2].partition("\n## ")[0]

#: Its queries by their headings.
QUERIES = {
    heading: text
    for heading, between, text in re.findall(r"^### ([^\n]+)\n(.*?)```cypher\n(.*?)```", SECTION, re.M | re.S)
    if "\n#" not in between
}

#: The kinds of failures that the page counts, each with its rows and its questions.
COUNTED = (
    *("failed-questions", "missed-edges", "missed-boundaries", "missed-passages", "right-files-wrong-path"),
    *("wrong-repositories", "wrong-turns", "incoherent-pairs", "unknown-commits", "extra-edges"),
)


def test_each_query_has_at_most_eight_lines() -> None:
    """The page answers by short queries: at most eight lines each."""
    assert len(QUERIES) == 17
    assert {heading: len(text.splitlines()) for heading, text in QUERIES.items() if len(text.splitlines()) > 8} == {}


def of_one_version(folder: Path) -> Path:
    """Copy the storefront without its questions about two versions, whose edges count by side: the queries don't."""
    copy = scored_copy(STOREFRONT, folder)
    questions = [one for one in read_jsonl(copy / "questions.jsonl") if one["category"] != "two versions"]
    kept = {one["id"] for one in questions}
    write_jsonl(copy / "questions.jsonl", questions)
    for run in (copy / "runs").glob("*.jsonl"):
        write_jsonl(run, [one for one in read_jsonl(run) if one["question_id"] in kept])
    return copy


@one_fast(
    ("name", "pattern"),
    [
        ("storefront", "*.jsonl"),
        pytest.param("pallets", "*.jsonl", marks=pytest.mark.data),
        # Of its four runs, an agent's and one of a retriever.
        pytest.param("traced_packages", "[ap]*.jsonl.gz", marks=pytest.mark.data),
    ],
    "each query over both runs",
    0,
)
def test_each_query_gives_the_figure_of_the_table(
    name: str, pattern: str, store: Store, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """On each data set and each database, every query of the page gives what the tables show of each run."""
    folder = (
        of_one_version(tmp_path) if name == "storefront" else without_graph(request.getfixturevalue(name), tmp_path)
    )
    for file in sorted((folder / "runs").glob(pattern)):
        result = graphkit.evaluate(file, store=store, outcomes=True)
        run = {"run": result.run}
        asked = {heading: store.read(text, run) for heading, text in QUERIES.items()}
        check_board(result, asked["The board"])
        check_layers(result, asked["The layers"])
        check_outcomes(result, asked)
        found = {kind: graphkit.failures(store, result.run, kind) for kind in (*COUNTED, "questions-by-score")}
        check_questions(found["questions-by-score"], asked["Questions with gold edges"])
        for kind in COUNTED:
            rows = found[kind]
            assert asked[kind] == [{"rows": rows.total, "questions": len({row["question"] for row in rows})}], kind
        for kind, names in (("boundaries-missed", ("from_repo", "to_repo")), ("relations-missed", ("relation",))):
            columns = (*names, "missed", "required", "questions")
            lost = [tuple(row[one] for one in columns) for row in graphkit.failures(store, result.run, kind)]
            assert [tuple(row[one] for one in columns) for row in asked[kind] if row["missed"]] == lost
        check_sentences(result, store)


def test_a_run_that_is_stored_in_part(store: Store) -> None:
    """For a run stored in part, the queries count only the stored questions, as the tables do."""
    result = graphkit.evaluate(STOREFRONT / "runs" / "storefront-graph.jsonl", store=store, keep="sample=9")
    for kind in COUNTED:
        rows = graphkit.failures(store, result.run, kind)
        expected = [{"rows": rows.total, "questions": len({row["question"] for row in rows})}]
        assert store.read(QUERIES[kind], {"run": result.run}) == expected, kind


def test_edges_without_a_direction(store: Store, tmp_path: Path) -> None:
    """An edge whose log lost its direction lies as gold has it, also after gold turned around.

    The walk states a -> b with a commit at each end, b -> c and c -> d; only the last has its direction, and gold has
    b -> a, b -> c and c -> d: all are found. Gold that turns c -> d misses that, for its direction is logged.
    """

    def step(source: str, target: str, **more: object) -> dict[str, Any]:
        return {"source": f"{source}:x", "relation": "R", "target": f"{target}:x", **more}

    lost = step("a", "b", directed=False, source_commit="1" * 40, target_commit="2" * 40)
    walk = [lost, step("b", "c", directed=False), step("c", "d"), step("e", "e", directed=False)]
    run = {"run": "r", "question_id": "q", "traversal": walk}
    write_jsonl(tmp_path / "runs" / "r.jsonl", [run])
    ends = (
        "MATCH (a)-[t:TRAVERSED {directed: false}]->(b) RETURN a.id AS a, b.id AS b, t.source_commit AS c ORDER BY a, b"
    )
    for gold, turned, missed in (
        ([step("b", "a"), step("b", "c"), step("c", "d")], ["b", "a", "2"], 0),
        ([step("a", "b"), step("b", "c"), step("d", "c")], ["a", "b", "1"], 1),
    ):
        paths = [{"id": str(at), "steps": [one]} for at, one in enumerate(gold)]
        write_jsonl(tmp_path / "questions.jsonl", [{"id": "q", "question": "?", "paths": paths}])
        result = graphkit.evaluate(
            tmp_path / "runs" / "r.jsonl", store=store, measures=["EdgeRecall", "BoundaryRecall"]
        )
        rows = {(str(row["a"])[0], str(row["b"])[0], str(row["c"])[0]) for row in store.read(ends)}
        assert rows == {tuple(turned), ("b", "c", "N"), ("e", "e", "N")}
        for kind in ("missed-edges", "missed-boundaries", "extra-edges"):
            (row,) = store.read(QUERIES[kind], {"run": "r"})
            assert row["rows"] == graphkit.failures(store, "r", kind).total
        assert graphkit.failures(store, "r", "missed-edges").total == missed
        assert result.measures["EdgeRecall"].mean == pytest.approx(1 - missed / 3)


def check_sentences(result: Evaluation, store: Store) -> None:
    """A named query finds each question that a sentence of the terminal names, in the place where it stands."""

    @cache
    def questions(kind: str, **parameters: object) -> list[str]:
        query = named_query(kind)
        rows = store.read(query.text, query.bind({"run": result.run, "limit": 1000, **parameters}))
        return list(dict.fromkeys(str(row["question"]) for row in rows))

    card = score_layers(result)
    for found in card.findings:
        lowest = not lower_is_better(found.measure)
        worst = questions("worst-questions", measure=found.measure, lowest_first=lowest)
        assert worst[: len(found.questions)] == list(found.questions)
    every = {row.question for row in result.rows}
    evaluated = EvaluatedRuns(EvaluationPlan(), (result,), (card,))
    named = {"weak": None, "luck": "right-answer-wrong-path"}
    for line in evaluation_brief(evaluated, [result.run]).findings:
        for question in every & set(re.split(r"[ ,:;]+", line.text)):
            kind = named[line.level]  # another sentence that names a question needs a query, too
            assert kind is None or question in questions(kind)
    kinds = {
        query.name: graphkit.failures(store, result.run, query.name)
        for query in failure_queries()
        if not query.takes("other")
    }
    for line in failures_brief(result.run, kinds).findings:
        for question in every & set(re.split(r"[ ,:;]+", line.text)):
            assert question in questions(line.level)
    bounds = [("EdgeRecall", 0.9), ("Coherence", 0.9)]
    for measure, bound in bounds:
        query = named_query("worst-questions")
        asked = query.bind({"run": result.run, "measure": measure, "limit": 1000})
        under = {row["question"] for row in store.read(query.text, asked) if float(str(row["counted"] or 0)) < bound}
        (gate,) = fail_question([result], [(measure, bound)])
        assert every & set(re.split(r"[ ,:;]+", gate.what)) <= under
    (gate,) = stale([result])
    assert every & set(re.split(r"[ ,:;]+", gate.what)) <= set(questions("stale-gold"))
    for question in every:
        if result.question(question).failure is not None:
            assert question in questions("failed-questions")


def check_board(result: Evaluation, rows: list[dict[str, Any]]) -> None:
    """Each measure has the value of the board's cell, and as many scored questions."""
    shown = board([result], [score_layers(result)], Config(), resamples=10)
    cells = {row.measure: row.cells[0] for row in (*shown.others, *shown.more)}
    cells |= {row.measure: row.cells[0] for layer in shown.layers for row in layer.rows}
    values = {row["measure"]: row["value"] for row in rows}
    assert {name: cell.value for name, cell in cells.items()} == pytest.approx(
        {name: values[name] for name in cells}, abs=1e-9
    )
    assert {row["measure"]: (row["scored"], row["questions"]) for row in rows} == {
        name: (one.scored, one.total) for name, one in result.measures.items()
    }


def check_layers(result: Evaluation, rows: list[dict[str, Any]]) -> None:
    """The layers with a score have that of the scorecard, and so has their product."""
    card = score_layers(result)
    wanted = {one.name: (one.score, one.coverage) for one in card.layers if one.score is not None}
    (row,) = rows
    found = {one["layer"]: (one["score"], one["coverage"]) for one in row["layers"]}
    assert found.keys() == wanted.keys()
    assert all(found[name] == pytest.approx(pair, abs=1e-9) for name, pair in wanted.items())
    assert row["overall"] == pytest.approx(card.overall, abs=1e-9)


def check_outcomes(result: Evaluation, asked: dict[str, list[dict[str, Any]]]) -> None:
    """Answers and paths are right as in the table, and the right answers by a wrong path are the same."""
    cells: dict[tuple[bool, bool], list[str]] = {}
    for one in result.outcomes():
        if one.answer is not None and one.path is not None:
            cells.setdefault((one.answer, one.path), []).append(one.stage.question)
    rows = {(row["right_answer"], row["right_path"]): sorted(row["names"]) for row in asked["Answers and paths"]}
    assert rows == {cell: sorted(questions) for cell, questions in cells.items()}
    assert [row["question"] for row in asked["right-answer-wrong-path"]] == sorted(cells.get((True, False), []))


def check_questions(scores: Failures, rows: list[dict[str, Any]]) -> None:
    """Questions failed, miss gold edges or have them all, as the summary of ``failures`` counts them."""
    reasons = [str(row["error"]) for row in scores if row["error"] is not None]
    whole = sum(row["found"] == row["required"] for row in scores)
    (row,) = rows
    assert row["failed"] + row["missing"] + row["not_logged"] == len(reasons)
    assert (row["have_all"], row["miss"]) == (whole, scores.total - whole - len(reasons))
