"""The decision to answer: worked by hand, counted anew over random worlds, by both engines."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.analysis.explain import sentence
from graphkit.analysis.file_failures import file_failures
from graphkit.database.store import Store
from graphkit.graph.queries import schema_statements
from graphkit.measures.owners import RIGHTLY_DECLINED, Owner, owner_of
from graphkit.plugins.abstention.decision_measures import (
    ANSWERED,
    DECLINED,
    HAS_ANSWER,
    HAS_NONE,
    NONE_ABSENT,
    NOT_STATED,
)
from graphkit.records.doubts import READ_DECLINED
from graphkit.records.unanswered import MISSING, failed
from tests.helpers.cli import inside, tiny
from tests.helpers.datasets import read_jsonl, write_jsonl
from tests.plugins.abstention.worlds import BOTH, COUNTED, QUESTIONS, random_world, record, small_world

FAILED = failed("timeout")

#: By hand. The run answers plain and false-premise, declines second (stated) and no-path (by its words); of unsure
#: nothing is known, and failing failed. Two of the absent edges' question's walked edges, one is absent.
EXPECTED = {
    "RightDecision": [1.0, 0.0, 1.0, 0.0, NOT_STATED, FAILED],
    "AbstentionRecall": [HAS_ANSWER, HAS_ANSWER, 1.0, 0.0, NOT_STATED, FAILED],
    "AbstentionPrecision": [ANSWERED, 0.0, 1.0, ANSWERED, NOT_STATED, FAILED],
    "OverRefusal": [0.0, 1.0, HAS_NONE, HAS_NONE, HAS_NONE, HAS_NONE],
    "Coverage": [1.0, 0.0, 0.0, 1.0, NOT_STATED, FAILED],
    "InventedEdges": [NONE_ABSENT, NONE_ABSENT, NONE_ABSENT, 1.0, NONE_ABSENT, NONE_ABSENT],
    "SelectiveRisk": [0.0, DECLINED, RIGHTLY_DECLINED, 1.0, NOT_STATED, FAILED],
}


def columns(result: graphkit.Evaluation) -> dict[str, list[float | str]]:
    """Return the values of each measure, in the order of the questions."""
    rows = [row.values for row in result.rows]
    return {name: [row[place] for row in rows] for place, name in enumerate(result.measures)}


def test_worked_case(tmp_path: Path) -> None:
    """Each measure of each question is as worked by hand, and the reasons are whose they are."""
    result = graphkit.evaluate(small_world(tmp_path / "world"), measures=tuple(EXPECTED))
    assert columns(result) == EXPECTED
    owners = [owner_of(one) for one in (HAS_ANSWER, HAS_NONE, NONE_ABSENT, NOT_STATED, ANSWERED, DECLINED)]
    assert owners == [Owner.QUESTION] * 3 + [Owner.NOT_LOGGED] + [Owner.NOTHING] * 2
    # Recall: 1 of the 2 that are known; with unsure and failing as worst 1 of 4. Over-refusal: 1 of 2.
    assert result.measures["AbstentionRecall"].mean == 1 / 2
    assert result.measures["AbstentionRecall"].held() == 1 / 4
    assert result.measures["OverRefusal"].held() == 1 / 2


def test_rightly_declined_questions_are_no_gap(tmp_path: Path) -> None:
    """What has nothing to measure because the record rightly declined lacks no value, and a gate leaves it out."""
    file = small_world(tmp_path / "world")
    result = graphkit.evaluate(file, measures=("Coherence", "SelectiveRisk"))
    found = columns(result)
    # Of no-path nothing was retrieved; of plain and second neither, which is a gap of theirs.
    assert found["Coherence"][:3] == ["nothing was retrieved"] * 2 + [RIGHTLY_DECLINED]
    assert result.measures["Coherence"].of_question == 1


def test_what_is_read_from_words_is_said(tmp_path: Path) -> None:
    """Records that state nothing are counted by a doubt: two of the three that hold a text and no error."""
    file = small_world(tmp_path / "world")
    result = graphkit.evaluate(file, measures=("RightDecision",))
    assert result.warnings == (f"doubtful in 2 answers: {READ_DECLINED}",)
    # Without a measure of decisions it matters for questions without an answer alone: no-path.
    assert graphkit.evaluate(file, measures=("EdgeRecall",)).warnings == (f"doubtful in 1 answer: {READ_DECLINED}",)


def test_measures_apply_where_a_question_has_no_answer(tmp_path: Path) -> None:
    """By default a dataset with such a question is scored by them, and one without as before."""
    file = small_world(tmp_path / "world")
    found = [name for name in graphkit.evaluate(file).measures if name in EXPECTED]
    assert found == ["RightDecision", "AbstentionRecall", "AbstentionPrecision", "OverRefusal", "InventedEdges"]
    plain = graphkit.evaluate(tiny(tmp_path / "plain"))
    assert not EXPECTED.keys() & plain.measures.keys()


#: Walks of questions about a graph that holds a -CALLS-> b -READS-> c, each with the number of edges that don't exist.
A, B, C = "r:a.py", "r:b.py", "r:c.py"
MADE_UP: dict[str, tuple[dict[str, Any], list[Any] | None, float | str]] = {
    "held": ({}, [[A, "CALLS", B], [B, "READS", C]], 0.0),
    "any-relation": ({}, [[A, None, B], [A, None, C]], 1.0),
    "other-relation": ({}, [[A, "READS", B]], 1.0),
    "turned": ({}, [[B, "CALLS", A], [C, "READS", B]], 2.0),
    "direction-lost": ({}, [{"source": B, "relation": "CALLS", "target": A, "directed": False}], 0.0),
    "twice": ({}, [[A, "CALLS", C], [A, "CALLS", C]], 1.0),
    # Gold may lie outside the graph, and what is listed counts though the graph holds it.
    "gold": (
        {"paths": [{"steps": [{"source": A, "relation": "USES", "target": C, "evidence": "trace"}]}]},
        [[A, "USES", C]],
        0.0,
    ),
    "listed": ({"absent": [[A, "CALLS", B]]}, [[A, "CALLS", B], [A, "CALLS", C], [B, "READS", C]], 2.0),
    # The graph of one stack lacks the second edge; no graph has the name of the other stack, so that all count.
    "stack": ({"stack": "s1"}, [[A, "CALLS", B], [B, "READS", C]], 1.0),
    "other-stack": ({"stack": "s3"}, [[A, "CALLS", B], [B, "READS", C]], 0.0),
    "unlogged": ({}, None, "the record has no traversal (not logged)"),
}


def made_up_world(folder: Path, edgeless: bool = False) -> Path:
    """Write the questions of ``MADE_UP`` with a graph for each of two stacks, and one without edges if asked to."""
    edges = [{"source": A, "relation": "CALLS", "target": B}, {"source": B, "relation": "READS", "target": C}]
    write_jsonl(folder / "edges-s1.jsonl", edges[:1])
    write_jsonl(folder / "edges-s2.jsonl", edges[1:])
    if edgeless:
        write_jsonl(folder / "artifacts-s4.jsonl", [{"id": A}])
    questions = [{"id": name, "question": "?", **more} for name, (more, _, _) in MADE_UP.items()]
    write_jsonl(folder / "questions.jsonl", questions)
    walks = [(name, {} if walk is None else {"traversal": walk}) for name, (_, walk, _) in MADE_UP.items()]
    return write_jsonl(
        folder / "runs" / "r.jsonl", [{"run": folder.name, "question_id": name, **walk} for name, walk in walks]
    )


def test_made_up_edges_count(tmp_path: Path, empty_store: Store) -> None:
    """With a graph, what neither it nor gold holds counts; where the edges of one aren't given, listed ones alone."""
    file = made_up_world(tmp_path / "world")
    wanted = {name: expected for name, (_, _, expected) in MADE_UP.items()}
    # Only s1 has its own edges here: of listed, one walked edge is listed; the others list none.
    some = dict.fromkeys(MADE_UP, NONE_ABSENT) | {"listed": 1.0, "stack": 1.0}
    for run, expected in ((file, wanted), (made_up_world(tmp_path / "part", edgeless=True), some)):
        for more in (
            {},
            {"engine": "cypher", "store": empty_store},
            {"out": tmp_path / "out" / run.parent.parent.name},
        ):
            found = graphkit.evaluate(run, measures=("InventedEdges",), **more)
            assert {row.question: row.values[0] for row in found.rows} == expected, more


def test_every_invented_edge_is_named(empty_store: Store, tmp_path: Path) -> None:
    """Files and graph list as many edges of each question as the measure counts, and say which the question lists.

    `why` names each of them, too.
    """
    run = made_up_world(tmp_path / "world")
    graphkit.evaluate(run, measures=("InventedEdges",), store=empty_store)
    rows = [*file_failures(run, "invented-edges")]
    assert rows == [*graphkit.failures(empty_store, "world", "invented-edges")]
    counts = Counter(row["question"] for row in rows)
    assert {name: float(counts[name]) for name in MADE_UP} == {
        name: 0.0 if isinstance(count, str) else count for name, (_, _, count) in MADE_UP.items()
    }
    assert [(row["source"], row["target"]) for row in rows if row["listed"]] == [(A, B)]
    assert "(neither the knowledge graph nor gold holds it)" in sentence("invented-edges", rows[0])
    for name in MADE_UP:
        named = tuple(sentence("invented-edges", row) for row in rows if row["question"] == name)
        assert graphkit.why(run, name).invented == graphkit.why("world", name, store=empty_store).invented == named


@pytest.fixture
def worlds(store: Store, tmp_path: Path) -> tuple[Store, list[Path]]:
    """A store that holds nothing, and the files of the runs of some worlds."""
    store.schema(schema_statements())
    return store, [small_world(tmp_path / "world"), random_world(tmp_path / "random-world", 1, 120)]


def test_engines_agree(worlds: tuple[Store, list[Path]]) -> None:
    """Cypher gives each question the value of Python, or the same reason."""
    store, files = worlds
    for file in files:
        by_python = graphkit.evaluate(file, measures=(*BOTH, "Coherence"))
        by_cypher = graphkit.evaluate(file, measures=(*BOTH, "Coherence"), engine="cypher", store=store)
        assert columns(by_python) == columns(by_cypher)
        assert {0.0, 1.0} == {*filter(lambda value: not isinstance(value, str), columns(by_python)["SelectiveRisk"])}
        assert by_python.measures["Confidence"].scored > 3
        assert by_python.unscored == by_cypher.unscored
        assert by_python.warnings == by_cypher.warnings


def _expected(question: dict[str, Any], one: dict[str, Any] | None) -> dict[str, float | str]:
    """Return the values of one question, counted from its records as they are written."""
    answerable = question.get("answerable") is not False
    unknown = MISSING if one is None else FAILED if "error" in one else None
    declined = None
    if one is not None and unknown is None:
        declined = (
            one["abstained"]
            if "abstained" in one
            else {"By f.py.": False, "By another.": False, None: None}.get(one.get("answer"), True)
        )
        unknown = NOT_STATED if declined is None else None
    right = unknown or float(answerable != declined)
    found: dict[str, float | str] = {
        "RightDecision": right,
        "AbstentionRecall": HAS_ANSWER if answerable else right,
        "AbstentionPrecision": unknown or (float(not answerable) if declined else ANSWERED),
        "OverRefusal": (unknown or float(bool(declined))) if answerable else HAS_NONE,
        "Coverage": unknown or float(not declined),
    }
    absent = {tuple(edge) for edge in question["absent"]}
    walk = None if one is None or "error" in one else one.get("traversal")
    if not absent:
        found["InventedEdges"] = NONE_ABSENT
    elif one is None or "error" in one:
        found["InventedEdges"] = MISSING if one is None else FAILED
    elif walk is None:
        found["InventedEdges"] = "the record has no traversal (not logged)"
    else:
        same = [
            edge
            for edge in {tuple(edge) for edge in walk}
            if any(edge[::2] == other[::2] and (None in (edge[1], other[1]) or edge == other) for other in absent)
        ]
        found["InventedEdges"] = float(len(same))
    return found


@pytest.mark.parametrize("seed", range(5))
def test_random_worlds_are_counted_as_written(tmp_path: Path, seed: int) -> None:
    """The measures of random worlds equal a count over their lines that shares no code with them."""
    file = random_world(tmp_path / "world", seed, 200)
    questions = read_jsonl(tmp_path / "world" / "questions.jsonl")
    records = {one["question_id"]: one for one in read_jsonl(file)}
    result = graphkit.evaluate(file, measures=COUNTED)
    for row, question in zip(result.rows, questions, strict=True):
        assert dict(zip(COUNTED, row.values, strict=True)) == _expected(question, records.get(question["id"]))


@pytest.mark.slow("a thousand datasets are written and scored")
def test_a_thousand_random_worlds_are_counted_as_written(tmp_path: Path) -> None:
    """Of 1,000 small worlds none has another value than the count over its lines."""
    for seed in range(1000):
        folder = tmp_path / str(seed)
        file = random_world(folder, seed, 12)
        records = {one["question_id"]: one for one in read_jsonl(file)}
        expected = [_expected(one, records.get(one["id"])) for one in read_jsonl(folder / "questions.jsonl")]
        if not records:
            continue
        found = graphkit.evaluate(file, measures=COUNTED)
        assert [dict(zip(COUNTED, row.values, strict=True)) for row in found.rows] == expected, seed


def test_pass_k_takes_a_right_decision_as_passed(tmp_path: Path) -> None:
    """Declining an unanswerable question in each repetition passes, and once of two doesn't."""
    write_jsonl(tmp_path / "questions.jsonl", QUESTIONS[2:4])
    answers = {1: ("I don't know.", "I don't know."), 2: ("I don't know.", "For speed.")}
    files = [
        write_jsonl(
            tmp_path / "runs" / f"sys@{number}.jsonl",
            [
                record(one["id"], answer=text) | {"run": f"sys@{number}"}
                for one, text in zip(QUESTIONS[2:4], texts, strict=True)
            ],
        )
        for number, texts in answers.items()
    ]
    bound = ("--fail-under", "RightDecision=0.6", "--pass-k", "2", "--no-store", "--full")
    # no-path is declined twice, false-premise once: pass^2 is 1/2.
    done = inside("evaluate", *files, *bound, cwd=tmp_path)
    assert done.code == 1
    assert "RightDecision is 0.5000" in done.err


def test_shards_equal_the_whole(tmp_path: Path) -> None:
    """A run in shards has the figures and the doubts of the whole file."""
    file = random_world(tmp_path / "world", 3, 300)
    whole = graphkit.evaluate(file, measures=BOTH)
    sharded = graphkit.evaluate(file, measures=BOTH, executor="processes", out=tmp_path / "out")
    assert (whole.measures, whole.unscored, whole.warnings) == (sharded.measures, sharded.unscored, sharded.warnings)


def test_the_limits_that_a_person_worked(limits_data: Path, store: Store) -> None:
    """The rows of the table of the shared data that no principal and no version decides, by both engines."""
    wanted = ("plain", "no-path", "false-premise")
    measures = ("RightDecision", "OverRefusal", "InventedEdges", "EdgeRecall")
    # careful answers plain and declines the others; careless declines plain and takes an absent edge in each.
    none = "no gold path with a required step"
    expected = {
        "careful": [[1.0, 0.0, NONE_ABSENT, 1.0], [1.0, HAS_NONE, 0.0, none], [1.0, HAS_NONE, 0.0, none]],
        "careless": [[0.0, 1.0, NONE_ABSENT, 0.0], [0.0, HAS_NONE, 1.0, none], [0.0, HAS_NONE, 1.0, none]],
    }
    for run, rows in expected.items():
        for engine in ("python", "cypher"):
            file = limits_data / "runs" / f"{run}.jsonl"
            result = graphkit.evaluate(file, limits_data, measures=measures, engine=engine, store=store)
            found = {row.question: [*row.values] for row in result.rows}
            assert [found[name] for name in wanted] == rows, (run, engine)


def test_a_table_states_declines(tmp_path: Path) -> None:
    """Cells are texts: TRUE, no and 0.4 are values; a and b are decided rightly, c isn't."""
    asked: list[dict[str, Any]] = [{"id": "a", "question": "A?", "paths": [[["x:a", "R", "x:b"]]]}]
    asked += [{"id": name, "question": f"{name}?", "answerable": False} for name in "bc"]
    folder = tiny(tmp_path / "data", asked, []).parent.parent
    rows = "a,By b.,no,0.4,x:a -R-> x:b\nb,,TRUE,1,\nc,It is.,false,,\n"
    (tmp_path / "log.csv").write_text(f"question_id,answer,abstained,confidence,path\n{rows}")
    words = ("evaluate", "log.csv", "--dataset", folder, "--no-store", "--full")
    done = inside(*words, "-m", "RightDecision", "-m", "Confidence", cwd=tmp_path)
    shown = {line.split()[0]: line.split()[1:3] for line in done.out.splitlines() if line.split()}
    # Two of three decisions are right; (0.4 + 1) / 2 is the mean confidence of those that state one.
    assert (shown["RightDecision"], shown["Confidence"]) == (["0.6667", "3/3"], ["0.7000", "2/3"])
    assert "doubtful" not in done.err
