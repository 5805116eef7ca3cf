"""``graphkit gold migrate``: a person confirms what changes, or ``--yes`` accepts what is certain."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.helpers.migrations import CODE, Clone, data, migrate, question, rows
from tests.helpers.terminals import Terminal

PROMPT = "q quit): "


@pytest.fixture
def moved(web: Clone, tmp_path: Path) -> tuple[Path, str, str]:
    """A dataset of two questions over a file that moved with its content and one that changed, and both commits."""
    pin = web.commit()
    web.move("src/auth.py", "src/b.py")
    web.move("src/other.py", "src/c.py")
    web.write("src/c.py", "def other():\n    return 1\n" * 10 + "# more\n")
    target = web.commit()
    second = {**question(pin, "web:src/other.py#other", "web:src/auth.py#logout"), "id": "q2"}
    return data(tmp_path, question(pin, "web:src/auth.py#login", "api:x"), second), pin, target


Migrate = Callable[..., Terminal]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Migrate]:
    """Open terminals for the command, and close them at the end."""
    opened: list[Terminal] = []

    def start(*options: object) -> Terminal:
        words = ("gold", "migrate", "data", "--repo", "web=web", *options)
        opened.append(Terminal(*words, cwd=tmp_path))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def test_a_person_decides(terminal: Migrate, moved: tuple[Path, str, str]) -> None:
    """After a typo, accepting one file and skipping the other changes the question that names only the first."""
    folder, pin, target = moved
    before = rows(folder)
    one = terminal()
    shown = one.expect(PROMPT)
    assert f"1 of 2: web:src/auth.py at {pin[:10]}, in q1, q2" in shown
    assert f"-> web:src/b.py: renamed at {target[:10]}, 100 % similar (the same content)" in shown
    assert "web:src/auth.py#login -> web:src/b.py#login" in shown
    one.type("yes\n")
    assert "'yes' is none of them" in one.expect(PROMPT)
    one.type("a\n")
    shown = one.expect(PROMPT)
    assert f"-> web:src/c.py: renamed at {target[:10]}, 97 % similar\n" in shown
    one.type("s\n")
    assert "q2 is unchanged: there is no decision about web:src/other.py#other" in one.expect("up to date")
    assert one.end() == (0, "data/questions.jsonl: 1 question changed: q1\n")
    assert rows(folder) == [
        {**before[0], "paths": [["web:src/b.py#login", "api:x"]], "commits": {"web": target}},
        before[1],
    ]

    # The other question is proposed again, with both of its files.
    again = terminal("--to", "main")
    for _ in range(2):
        again.expect(PROMPT)
        again.type("a\n")
    assert again.end() == (0, "data/questions.jsonl: 1 question changed: q2\n")
    assert rows(folder)[1]["paths"] == [["web:src/c.py#other", "web:src/b.py#logout"]]


def test_leaving_early(terminal: Migrate, moved: tuple[Path, str, str]) -> None:
    """Rejecting and quitting change no byte of the file."""
    file = moved[0] / "questions.jsonl"
    before = file.read_bytes()
    one = terminal()
    one.expect(PROMPT)
    one.type("r\n")
    one.expect(PROMPT)
    one.type("q\n")
    assert one.end() == (0, "data/questions.jsonl: 0 questions changed\n")
    assert file.read_bytes() == before


def test_a_question_that_changes_meanwhile(terminal: Migrate, moved: tuple[Path, str, str]) -> None:
    """A change to the file during the questions isn't overwritten."""
    file = moved[0] / "questions.jsonl"
    one = terminal()
    one.expect(PROMPT)
    file.write_text(file.read_text().replace("Who?", "Who is it?"))
    before = file.read_bytes()
    for _ in range(2):
        one.type("a\n")
    one.expect("the question was changed meanwhile")
    assert one.end()[0] == 2
    assert file.read_bytes() == before


def test_nobody_to_ask(moved: tuple[Path, str, str], tmp_path: Path) -> None:
    """Without a terminal nothing changes, and it ends with 2; --dry-run and --json list the proposals."""
    file = moved[0] / "questions.jsonl"
    before = file.read_bytes()
    assert "there is no terminal to ask in" in migrate(tmp_path, code=2).err
    listed = migrate(tmp_path, "--dry-run").out.splitlines()
    assert listed[0].endswith("100 % similar (certain; q1, q2)")
    assert listed[1].endswith("97 % similar (to be checked; q2)")
    reported = migrate(tmp_path, "--json").object()
    assert reported["to"] == {"web": moved[2]}
    assert [change["old"] for change in reported["proposed"]] == ["web:src/auth.py", "web:src/other.py"]
    assert (reported["accepted"], reported["changed"]) == (0, [])
    assert "exclude each other" in migrate(tmp_path, "--yes", "--dry-run", code=2).err
    assert file.read_bytes() == before


def test_yes_takes_what_is_certain(moved: tuple[Path, str, str], tmp_path: Path) -> None:
    """--yes accepts only files with the same content; a question that also names another stays unchanged."""
    folder, _, target = moved
    before = rows(folder)
    reported = migrate(tmp_path, "--yes", "--json").object()
    assert (reported["accepted"], reported["changed"]) == (1, ["q1"])
    assert reported["unsettled"] == {"q2": ["web:src/other.py#other"]}
    after = rows(folder)
    assert after[0]["commits"] == {"web": target}
    assert after[1] == before[1]


def test_yes_that_takes_nothing_says_why(web: Clone, tmp_path: Path) -> None:
    """Each uncertain change is listed with its doubt: changed content, twins, a symbol found by name."""
    web.write("a/x.py", "# one\n")
    web.write("b/x.py", "# one\n")
    pin = web.commit()
    web.move("src/other.py", "src/c.py")
    web.write("src/c.py", "def other():\n    return 1\n" * 10 + "# more\n")
    web.move("a/x.py", "c/x.py")
    web.move("b/x.py", "d/x.py")
    web.write("src/auth.py", CODE.replace("def login(user):\n    return user\n", ""))
    web.write("src/entry.py", "def login(user):\n    return user\n")
    new = web.commit()
    names = ("web:src/other.py#other", "web:a/x.py", "web:src/auth.py#login")
    artifacts = [{"id": name, "commit": new} for name in ("web:src/entry.py#login", "web:src/c.py#other", "web:c/x.py")]
    folder = data(tmp_path, question(pin, *names), artifacts=artifacts)
    before = rows(folder)
    done = migrate(tmp_path, "--yes")
    found_at = f"renamed at {new[:10]}"
    assert [line for line in done.err.splitlines() if line.startswith(("not certain", "note: --yes"))] == [
        f"not certain: web:a/x.py -> web:c/x.py: {found_at}, 100 % similar, "
        "but other files of the same content came or went",
        "not certain: web:src/auth.py#login -> web:src/entry.py#login: the dataset's artifacts have this symbol there, "
        "but only the name of the symbol matches",
        f"not certain: web:src/other.py -> web:src/c.py: {found_at}, 97 % similar, but its content has changed",
        "note: --yes accepts nothing: nothing is certain; run it in a terminal without --yes to decide",
    ]
    assert done.out == "data/questions.jsonl: 0 questions changed\n"
    assert rows(folder) == before


def test_nothing_moved(web: Clone, tmp_path: Path) -> None:
    """If nothing moved, nothing is asked."""
    pin = web.commit()
    web.commit()
    data(tmp_path, question(pin, "web:src/auth.py", "api:x"))
    done = migrate(tmp_path)
    assert "nothing that gold names was renamed or moved" in done.err
    assert done.out == "data/questions.jsonl: 0 questions changed\n"


def test_a_hostile_repository(web: Clone, tmp_path: Path) -> None:
    """Names with line breaks and colours don't control the terminal, and no program of the repository runs."""
    pin = web.commit()
    web.move("src/auth.py", "src/\x1b[31m\n.py")
    web.commit()
    program = tmp_path / "ran.sh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    for key in ("diff.external", "core.fsmonitor", "gpg.program", "core.pager"):
        subprocess.run(["git", "config", key, str(program)], cwd=web.folder, check=True)
    data(tmp_path, question(pin, "web:src/auth.py", "api:x"))
    listed = migrate(tmp_path, "--dry-run").out
    assert "\x1b" not in listed
    assert "\\u001b[31m" in listed
    assert not (tmp_path / "ran").exists()
