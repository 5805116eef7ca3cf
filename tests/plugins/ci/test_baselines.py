"""Baselines in a folder and on a branch: what is kept, what is refused, and how compare takes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.checkouts import QUESTIONS, git, run_of
from tests.helpers.cli import inside, write_lines


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of a repository with a dataset and a run, whose origin accepts pushes."""
    origin, work = tmp_path / "origin.git", tmp_path / "clone"
    git(tmp_path, "init", "-q", "--bare", str(origin))
    git(tmp_path, "clone", "-q", str(origin), str(work))
    write_lines(work / "data/questions.jsonl", QUESTIONS)
    write_lines(work / "data/runs/mine.jsonl", run_of(2))
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "Begin")
    git(work, "push", "-q", "origin", "HEAD:main")
    return work


def test_a_folder_keeps_several(clone: Path) -> None:
    """Each lies under its name with its digests; what is got is what compare takes, whatever the run is called."""
    saved = ("baseline", "save", "data/runs/mine.jsonl", "--folder", "kept")
    inside(*saved, cwd=clone, code=0)
    inside(*saved, "--name", "v1.0", cwd=clone, code=0)
    assert sorted(path.name for path in (clone / "kept").iterdir()) == ["main", "v1.0"]
    found = inside("baseline", "get", "--folder", "kept", "-o", "got", "--json", cwd=clone, code=0).object()
    assert (found["run"], found["questions"], found["answered"]) == ("mine", 8, 8)
    assert found["commit"] == git(clone, "rev-parse", "HEAD")
    assert (clone / "got/run/mine.jsonl").read_bytes() == (clone / "data/runs/mine.jsonl").read_bytes()
    write_lines(clone / "data/runs/mine.jsonl", run_of(1))
    # Each of the eight questions loses one of two edges: 2/256.
    done = inside(
        "compare", "got", "data/runs/mine.jsonl", "--fail-on-regression", "--json", cwd=clone, code=1
    ).object()
    assert (done["first"], done["second"], done["dataset"]) == ("mine (baseline)", "mine", "data")
    recall = next(one for one in done["with_failed"] if one["measure"] == "EdgeRecall")
    assert (recall["delta"], recall["p_corrected"]) == (-0.5, pytest.approx(2 / 256))


def test_a_branch_leaves_the_working_tree_alone(clone: Path, tmp_path: Path) -> None:
    """It begins without a parent, goes on with each save, and another clone gets it from origin."""
    (clone / "untracked").write_text("mine\n")
    (clone / "data/questions.jsonl").write_bytes((clone / "data/questions.jsonl").read_bytes() + b"\n")
    before = (
        git(clone, "status", "--porcelain"),
        git(clone, "rev-parse", "HEAD"),
        git(clone, "branch", "--show-current"),
    )
    for name in ("main", "other"):
        inside("baseline", "save", "data/runs/mine.jsonl", "--name", name, "--push", cwd=clone, code=0)
    after = git(clone, "status", "--porcelain"), git(clone, "rev-parse", "HEAD"), git(clone, "branch", "--show-current")
    assert before == after
    assert git(clone, "rev-list", "--count", "graphkit-baseline") == "2"
    assert git(clone, "ls-tree", "--name-only", "graphkit-baseline").split() == ["main", "other"]
    second = tmp_path / "second"
    git(tmp_path, "clone", "-q", "--single-branch", "--branch", "main", str(tmp_path / "origin.git"), str(second))
    commits = git(second, "rev-list", "--count", "HEAD")
    told = inside("baseline", "get", "-o", "got", cwd=second, code=0).out
    assert told.startswith("got: mine: 8 of 8 questions answered, saved 20")
    assert git(second, "rev-list", "--count", "HEAD") == commits
    assert git(second, "rev-parse", "--is-shallow-repository") == "false"
    # The second clone goes on from what origin has.
    inside("baseline", "save", "data/runs/mine.jsonl", "--name", "third", "--push", cwd=second, code=0)
    assert git(second, "ls-tree", "--name-only", "graphkit-baseline").split() == ["main", "other", "third"]
    inside("baseline", "get", "--name", "third", "-o", "got", cwd=clone, code=0)


def test_a_shallow_clone_stays_shallow(clone: Path, tmp_path: Path) -> None:
    """The branch is fetched to the same depth."""
    for _ in range(2):
        inside("baseline", "save", "data/runs/mine.jsonl", "--push", cwd=clone, code=0)
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth", "1", "--branch", "main", f"file://{tmp_path / 'origin.git'}", str(shallow))
    inside("baseline", "get", "-o", "got", cwd=shallow, code=0)
    assert git(shallow, "rev-list", "--count", "origin/graphkit-baseline") == "1"


def test_no_baseline_is_said_in_a_line(clone: Path) -> None:
    """The exit code is 1, so that a job can tell it from bad input."""
    for place in (("--folder", "kept"), ("--branch", "other"), ("--folder", "data")):
        done = inside("baseline", "get", *place, "-o", "got", cwd=clone, code=1)
        assert "holds no baseline 'main'" in done.err
        assert "graphkit baseline save RUN.jsonl" in done.err
        assert not (clone / "got").exists()


def test_a_crashed_run_is_no_baseline(clone: Path) -> None:
    """Six of eight are fewer than four fifths; seven aren't."""
    write_lines(clone / "data/runs/mine.jsonl", run_of(2, questions=6))
    asked = ("baseline", "save", "data/runs/mine.jsonl", "--folder", "kept")
    assert "answered 6 of 8 questions, too few for a baseline" in inside(*asked, cwd=clone, code=2).err
    assert not (clone / "kept").exists()
    inside(*asked, "--partial-baseline", cwd=clone, code=0)
    write_lines(clone / "data/runs/mine.jsonl", run_of(2, questions=7))
    inside(*asked, cwd=clone, code=0)


@pytest.mark.parametrize("harm", ["changed", "missing", "linked", "outside", "no run", "rubbish", "later"])
def test_a_harmed_baseline_is_refused(clone: Path, tmp_path: Path, harm: str) -> None:
    """Whatever was done to it, nothing of it is used, and the message names the file."""
    inside("baseline", "save", "data/runs/mine.jsonl", "--folder", "kept", cwd=clone, code=0)
    place, about = clone / "kept/main", clone / "kept/main/baseline.json"
    held = json.loads(about.read_text())
    named = "run/mine.jsonl"
    if harm == "changed":
        (place / named).write_bytes(b"{}")
    elif harm in ("missing", "linked"):
        text = (place / named).read_bytes()
        (place / named).unlink()
        (tmp_path / "elsewhere").write_bytes(text)
        if harm == "linked":
            (place / named).symlink_to(tmp_path / "elsewhere")
    elif harm == "rubbish":
        about.write_text("[1")
    else:
        files = {"../../../secret": "0"} if harm == "outside" else {"dataset/questions.jsonl": "0"}
        changed = {"format": 2} if harm == "later" else {"files": files}
        about.write_text(json.dumps(held | changed))
    for asked in (
        ("baseline", "get", "--folder", "kept", "-o", "got"),
        ("compare", "kept/main", "data/runs/mine.jsonl"),
    ):
        done = inside(*asked, cwd=clone, code=2)
        assert "kept/main" in done.err
        assert "graphkit baseline save" in done.err
    assert not (clone / "got").exists()


@pytest.mark.parametrize("name", ["", "../up", "a/b", "-x", ".git", "a b", "x" * 101])
def test_names_of_baselines(clone: Path, name: str) -> None:
    """A name is one plain folder."""
    asked = ("baseline", "save", "data/runs/mine.jsonl", "--folder", "kept", f"--name={name}")
    assert "a baseline's name has letters" in inside(*asked, cwd=clone, code=2).err


def test_other_folders_are_not_replaced(clone: Path) -> None:
    """Neither save nor get replaces what isn't a baseline."""
    (clone / "kept/main").mkdir(parents=True)
    (clone / "kept/main/thesis.txt").write_text("mine")
    saved = ("baseline", "save", "data/runs/mine.jsonl", "--folder", "kept")
    assert "isn't a baseline" in inside(*saved, cwd=clone, code=2).err
    inside(*saved, "--name", "other", cwd=clone, code=0)
    got = ("baseline", "get", "--folder", "kept", "--name", "other", "-o")
    assert "isn't a baseline" in inside(*got, "data", cwd=clone, code=2).err
    assert (clone / "data/questions.jsonl").is_file()
    inside(*got, "got", cwd=clone, code=0)
    inside(*got, "got", cwd=clone, code=0)


def test_contradictions(clone: Path) -> None:
    """Two places, and a push of no branch."""
    asked = ("baseline", "save", "data/runs/mine.jsonl", "--folder", "kept")
    assert "two places" in inside(*asked, "--branch", "b", cwd=clone, code=2).err
    assert "--push pushes a branch" in inside(*asked, "--push", cwd=clone, code=2).err
    inside("baseline", "save", "data/runs/mine.jsonl", "--folder", "kept", cwd=clone, code=0)
    double = ("compare", "kept/main", "data/runs/mine.jsonl", "--baseline-dataset", "data")
    assert "--baseline-dataset names another" in inside(*double, cwd=clone, code=2).err


def test_outside_of_a_repository(tmp_path: Path) -> None:
    """A branch needs a repository; a folder doesn't."""
    write_lines(tmp_path / "data/questions.jsonl", QUESTIONS)
    write_lines(tmp_path / "data/runs/mine.jsonl", run_of(2))
    asked = ("baseline", "save", "data/runs/mine.jsonl")
    for command in (asked, ("ci", "data/runs/mine.jsonl")):
        done = inside(*command, cwd=tmp_path, code=2)
        assert "this is no git repository" in done.err
        assert "keep baselines in a folder (`--baseline folder:DIR`, `save --folder DIR`)" in done.err
    inside(*asked, "--folder", "kept", cwd=tmp_path, code=0)
