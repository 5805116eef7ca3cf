"""Interrupted loads are reported and repaired, and two simultaneous ones write nothing twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.errors import DatabaseError, InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.graph.datasets import load_dataset
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import reserved, unfinished_loads
from graphkit.graph.score_nodes import gradings
from tests.helpers import ROOT, forked
from tests.helpers.cli import environment
from tests.helpers.datasets import read_jsonl, write_jsonl
from tests.helpers.engines import EngineSettings
from tests.helpers.loading import RUN, change, contents, load_all
from tests.helpers.processes import listed
from tests.helpers.suites import one_fast


class Stop(Exception):
    """Raised by a test in the middle of a load."""


def stopping_at(kind: str) -> Any:
    """Return a progress callback that raises after the first records of a kind."""

    def progress(found: str, count: int) -> None:
        if found == kind:
            raise Stop

    return progress


@one_fast("kind", ["commits", "edges", "questions"], "a dataset is loaded three times for each kind", 2)
def test_interrupted_load_is_reported_and_repaired(empty_store: Store, dataset: Path, kind: str) -> None:
    """A load that died at any stage is named as unfinished, and running it again completes it."""
    with pytest.raises(Stop):
        load_dataset(empty_store, Dataset(dataset), Problems(), stopping_at(kind))
    (unfinished,) = unfinished_loads(empty_store)
    assert (unfinished.name, unfinished.interrupted) == ("dataset shop", True)
    assert "run it again" in str(unfinished)
    graphkit.load(empty_store, dataset)
    assert unfinished_loads(empty_store) == []
    repaired = contents(empty_store)
    empty_store.write("MATCH (n) DETACH DELETE n")
    graphkit.load(empty_store, dataset)
    assert repaired == contents(empty_store)


@pytest.mark.slow("a dataset is loaded three times for each kind")
@pytest.mark.parametrize("kind", ["edges", "questions"])
def test_interrupted_change_is_taken_back_by_loading_the_former_files(
    empty_store: Store, dataset: Path, kind: str
) -> None:
    """After an interrupted change, loading the former files gives their content, not a mixture."""
    load_all(empty_store, dataset)
    before = contents(empty_store)
    names = ("commits.jsonl", "edges-stack-1.jsonl", "questions.jsonl")
    former = {name: (dataset / name).read_text() for name in names}
    commits = read_jsonl(dataset / "commits.jsonl")
    write_jsonl(dataset / "commits.jsonl", [{**one, "branch": "moved"} for one in commits])
    write_jsonl(dataset / "edges-stack-1.jsonl", read_jsonl(dataset / "edges-stack-1.jsonl")[:5])
    change(dataset, "sf-02", paths=[])
    with pytest.raises(Stop):
        load_dataset(empty_store, Dataset(dataset), Problems(), stopping_at(kind))
    for name, text in former.items():
        (dataset / name).write_text(text)
    graphkit.evaluate(dataset / "runs" / f"{RUN}.jsonl", store=empty_store, keep_rows=False)
    assert contents(empty_store) == before


def assert_ends(code: int, program: str, engine_settings: EngineSettings, *words: object) -> None:
    """Run a program to its end."""
    done = forked.program(program, *words, cwd=ROOT, env=engine_settings.env)
    assert done.wait() == code, done.written()


KILLED = """
import os, signal, sys
from pathlib import Path
import graphkit
def progress(kind, count):
    if kind == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
with graphkit.open_store() as store:
    graphkit.evaluate(Path(sys.argv[1]), store=store, progress=progress)
"""


@one_fast("kind", ["edges", "answers"], "a process is killed, and its load repeated", 1)
def test_killed_load_is_repaired(empty_store: Store, engine_settings: EngineSettings, dataset: Path, kind: str) -> None:
    """The load of a killed process is reported, and repaired by running it again."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    assert_ends(-signal.SIGKILL, KILLED, engine_settings, str(file), kind)
    (unfinished,) = unfinished_loads(empty_store)
    assert unfinished.interrupted
    assert unfinished.name == ("dataset shop" if kind == "edges" else f"run {RUN}")
    if kind == "answers":
        with pytest.raises(InputError, match="not loaded to its end"):
            graphkit.failures(empty_store, RUN, "wrong-turns")
    graphkit.evaluate(file, store=empty_store)
    assert unfinished_loads(empty_store) == []
    repaired = contents(empty_store)
    empty_store.write("MATCH (n) DETACH DELETE n")
    graphkit.evaluate(file, store=empty_store)
    assert repaired == contents(empty_store)


CLEARING = """
import os, signal, sys
from pathlib import Path
import graphkit
from graphkit.graph import runs, score_nodes
from graphkit.graph.queries import cypher
def clear(store, query, parameters, done=None):
    deleted = store.write(cypher(query), {**parameters, "limit": 3})[0].get("deleted")
    if deleted and query == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
runs.clear = score_nodes.clear = clear
with graphkit.open_store() as store:
    graphkit.evaluate(Path(sys.argv[1]), store=store, measures=["EdgeRecall", "RR"])
"""


@pytest.mark.slow("a process is killed at each query")
@pytest.mark.parametrize(
    "query", ["load/clear_scores", "load/clear_traversed", "load/clear_tool_calls", "load/clear_answers"]
)
def test_run_killed_while_it_is_replaced_is_not_whole(
    empty_store: Store, engine_settings: EngineSettings, dataset: Path, query: str
) -> None:
    """A run whose replacement was killed is incomplete, and its former file restores it."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    calls = [{"name": "read", "seen": ["web:a.py", "api:none.py"]}, {"name": "shell"}]
    write_jsonl(file, [{**one, "tool_calls": calls} for one in read_jsonl(file)])
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall", "RR"])
    before = contents(empty_store)
    former = file.read_text()
    write_jsonl(file, [{**one, "traversal": []} for one in read_jsonl(file)])
    assert_ends(-signal.SIGKILL, CLEARING, engine_settings, str(file), query)
    assert contents(empty_store) != before
    (run,) = empty_store.read(cypher("read/runs"))
    assert (run["complete"], run["digest"], gradings(empty_store, RUN)) == (False, "", {})
    with pytest.raises(InputError, match="not loaded to its end"):
        graphkit.failures(empty_store, RUN, "wrong-turns")
    file.write_text(former)
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall", "RR"])
    assert contents(empty_store) == before


@pytest.mark.slow("a process is killed, and its evaluation repeated")
def test_scores_killed_while_they_are_replaced_are_not_whole(
    empty_store: Store, engine_settings: EngineSettings, dataset: Path
) -> None:
    """Measures that weren't replaced stay complete, and interrupted ones don't."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall", "RR", "EdgeF1"])
    before = contents(empty_store)
    assert_ends(-signal.SIGKILL, CLEARING, engine_settings, str(file), "load/clear_scores")
    (run,) = empty_store.read(cypher("read/runs"))
    assert run["complete"]
    complete = {name: grading.complete for name, grading in gradings(empty_store, RUN).items()}
    assert complete == {"EdgeF1": True, "EdgeRecall": False, "RR": False}
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall", "RR", "EdgeF1"])
    assert contents(empty_store) == before


@pytest.mark.slow("a dataset is loaded twice")
def test_load_that_died_before_it_changed_anything_is_taken_back(empty_store: Store, dataset: Path) -> None:
    """The dataset is complete, and the next evaluation confirms that."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    graphkit.evaluate(file, store=empty_store)
    before = contents(empty_store)
    with pytest.raises(Stop), reserved(empty_store, "dataset shop"):
        raise Stop
    assert [load.name for load in unfinished_loads(empty_store)] == ["dataset shop"]
    graphkit.evaluate(file, store=empty_store)
    assert unfinished_loads(empty_store) == []
    assert contents(empty_store) == before


RELEASING = """
import os, signal, sys
from pathlib import Path
import graphkit
from graphkit.graph.queries import cypher
from graphkit.database.store import Store
write = Store.write
def dying(self, text, parameters=None):
    if text == cypher("load/release"):
        os.kill(os.getpid(), signal.SIGKILL)
    return write(self, text, parameters)
Store.write = dying
with graphkit.open_store() as store:
    graphkit.evaluate(Path(sys.argv[1]), store=store)
"""


@pytest.mark.slow("a process is killed at the end of its load")
def test_what_is_whole_is_not_reported_as_interrupted(
    empty_store: Store, engine_settings: EngineSettings, dataset: Path
) -> None:
    """The last mark of a load and its release are one transaction."""
    assert_ends(0, RELEASING, engine_settings, str(dataset / "runs" / f"{RUN}.jsonl"))
    assert unfinished_loads(empty_store) == []


EVALUATING = """
import sys, time
from pathlib import Path
import graphkit
print("ready", flush=True)
while not Path(sys.argv[2]).exists():
    time.sleep(0.002)
with graphkit.open_store() as store:
    print(graphkit.evaluate(Path(sys.argv[1]), store=store).measures["EdgeRecall"].mean)
"""


@pytest.mark.slow("a race of two processes")
def test_two_processes_at_once_do_not_double(
    empty_store: Store, engine_settings: EngineSettings, dataset: Path, tmp_path: Path
) -> None:
    """Two processes that load the same dataset and run at once write the same as one."""
    file = dataset / "runs" / f"{RUN}.jsonl"
    go = tmp_path / "go"
    processes = [forked.program(EVALUATING, file, go, cwd=ROOT, env=engine_settings.env) for _ in range(2)]
    while any(process.written()[0] != "ready\n" for process in processes):
        assert [process.poll() for process in processes] == [None, None]
        time.sleep(0.01)
    go.touch()
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert outputs[0][0] == outputs[1][0] != "ready\n"
    both = contents(empty_store)
    empty_store.write("MATCH (n) DETACH DELETE n")
    graphkit.evaluate(file, store=empty_store)
    assert both == contents(empty_store)


@listed
def test_a_process_that_nobody_waits_for_is_dead(
    empty_store: Store, engine_settings: EngineSettings, dataset: Path
) -> None:
    """In a container whose first process waits for nothing, a killed one stays listed; it loads no more."""
    command = [sys.executable, "-c", KILLED, str(dataset / "runs" / f"{RUN}.jsonl"), "edges"]
    with subprocess.Popen(command, cwd=ROOT, env=environment(engine_settings.env)) as killed:
        os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)
        os.kill(killed.pid, 0)
        assert [one.interrupted for one in unfinished_loads(empty_store)] == [True]
    assert killed.returncode == -signal.SIGKILL


def test_a_load_waits_for_another_ones(empty_store: Store, dataset: Path) -> None:
    """A load of a living process isn't interrupted, and another process gives up with a message."""
    with reserved(empty_store, "dataset shop"):
        (unfinished,) = unfinished_loads(empty_store)
        assert not unfinished.interrupted
        with (
            pytest.raises(DatabaseError, match="another process has been loading dataset shop"),
            reserved(empty_store, "dataset shop", patience=0.0),
        ):
            pass
    assert unfinished_loads(empty_store) == []


def test_a_removal_is_called_one(empty_store: Store) -> None:
    """Beside a removal, other commands say that the run is being removed, not loaded; a load after it is one again."""
    with reserved(empty_store, "run r", removes=True):
        assert [str(one) for one in unfinished_loads(empty_store)] == ["run r is being removed by another process"]
        with (
            pytest.raises(DatabaseError, match="another process has been removing run r"),
            reserved(empty_store, "run r", patience=0.0, removes=True),
        ):
            pass
    with pytest.raises(KeyboardInterrupt), reserved(empty_store, "run r", removes=True):
        raise KeyboardInterrupt
    assert [str(one) for one in unfinished_loads(empty_store)] == [
        "the removal of run r was interrupted: run it again to finish it"
    ]
    with reserved(empty_store, "run r"):
        assert [str(one) for one in unfinished_loads(empty_store)] == ["run r is being loaded by another process"]
