"""The pytest plugin's second run, which decides by the record, beside pytest with as many empty tests."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

from benchmarks.processes import Usage, measure
from benchmarks.results import Line, spaced, write

QUESTIONS = 10_000

#: A tenth of the questions fail, and each run has another threshold.
_TESTS = """
import pytest

def answer(question):
    number = int(question.id[1:])
    end = f"web:c{number}.ts" if number % 10 else "web:elsewhere.ts"
    walk = [[f"web:a{number}.ts", "CALLS", f"web:b{number}.ts"], [f"web:b{number}.ts", "CALLS", end]]
    return {"answer": "?", "retrieved": [], "traversal": walk}

@pytest.mark.graphkit("dataset", system=answer)
def test_answers():
    pass
"""
_EMPTY = f"""
import pytest

@pytest.mark.parametrize("number", range({QUESTIONS}))
def test_empty(number):
    pass
"""


def main(folder: Path, repeats: int, large: bool, save: bool) -> list[Line]:
    """Record once, then measure the two sides in turns."""
    project = folder / "deciding"
    _write(project)
    first = _pytest(project, "test_questions.py", "--graphkit-record-again", "--graphkit-fail-under", "EdgeRecall=0.5")
    deciding, alone, empty = [], [], []
    for number in range(repeats):
        threshold = ("--graphkit-fail-under", f"EdgeRecall=0.{number + 51}")
        deciding.append(_pytest(project, "test_questions.py", *threshold))
        alone.append(_pytest(project, "test_questions.py", *threshold, "-k", "threshold"))
        empty.append(_pytest(project, "test_empty.py"))
    value, few, floor = (median(one.cpu for one in some) for some in (deciding, alone, empty))
    what = f"{spaced(QUESTIONS)} questions"
    beside = f"pytest, {spaced(QUESTIONS)} empty tests"
    more = value - floor
    lines = [
        Line(f"{what}, first run", f"{first.cpu:.2f} s", beside, f"{floor:.2f} s", f"{first.cpu - floor:+.2f} s"),
        Line(
            f"{what}, second run, another threshold",
            f"{value:.2f} s",
            beside,
            f"{floor:.2f} s",
            f"{more:+.2f} s",
            "at most 2 s more",
            more <= 2,
        ),
        Line(
            f"{what}, another threshold alone",
            f"{few:.2f} s",
            beside,
            f"{floor:.2f} s",
            f"{few - floor:+.2f} s",
            "at most 2 s in all",
            few <= 2,
        ),
    ]
    if save:
        write("Deciding in pytest", f"Processor time (user and system), median of {repeats} in turns.", lines)
    return lines


def _write(project: Path) -> None:
    (project / "dataset").mkdir(parents=True, exist_ok=True)
    with (project / "dataset" / "questions.jsonl").open("w", encoding="utf-8") as file:
        for number in range(QUESTIONS):
            nodes = [f"web:{part}{number}.ts" for part in "abc"]
            pairs = zip(nodes, nodes[1:], strict=False)
            steps = [{"source": source, "relation": "CALLS", "target": target} for source, target in pairs]
            question = {"id": f"q{number}", "question": "Whom does it call?", "paths": [{"id": "p", "steps": steps}]}
            file.write(json.dumps(question) + "\n")
    (project / "test_questions.py").write_text(_TESTS, encoding="utf-8")
    (project / "test_empty.py").write_text(_EMPTY, encoding="utf-8")
    (project / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    # A failed question ends pytest with 1, which is no failure of the measurement.
    (project / "started.py").write_text("import sys\nimport pytest\nassert pytest.main(sys.argv[1:]) in (0, 1)\n")


def _pytest(project: Path, *arguments: str) -> Usage:
    # Plugins of others may be installed beside graphkit.
    others = [word for name in ("xdist", "hypothesispytest", "anyio") for word in ("-p", f"no:{name}")]
    options = ("-q", "--tb=no", "-r", "N", *others, "--rootdir", str(project), "-c", str(project / "pytest.ini"))
    file, *more = arguments
    return measure((str(project / "started.py"), str(project / file), *options, *more))
