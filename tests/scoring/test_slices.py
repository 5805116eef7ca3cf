"""Questions are sliced by what their gold has in the graph, alike from files, shards, the graph and both engines."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphkit
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.measures.case import Case
from graphkit.measures.edges import edge_recall
from graphkit.plugins.compare.compare_runs import compare_runs
from graphkit.plugins.compare.log_pairs import compare_files
from graphkit.plugins.compare.result_pairs import compare_results
from graphkit.records.option_values import By
from graphkit.records.words import NO_LABEL
from graphkit.scoring.results import LABELS
from graphkit.scoring.slices import Slices
from tests.helpers import FAST
from tests.helpers.cli import inside, tiny, write_lines
from tests.helpers.datasets import STOREFRONT, generate
from tests.helpers.properties import examples
from tests.scoring.test_engines_on_gold import drawn_paths

#: The slices that follow from gold, and of these those into which each question falls once.
OF_GOLD: tuple[By, ...] = tuple(by for by in get_args(By) if by not in LABELS)
PARTITIONS: tuple[By, ...] = ("hops", "repositories", "session")

LOGIN = ["web:a", "CALLS", "api:b"]
CHECK = ["api:b", "CALLS", "api:c"]
READ = ["api:c", "READS", "db:d"]
WRITE = ["api:c", "WRITES", "db:d"]

SHA, OTHER = "a" * 40, "b" * 40

#: Gold with a path of two edges; with alternatives, the shorter of which takes one edge; with two paths that share an
#: edge and leave another one open; with relevant ids alone; and with nothing.
QUESTIONS: list[dict[str, Any]] = [
    {"id": "path", "question": "?", "paths": [[LOGIN, CHECK]], "commits": {"web": SHA, "api": OTHER}},
    {
        "id": "ways",
        "question": "?",
        "paths": [{"group": "g", "steps": [LOGIN, CHECK, READ]}, {"group": "g", "steps": [WRITE]}],
        "commits": {"api": OTHER},
    },
    {
        "id": "shared",
        "question": "?",
        "paths": [
            {"steps": [LOGIN, CHECK]},
            {"steps": [CHECK, {"source": "api:c", "relation": "READS", "target": "db:d", "optional": True}]},
        ],
    },
    {
        "id": "inside",
        "question": "?",
        "paths": [[{"source": "api:b", "target": "api:c"}]],
        "relevant": {"web:a": 1},
        "session": "s",
        "turn": 1,
    },
    {"id": "texts", "question": "?", "relevant": {"web:a": 1, "api:b": 2}, "session": "s", "turn": 2},
    {"id": "plain", "question": "?", "gold_answer": "x"},
]

#: By hand. "ways" needs WRITE, its shorter alternative, but names nodes of all three repositories. "shared" needs LOGIN
#: and CHECK, which both of its paths hold and which counts once. The edge of "inside" has no relation.
SLICES: dict[By, dict[str, list[str]]] = {
    "hops": {"(none)": ["texts", "plain"], "1": ["ways", "inside"], "2": ["path", "shared"]},
    "boundary": {
        "(no boundary)": ["inside"],
        "(none)": ["texts", "plain"],
        "api -> db": ["ways"],
        "web -> api": ["path", "shared"],
    },
    "relation": {"(none)": ["inside", "texts", "plain"], "CALLS": ["path", "shared"], "WRITES": ["ways"]},
    "repo": {
        "(none)": ["texts", "plain"],
        "api": ["path", "ways", "shared", "inside"],
        "db": ["ways", "shared"],
        "web": ["path", "ways", "shared"],
    },
    "repositories": {"(none)": ["plain"], "2": ["path", "inside", "texts"], "3": ["ways", "shared"]},
    "session": {"(none)": ["path", "ways", "shared", "plain"], "s": ["inside", "texts"]},
    "commit": {
        "(none)": ["shared", "inside", "texts", "plain"],
        f"api@{OTHER}": ["path", "ways"],
        f"web@{SHA}": ["path"],
    },
}


def asked(folder: Path) -> Path:
    """Write the questions with a run that walks LOGIN for each of them; return the run's file."""
    answers = [{"run": "r", "question_id": one["id"], "traversal": [LOGIN], "retrieved": []} for one in QUESTIONS]
    return tiny(folder, QUESTIONS, answers)


@pytest.mark.parametrize("by", OF_GOLD)
def test_slices_by_hand(by: By, tmp_path: Path) -> None:
    """Each slice has the questions that its gold says, and its means are over these."""
    result = graphkit.evaluate(asked(tmp_path), measures=["EdgeRecall"], by=by)
    assert {name: [*some] for name, some in result.members(by).items()} == SLICES[by]
    # LOGIN is one of two needed edges of "path" and of "shared", and none of the others'.
    values = {"path": 0.5, "ways": 1 / 3, "shared": 0.5, "inside": 0.0}
    for name, summaries in result.grouped(by).items():
        some = [values[one] for one in SLICES[by][name] if one in values]
        held = summaries["EdgeRecall"]
        assert (held.total, held.scored) == (len(SLICES[by][name]), len(some))
        assert held.mean == (pytest.approx(math.fsum(some) / len(some)) if some else None)


def test_slices_are_in_every_output(tmp_path: Path) -> None:
    """The terminal, JSON and the summary file name the slices, and say where they overlap."""
    run = asked(tmp_path)
    options = ("evaluate", run, "--no-store", "-m", "EdgeRecall", "--by")
    brief = inside(*options, "repo", cwd=tmp_path, code=0).out
    assert "r: EdgeRecall by repo: " in brief
    assert "; slices overlap" in brief
    assert "slices overlap" not in inside(*options, "hops", cwd=tmp_path, code=0).out
    full = inside(*options, "repo", "--full", cwd=tmp_path, code=0).out
    assert ["measure", "(none)", "(2)", "api", "(4)", "db", "(2)", "web", "(3)"] in map(str.split, full.splitlines())
    # "path" has web and api, "shared" and "ways" have all three.
    note = "slices by repo overlap: 3 of 6 questions are in several, so they add up to more than the whole\n"
    assert note in full
    found = inside(*options, "repo", "--json", "-o", "s.summary.json", cwd=tmp_path, code=0).object()
    assert found["slices"] == {"by": "repo", "sizes": {"(none)": 2, "api": 4, "db": 2, "web": 3}, "overlap": 3}
    assert [*found["groups"]["repo"]] == ["(none)", "api", "db", "web"]
    assert '"api"' in (tmp_path / "s.summary.json").read_text()


def test_a_result_without_slices_says_how_to_get_them(tmp_path: Path) -> None:
    """Slices need the gold: a result that was made without them refuses to be grouped by them."""
    result = graphkit.evaluate(asked(tmp_path), measures=["EdgeRecall"], by="hops")
    with pytest.raises(InputError, match="the result of r doesn't say the relation of a question"):
        result.grouped("relation")


def test_shards_are_sliced_as_files_are(tmp_path: Path) -> None:
    """A run that is scored in shards has the same slices, with the same figures."""
    run = asked(tmp_path)
    for by in ("hops", "relation"):
        whole = graphkit.evaluate(run, by=by)
        parts = graphkit.evaluate(run, by=by, out=tmp_path / f"results-{by}")
        assert parts.groups_as_json() == whole.groups_as_json()
        assert parts.as_json()["slices"] == whole.as_json()["slices"]


def drawn_world(folder: Path, seed: int, questions: int = 30) -> list[Path]:
    """Write a dataset whose questions have drawn paths and pins, and two runs of it."""
    rng = random.Random(seed)
    rows: list[dict[str, Any]] = []
    names = [f"q{number}" for number in range(questions)]
    for name in names:
        pins = {repo: rng.choice((SHA, OTHER)) for repo in "xy" if rng.random() < 0.5}
        row: dict[str, Any] = {"id": name, "question": "?", "commits": pins, "category": rng.choice(("c", "d", None))}
        row["paths"] = [one for one in drawn_paths(rng) if rng.random() < 0.7]
        row["relevant"] = {node: rng.choice((0, 1, 2)) for node in ("x:a", "y:c", "z:e") if rng.random() < 0.3}
        rows.append({field: value for field, value in row.items() if value})
    write_lines(folder / "questions.jsonl", rows)
    found = []
    for run in ("one", "two"):
        nodes = ("x:a", "x:b", "y:c", "y:d")
        answers: list[dict[str, Any]] = [
            {"run": run, "question_id": name, "traversal": [[rng.choice(nodes), rng.choice("RS"), rng.choice(nodes)]]}
            for name in names
        ]
        found.append(write_lines(folder / "runs" / f"{run}.jsonl", answers))
    return found


def test_the_graph_slices_as_files_do(store: Store, tmp_path: Path) -> None:
    """Two runs compare within the same slices by the same figures, from their files and from the graph."""
    runs = drawn_world(tmp_path, 7)
    names = [graphkit.evaluate(run, measures=["EdgeRecall"], store=store).run for run in runs]
    for by in ("boundary", "commit") if FAST else get_args(By):
        files = compare_files(*runs, measures=["EdgeRecall"], problems=Problems(), by=by, resamples=100)
        graph = compare_runs(store, *names, measures=["EdgeRecall"], by=by, resamples=100)
        assert {name: {*some} for name, some in graph.source.members.items()} == files.source.members, by
        assert graph.groups == files.groups
        assert graph.overlap == files.overlap


def test_comparisons_name_their_slices(tmp_path: Path) -> None:
    """A slice whose name is a number says what it counts, and slices that overlap say so."""
    runs, options = drawn_world(tmp_path, 7), ("-m", "EdgeRecall", "--resamples", 100)
    shown = inside("compare", *runs, *options, "--full", "--by", "hops", cwd=tmp_path, code=0).out
    assert "two minus one, hops 2\n" in shown
    assert "overlap" not in shown
    shown = inside("compare", *runs, *options, "--by", "relation", cwd=tmp_path, code=0).out
    assert "slices by relation overlap: " in shown


def check_sums(folder: Path, seed: int) -> None:
    """Hold the slices of a random world in a folder to their sums."""
    made = generate(folder, seed, 12) if seed % 2 else folder
    run = next((made / "runs").glob("*.jsonl")) if seed % 2 else drawn_world(folder, seed, 12)[0]
    dataset = Dataset(made)
    by = get_args(By)[seed % len(get_args(By))]
    result = graphkit.evaluate(run, measures=["EdgeRecall", "RR", "Recall@5"], by=by)
    groups, members = result.grouped(by), result.members(by)
    ids = [row.question for row in result.rows]
    slices = Slices.of_dataset(by, dataset).of if by in OF_GOLD else {one: [""] for one in ids}
    times = {one: len(slices[one]) for one in ids}
    assert {name for some in members.values() for name in some} == {*ids}
    for case in (Case(question, None).unanswered for question in dataset.every_question() if by == "hops"):
        # Of a run that walks nothing, EdgeRecall requires the shortest alternatives.
        hops = edge_recall(case, relation=True, boundary=False)[1]
        assert slices[case.question.id] == [str(hops) if hops else NO_LABEL]
    if by in PARTITIONS or by in LABELS:
        assert set(times.values()) == {1}
    for place, name in enumerate(result.measures if groups else ()):
        each = [one[name] for one in groups.values()]
        values = [(row.values[place], times[row.question]) for row in result.rows]
        numbers = [(float(value), count) for value, count in values if not isinstance(value, str)]
        assert sum(one.total for one in each) == sum(times.values())
        assert sum(one.scored for one in each) == sum(count for _, count in numbers)
        means = math.fsum(one.mean * one.scored for one in each if one.mean is not None)
        assert means == pytest.approx(math.fsum(value * count for value, count in numbers))


@examples(1000)
@given(seed=st.integers(0, 1 << 32))
def test_slices_add_up_to_the_whole(seed: int) -> None:
    """In random worlds, slices that partition the questions add up to the whole, and others to their overlap."""
    with TemporaryDirectory() as name:
        check_sums(Path(name), seed)


@pytest.mark.parametrize(
    ("option", "close"),
    [
        ({"by": "hop"}, "Did you mean hops?"),
        ({"cluster": "repos"}, "Did you mean repo?"),
        ({"failed_as": "worse"}, "Did you mean worst?"),
        ({"engine": "cipher"}, "Did you mean cypher?"),
        ({"on_error": "ignore"}, "It is one of: fail, skip."),
    ],
)
def test_a_choice_that_there_is_not_is_refused(option: dict[str, Any], close: str) -> None:
    """In Python as at the command line: another slice than the one that was meant is no answer."""
    run = STOREFRONT / "runs" / "storefront-graph.jsonl"
    [name], [value] = option, option.values()
    with pytest.raises(InputError, match=re.escape(f"{name} can't be {value!r}")) as refused:
        graphkit.evaluate(run, measures=["EdgeRecall"], **option)
    assert close in str(refused.value)


def test_a_comparison_in_python_refuses_it_too() -> None:
    """By results, as by scores and in the graph."""
    first, second = (
        graphkit.evaluate(STOREFRONT / "runs" / f"storefront-{name}.jsonl", measures=["EdgeRecall"])
        for name in ("bm25", "graph")
    )
    with pytest.raises(InputError, match="failed_as can't be 'worse'"):
        compare_results(first, second, failed_as="worse")  # type: ignore[arg-type]


def test_a_group_shows_its_value_at_gates(tmp_path: Path) -> None:
    """A group never hides its failures: the table and the Markdown show how many have a value, and that of gates.

    By hand: "1" asks "ways" and "inside", of which the run has only the first, right; "2" has both, one of them whole
    and one half. At gates "1" is (1 + 0) / 2.
    """
    write_lines(tmp_path / "questions.jsonl", [one for one in QUESTIONS if one["id"] not in ("texts", "plain")])
    walks = {"ways": [WRITE], "path": [LOGIN, CHECK], "shared": [LOGIN]}
    rows = [{"run": "r", "question_id": name, "answer": "x", "traversal": walk} for name, walk in walks.items()]
    run = write_lines(tmp_path / "runs" / "r.jsonl", rows)
    options = ("evaluate", run, "--no-store", "-m", "EdgeRecall", "--by", "hops", "--full", "-o", "r.md")
    cells = ["EdgeRecall", "1.0000 (1/2; 0.5000 at gates)", "0.7500"]
    shown = inside(*options, cwd=tmp_path, code=0).out.splitlines()
    assert [re.split(r"\s{2,}", line.strip()) for line in shown].count(cells) == 1
    assert f"| {' | '.join(cells)} |" in (tmp_path / "r.md").read_text(encoding="utf-8").splitlines()
