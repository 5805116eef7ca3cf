"""The two engines agree: the same values, and the same reasons where there is none, on both databases."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.graph.queries import cypher
from graphkit.measures.base import Measure
from graphkit.measures.registry import MEASURES
from graphkit.records.unanswered import MISSING
from tests.helpers.datasets import STOREFRONT, read_jsonl
from tests.scoring.compared_runs import MEASURED, Run, Values, values


def differences(one: Values, two: Values, measures: tuple[Measure, ...] = MEASURED) -> list[tuple[object, ...]]:
    """Return where two results differ by more than 1e-9, or in a reason."""
    assert one.keys() == two.keys()
    return [
        (name, str(measure), mine, yours)
        for name in one
        for measure, mine, yours in zip(measures, one[name], two[name], strict=True)
        if (mine != yours if isinstance(mine, str) or isinstance(yours, str) else abs(mine - yours) > 1e-9)
    ]


def test_pallets_is_among_the_runs(pallets: Path, runs: list[Run]) -> None:
    """The real data is compared, too; where it is absent, this test says so."""
    assert sum(run.dataset.name == pallets.name for run in runs) == 4


def test_each_measure_with_a_query_is_compared() -> None:
    """No measure with a Cypher form is left out of the comparison, nor any value of its switches that has one."""
    assert {type(measure) for measure in MEASURED} == {kind for kind in MEASURES if kind.query is not None}
    for kind in MEASURES:
        for name, default in vars(kind()).items():
            # A switch that only Python computes takes the query away, such as EdgeRecall(files=True).
            if isinstance(default, bool) and kind.query is not None and kind(**{name: not default}).query is not None:
                assert {getattr(one, name) for one in MEASURED if type(one) is kind} == {True, False}


def test_generated_runs_hold_the_odd_cases(runs: list[Run]) -> None:
    """The generated data reaches what it is made for, so that agreement on it means something."""
    cases = [case for run in runs if run.dataset.name.startswith("gen") for case in run.cases()]
    seen = Counter[str]()
    for case in cases:
        answer = case.answer
        seen["missing record"] += answer is None
        seen["failed record"] += answer is not None and answer.error is not None
        seen["no traversal logged"] += answer is not None and answer.error is None and not case.walk_logged
        seen["set of edges"] += answer is not None and not case.ordered and len(case.walked) > 1
        seen["no chunks logged"] += answer is not None and answer.error is None and not case.chunks_logged
        calls = answer.tool_calls if answer is not None and answer.error is None else ()
        seen["no calls logged"] += calls is None
        seen["failed call"] += any(call.failed for call in calls or ())
        seen["call that showed nobody knows what"] += any(call.seen is None for call in calls or ())
        seen["call that showed nothing"] += any(call.seen == [] for call in calls or ())
        seen["duplicate id"] += case.repeats
        seen["own k"] += case.question.k is not None
        seen["alternatives"] += any(len(unit) > 1 for unit in case.units)
        seen["earlier turns unknown"] += (
            (case.question.turn or 1) > 1 and answer is not None and case.walked_before is None
        )
        seen["step walked before"] += any(True in gold.optional for gold in case.gold if gold.from_turn is not None)
        seen["edge walked before and again"] += bool(case.walked & (case.walked_before or {}).keys())
        seen["optional step"] += any(True in gold.optional for gold in case.gold)
        seen["manual step"] += any(True in gold.manual for gold in case.gold)
        seen["no gold"] += not case.gold
        seen["empty path"] += any(not path.steps for path in case.question.paths)
        seen["walked without relation"] += any(edge[1] is None for edge in case.walked)
        seen["gold without relation"] += any(edge[1] is None for edge in case.gold_edges)
        seen["self-loop"] += any(edge[0] == edge[2] for edge in case.walked)
        seen["parallel edges"] += len({(edge[0], edge[2]) for edge in case.walked}) < len(case.walked)
        seen["irregular positions"] += bool(case.misplaced)
        seen["no chunk"] += not case.versions
        seen["chunk without commit"] += any(version.sha is None for version in case.versions)
        seen["unknown commit"] += any(version.sha and not case.commits.knows(version) for version in case.versions)
        seen["zero gain"] += 0 in case.question.relevant.values()
        seen["negative gain"] += -1 in case.question.relevant.values()
        for edge in case.walked & case.gold_edges:
            seen.update({"quote": "'" in edge[0], "backslash": "\\" in edge[0], "astral": "🦀" in edge[0]})
            seen["no repository"] += ":" not in edge[0]
    assert min(seen.values()) >= 5, seen


def test_engines_agree(
    runs: list[Run], by_python: dict[Run, Values], by_cypher: dict[Run, graphkit.Evaluation]
) -> None:
    """The Cypher engine gives each question the value of the Python engine to 1e-9, or the same reason."""
    unequal = []
    for run in runs:
        result = by_cypher[run]
        unequal += differences(by_python[run], values(result))
        answers = [case.answer for case in run.cases()]
        assert result.missing == answers.count(None)
        assert result.failed == sum(answer is not None and answer.error is not None for answer in answers)
    assert unequal == []


def test_engines_count_the_same_reasons(
    runs: list[Run], scored: dict[Run, graphkit.Evaluation], by_cypher: dict[Run, graphkit.Evaluation]
) -> None:
    """Both engines count as often each reason but failure, a missing record and stale gold, as the rows say."""
    for run in runs:
        result = scored[run]
        counted: dict[str, Counter[str]] = {}
        for row in result.rows:
            for measure, value in zip(MEASURED, row.values, strict=True):
                apart = row.question in result.invalid or value == MISSING or str(value).startswith("failed: ")
                if isinstance(value, str) and not apart:
                    counted.setdefault(str(measure), Counter())[value] += 1
        assert result.unscored == counted
        assert by_cypher[run].unscored == counted


def test_engines_give_equal_ratios_as_equal_floats(
    runs: list[Run], by_python: dict[Run, Values], by_cypher: dict[Run, graphkit.Evaluation]
) -> None:
    """A ratio of counts is divided once in both engines, so it is the same to the last digit; nDCG and AP are sums."""
    ratios = [place for place, measure in enumerate(MEASURED) if measure.name not in ("nDCG", "AP")]
    compared = 0
    for run in runs:
        found = values(by_cypher[run])
        for name, row in by_python[run].items():
            assert [found[name][place] for place in ratios] == [row[place] for place in ratios], (run.name, name)
            compared += sum(row[place] not in (0.0, 1.0) and not isinstance(row[place], str) for place in ratios)
    assert compared > 500


def test_python_engine_agrees_with_itself_over_the_graph(
    full_store: Store, runs: list[Run], by_python: dict[Run, Values]
) -> None:
    """The commits in the graph give the same scores as the files, whatever other datasets the graph holds."""
    chosen = tuple(measure for measure in MEASURED if measure.needs_commits)
    assert len(chosen) == 3
    places = [MEASURED.index(measure) for measure in chosen]
    for run in {run.dataset: run for run in runs}.values():
        found = graphkit.evaluate(run.file, run.dataset, measures=chosen, store=full_store)
        expected = {name: tuple(row[place] for place in places) for name, row in by_python[run].items()}
        assert differences(expected, values(found), chosen) == []


@pytest.mark.parametrize("measure", [one for one in MEASURED if str(one).partition("@")[0].isalnum()], ids=str)
def test_measure_query_only_reads(measure: Measure, full_store: Store, runs: list[Run]) -> None:
    """The query of each measure is planned, and runs where nothing may be written, with a row a question."""
    assert measure.query is not None
    text = cypher(f"measures/{measure.query}")
    parameters: dict[str, object] = {
        "dataset": STOREFRONT.name,
        "run": runs[0].name,
        "missing": "-",
        "window_ms": 1,
        "unstated": "",
    }
    parameters |= {"default_branches": ["main"], **measure.parameters()}
    parameters["questions"] = [row["id"] for row in read_jsonl(STOREFRONT / "questions.jsonl")]
    full_store.query_readonly(f"EXPLAIN {text}", parameters)
    columns, rows = full_store.query_readonly(text, parameters)
    assert columns == ["question", "value", "reason"]
    assert len(rows) == len(read_jsonl(STOREFRONT / "questions.jsonl"))
