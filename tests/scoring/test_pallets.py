"""The reference figures of the pallets data: computed by its authors with other programs, and matched here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.graph.queries import schema_statements
from graphkit.measures.coherence import Incoherent
from tests.helpers.datasets import read_jsonl, without_graph

#: The measures in the order of the columns of the README's table.
COLUMNS = (
    "EdgeRecall",
    "EdgeRecall(relation=False)",
    "EdgeRecall(static=True)",
    "nDCG@10",
    "Recall@20",
    "RR",
    "Success@5",
    "Incoherent",
    "OffPin",
)

#: "Reference figures" of the README, and the questions with a gold edge.
MEANS = {
    "bm25": ((0.0000, 0.0000, 0.0000, 0.2472, 0.3187, 0.4443, 0.6000, 0.0000, 0.0000), 0),
    "bm25-expand": ((0.4147, 0.4438, 0.4344, 0.2730, 0.4610, 0.4082, 0.4750, 0.0000, 0.0000), 24),
    "ppr": ((0.1692, 0.1692, 0.1812, 0.2965, 0.4488, 0.4650, 0.6000, 0.0000, 0.0000), 13),
    "mixed-versions": ((0.3988, 0.4280, 0.4198, 0.2727, 0.4596, 0.3967, 0.5000, 0.6000, 0.6750), 24),
}

#: "Edge recall by difficulty" of the README: easy, medium, hard.
BY_DIFFICULTY = {
    "bm25-expand": (0.4583, 0.5333, 0.2087),
    "ppr": (0.2167, 0.1667, 0.0767),
    "mixed-versions": (0.4583, 0.4833, 0.1954),
}

#: The fields of reference.jsonl, in the order of COLUMNS.
FIELDS = (
    "edge_recall",
    "edge_recall_untyped",
    "edge_recall_static",
    "ndcg@10",
    "recall@20",
    "mrr",
    "hit@5",
    "incoherent",
    "off_pin",
)

#: Half a unit of the fourth decimal, and a little for the arithmetic of floats.
TO_FOUR_DECIMALS = 5.000001e-5


@dataclass(frozen=True)
class Scored:
    """The figures of each run: of a question the values, in the order of COLUMNS."""

    runs: dict[str, graphkit.Evaluation]


@pytest.fixture(scope="module")
def in_python(pallets: Path) -> Scored:
    """Every run scored from its files, without a database."""
    return Scored({name: graphkit.evaluate(pallets / "runs" / f"{name}.jsonl", measures=COLUMNS) for name in MEANS})


@pytest.fixture(params=["python", "cypher"])
def in_graph(pallets: Path, request: pytest.FixtureRequest, store: Store, tmp_path: Path) -> Scored:
    """Every run scored over a database by each engine; the knowledge graph has no part in it and is left out."""
    store.schema(schema_statements())
    folder = without_graph(pallets, tmp_path)
    return Scored(
        {
            name: graphkit.evaluate(
                folder / "runs" / f"{name}.jsonl", measures=COLUMNS, store=store, engine=request.param
            )
            for name in MEANS
        }
    )


def check_means(scored: Scored) -> None:
    """Compare every mean with the README, and the number of questions with a gold edge."""
    for name, (expected, with_edge) in MEANS.items():
        result = scored.runs[name]
        found = [result.measures[measure].mean for measure in COLUMNS]
        assert found == pytest.approx(expected, rel=0, abs=TO_FOUR_DECIMALS), name
        assert [summary.scored for summary in result.measures.values()] == [40] * len(COLUMNS)
        assert sum(isinstance(row.values[0], float) and row.values[0] > 0 for row in result.rows) == with_edge, name


def check_questions(pallets: Path, scored: Scored) -> None:
    """Compare every question with reference.jsonl, which rounds to six decimals."""
    references = read_jsonl(pallets / "reference.jsonl")
    assert len(references) == 160
    found = {(name, row.question): row.values for name, result in scored.runs.items() for row in result.rows}
    for line in references:
        expected = [line[field] for field in FIELDS]
        assert found[line["run"], line["query_id"]] == pytest.approx(expected, rel=0, abs=5.1e-7), line["query_id"]


def test_means_without_a_database(in_python: Scored) -> None:
    """The Python engine gives the README's means from the files alone."""
    check_means(in_python)


def test_questions_without_a_database(pallets: Path, in_python: Scored) -> None:
    """The Python engine gives each question the value of reference.jsonl."""
    check_questions(pallets, in_python)


def test_both_engines_on_both_databases(pallets: Path, in_graph: Scored) -> None:
    """Each engine over each database gives the README's means and the values of reference.jsonl."""
    check_means(in_graph)
    check_questions(pallets, in_graph)


@pytest.mark.parametrize("name", BY_DIFFICULTY)
def test_edge_recall_by_difficulty(pallets: Path, in_python: Scored, name: str) -> None:
    """The mean edge recall of the easy, medium and hard questions is the README's."""
    difficulty = {one["id"]: one["difficulty"] for one in read_jsonl(pallets / "questions.jsonl")}
    values: dict[str, list[float]] = {"easy": [], "medium": [], "hard": []}
    for row in in_python.runs[name].rows:
        assert isinstance(row.values[0], float)
        values[difficulty[row.question]].append(row.values[0])
    assert [len(part) for part in values.values()] == [20, 10, 10]
    means = [sum(part) / len(part) for part in values.values()]
    assert means == pytest.approx(BY_DIFFICULTY[name], rel=0, abs=TO_FOUR_DECIMALS)


def test_incoherence_of_the_retrieved_chunks_alone(pallets: Path) -> None:
    """Without its traversal, mixed-versions mixes stacks for 0.5250 of the questions, as the README says."""
    commits = Dataset(pallets).commit_graph(Problems())
    questions = {one["id"]: graphkit.Question.model_validate(one) for one in read_jsonl(pallets / "questions.jsonl")}
    values = []
    for record in read_jsonl(pallets / "runs" / "mixed-versions.jsonl"):
        answer = graphkit.Answer.model_validate({**record, "traversal": []})
        values.append(Incoherent().score(graphkit.Case(questions[answer.question_id], answer, commits)))
    assert values.count(1.0) == 21  # 0.5250 of 40
    assert values.count(0.0) == 19
