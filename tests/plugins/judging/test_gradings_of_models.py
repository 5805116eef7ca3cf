"""Gradings that share a run: with other settings, by another model of the same judge, and two at the same time."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from graphkit.errors import InputError
from graphkit.files.file_locks import locked
from graphkit.files.grades_beside import SCORES, graded_files
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores
from graphkit.plugins.compare.summaries import summarize
from graphkit.plugins.judging.verdict_files import VERDICTS, read_verdicts
from tests.helpers import engines, forked
from tests.helpers.api import Api, Reply, Script, served
from tests.helpers.cli import Done, Graph, inside
from tests.helpers.forked import Forked
from tests.helpers.grading import WRONG, judging, scores_beside, to_grade, verdicts_beside


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of two answers that nobody has graded."""
    return to_grade(tmp_path)


@pytest.fixture
def graph(graph: Graph) -> Graph:
    """Return the database of the module, emptied: each test has a run of this name in a place of its own."""
    engines.empty(graph.store)
    return graph


def by_model(run: Path, model: str, *options: object, wrong: tuple[str, ...] = (), code: int = 0) -> Done:
    """Have a model grade a run by the rubric: right, but for the answers that hold one of some words."""
    graders = () if "-g" in options else ("-g", "rubric")
    known = ("-j", "anthropic", "--model", model, *graders, *options)
    stored = () if "--neo4j-uri" in options else ("--no-store",)
    with served(judging(dict.fromkeys(wrong, WRONG))) as api:
        return inside("grade", run, *known, *stored, cwd=run.parents[2], env=api.env, code=code)


# Settings ----------------------------------------------------------------------------------------------------------


def test_settings_are_part_of_the_version(run: Path, tmp_path: Path) -> None:
    """Effort, context and citations each make another version, and the defaults make none."""

    def version(*options: object) -> str:
        by_model(run, "m", *options)
        return str(scores_beside(run, "anthropic", "m")["q1", "RubricGrade"].version)

    plain = version()
    assert plain == version("--context-tokens", 24_000)
    pattern = r"<(?P<target>\w+)>"
    reported = [version("--effort", "high"), version("--context-tokens", 500), version("--citations", pattern)]
    added = ["effort=high", "context-tokens=500", f"citations={json.dumps(pattern)}"]
    assert reported == [f"{plain} {setting}" for setting in added]
    inside("grade", run, "--context-tokens", 500, "-g", "rubric", "--no-store", cwd=tmp_path, code=0)
    assert str(scores_beside(run, "lexical")["q1", "RubricGrade"].version).endswith(" context-tokens=500")


def test_scores_of_other_settings_are_not_compared(run: Path, tmp_path: Path) -> None:
    """Two runs that a model graded with different effort aren't compared: the versions are reported."""
    second = tmp_path / "data" / "runs" / "s.jsonl"
    second.write_text(run.read_text().replace('"run": "r"', '"run": "s"'))
    by_model(run, "m")
    by_model(second, "m", "--effort", "low")
    files = [*graded_files(run, SCORES), *graded_files(second, SCORES)]
    scores = [word for file in files for word in ("--scores", file)]
    done = inside("compare", "r", "s", *scores, cwd=tmp_path, code=2)
    assert "are of different versions: " in done.err
    assert "effort=low" in done.err
    assert len(summarize(files)) > 0


# Models ------------------------------------------------------------------------------------------------------------


def test_two_models_of_a_judge_have_files_of_their_own(run: Path, tmp_path: Path) -> None:
    """The grades of one model stay when another grades the run, and --model chooses one."""
    by_model(run, "m")
    by_model(run, "a/b", wrong=("users",))
    assert scores_beside(run, "anthropic", "m")["q2", "RubricGrade"].value == 1.0
    assert scores_beside(run, "anthropic", "a/b")["q2", "RubricGrade"].value == 0.0
    assert len(graded_files(run, SCORES)) == len(graded_files(run, VERDICTS)) == 2
    by_model(run, "a-b")  # spelt alike in a file's name, and yet another model
    assert len(graded_files(run, SCORES)) == 3
    (tmp_path / "sheet.csv").write_text("question_id,grade\nq1,fully_correct\nq2,wrong\n")
    check = ("judge", "spot-check", run, "--csv", "sheet.csv", "--json")
    done = inside(*check, cwd=tmp_path, code=2)
    assert "several models of anthropic graded this run" in done.err
    assert "Name one by --model: " in done.err
    assert "Did you mean a/b?" in inside(*check, "--model", "a/bb", cwd=tmp_path, code=2).err
    agreed = {
        model: inside(*check, "--model", model, cwd=tmp_path, code=0).object()["agreement"]["value"]
        for model in ("m", "a/b")
    }
    assert agreed == {"m": 0.5, "a/b": 1.0}
    # The check of one model stays beside that of the other.
    for model, code in (("m", 1), ("a/b", 1)):
        [file] = [
            one
            for one in graded_files(run, SCORES)
            if read_scores([one], Problems())[0].version is not None
            and str(read_scores([one], Problems())[0].version).startswith(f"{model} ")
        ]
        gate = ("evaluate", run, "--no-store", "-m", "RR", "--scores", file, "--min-kappa", "0.99")
        reported = inside(*gate, cwd=tmp_path, code=code).err
        assert "is of version" not in reported
        assert "interval" in reported


def test_the_page_asks_which_model_is_meant(run: Path, tmp_path: Path) -> None:
    """Two models of one judge said the same of an answer: the page shows neither unless one is chosen."""
    by_model(run, "m")
    by_model(run, "n", wrong=("users",))
    page = ("report", run, "--out", "page.html")
    reported = inside(*page, cwd=tmp_path, code=0).err
    assert f"2 models of one judge graded {run}: choose whose verdicts are shown by --verdicts" in reported
    chosen = graded_files(run, VERDICTS)[0]
    assert "choose whose verdicts" not in inside(*page, "--verdicts", chosen, cwd=tmp_path, code=0).err


def test_files_without_the_model_in_their_name_are_renamed(run: Path, tmp_path: Path) -> None:
    """A file that a former version named after the judge alone goes on under the name of its model, and no other's."""
    by_model(run, "m")
    folder = run.with_name("r.grades")
    for kind in (SCORES, VERDICTS):
        (folder / f"anthropic.m{kind}.jsonl").rename(folder / f"anthropic{kind}.jsonl")
    by_model(run, "n")
    assert (folder / "anthropic.scores.jsonl").is_file()
    scale = json.dumps({"reasoning": "So.", "score": 7})
    with served(judging({"score": scale})) as api:
        inside(
            "grade",
            run,
            "-j",
            "anthropic",
            "--model",
            "m",
            "-g",
            "scale",
            "--no-store",
            cwd=tmp_path,
            env=api.env,
            code=0,
        )
    assert sorted(path.name for path in folder.iterdir()) == [
        *("anthropic.m.scores.jsonl", "anthropic.m.verdicts.jsonl"),
        *("anthropic.n.scores.jsonl", "anthropic.n.verdicts.jsonl"),
    ]
    assert {measure for _, measure in scores_beside(run, "anthropic", "m")} == {"RubricGrade", "ScaleGrade"}
    assert {grader for _, grader in verdicts_beside(run, "anthropic", "m")} == {"rubric", "scale"}


def test_the_graph_keeps_what_each_model_said(run: Path, tmp_path: Path, graph: Graph) -> None:
    """Each model has verdicts of its own in the graph, by the same grader and by another; two names of one share them.

    The server says that "latest" is m.
    """
    scale = json.dumps({"reasoning": "So.", "score": 7})
    for model, grader in (("m", "rubric"), ("n", "scale"), ("n", "rubric"), ("m", "rubric"), ("latest", "rubric")):
        script = judging({"whole number": scale} if grader == "scale" else {})

        def replied(api: Api, body: dict[str, Any], script: Script = script) -> Reply:
            status, reply = cast(Reply, script(api, body))
            return status, reply | {"model": "m" if body["model"] == "latest" else body["model"]}

        with served(replied) as api:
            options = ("-j", "anthropic", "--model", model, "-g", grader)
            inside("grade", run, *options, cwd=tmp_path, env={**graph.env, **api.env}, code=0)
        said = [two for one in graded_files(run, VERDICTS) for two in read_verdicts([one], Problems())]
        rows = graph.store.read(
            "MATCH (:Run {id: 'r'})--(a:Answer)-[:JUDGED]->(v:Verdict) "
            "RETURN a.question AS question, v.model AS model, v.grader AS grader"
        )
        assert sorted((*row.values(),) for row in rows) == sorted(
            {(one.question, one.model, one.grader) for one in said}
        )
    assert len(rows) == 6


# At the same time --------------------------------------------------------------------------------------------------

#: A judge that waits, at its first answer, until the test lets all of them go.
JUDGE = """
import socket, threading

_lock, _gone = threading.Lock(), []


def judge(prompt, schema):
    with _lock:
        if not _gone:
            with socket.create_connection(("127.0.0.1", {port})) as line:
                line.recv(1)
            _gone.append(True)
    return {{name: 0.5 for name in schema["properties"]}}
"""

RUBRICS = ("clear", "brief", "polite", "exact")


@contextmanager
def barrier(folder: Path) -> Iterator[socket.socket]:
    """Write the judge and its rubrics, and listen for the gradings that have come as far as their first answer."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.settimeout(300)
        (folder / "waiting_judge.py").write_text(JUDGE.format(port=server.getsockname()[1]))
        for name in RUBRICS:
            (folder / name).mkdir()
            (folder / name / "prompt.txt").write_text(f"How {name} is the answer?")
            form = {"type": "object", "properties": {name: {"type": "number", "minimum": 0, "maximum": 1}}}
            (folder / name / "schema.json").write_text(json.dumps(form))
        yield server


def start(run: Path, rubric: str, *options: str, **env: str) -> Forked:
    """Start a process that grades a run by a rubric."""
    words = ("grade", run, "-j", "waiting_judge:judge", "--rubric", rubric, *options)
    return forked.command(*words, cwd=run.parents[2], env=env)


def let_go(server: socket.socket, count: int) -> None:
    """Let all gradings go on together once each has come to its first answer."""
    lines = [server.accept()[0] for _ in range(count)]
    for line in lines:
        line.sendall(b"!")
        line.close()


def ended(processes: list[Forked]) -> None:
    """Wait for all processes to end well."""
    reported = [process.communicate(timeout=300)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), reported


def test_gradings_at_the_same_time_lose_nothing(run: Path, tmp_path: Path) -> None:
    """Four processes grade one run by four rubrics, and go on at one moment: the files hold what each said."""
    with barrier(tmp_path) as server, locked(run.with_name("r.grades") / ".lock"):
        processes = [start(run, rubric, "--no-store") for rubric in RUBRICS]
        let_go(server, len(processes))
        # Each is at the point where it keeps what was said, and says that it waits.
        until = time.monotonic() + 60
        waits = "note: another grading of this run is being kept; this one waits for it\n"
        while [process.written()[1] for process in processes] != [waits] * 4:
            assert time.monotonic() < until
            time.sleep(0.02)
    ended(processes)
    [scores], [verdicts] = graded_files(run, SCORES), graded_files(run, VERDICTS)
    assert {score.measure for score in read_scores([scores], Problems())} == set(RUBRICS)
    said = read_verdicts([verdicts], Problems())
    assert {(one.question, one.grader) for one in said} == {(q, rubric) for q in ("q1", "q2") for rubric in RUBRICS}
    assert not (run.with_name("r.grades") / ".lock").exists()


@pytest.mark.slow("a race of two gradings")
def test_gradings_at_the_same_time_lose_nothing_in_the_graph(run: Path, tmp_path: Path, graph: Graph) -> None:
    """Two processes keep their verdicts in the graph, too: those of both are there."""
    with barrier(tmp_path) as server:
        processes = [start(run, rubric, **graph.env) for rubric in RUBRICS[:2]]
        let_go(server, len(processes))
        ended(processes)
    rows = graph.store.read("MATCH (v:Verdict {run: 'r'}) RETURN v.grader AS grader, count(*) AS n")
    assert {row["grader"]: row["n"] for row in rows} == {"clear": 2, "brief": 2}


def test_a_lock_is_taken_over_from_a_dead_process(tmp_path: Path) -> None:
    """A lock file that a killed process left locks nobody out; a folder that can't be written is reported."""
    lock = tmp_path / "r.grades" / ".lock"
    lock.parent.mkdir()
    lock.write_text("")
    with locked(lock, lambda: pytest.fail("nobody holds it")):
        assert lock.exists()
    assert not lock.exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="can't be written"), locked(tmp_path / "file" / ".lock"):
        pass
