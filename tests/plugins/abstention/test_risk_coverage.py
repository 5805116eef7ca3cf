"""Figures of a whole run: F1, and the curve of risk and coverage."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import pairwise, permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.analysis.file_failures import RunOnFiles
from graphkit.measures.declining import declines
from graphkit.plugins.abstention.risk_coverage import Answered, abstention_figures, aurc, risks
from tests.helpers import ROOT
from tests.helpers.cli import inside
from tests.helpers.datasets import write_jsonl
from tests.plugins.abstention.worlds import QUESTIONS, record, small_world


def test_worked_case(tmp_path: Path) -> None:
    """The small world: one of two rightly declined, two declined of four, one wrong of two answers."""
    found = abstention_figures(RunOnFiles.read(small_world(tmp_path / "world")))
    assert (found.questions, found.known, found.read) == (6, 4, 2)
    assert (found.unanswerable, found.declined, found.rightly) == (2, 2, 1)
    assert found.f1.value == 2 * 1 / (2 + 2)
    # The answers are plain (right, 0.9) and false-premise (wrong, 0.8): no risk at the first, a half at both.
    assert (found.decided, found.risk.value, found.aurc.value) == (2, 1 / 2, (0 + 1 / 2) / 2)
    assert [*found.curve] == [(1 / 2, 0.0), (1.0, 1 / 2)]


def test_an_answer_without_a_confidence_leaves_no_curve(tmp_path: Path) -> None:
    """One decided answer that states none has no place, so that there is no area, and that is said."""
    write_jsonl(tmp_path / "questions.jsonl", QUESTIONS)
    records = [record("plain", answer="auth.py", confidence=0.5), record("second", answer="auth.py")]
    found = abstention_figures(RunOnFiles.read(write_jsonl(tmp_path / "runs" / "mixed.jsonl", records)))
    assert (found.aurc.value, found.aurc.reason, found.curve) == (None, "1 decided answer without a confidence", ())


ANSWERS = st.lists(st.builds(Answered, st.sampled_from((0.1, 0.5, 0.9)), st.booleans()), max_size=6)


@given(ANSWERS, st.randoms(use_true_random=False))
def test_ties_count_as_the_mean_over_all_orders(answers: list[Answered], dice: random.Random) -> None:
    """The risks of answers with equal confidences are the means over every order of them, whatever theirs is."""
    if not answers:
        assert aurc(answers) is None
        return
    # An independent count: all orders of all answers that go from high to low, each with the risks of plain prefixes.
    orders = [one for one in permutations(answers) if all(x.confidence >= y.confidence for x, y in pairwise(one))]
    areas, columns = [], []
    for order in orders:
        columns.append([Fraction(sum(one.wrong for one in order[:n]), n) for n in range(1, len(order) + 1)])
        areas.append(sum(columns[-1], Fraction(0)) / len(order))
    means = [float(sum(column, Fraction(0)) / len(orders)) for column in zip(*columns, strict=True)]
    assert risks(answers) == pytest.approx(means, abs=1e-12)
    assert aurc(answers) == pytest.approx(float(sum(areas, Fraction(0)) / len(orders)), abs=1e-12)
    shuffled = dice.sample(answers, len(answers))
    assert (risks(shuffled), aurc(shuffled)) == (risks(answers), aurc(answers))


def test_the_command_prints_and_gives_json(tmp_path: Path) -> None:
    """The table has a column a run, and JSON has the figures of the library."""
    file = small_world(tmp_path / "world")
    done = inside("abstention", file, cwd=tmp_path)
    assert done.code == 0
    assert "declined without an answer   1 of 2" in done.out
    assert "doubtful in 2 answers: whether it declines is read from the words" in done.err
    found = json.loads(inside("abstention", file, "--json", cwd=tmp_path).out)
    assert (found["f1"]["value"], found["aurc"]["value"]) == (0.5, 0.25)


def test_another_principal_asks(tmp_path: Path) -> None:
    """Somebody who may not read what the only question with an answer requires has no answer: declining is right."""
    questions = [{"id": "q", "question": "?", "paths": [[["web:a", "CALLS", "hr:b"]]]}]
    write_jsonl(tmp_path / "questions.jsonl", questions)
    write_jsonl(tmp_path / "access.jsonl", [{"principal": "p", "allow": ["web:*"]}])
    write_jsonl(tmp_path / "runs" / "r.jsonl", [{"run": "r", "question_id": "q", "answer": "", "abstained": True}])
    for options, expected in (((), (1, 0, 0)), (("--as", "p"), (1, 1, 1))):
        found = inside("abstention", "runs/r.jsonl", "--json", *options, cwd=tmp_path, code=0).object()
        assert (found["declined"], found["unanswerable"], found["rightly"]) == expected


def test_a_dataset_stands_for_its_runs(tmp_path: Path) -> None:
    """Its figures are those of its runs by name, in their order."""
    whole = inside("abstention", "@storefront", "--json", cwd=tmp_path, code=0).objects()
    names = [one["run"] for one in whole]
    assert names == ["storefront-bm25", "storefront-graph", "storefront-graph-v2"]
    runs = [f"@storefront/runs/{name}" for name in names]
    assert inside("abstention", *runs, "--json", cwd=tmp_path, code=0).objects() == whole


def test_a_gate_says_how_many_are_read_from_words(tmp_path: Path) -> None:
    """A bound on a measure of decisions fails red, and names the records whose words decided."""
    file = small_world(tmp_path / "world")
    done = inside("evaluate", file, "--no-store", "--fail-under", "AbstentionRecall=0.5", "--full", cwd=tmp_path)
    assert done.code == 1
    assert "AbstentionRecall is 0.2500" in done.err
    assert "doubtful in 2 answers: whether it declines is read from the words" in done.err


def test_the_phrases_of_the_page_decline() -> None:
    """Each phrase in the table of docs/limits.md is read as one."""
    page = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    rows = [line.split("|")[2] for line in page.partition("| language |")[2].partition("\n\n")[0].splitlines()[2:]]
    phrases = [one.strip() for row in rows for one in row.replace("。", ".").split(".") if one.strip()]
    assert len(phrases) > 25
    assert [one for one in phrases if not declines(f"{one}.")] == []
