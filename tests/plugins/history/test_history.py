"""Evaluations over time: their order, the change since the last comparable one, and the gate against a median."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.history.evaluation_history import Entry, fail_on_drop, sparkline, with_changes
from graphkit.records.option_values import Drop
from tests.helpers import engines
from tests.helpers.cli import ANSWERS, QUESTIONS, Graph, inside, tiny, write_lines

DAY = 86_400

FIRST = Entry(
    "r", "1.json", "2026-01-01", False, "1", "c1", None, "g", 10, 0, 0, "worst", {"EdgeRecall": 0.6, "latency_ms": 5.0}
)

DROP = Drop("EdgeRecall", 0.05)


def entry(number: int, value: float, **changed: Any) -> Entry:
    """Return the evaluation of a day at a commit of its own."""
    about = {"at": f"2026-01-{number:02}", "commit": f"c{number}", "values": {"EdgeRecall": value}}
    return dataclasses.replace(FIRST, **about | changed)


def held(*entries: Entry, last: int = 10, drop: Drop = DROP) -> tuple[bool, str]:
    """Return whether the gate of the latest entry passes, and what it says."""
    [found] = fail_on_drop(entries, [drop], last)
    return found.passed, found.what


def test_the_median_of_the_last_ones() -> None:
    """.5 .6 .7 .9 have the median .65, and the last three .7: .64 is .01 and .06 below."""
    earlier = [entry(number, value) for number, value in enumerate((0.5, 0.6, 0.7, 0.9), 1)]
    assert held(*earlier, entry(5, 0.64)) == (
        True,
        "EdgeRecall is 0.6400, 0.0100 worse than the median 0.6500 of the last 4 (10 asked for)",
    )
    assert held(*earlier, entry(5, 0.64), last=3) == (
        False,
        "EdgeRecall is 0.6400, 0.0600 worse than the median 0.7000 of the last 3",
    )
    assert held(*earlier, entry(5, 0.65), last=3)[0]  # at the bound


def test_other_gold_and_options_are_left_out_by_name() -> None:
    """An evaluation by other gold, of fewer questions or with other options isn't compared; alone it fails."""
    other = [entry(1, 0.1, gold_hash="h"), entry(2, 0.1, failed_as="unscored"), entry(3, 0.1, questions=9)]
    passed, what = held(*other, entry(4, 0.9), entry(5, 0.5))
    assert not passed
    assert "of the last evaluation (10 asked for); left out: 1 evaluation by other gold (h)" in what
    assert "2 evaluations of other questions or with other options" in what
    passed, what = held(*other, entry(5, 0.5))
    assert (passed, what.partition(";")[0]) == (False, "there is no earlier evaluation of r by gold g to compare with")


def test_a_repeated_evaluation_counts_once() -> None:
    """A bad run that is evaluated again and again doesn't become the median: .8 .8 and .2 have .8."""
    bad = [entry(number, 0.2, commit="bad") for number in range(3, 9)]
    assert not held(entry(1, 0.8), entry(2, 0.8, commit="c2"), *bad, entry(9, 0.2, commit="c9"))[0]
    # The latest one itself is no evidence of what was before.
    assert not held(entry(1, 0.8), entry(2, 0.2, commit="x"), entry(3, 0.2, commit="x"), entry(4, 0.2, commit="x"))[0]


def test_a_steady_system_counts_each_time() -> None:
    """Ten equal evaluations and three bad ones: the median of the last ten is that of seven 1.0 and two .4 and .3."""
    steady = [entry(number, 1.0, commit=None) for number in range(1, 11)]
    bad = [entry(11, 0.4, commit=None), entry(12, 0.3, commit=None)]
    passed, what = held(*steady, *bad, entry(13, 0.2, commit=None))
    assert (passed, what) == (False, "EdgeRecall is 0.2000, 0.8000 worse than the median 1.0000 of the last 10")
    assert held(*steady, entry(11, 1.0, commit=None)) == (
        True,
        "EdgeRecall is 1.0000, 0.0000 off the median 1.0000 of the last 10",
    )


def test_two_latest_evaluations_pass_no_gate() -> None:
    """With one time for both, as SOURCE_DATE_EPOCH gives, the better one isn't taken for the latest."""
    passed, what = held(entry(1, 0.9), entry(2, 0.1, where="b.json"), entry(2, 0.9, where="c.json"))
    assert not passed
    assert what == "which evaluation is the latest is unclear: c.json and b.json have the same time, 2026-01-02"


def test_a_measure_that_is_gone_fails() -> None:
    """What the latest evaluation lacks can't have become worse, and doesn't pass."""
    gone = entry(2, 0.0, values={"RR": 1.0})
    assert held(entry(1, 0.8), gone) == (False, "EdgeRecall: the latest evaluation lacks it")
    outcomes = fail_on_drop([entry(1, 0.8), gone], [Drop(None, 0.05)], 10)
    assert [(one.measure, one.passed) for one in outcomes] == [("EdgeRecall", False)]


def test_lower_is_better_where_the_measure_says_so() -> None:
    """A hallucination rate that rises from .1 to .3 drops by .2."""
    entries = [entry(1, 0.0, values={"HallucinationRate": 0.1}), entry(2, 0.0, values={"HallucinationRate": 0.3})]
    assert not held(*entries, drop=Drop("HallucinationRate", 0.1))[0]
    assert held(*reversed(entries), drop=Drop("HallucinationRate", 0.1))[0]


def test_changes_and_systems() -> None:
    """Each evaluation changes since the last comparable one of its system; repetitions are one system."""
    entries = with_changes([entry(1, 0.5), entry(2, 0.9, run="other"), entry(3, 0.1, gold_hash="h"), entry(4, 0.75)])
    assert [one.changes for one in entries] == [{}, {}, {}, {"EdgeRecall": 0.25}]
    assert entries[3].since == "2026-01-01"
    assert entry(1, 0.5, run="r@2").system == "r"


def test_sparkline() -> None:
    """The lowest value is the lowest bar, and the highest the highest."""
    assert sparkline([0.0, 0.5, None, 1.0]) == "▁▅ █"
    assert sparkline([0.7, 0.7]) == "▄▄"
    assert sparkline([]) == ""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three evaluations, a day apart: of the run (EdgeRecall .75), without its walks (0), and by gold without q2."""
    run = tiny(tmp_path / "d")
    (tmp_path / "kept").mkdir()
    for number in (2, 1, 3):  # not in the order of time
        if number == 3:
            write_lines(tmp_path / "d" / "questions.jsonl", [{**QUESTIONS[0], "category": "x"}])
        records = ANSWERS if number != 2 else [{**one, "traversal": []} for one in ANSWERS]
        write_lines(run, records if number != 3 else records[:1])
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(number * DAY))
        out = tmp_path / "kept" / f"{'cba'[number - 1]}.json"
        inside("evaluate", run, "--no-store", "-m", "EdgeRecall", "-o", out, cwd=tmp_path, code=0)
    (tmp_path / "kept" / "other.json").write_text('{"a": 1}')
    return tmp_path


def test_the_history_of_a_folder(kept: Path) -> None:
    """Evaluations stand in the order of their times, each with gold, version, layers and change."""
    rows = inside("history", "kept", "--json", cwd=kept, code=0).objects()
    assert [row["at"][:10] for row in rows] == ["1970-01-02", "1970-01-03", "1970-01-04"]
    assert rows[0]["gold_hash"] == rows[1]["gold_hash"] != rows[2]["gold_hash"]
    assert rows[1]["changes"]["EdgeRecall"] == -rows[0]["values"]["EdgeRecall"]
    assert rows[2]["changes"] == {}
    assert rows[0]["layers"].keys() == {"retrieval", "reasoning", "generation", "overall"}
    shown = inside("history", "kept", cwd=kept, code=0)
    assert "3 evaluations" in shown.out
    assert "r  EdgeRecall  █▁" in shown.out


def test_the_gate_of_a_folder(kept: Path) -> None:
    """The latest evaluation is by gold that no earlier one has; without it, the second lost everything."""
    gate = ("--fail-on-drop", "EdgeRecall=0.05")
    done = inside("history", "kept", *gate, cwd=kept, code=1)
    assert "no earlier evaluation of r by gold" in done.err
    assert "left out: 2 evaluations by other gold" in done.err
    done = inside("history", "kept/b.json", "kept/c.json", "--run", "r", *gate, "--json", cwd=kept, code=1)
    assert done.objects()[-1]["gate"]["passed"] is False
    assert "0.0000, " in inside("history", "kept/b.json", "kept/c.json", *gate, cwd=kept, code=1).err


def test_results_folders_and_those_of_earlier_versions(kept: Path) -> None:
    """A results folder is an evaluation, too; a file that doesn't say when it was made has the time of the file."""
    pytest.importorskip("pyarrow")
    inside("evaluate", "d/runs/r.jsonl", "--no-store", "-m", "EdgeRecall", "-o", "kept/folder", cwd=kept, code=0)
    old = json.loads((kept / "kept" / "c.json").read_text())
    del old["made"]
    (kept / "kept" / "c.json").write_text(json.dumps(old))
    done = inside("history", "kept", "--json", cwd=kept, code=0)
    assert len(done.objects()) == 4
    assert "note: 1 evaluation of an earlier graphkit: the time is that of the file" in done.err


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (("d",), "there are no results here"),
        (("d/questions.jsonl",), "the file holds no results of graphkit"),
        (("gone.json",), "gone.json: there is no such file"),
        (("kept", "--run", "x"), "no evaluation is of the run 'x'"),
        (("kept", "-m", "RR"), "no evaluation has the measure 'RR'"),
    ],
)
def test_mistakes(words: tuple[str, ...], reported: str, kept: Path) -> None:
    """What holds no results is said in words."""
    assert reported in inside("history", *words, cwd=kept, code=2).err


def test_the_history_of_the_graph(graph: Graph, tmp_path: Path) -> None:
    """Without results, the runs of the graph are listed by the time of their loading; a gate needs results."""
    engines.empty(graph.store)
    assert "no evaluation yet" in inside("history", cwd=tmp_path, env=graph.env, code=2).err
    run = tiny(tmp_path / "d")
    inside("evaluate", run, "-m", "EdgeRecall", "-o", "r.json", cwd=tmp_path, env=graph.env, code=0)
    [row] = inside("history", "--json", cwd=tmp_path, env=graph.env, code=0).objects()
    [same] = inside("history", "r.json", "--json", cwd=tmp_path, code=0).objects()
    assert row["where"] == "graph"
    assert (row["run"], row["gold_hash"], row["values"]) == (same["run"], same["gold_hash"], same["values"])
    done = inside("history", "--fail-on-drop", "0.1", cwd=tmp_path, env=graph.env, code=2)
    assert "no gate is held there" in done.err


def test_the_page_draws_it(kept: Path) -> None:
    """The page has a dot for each evaluation: of three, two are joined, and these don't compare with the latest."""
    inside("report", "d/runs/r.jsonl", "--history", "kept", "-o", "page.html", cwd=kept, code=0)
    page = (kept / "page.html").read_text()
    section = page[page.index('id="h-history"') : page.index("</section>", page.index('id="h-history"'))]
    assert (section.count("<circle"), section.count('class="beaten"'), section.count('class="interval"')) == (3, 2, 1)
    # EdgeRecall is .75, so a quarter below the top, then 0, at the bottom and in the middle of the width.
    assert '<line class="interval" x1="0.0%" y1="25.0%" x2="50.0%" y2="100.0%"/>' in section
    inside("report", "d/runs/r.jsonl", "-o", "page.html", cwd=kept, code=0)
    assert "h-history" not in (kept / "page.html").read_text()


def test_a_date_in_the_future_is_said(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An evaluation of the year 2100 would be the latest for long."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(130 * 366 * DAY))
    inside("evaluate", "d/runs/r.jsonl", "--no-store", "-m", "RR", "-o", "kept/z.json", cwd=kept, code=0)
    assert "note: 1 evaluation dated in the future" in inside("history", "kept", cwd=kept, code=0).err
