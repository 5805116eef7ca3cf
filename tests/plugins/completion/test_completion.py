"""``graphkit completion`` in the real shells."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.helpers.cli import environment, inside
from tests.helpers.invocations import commands

#: What is typed before the Tab, and what completes it, the only possibility.
TYPED = {
    "graphkit evalu": "graphkit evaluate",
    "graphkit import langc": "graphkit import langchain",
    "graphkit evaluate --eng": "graphkit evaluate --engine",
    "graphkit evaluate --engine cy": "graphkit evaluate --engine cypher",
    "graphkit evaluate --run load --no-st": "graphkit evaluate --run load --no-store",
    "graphkit db remove dat": "graphkit db remove dataset",
    "graphkit evaluate @storefront-c": "graphkit evaluate @storefront-code",
    "graphkit report my-d": "graphkit report my-data.jsonl",
}
START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source ./completion"),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -D -u; source ./completion"),
}


@pytest.fixture(params=["bash", "zsh", "fish"])
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return a shell that is installed, with its script saved as ``completion``."""
    name = str(request.param)
    if shutil.which(name) is None:
        pytest.skip(f"{name} isn't installed")
    (tmp_path / "completion").write_text(inside("completion", name, cwd=tmp_path, code=0).out)
    (tmp_path / "my-data.jsonl").touch()
    return name


def test_in_a_shell(shell: str, tmp_path: Path) -> None:
    """A Tab completes commands, options, their values and bundled datasets; elsewhere files."""
    if shell == "fish":
        assert {typed: _in_fish(typed, tmp_path) for typed in TYPED} == TYPED
    else:
        assert _typed(shell, tmp_path) == list(TYPED.values())


def _in_fish(typed: str, folder: Path) -> str:
    """Return what fish completes a line to."""
    program = "source ./completion; complete -C $argv[1]"
    done = subprocess.run(
        ["fish", "--no-config", "-c", program, typed], cwd=folder, capture_output=True, text=True, check=True
    )
    [found] = [line.partition("\t")[0] for line in done.stdout.splitlines()]
    return typed.rpartition(" ")[0] + " " + found


def _typed(shell: str, folder: Path) -> list[str]:
    """Type each line with a Tab in a terminal, and return what stands there: it is printed instead of run."""
    words, source = START[shell]
    master, slave = pty.openpty()
    process = subprocess.Popen(
        words,
        cwd=folder,
        env={**environment(), "TERM": "dumb", "PS1": "> ", "HOME": str(folder)},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    lines = [f"{source}; echo read''y\r"]
    # Ctrl-A goes to the beginning of the line, where it becomes the argument of echo.
    lines += [f"{typed}\t\x01echo is: \r" for typed in TYPED]
    said = ""
    try:
        for number, line in enumerate(lines):
            os.write(master, line.encode())
            said = _until(master, said, number, ready="ready")
    finally:
        process.kill()
        process.wait()
        os.close(master)
    found = [line.strip() for line in said.replace("\r", "\n").split("\n")]
    return [line.removeprefix("is: ").rstrip() for line in found if line.startswith("is: ")]


def _until(master: int, said: str, count: int, ready: str) -> str:
    """Read until a shell has answered so many lines."""
    end = time.monotonic() + 60
    while ready not in said or said.count("\nis: ") < count:
        readable, _, _ = select.select([master], [], [], max(0.0, end - time.monotonic()))
        assert readable, said
        said += os.read(master, 4096).decode(errors="replace")
    return said


def test_every_command_is_in_it(tmp_path: Path) -> None:
    """Each script holds every command with its options; another shell is refused."""
    for shell in ("bash", "zsh", "fish"):
        text = inside("completion", shell, cwd=tmp_path, code=0).out
        for words, command in commands().items():
            assert f"'{' '.join(words)}'" in text
            for one in command.params:
                assert one.param_type_name != "option" or one.opts[0].lstrip("-") in text
        assert inside("completion", shell, "--json", cwd=tmp_path, code=0).object() == {"shell": shell, "script": text}
    assert "zsh" in inside("completion", "csh", cwd=tmp_path, code=2).err
