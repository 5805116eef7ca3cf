"""The blocks of the README, and a shell in which they run as a reader would type them."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.helpers import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
#: The blocks of the README in their order: the language of each and its text.
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Shell:
    """A folder, empty at first, in which scripts run with some variables."""

    folder: Path
    env: Mapping[str, str]

    def __call__(self, script: str, code: int = 0) -> str:
        """Run a script to its end and return what it printed."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == code, f"exit code {done.returncode}\n{script}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr


def run_blocks(shell: Shell, wheel: Path) -> None:
    """Run each block as it stands, one after another, and check that it does what the text beside it says."""
    run = {"python": _python, "bash": _bash, "yaml": _gate, "cypher": _cypher}
    assert sorted(language for language, _ in BLOCKS) == sorted(run)
    assert shell('python -c "import graphkit; print(graphkit.__file__)"').startswith(shell.env["VIRTUAL_ENV"])
    for language, text in BLOCKS:
        run[language](shell, text, wheel)


def _python(shell: Shell, text: str, _: Path) -> None:
    """Run five lines on the fixture, which explain the failure of the picture."""
    assert len([line for line in text.splitlines() if line]) == 5
    (shell.folder / "five_lines.py").write_text(text)
    out = shell("python five_lines.py")
    for name in ("sf-04", "api:api/sessions.py#open_session", "api:api/sessions.py#sweep"):
        assert name in out


def _bash(shell: Shell, text: str, _: Path) -> None:
    """Run six commands on data of one's own."""
    assert len(re.findall(r"^graphkit ", text, re.MULTILINE)) == 6
    out = shell(text)
    # The only traversal has one of the two gold edges, and stops at api:auth.py.
    assert re.search(r"EdgeRecall\D+0\.50", out)
    assert "schema:users.sql" in out
    assert (shell.folder / "report.html").stat().st_size > 10_000


def _gate(shell: Shell, text: str, wheel: Path) -> None:
    """Run the gate on the data of the block before: a recall of 0.5 and a precision of 1 are an F1 of 0.67."""
    install, gate = re.findall(r"^- run: (.*)$", text, re.MULTILINE)
    assert install == f"pip install {wheel.name}"
    assert "EdgeF1 is 0.6667, under 0.7" in shell(gate, code=1)


def _cypher(shell: Shell, text: str, _: Path) -> None:
    """Ask the database of the blocks before: of the gold edges, the one from api to schema was missed."""
    out = shell(f"graphkit query -e {shlex.quote(text)}")
    assert re.search(r"api +QUERIES +schema +1\b", out)
    assert "1 row" in out
