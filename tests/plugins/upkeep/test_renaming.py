"""A renamed run is the run that would have been loaded under its new name: graph, figures, grades and keys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.graph.known_names import require_run
from graphkit.graph.queries import cypher, schema_statements
from graphkit.graph.reservations import reserved, unfinished_loads
from graphkit.graph.score_nodes import Grading, keep_scores, load_scores
from graphkit.plugins.judging.verdict_nodes import keep_verdicts, load_verdicts
from graphkit.plugins.sandbox.execution_nodes import keep_executions, load_executions
from graphkit.plugins.upkeep import renaming
from graphkit.plugins.upkeep.removal import remove_dataset, remove_run
from graphkit.plugins.upkeep.renaming import rename_run
from graphkit.plugins.upkeep.schema_migration import migrate
from graphkit.records.scores import Score
from tests.helpers import executions, verdicts
from tests.helpers.cli import ANSWERS, Graph, inside, tiny, write_lines
from tests.helpers.datasets import SHOP_QUESTIONS, read_jsonl, write_jsonl
from tests.helpers.loading import RUN, whole
from tests.helpers.suites import one_fast

OTHER = "storefront-bm25"

#: Measures whose scores stand for those of all: each score is renamed alike.
SOME = ("EdgeRecall", "RR", "NDCG@10")

#: Escaped in the keys of the graph, and quoted in shells.
HOSTILE = "it's\x1f a \\ \"run\" {id: 'x'}"


GRADINGS = "MATCH (g:Grading {run: $run}) RETURN g.measure, g.grader, g.complete ORDER BY g.measure"
GIVEN = "MATCH (s:Score {run: $run, measure: 'Tone'}) RETURN s.question, s.value, s.grader"


class Stop(Exception):
    """Raised by a test in the middle of a renaming."""


def stopping_after(batches: int) -> Callable[[str, int], None]:
    """Return a progress callback that raises after so many batches."""
    left = batches

    def progress(what: str, count: int) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise Stop

    return progress


def fill(store: Store, dataset: Path, name: str, *measures: str) -> None:
    """Put a run under a name into the graph, with tool calls, scores by others, verdicts and executions.

    Without names of measures it has the scores of all.
    """
    file = dataset / "runs" / f"{RUN}.jsonl"
    graphkit.evaluate(file, dataset, store=store, name=name, measures=measures)
    question = read_jsonl(file)[0]["question_id"]
    load_scores(store, [Score(run=name, question=question, measure="Tone", value=0.5, grader="a person")])
    load_verdicts(store, [one.model_copy(update={"run": name}) for one in verdicts.plausible(file)])
    load_executions(store, [one.model_copy(update={"run": name}) for one in executions.plausible(file)])


@pytest.fixture
def called(dataset: Path) -> Path:
    """The storefront dataset, whose run linked its first question to two nodes and made a tool call for it."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    first, *others = read_jsonl(file)
    node = read_jsonl(dataset / "edges-stack-1.jsonl")[0]["source"]
    told = {"tool_calls": [{"name": "read", "seen": [node]}], "seeds": [{"id": node, "score": 0.5}, "api:linked.py"]}
    write_jsonl(file, [{**first, **told}, *others])
    return dataset


@one_fast("new", ["walker", HOSTILE], "a run is loaded and graded three times", 0)
def test_nothing_keeps_the_former_name(
    empty_store: Store, called: Path, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The graph is that of the run loaded and graded under its new name, whatever the batches, and may hold both."""
    fill(empty_store, called, new, *SOME)
    expected = whole(empty_store)
    empty_store.write("MATCH (n) DETACH DELETE n")
    fill(empty_store, called, RUN, *SOME)
    assert whole(empty_store) != expected
    for module in (renaming, graphkit.graph.writing):
        monkeypatch.setattr(module, "CLEARED", 7)
    found = rename_run(empty_store, RUN, new)
    assert whole(empty_store) == expected
    assert unfinished_loads(empty_store) == []
    assert (found.runs, found.counts["answers"]) == ({RUN: new}, SHOP_QUESTIONS)
    # The keys of claims and citations come from the run's name, so its former one is free again.
    fill(empty_store, called, RUN, *SOME)
    counts = empty_store.read("MATCH (c:Claim) RETURN c.run AS run, count(c) AS n ORDER BY n")
    assert len({row["n"] for row in counts}) == 1
    assert {row["run"] for row in counts} == {RUN, new}


def figures(graph: Graph, run: str, cwd: Path) -> list[list[str]]:
    """Return what the commands print of a run in the graph, without its name."""
    commands = (
        ("evaluate", f"shop/runs/{RUN}.jsonl", "--run", run, "--full"),
        ("why", run, "sf-04"),
        ("failures", run),
        ("query", "questions-by-score", "-p", f"run={run}"),
        ("query", "unsupported-claims", "-p", f"run={run}"),
        ("query", "failed-executions", "-p", f"run={run}"),
        ("query", "-e", GRADINGS, "-p", f"run={run}"),
        ("compare", OTHER, run),
        ("query", "-e", GIVEN, "-p", f"run={run}"),
    )
    found = []
    for command in commands:
        done = inside(*command, "--json", cwd=cwd, env=graph.env)
        assert done.code in (0, 1), done.err
        found.append(re.sub(re.escape(run), "RUN", done.out).splitlines())
    return found


@pytest.mark.slow("all measures, and every command before and after")
def test_every_figure_stays(any_graph: Graph, dataset: Path) -> None:
    """Commands print of the run under its new name what they printed under the former one, and score nothing anew."""
    graphkit.evaluate(dataset / "runs" / f"{OTHER}.jsonl", dataset, store=any_graph.store)
    fill(any_graph.store, dataset, RUN)
    cwd = dataset.parent
    before = figures(any_graph, RUN, cwd)
    done = inside("db", "rename", "run", RUN, "walker", cwd=cwd, env=any_graph.env, code=0)
    # By hand: a record of each question. The 1 score of a person is beside those of the measures.
    scores = any_graph.store.read(
        "MATCH (s:Score {run: 'walker'}) WHERE s.measure <> 'RightAnswer' RETURN count(s) AS n"
    )[0]["n"]
    of = {
        kind: any_graph.store.read(f"MATCH (n:{kind}) RETURN count(n) AS n")[0]["n"]
        for kind in ("Verdict", "Execution")
    }
    assert done.out == (
        f"renamed the run {RUN} to walker: {SHOP_QUESTIONS} answers, {scores} scores, {of['Verdict']} verdicts, "
        f"{of['Execution']} executions\n"
    )
    file = dataset / "runs" / f"{RUN}.jsonl"
    assert f"`graphkit evaluate {file} --run walker`" in done.err
    loaded = any_graph.store.read("MATCH (r:Run {id: 'walker'}) RETURN toString(r.loaded_at) AS at")
    assert figures(any_graph, "walker", cwd) == before
    # The graph held exactly this file, so the evaluation loaded nothing.
    assert any_graph.store.read("MATCH (r:Run {id: 'walker'}) RETURN toString(r.loaded_at) AS at") == loaded
    assert any_graph.store.read("MATCH (r:Run) RETURN r.id AS id ORDER BY id") == [{"id": OTHER}, {"id": "walker"}]


def without_loads(store: Store) -> Counter[str]:
    """Return the content of a graph without its loads, whose times change."""
    return Counter({one: count for one, count in whole(store).items() if '"Load"' not in one})


@pytest.mark.slow("a run is loaded and graded twice, and nine commands are refused")
@pytest.mark.parametrize("batches", [1, 12])
def test_an_interrupted_renaming_is_refused_and_finished(
    empty_store: Store, called: Path, batches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a renaming is incomplete under both names, every command says how to finish it, and the same one does."""
    fill(empty_store, called, "walker", *SOME)
    expected = whole(empty_store)
    empty_store.write("MATCH (n) DETACH DELETE n")
    fill(empty_store, called, RUN, *SOME)
    monkeypatch.setattr(graphkit.graph.writing, "CLEARED", 20)
    with pytest.raises(Stop):
        rename_run(empty_store, RUN, "walker", stopping_after(batches))
    half = without_loads(empty_store)
    command = f"`graphkit db rename run {RUN} walker` finishes it"
    assert [str(load) for load in unfinished_loads(empty_store)] == [
        f"the renaming of the run {RUN} to walker was interrupted: {command}"
    ]
    file = called / "runs" / f"{RUN}.jsonl"
    refused: list[Callable[[], object]] = [
        lambda: require_run(empty_store, RUN),
        lambda: require_run(empty_store, "walker"),
        lambda: graphkit.evaluate(file, called, store=empty_store),
        lambda: graphkit.evaluate(file, called, store=empty_store, name="walker"),
        lambda: load_scores(empty_store, [Score(run=RUN, question="sf-01", measure="Tone", value=1.0)]),
        lambda: rename_run(empty_store, RUN, "else"),
        lambda: rename_run(empty_store, "walker", "else"),
        lambda: remove_run(empty_store, "walker"),
        lambda: remove_dataset(empty_store, called.name),
    ]
    for one in refused:
        with pytest.raises(InputError, match=re.escape(command)):
            one()
    assert "its renaming isn't finished" in migrate(empty_store).left[0]
    assert without_loads(empty_store) == half
    assert rename_run(empty_store, RUN, "walker").counts["answers"] == SHOP_QUESTIONS
    assert whole(empty_store) == expected
    assert unfinished_loads(empty_store) == []


def repeated(folder: Path, store: Store, *names: str) -> None:
    """Put runs of two answers into the graph, each from a file of its own."""
    tiny(folder)
    for name in names:
        file = write_lines(folder / "runs" / f"{name}.jsonl", [{**answer, "run": name} for answer in ANSWERS])
        graphkit.evaluate(file, folder, store=store, measures=["EdgeRecall"])


def runs(store: Store) -> list[str]:
    """Return the names of the complete runs."""
    return [str(row["id"]) for row in store.read(cypher("read/runs")) if row["complete"]]


def test_a_name_of_repetitions_renames_them_all(empty_store: Store, tmp_path: Path) -> None:
    """If only repetitions have the name, all of them are renamed; a run with exactly that name takes precedence."""
    repeated(tmp_path, empty_store, "mine@1", "mine@2", "mine@10", "mine2", "mine@x")
    found = rename_run(empty_store, "mine", "ours")
    # Three runs of two answers, each with a score by the measure.
    assert found.counts == {"answers": 6, "scores": 6, "verdicts": 0, "executions": 0}
    assert runs(empty_store) == ["mine2", "mine@x", "ours@1", "ours@10", "ours@2"]
    rename_run(empty_store, "ours@10", "ours")
    rename_run(empty_store, "ours", "alone")
    assert runs(empty_store) == ["alone", "mine2", "mine@x", "ours@1", "ours@2"]


def test_what_is_printed_of_repetitions(any_graph: Graph, tmp_path: Path) -> None:
    """A sentence says how much was renamed, and a note how the log of the first, whose records stay, is evaluated."""
    any_graph.store.schema(schema_statements())
    repeated(tmp_path, any_graph.store, "mine@1", "mine@2", "mine@10")
    done = inside("db", "rename", "run", "mine", "our own", cwd=tmp_path, env=any_graph.env, code=0)
    assert done.out == "renamed 3 repetitions of mine to our own: 6 answers, 6 scores, 0 verdicts, 0 executions\n"
    file = tmp_path / "runs" / "mine@1.jsonl"
    again = f"`graphkit evaluate {file} --run 'our own@1'` evaluates it as our own@1; 2 more in the same way"
    assert f"note: {file} still calls the run mine@1; {again}\n" in done.err
    done = inside("db", "rename", "run", "our own", "mine", "--json", cwd=tmp_path, env=any_graph.env, code=0)
    assert done.object() == {
        **{"renamed": {"our own@1": "mine@1", "our own@2": "mine@2", "our own@10": "mine@10"}},
        **{"answers": 6, "scores": 6, "verdicts": 0, "executions": 0},
    }
    assert "note: " not in done.err


def test_interrupted_repetitions_are_finished_together(empty_store: Store, tmp_path: Path) -> None:
    """All repetitions get their names at once, so the command that was interrupted finishes them all."""
    repeated(tmp_path, empty_store, "my own@1", "my own@2")
    with pytest.raises(Stop):
        rename_run(empty_store, "my own", "ours", stopping_after(1))
    assert runs(empty_store) == []
    assert [str(load) for load in unfinished_loads(empty_store)] == [
        "the renaming of the run my own to ours was interrupted: `graphkit db rename run 'my own' ours` finishes it"
    ]
    assert rename_run(empty_store, "my own", "ours").counts["answers"] == 4
    assert runs(empty_store) == ["ours@1", "ours@2"]
    assert empty_store.read("MATCH (a:Answer) RETURN DISTINCT a.run AS run ORDER BY run") == [
        {"run": "ours@1"},
        {"run": "ours@2"},
    ]


REFUSED = (
    ("mein", "new", r"no run is called 'mein'\s+Did you mean mine\? "),
    ("mine", "mine", "the run is called 'mine' already"),
    ("mine", "theirs", "the graph holds a run 'theirs' already"),
    ("mine", " ", "the name of a run can't be blank"),
    ("mine", "x" * 1001, "the name has 1001 characters"),
    ("mine", "\udc80", "the name isn't UTF-8"),
    ("ours", "mine", "the graph holds a run 'mine' already"),
    ("ours", "yours", "the graph holds a run 'yours@3' already"),
    ("ours", "new@2", "'new@2' is the name of one repetition, and 'ours' stands for ours@1, ours@2"),
)


def test_what_is_refused(empty_store: Store, tmp_path: Path) -> None:
    """A name that is unknown, taken, the same or none is refused, and nothing is written."""
    repeated(tmp_path, empty_store, "mine", "theirs", "ours@1", "ours@2", "yours@3")
    before = whole(empty_store)
    for old, new, reported in REFUSED:
        with pytest.raises(InputError, match=reported):
            rename_run(empty_store, old, new)
    assert whole(empty_store) == before


def test_what_others_write(empty_store: Store, tmp_path: Path) -> None:
    """Scores that another process writes refuse a renaming; interrupted ones are reported under the new name."""
    repeated(tmp_path, empty_store, "mine")
    with reserved(empty_store, "scores of mine"), pytest.raises(InputError, match="scores of mine is being loaded"):
        rename_run(empty_store, "mine", "ours")
    with pytest.raises(Stop), reserved(empty_store, "scores of mine"):
        raise Stop
    rename_run(empty_store, "mine", "ours")
    assert [load.name for load in unfinished_loads(empty_store)] == ["scores of ours"]
    empty_store.write("MATCH (r:Run) SET r.complete = false")
    with pytest.raises(InputError, match="the run 'ours' was not loaded to its end"):
        rename_run(empty_store, "ours", "mine")


def test_grades_for_the_former_name_are_refused(empty_store: Store, tmp_path: Path) -> None:
    """Grades that arrive after their run was renamed are refused, instead of being stored without a run."""
    repeated(tmp_path, empty_store, "mine")
    rename_run(empty_store, "mine", "ours")
    before = whole(empty_store)
    late: list[Callable[[], object]] = [
        lambda: keep_scores(empty_store, "mine", [Grading("Tone", None, None)], []),
        lambda: keep_verdicts(empty_store, "mine", "lexical", [verdicts.verdict("q1", run="mine")]),
        lambda: keep_executions(empty_store, "mine", [executions.execution("q1", run="mine")]),
    ]
    for one in late:
        with pytest.raises(InputError, match="no run is called 'mine'"):
            one()
    assert whole(empty_store) == before
