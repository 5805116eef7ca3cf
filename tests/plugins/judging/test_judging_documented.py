"""Judging as docs/judging.md shows it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.helpers import ROOT
from tests.helpers.cli import Graph, inside


def test_judging_the_storefront(tmp_path: Path, graph: Graph) -> None:
    """The fixture is graded and its judge checked by the page alone, with the recorded grades of a person."""
    page = (ROOT / "docs" / "judging.md").read_text(encoding="utf-8")
    section = page.split("## Try it on the storefront\n")[1].split("\n## ")[0]
    lines = [line.split("  ")[0].split() for line in re.findall(r"^    (\S.*)$", section, re.MULTILINE)]
    reported = {}
    for command in lines:
        assert command[0] == "graphkit"
        gate = "--min-kappa" in command
        # Of 38 answers 20 are graded alike (sf-39 has no gold to judge by): weighted kappa is .2948, and its interval
        # begins at .010: no 0.6.
        done = inside(*command[1:], cwd=tmp_path, env=graph.env, code=int(gate))
        reported["gate" if gate else " ".join(command[1:3] if command[1] == "judge" else command[1:2])] = (
            done.out + done.err
        )
    assert list(reported) == [
        "grade",
        "failures",
        "judge spot-check",
        "judge consistency",
        "judge bias",
        "gate",
        "report",
    ]
    assert "judged by lexical" in reported["grade"]
    assert "unsupported" in reported["failures"].lower()
    assert re.search(r"agreement +0\.5263 ", reported["judge spot-check"])
    assert "inflation: judge minus person" in reported["judge spot-check"]
    assert "calibrated (PPI++)" in reported["judge spot-check"]
    assert re.search(r"RubricGrade +3 +1\.000", reported["judge consistency"])
    assert {"swapped", "padded"} <= set(reported["judge bias"].split())
    assert "kappa is 0.295, its interval over 38 answers begins at 0.010, under 0.6" in reported["gate"]
    assert "Verdicts on the answer" in (tmp_path / "judged.html").read_text()
