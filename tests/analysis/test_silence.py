"""What a record doesn't log counts as the worst value at every door, where the run logs it for other questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import graphkit
from graphkit.analysis.gates import fail_over, fail_under, min_scored
from graphkit.analysis.layers import score_layers
from graphkit.analysis.run_gates import RunGates
from graphkit.analysis.standings import standings
from graphkit.measures.base import Measure, Unscored
from graphkit.measures.case import Case
from graphkit.measures.owners import OF_QUESTION, Owner, owner_of, text_of
from graphkit.plugins.agents.workspace import Workspace
from graphkit.plugins.ci.results_markdown import results_markdown
from graphkit.plugins.compare.comparison_gates import ComparisonGates
from graphkit.plugins.compare.result_pairs import compare_results
from graphkit.records.unanswered import MISSING, counts_as_worst, failed
from graphkit.report import PageOptions, write_report
from graphkit.scoring.export import write_results
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.results import Evaluation
from tests.helpers import ROOT
from tests.helpers.cli import inside
from tests.helpers.pages import Page

COUNT = 20

RIGHT = "right"
WRONG = "wrong"


def edge(number: int, what: str) -> dict[str, str]:
    """Return the gold edge of a question, or a wrong one."""
    return {"source": "a:x.py", "relation": "CALLS", "target": f"b:y{number}.py" if what == RIGHT else "b:z.py"}


def record(run: str, number: int, what: str | None) -> dict[str, Any]:
    """Return a record whose walk is right or wrong, isn't logged (None), or failed."""
    found: dict[str, Any] = {"run": run, "question_id": f"q{number}", "answer": "a"}
    if what == "failed":
        return found | {"error": "timeout"}
    if what == "empty":
        return found | {"traversal": []}
    return found | {"traversal": None if what is None else [edge(number, what)]}


def written(folder: Path, **runs: Any) -> Path:
    """Write a dataset of COUNT questions with one gold edge each, and runs by what the second half of them does."""
    (folder / "runs").mkdir(parents=True)
    lines = [
        {"id": f"q{number}", "question": f"q {number}?", "paths": [{"steps": [edge(number, RIGHT)]}]}
        for number in range(COUNT)
    ]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    for name, what in runs.items():
        half = [record(name, number, RIGHT if number < COUNT // 2 else what) for number in range(COUNT)]
        (folder / f"runs/{name}.jsonl").write_text("\n".join(map(json.dumps, half)) + "\n")
    return folder


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Ten right walks of each run; then it is wrong, fails, keeps silent, or walks nothing."""
    return written(tmp_path / "set", honest=WRONG, failing="failed", silent=None, empty="empty")


def evaluated(dataset: Path, run: str, **options: Any) -> Evaluation:
    """Return the result of a run."""
    chosen = {"measures": ["EdgeRecall", "EdgePrecision", "EdgeF1"], **options}
    return graphkit.evaluate(dataset / f"runs/{run}.jsonl", **chosen)


def test_silence_counts_as_a_failure_does(dataset: Path) -> None:
    """Ten of twenty right, ten unlogged as 0: 10 / 20 = .5; the mean stays 1 over the ten logged."""
    silent, failing = (evaluated(dataset, run).measures["EdgeRecall"] for run in ("silent", "failing"))
    assert (silent.mean, silent.scored, silent.not_logged, silent.with_failed) == (1.0, 10, 10, 0.5)
    assert silent.held() == failing.held() == 0.5
    assert silent.in_words() == "0.5000 with 10 not logged as 0; 1.0000 over the 10 logged"
    assert failing.in_words() == "0.5000 with 10 failed as 0; 1.0000 over the 10 answered"
    assert (silent.counts(), silent.share()) == ("10/20, 10 not logged as 0", 1.0)


@pytest.mark.parametrize(("how", "held"), [("worst", 0.5), ("failed", 1.0), ("unscored", 1.0), ("zero", 0.5)])
def test_the_choice_of_what_counts(dataset: Path, how: Any, held: float) -> None:
    """One option says what counts, and the value, its sample and each output agree on it."""
    result = evaluated(dataset, "silent", failed_as=how)
    assert result.measures["EdgeRecall"].held(how) == held
    values = result.sample("EdgeRecall")
    assert sum(values) / len(values) == held
    assert (how == "worst") != ("missing_as=" in results_markdown([result]))
    (outcome,) = fail_under([result], [("EdgeRecall", 0.9)])
    assert outcome.passed is (held == 1.0)
    # What is left out on request needs no value.
    assert [one.passed for one in RunGates(under=[("EdgeRecall", 0.9)]).outcomes([result])] == [held == 1.0]


def test_a_mix_of_reasons_in_words() -> None:
    """Two right, one failed, one unlogged: (1 + 1) / 4 = .5, or 2 / 3 if only failures count."""
    found = Summary.of_values("EdgeRecall", [1.0, 1.0, failed("x"), "it has none (not logged)", "no relevant ids"])
    assert found.in_words() == "0.5000 with 1 failed and 1 not logged as 0; 1.0000 over the 2 scored"
    assert found.held("failed") == pytest.approx(2 / 3)
    assert found.in_words("failed") == ("0.6667 with 1 failed as 0; 1.0000 over the 2 scored; 1 not logged unscored")
    assert found.in_words("unscored") == "1.0000 over the 2 scored; 1 failed and 1 not logged unscored"
    assert (found.of_question, found.share(), found.share("failed")) == (1, 1.0, 1.0)


def test_a_measure_without_a_worst_value_fails_its_gate() -> None:
    """StepsToGold has no upper bound, so nothing can stand for the unlogged question."""
    summary = Summary.of_values("StepsToGold", [2.0, "the record has no tool calls (not logged)"])
    result = Evaluation("r", "d", 2, 0, 0, {"StepsToGold": summary})
    (outcome,) = fail_over([result], [("StepsToGold", 3)])
    assert not outcome.passed
    assert "1 not logged" in outcome.what


def test_never_logged_fails_the_gate_and_says_what_to_log(tmp_path: Path) -> None:
    """A run without any traversal has no EdgeRecall: no layer counts it, and a gate that names it fails."""
    folder = written(tmp_path / "set", never=None)
    file = folder / "runs/never.jsonl"
    file.write_text("\n".join(json.dumps(record("never", number, None)) for number in range(COUNT)) + "\n")
    result = evaluated(folder, "never")
    summary = result.measures["EdgeRecall"]
    assert (summary.never_logged, summary.held(), summary.with_failed) == (True, None, None)
    (outcome,) = fail_under([result], [("EdgeRecall", 0.1)])
    assert not outcome.passed
    assert "EdgeRecall was never logged (the record has no traversal)" in outcome.what
    layers = score_layers(graphkit.evaluate(file)).layers
    assert {one.held for layer in layers for one in layer.components if one.measure == "EdgeRecall"} == {None}


# The doors ---------------------------------------------------------------------------------------------------------

WORDS = "10 not logged as 0"


def test_evaluate_on_one_process_and_on_several(dataset: Path, tmp_path: Path) -> None:
    """Both end in 1, and say how many count; their JSON has the same figures."""
    file, figures = str(dataset / "runs/silent.jsonl"), []
    for number, more in enumerate(([], ["--on", "processes=1"])):
        where = ["--out", str(tmp_path / f"out{number}.summary.json")]
        where += ["--out", str(tmp_path / "folder")] if more else []
        result = inside(
            "evaluate",
            file,
            "--no-store",
            "-m",
            "EdgeRecall",
            "--fail-under",
            "EdgeRecall=0.9",
            *where,
            *more,
            cwd=tmp_path,
        )
        assert result.code == 1
        assert WORDS in result.out + result.err
        figures.append(json.loads((tmp_path / f"out{number}.summary.json").read_text())["runs"][0]["measures"])
    assert figures[0] == figures[1]
    assert (figures[0]["EdgeRecall"]["with_failed"], figures[0]["EdgeRecall"]["not_logged"]) == (0.5, 10)
    low, high = figures[0]["EdgeRecall"]["interval"]
    assert low < 0.5 < high


def test_files_hold_it(dataset: Path, tmp_path: Path) -> None:
    """JSON, JUnit and Markdown hold the counts and the interval of the mean that gates check."""
    result = evaluated(dataset, "silent")
    gates = RunGates(under=[("EdgeRecall", 0.9)]).outcomes([result])
    for ending in ("json", "xml", "md"):
        write_results(tmp_path / f"r.{ending}", [result], gates)
    (run,) = json.loads((tmp_path / "r.json").read_text())["runs"]
    assert run["measures"]["EdgeRecall"]["not_logged"] == 10
    assert run["measures"]["EdgeRecall"]["interval"] == list(result.interval("EdgeRecall") or ())
    xml = ElementTree.parse(tmp_path / "r.xml")
    held = xml.find(".//property[@name='mean EdgeRecall']")
    assert held is not None
    assert WORDS in held.attrib["value"]
    assert "[0." in held.attrib["value"]
    assert any(WORDS in one.attrib["message"] for one in xml.iter("failure"))
    assert WORDS in (tmp_path / "r.md").read_text()


def test_a_results_folder_reads_back(dataset: Path, tmp_path: Path) -> None:
    """The counts of the folder's summary are those of the result; the reasons of its rows count again."""
    from graphkit.scoring.results_folder import read_results

    out = tmp_path / "folder"
    result = inside(
        "evaluate",
        str(dataset / "runs/silent.jsonl"),
        "--no-store",
        "-m",
        "EdgeRecall",
        "--out",
        str(out),
        cwd=tmp_path,
    )
    assert result.code == 0, result.err
    back = read_results(out).evaluation()
    assert back.measures["EdgeRecall"] == evaluated(dataset, "silent").measures["EdgeRecall"]
    assert sorted(back.sample("EdgeRecall")) == [0.0] * 10 + [1.0] * 10


def test_compare_counts_the_candidate_alone(dataset: Path) -> None:
    """Against a baseline of 1 a silent candidate is a regression; a silent baseline is incomplete, and left out."""
    written(dataset.parent / "best", best=RIGHT, silent=None)
    best, silent = (evaluated(dataset.parent / "best", run) for run in ("best", "silent"))
    chosen: dict[str, Any] = {"measures": ["EdgeRecall"], "baseline": True}
    compared = compare_results(best, silent, **chosen)
    (found,) = compared.with_failed
    assert (found.delta, found.questions) == (-0.5, 20)
    assert any("doesn't log" in one for one in compared.warnings)
    assert [one.passed for one in ComparisonGates(regression=True).outcomes(compared)] == [False, True]
    assert [one.passed for one in ComparisonGates(drop=[(None, 0.1)]).outcomes(compared)] == [False, True]
    (other,) = compare_results(silent, best, **chosen).with_failed
    assert (other.delta, other.questions) == (0.0, 10)
    left_out = compare_results(best, silent, failed_as="failed", **chosen).with_failed
    assert left_out[0].questions == 10


def test_standings_count_both(dataset: Path) -> None:
    """On the page no run is a baseline: whichever is named first, the silent one is at .5."""
    written(dataset.parent / "best", best=RIGHT, silent=None)
    best, silent = (evaluated(dataset.parent / "best", run) for run in ("best", "silent"))
    for pair, delta in (((best, silent), -0.5), ((silent, best), 0.5)):
        found = standings(pair, ["EdgeRecall"]).difference(0, 1, "EdgeRecall")
        assert found is not None
        assert found.delta == delta


def test_layers_board_and_notebook(dataset: Path) -> None:
    """The component, the cell and the table of a notebook have the value that the gate has."""
    result = graphkit.evaluate(dataset / "runs/silent.jsonl")
    card = score_layers(result)
    (component,) = [one for layer in card.layers for one in layer.components if one.measure == "EdgeRecall"]
    assert (component.held, component.counts) == (0.5, "10/20, 10 not logged as 0")
    assert WORDS in result._repr_html_()


def test_silence_has_no_weakness_by_name(dataset: Path) -> None:
    """Ten walks that aren't logged count as 0, so 0.5 misses the target of 0.8; but the ten logged ones are whole.

    So nothing shows that the run misses relationships, as failed and wrong walks show it, each with an EdgeRecall of
    0.5. Of 12 logged walks 8 are right in another run: that is 0.4 at the target, and a weakness by 8/12.
    """
    what = [RIGHT] * 8 + [WRONG] * 4 + [None] * 8
    lines = [json.dumps(record("mixed", number, one)) for number, one in enumerate(what)]
    (dataset / "runs/mixed.jsonl").write_text("\n".join(lines) + "\n")
    found = {}
    for name in ("honest", "failing", "silent", "mixed"):
        card = score_layers(evaluated(dataset, name))
        [part] = [one for one in card.layers[0].components if one.measure == "EdgeRecall"]
        weak = [round(one.mean, 4) for one in card.findings if one.measure == "EdgeRecall"]
        found[name] = part.held, part.met, weak
    assert found == {
        "honest": (0.5, False, [0.5]),
        "failing": (0.5, False, [0.5]),
        "silent": (0.5, False, []),
        "mixed": (0.4, False, [0.6667]),
    }


def _on_page(folder: Path, *runs: str) -> str:
    """Return the text of the page of runs."""
    files = [folder / f"runs/{run}.jsonl" for run in runs]
    page = Page(write_report(files, folder / "r.html", PageOptions()).read_text("utf-8"))
    return " ".join(page.text.split())


def _to_agent(folder: Path, first: str, second: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the head and the rows of what MCP replies to a comparison."""
    reply = Workspace(folder, None).compare(f"runs/{first}.jsonl", f"runs/{second}.jsonl", ["EdgeRecall"])
    head = json.loads(reply)
    return head, head["rows"]


def test_page_and_mcp(dataset: Path) -> None:
    """Against a run of 1, the silent one is at .5, and is named as worse."""
    written(dataset.parent / "best", best=RIGHT, silent=None)
    folder = dataset.parent / "best"
    assert f"10/20, {WORDS}" in _on_page(folder, "best", "silent")
    head, rows = _to_agent(folder, "best", "silent")
    assert head["verdict"].startswith("best beats silent: EdgeRecall 1.00 to 0.50")
    assert head["worse"] == ["EdgeRecall"]
    assert [(one["second"], one["scored"]) for one in rows if one.get("measure") and "second" in one] == [(0.5, 20)]
    assert any("doesn't log" in one.get("warning", "") for one in rows)


def test_stale_gold_on_page_and_in_mcp(dataset: Path) -> None:
    """The graph holds the gold of all questions but q0: no run is scored on it, and both say so."""
    folder = written(dataset.parent / "stale", best=RIGHT, silent=None)
    edges = [edge(number, RIGHT) for number in range(1, COUNT)]
    (folder / "edges.jsonl").write_text("\n".join(map(json.dumps, edges)) + "\n")
    assert "of 20 questions 1 is invalid for stale gold" in _on_page(folder, "best", "silent")
    head, rows = _to_agent(folder, "best", "silent")
    # Nine right of nineteen: .47.
    assert "EdgeRecall 1.00 to 0.47" in head["verdict"]
    assert any("stale" in one.get("warning", "") for one in rows)


# The rule of four fifths -------------------------------------------------------------------------------------------


def test_an_empty_walk_leaves_its_precision_out(dataset: Path) -> None:
    """Ten empty walks: EdgePrecision is 1 over ten of twenty, and its bound alone fails; beside EdgeRecall it holds."""
    result = evaluated(dataset, "empty")
    alone = RunGates(under=[("EdgePrecision", 0.9)]).outcomes([result])
    assert [(one.gate, one.passed) for one in alone] == [("fail-under", True), ("min-scored", False)]
    both = RunGates(under=[("EdgePrecision", 0.9), ("EdgeRecall", 0.4)]).outcomes([result])
    assert [one.passed for one in both] == [True, True]
    own = RunGates(under=[("EdgePrecision", 0.9)], min_scored=[("EdgePrecision", 0.5)]).outcomes([result])
    assert [one.passed for one in own] == [True, True]


def test_min_scored_divides_by_what_could_be_scored() -> None:
    """Of ten questions five have no gold: four values of five are four fifths."""
    values: list[float | str] = [1.0] * 4 + ["no claims"] + ["no gold path with a required step"] * 5
    result = Evaluation("r", "d", 10, 0, 0, {"EdgeRecall": Summary.of_values("EdgeRecall", values)})
    assert [one.passed for one in min_scored([result], 0.8)] == [True]
    assert [one.passed for one in min_scored([result], 0.81)] == [False]


def test_options_of_the_command(dataset: Path) -> None:
    """The old forms are aliases; a share may be of one measure; --sure holds the interval's lower end."""
    file, base = str(dataset / "runs/silent.jsonl"), ["--no-store", "-m", "EdgeRecall", "-m", "EdgePrecision"]
    codes = {
        "--missing-as failed --fail-under EdgeRecall=0.9": 0,
        "--missing-as failed --fail-under EdgeRecall=0.9 --min-scored EdgeRecall=0.5": 0,
        "--failed-as unscored --fail-under EdgeRecall=0.9 --min-scored 0.5": 0,
        "--missing-as 0 --fail-under EdgeRecall=0.9": 1,
        "--fail-under EdgeRecall=0.5": 0,
        "--fail-under EdgeRecall=0.5 --sure": 1,
        "--fail-under EdgeRecall=0.2 --sure": 0,
        "--fail-over EdgeRecall=0.9 --sure": 0,
    }
    for text, code in codes.items():
        assert inside("evaluate", file, *base, *text.split(), cwd=dataset).code == code, text


# Whose reason it is --------------------------------------------------------------------------------------------------


class Lengthy(Measure):
    """The length of the answer; questions without an allowance can't be scored."""

    def value(self, case: Case) -> float | Unscored:
        """Return the length, or why there is none."""
        return Unscored("no allowance", of_question=case.question.id != "q1")


def test_the_owner_of_a_reason_travels_as_text() -> None:
    """A user's own reason of the question says so at its end; graphkit's own are known."""
    assert owner_of(text_of(Unscored("no allowance", of_question=True))) is Owner.QUESTION
    assert text_of(Unscored("no allowance", of_question=True)).endswith(OF_QUESTION)
    assert owner_of(text_of(Unscored("no allowance"))) is Owner.NOTHING
    assert owner_of(MISSING) is owner_of(failed("x")) is Owner.FAILED
    assert not counts_as_worst("no claims")


def test_each_reason_of_the_question_is_known() -> None:
    """Each ``Unscored(..., of_question=True)`` of graphkit's measures has a text that is the question's."""
    import ast
    import importlib

    for path in sorted((ROOT / "graphkit/measures").glob("*.py")):
        module = importlib.import_module(f"graphkit.measures.{path.stem}")
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "Unscored" or len(node.keywords) != 1:
                continue
            (text,) = node.args
            if isinstance(text, ast.Name) and hasattr(module, text.id):
                assert owner_of(getattr(module, text.id)) is Owner.QUESTION, (path, text.id)


@pytest.mark.parametrize("field", ["traversal", "retrieved", "answer"])
def test_logging_less_never_helps(field: str, tmp_path: Path) -> None:
    """Dropping a field of one record, in a run that logs it elsewhere, raises no gate value of these measures."""
    storefront = ROOT / "fixtures/storefront"
    run = storefront / "runs/storefront-graph.jsonl"
    measures = ["EdgeRecall", "EdgeF1", "PathPrefix", "PathExact", "BoundaryRecall", "nDCG@10", "Recall@5", "RR"]
    measures += ["Integration", "Completeness", "SymbolRecall"]
    lines = [json.loads(line) for line in run.read_text().splitlines()]
    before = graphkit.evaluate(run, storefront, measures=measures)
    for number in range(0, len(lines), 4):
        changed = [{**line, field: None} if at == number else line for at, line in enumerate(lines)]
        file = tmp_path / f"{field}{number}.jsonl"
        file.write_text("\n".join(map(json.dumps, changed)) + "\n")
        after = graphkit.evaluate(file, storefront, measures=measures)
        for name in measures:
            old, new = before.measures[name].held(), after.measures[name].held()
            if old is not None:
                assert new is not None
                assert new <= old + 1e-9, (name, number)
