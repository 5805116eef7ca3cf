"""Scores by others and a measure of one's own on the storefront, as docs/scores.md shows them, from file to page."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.helpers import ROOT
from tests.helpers.archives import deflated
from tests.helpers.cli import Done, Graph, write_lines
from tests.helpers.cli import inside as graphkit
from tests.helpers.datasets import STOREFRONT, read_jsonl
from tests.helpers.pages import Page

PAGE = (ROOT / "docs" / "scores.md").read_text(encoding="utf-8")
WALK = PAGE.partition("\n## graphkit ")[0]  # what follows says more of single commands
COMMANDS = [shlex.split(line) for line in re.findall(r"^    graphkit (.*)$", WALK, re.MULTILINE)]
RUNS = ("storefront-bm25", "storefront-graph-v2")


def judged() -> list[dict[str, object]]:
    """Return what another tool gave each answer of two runs: the second run is better by both measures.

    Groundedness is 0.25 and 0.75; FactualCorrectness 0.5, and 1 where the number of the question is even: 0.75.
    """
    questions = [str(row["id"]) for row in read_jsonl(STOREFRONT / "questions.jsonl")]
    by = {"grader": "our-judge", "version": "3"}
    rows: list[dict[str, object]] = []
    for place, run in enumerate(RUNS):
        for name in questions:
            right = 1.0 if place and int(name[-2:]) % 2 == 0 else 0.5
            rows.append({"run": run, "question": name, "measure": "Groundedness", "value": 0.25 + place / 2, **by})
            rows.append({"run": run, "question": name, "measure": "FactualCorrectness", "value": right, **by})
    return rows


def _write_logs_of_others(folder: Path) -> None:
    """Write a log of Inspect with a scorer's letter, and results of promptfoo with a score, each of one question."""
    sample = {
        "id": "sf-02",
        "epoch": 1,
        "input": "?",
        "messages": [],
        "output": {},
        "scores": {"match": {"value": "P"}},
    }
    header = {"version": 2, "status": "success", "eval": {"packages": {"inspect_ai": "0.3"}}}
    members = {"header.json": header, "samples/sf-02_epoch_1.json": sample}
    (folder / "logs").mkdir()
    deflated(folder / "logs" / "graph.eval", {name: json.dumps(one).encode() for name, one in members.items()})
    component = {"pass": False, "score": 0.25, "assertion": {"type": "javascript"}}
    test = {"vars": {"question_id": "sf-02"}, "score": 0.25, "gradingResult": {"componentResults": [component]}}
    (folder / "results.json").write_text(json.dumps({"results": {"results": [test]}}))


@pytest.fixture
def done(tmp_path: Path, graph: Graph) -> dict[str, list[Done]]:
    """Every command of the page, run in its order; by the name of the command."""
    shutil.copytree(STOREFRONT, tmp_path / "storefront", ignore=shutil.ignore_patterns("*.py", "history"))
    write_lines(tmp_path / "judged.jsonl", judged())
    _write_logs_of_others(tmp_path)
    own = (ROOT / "docs" / "own-measures.md").read_text(encoding="utf-8")
    (tmp_path / "my_measures.py").write_text(own.partition("```python\n")[2].partition("```")[0])
    found: dict[str, list[Done]] = {}
    for words in COMMANDS:
        json_too = ["--json"] if words[0] != "report" else []
        result = graphkit(*words, *json_too, cwd=tmp_path, env=graph.env, code=0)
        found.setdefault(words[0], []).append(result)
    return found


def test_page(done: dict[str, list[Done]], tmp_path: Path) -> None:
    """Both scores reach the layers, a gate, the files, the page, the graph and the comparison."""
    evaluated = done["evaluate"][0].object()
    card = evaluated["scorecard"]
    generation = card["layers"][2]
    # .35 of FactualCorrectness, .5 for 20 and 1 for 19 questions, and .35 of Groundedness .75, over the .70 of the
    # weights that are scored.
    assert (generation["score"], generation["coverage"]) == (pytest.approx((29 / 39 + 0.75) / 2), pytest.approx(0.7))
    assert not card["partial"]
    alerts = {alert["measure"] for alert in card["alerts"]}
    assert "Groundedness" in alerts  # 0.75 is under its severe threshold, 0.8
    assert "FactualCorrectness" not in alerts  # 29 / 39 is over its, 0.7
    written = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert {row["grader"] for row in written if row["measure"] == "Groundedness"} == {"our-judge"}
    summary = Page((tmp_path / "report.html").read_text("utf-8")).json("summary")
    assert {"Groundedness", "FactualCorrectness"} <= {one["name"] for one in summary["measures"]}
    assert done["load-scores"][0].object() == dict.fromkeys(RUNS, 2 * 39)
    imported = [json.loads((tmp_path / f"{tool}.scores.jsonl").read_text()) for tool in ("inspect", "promptfoo")]
    assert [(one["question"], one["measure"], one["value"]) for one in imported] == [
        ("sf-02", "match", 0.5),  # P is half right
        ("sf-02", "promptfoo", 0.25),
    ]
    results = {one["measure"]: one for one in done["compare"][0].object()["groups"][0]["measures"]}
    assert (results["Groundedness"]["first"], results["Groundedness"]["second"]) == (0.25, 0.75)
    # Of the 39 questions, the 19 even ones are better by FactualCorrectness, the others equal.
    assert (results["FactualCorrectness"]["wins"], results["FactualCorrectness"]["losses"]) == (19, 0)
    assert {row["a.run"] for row in done["query"][0].objects()} == {RUNS[0]}
    assert set(done["evaluate"][-1].object()["measures"]) >= {"my_measures:Detour", "Groundedness"}


def test_gates_of_the_page_can_break(tmp_path: Path) -> None:
    """The gates that the page shows fail where their bounds aren't met: one over a floor, one under a ceiling."""
    shutil.copytree(STOREFRONT, tmp_path / "storefront", ignore=shutil.ignore_patterns("*.py", "history"))
    write_lines(tmp_path / "judged.jsonl", judged())
    own = (ROOT / "docs" / "own-measures.md").read_text(encoding="utf-8")
    (tmp_path / "my_measures.py").write_text(own.partition("```python\n")[2].partition("```")[0])
    gated = [words for words in COMMANDS if "--fail-under" in words or "--fail-over" in words]
    assert len(gated) == 2
    for words in gated:
        changed = [re.sub(r"(Groundedness)=.*", r"\1=0.9", re.sub(r"(Detour)=.*", r"\1=0.01", word)) for word in words]
        reported = graphkit(*changed, "--no-store", cwd=tmp_path, code=1).err
        assert "Groundedness is 0.7500, under 0.9" in reported or "my_measures:Detour is" in reported
