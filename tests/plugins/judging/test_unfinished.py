"""Judgings by functions that a kill ends: the same command asks for the rest, and nothing is kept beyond its end."""

from __future__ import annotations

import asyncio
import json
import signal
from collections import Counter
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.files.grades_beside import grades_folder
from graphkit.plugins.judging.grading.unfinished import OpinionFile
from tests.helpers import forked
from tests.helpers.cli import inside
from tests.helpers.grading import RIGHT, many

#: A judge that notes what it was asked once it has an answer. It kills its process at the call that KILL_AT counts;
#: each of several workers counts alone.
JUDGE = f"""
import hashlib
import os
import re
import signal

KILLED = os.environ.get("KILL_AT")
calls = []


def judge(prompt, schema):
    calls.append(prompt)
    if KILLED and len(calls) == int(KILLED):
        os.kill(os.getppid() if os.environ.get("KILL_PARENT") else os.getpid(), signal.SIGKILL)
    question = re.search(r"<question-(\\w+)>\\n(.*?)\\n</question-\\1>", prompt, re.DOTALL)[2]
    with open("asked.txt", "a") as stream:
        stream.write(f"{{question}}\\n")
    return {RIGHT!r}
"""
WORDS = ("-g", "rubric", "--no-store", "--concurrency", 1)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of twelve answers, and two judges that are functions."""
    for name in ("first_judge", "second_judge"):
        (tmp_path / f"{name}.py").write_text(JUDGE)
    return many(tmp_path, 12)


def asked(folder: Path) -> Counter[str]:
    """Return how often the judges had an answer about each question, and forget it."""
    file = folder / "asked.txt"
    found = Counter(file.read_text().splitlines())
    file.unlink()
    return found


def killed(run: Path, *words: object, at: int, cwd: Path, **env: str) -> None:
    """Grade until a judge kills the process at one of its calls."""
    process = forked.command("grade", run, *words, cwd=cwd, env={"KILL_AT": str(at)} | env)
    assert process.wait() == -signal.SIGKILL


@pytest.mark.slow("a grading is killed")
def test_a_killed_grading_continues(run: Path, tmp_path: Path) -> None:
    """Killed at its eighth call, it has seven verdicts; the same command asks for the other five, and then for all."""
    words = ("-j", "first_judge:judge", *WORDS)
    killed(run, *words, at=8, cwd=tmp_path)
    first = asked(tmp_path)
    found = inside("grade", run, *words, "--json", cwd=tmp_path, code=0).object()
    second = asked(tmp_path)
    assert (first.total(), second.total()) == (7, 5)
    assert set((first + second).values()) == {1}
    assert (found["verdicts"], found["cost"]["cached"], found["failures"]) == (12, 7, {})
    assert sorted(one.name.split(".")[1] for one in grades_folder(run).iterdir()) == ["scores", "verdicts"]
    # A function may answer otherwise tomorrow: a finished grading leaves nothing to continue from.
    inside("grade", run, *words, cwd=tmp_path, code=0)
    assert asked(tmp_path).total() == 12


@pytest.mark.slow("a grading is killed")
def test_a_changed_function_is_asked_anew(run: Path, tmp_path: Path) -> None:
    """Opinions that a judge gave before its module was edited are not used again."""
    words = ("-j", "second_judge:judge", *WORDS)
    killed(run, *words, at=8, cwd=tmp_path)
    asked(tmp_path)
    (tmp_path / "second_judge.py").write_text(JUDGE + "# other\n")
    inside("grade", run, *words, cwd=tmp_path, code=0)
    assert asked(tmp_path).total() == 12


@pytest.mark.slow("a grading is killed")
def test_no_cache_reads_and_keeps_nothing(run: Path, tmp_path: Path) -> None:
    """With --no-cache all twelve are asked for after a kill, and another kill leaves nothing to continue from."""
    words = ("-j", "first_judge:judge", *WORDS)
    killed(run, *words, at=8, cwd=tmp_path)
    asked(tmp_path)
    inside("grade", run, *words, "--no-cache", cwd=tmp_path, code=0)
    assert asked(tmp_path).total() == 12
    for file in grades_folder(run).glob("*unfinished*"):
        file.unlink()
    killed(run, *words, "--no-cache", at=8, cwd=tmp_path)
    assert not list(grades_folder(run).glob("*unfinished*"))


@pytest.mark.slow("a jury is killed")
def test_a_killed_jury_continues(run: Path, tmp_path: Path) -> None:
    """Killed at the eighth call of its second member, a jury asks that one for five more, and the first for nothing."""
    words = ("-j", "first_judge:judge", "-j", "second_judge:judge", *WORDS)
    (tmp_path / "first_judge.py").write_text(JUDGE.replace('"KILL_AT"', '"NOTHING"'))
    killed(run, *words, at=8, cwd=tmp_path)
    assert asked(tmp_path).total() == 12 + 7
    inside("grade", run, *words, cwd=tmp_path, code=0)
    assert asked(tmp_path).total() == 5
    assert not [one for one in grades_folder(run).iterdir() if "unfinished" in one.name]


@pytest.mark.slow("workers are killed")
def test_opinions_of_workers_continue(run: Path, tmp_path: Path) -> None:
    """Workers have their driver keep what they hear: after its kill none of that is asked for again."""
    words = ("-j", "first_judge:judge", *WORDS, "--on", "processes=1")
    killed(run, *words, at=8, cwd=tmp_path, KILL_PARENT="1")
    first = asked(tmp_path)
    inside("grade", run, *words, cwd=tmp_path, code=0)
    second = asked(tmp_path)
    # The call under way at the kill ended after it, or didn't, and may be repeated.
    assert first.total() in (7, 8)
    assert second.total() == 5
    assert len(first + second) == 12


def test_the_file_of_opinions(tmp_path: Path) -> None:
    """A line that was cut off is left out, and costs the next one nothing; a folder in its place is refused."""
    file = tmp_path / "r.grades" / "j.unfinished.jsonl"
    asyncio.run(OpinionFile(file).put("a", "one\n\ud800"))
    with file.open("ab") as stream:
        stream.write(b'\n["b", "tw')
    asyncio.run(OpinionFile(file).put("c", "three"))
    kept = OpinionFile(file)
    assert [asyncio.run(kept.get(one)) for one in "abc"] == ["one\n\ud800", None, "three"]
    assert json.loads(file.read_text().splitlines()[-1]) == ["c", "three"]
    with pytest.raises(InputError, match="opinions can't be kept"):
        OpinionFile(tmp_path)
