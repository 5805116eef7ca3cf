"""``graphkit demo``: the main job on the storefront fixture, from files to explained failures."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import as_json, command, open_graph, print_json, print_line, print_text
from graphkit.cli.briefs import FULL, print_brief

if TYPE_CHECKING:
    from graphkit.database.store import Store
    from graphkit.files.dataset import Dataset
    from graphkit.plugins.compare.run_comparisons import RunComparison
    from graphkit.plugins.judging.grading.verdict_job import Graded
    from graphkit.plugins.judging.verdicts import Verdict
    from graphkit.plugins.sandbox.execute_run import ExecutedRun
    from graphkit.records.progress import Progress
    from graphkit.records.scores import Score
    from graphkit.scoring.results import Evaluation

RUNS = ("storefront-bm25", "storefront-graph")
WORST = 2
PAGE = "graphkit-demo.html"

#: The runs whose answers are code, and their page.
CODE_RUNS = ("storefront-code-graph", "storefront-code-graph-v2")
CODE_PAGE = "graphkit-demo-code.html"

#: The measures that are compared.
COMPARED = ("EdgeRecall", "PathPrefix", "nDCG@10", "Coherence", "Groundedness", "Attribution", "RubricGrade")

#: Those of the story, which has less room.
TOLD = tuple(name for name in COMPARED if name != "PathPrefix")

#: The measures without a weight that the board of the page doesn't fold: claims, words, and how far a run walked.
ON_PAGE = ("ClaimPrecision", "ClaimRecall", "RougeL", "Hops", "StoppingDepth")

#: The failure queries about traversals, and those about claims.
TRAVERSAL_KINDS = (
    *("wrong-turns", "missed-edges", "missed-boundaries", "right-files-wrong-path"),
    *("wrong-repositories", "incoherent-pairs", "unknown-commits"),
)
CLAIM_KINDS = ("unsupported-claims", "bad-citations")


@command(graph=True)
def demo(full: bool = FULL) -> None:
    """Evaluate the bundled storefront and explain it.

    Two runs are loaded, evaluated and judged, code is executed, and the worst failures are explained.
    """
    if not as_json():
        print_line("graphkit demo: a storefront of six repositories, 39 questions, two runs")
        sys.stdout.flush()
    from graphkit.files.assets import storefront_folder
    from graphkit.files.dataset import Dataset
    from graphkit.files.outputs import check_output

    dataset = Dataset(storefront_folder())
    files = [dataset.folder / "runs" / f"{run}.jsonl" for run in RUNS]
    for name in (PAGE, CODE_PAGE):
        check_output(Path(name), "a page", files)
    if full or as_json():
        _show_all(files, dataset)
    else:
        _tell_story(files, dataset)


def _tell_story(files: Sequence[Path], dataset: Dataset) -> None:
    """Print who won once the files are scored, while the database starts; then a failure and what fell with it."""
    from graphkit.analysis.findings import Brief, BriefLine
    from graphkit.cli.progress import shown_progress
    from graphkit.graph.failures import failures
    from graphkit.plugins.demo.demo_story import scores_brief, wrong_turn

    with _opening() as opened:
        with shown_progress("scoring two runs from their files"):
            first, second = _score(files, dataset).results
            story = scores_brief(first, second, TOLD)
        taken = print_brief(story, 1)
        sys.stdout.flush()
        with shown_progress("starting the database"):
            store = opened()
        with shown_progress("loading the storefront") as progress:
            _load(store, dataset, progress)
            scored = _score(files, dataset, store, progress)
        with shown_progress("looking for the failures"):
            turn = wrong_turn(failures(store, RUNS[1], "wrong-turns"), failures(store, RUNS[1], "claims-off-gold"))
        with shown_progress("running the code of answers"):
            code = _execute(store)
    with shown_progress(f"writing {PAGE}"):
        _write_page(files, scored)
    pages = f"{PAGE}{f' and {CODE_PAGE}' if code.page is not None else ''} (each traversal over its gold path)"
    findings = [*(turn.findings() if turn is not None else ()), BriefLine("code", code.in_words, 60)]
    findings.append(BriefLine("report", pages, 95))
    question = turn.question if turn is not None else ""
    commands = (f"graphkit why {RUNS[1]} {question}".strip(), f"graphkit failures {RUNS[1]}")
    print_brief(Brief("", None, tuple(findings), commands), taken)


def _show_all(files: Sequence[Path], dataset: Dataset) -> None:
    """Print everything, or the facts as JSON."""
    from graphkit.cli.progress import shown_progress
    from graphkit.plugins.compare.compare_runs import compare_runs

    with _opening() as opened:
        with shown_progress("starting the database"):
            store = opened()
        with shown_progress("loading and scoring the storefront") as progress:
            loaded = _load(store, dataset, progress)
            scored = _score(files, dataset, store, progress)
            found = _explain(store, scored)
            compared = compare_runs(store, *RUNS, measures=COMPARED, movers=2)
            code = _execute(store)
    with shown_progress(f"writing {PAGE}"):
        page = _write_page(files, scored)
    if as_json():
        _print_facts(scored, found, code, page)
    else:
        _print_all(loaded, scored, found, compared, code)
        _show_pages(page, code.page)
        _show_next(found.chosen[0], dataset)


@contextmanager
def _opening() -> Iterator[Callable[[], Store]]:
    """Open the database in a thread; yield what waits for it and returns it."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(lambda: open_graph(silent=True).__enter__())
        try:
            yield future.result
        finally:
            if future.exception() is None:
                future.result().close()


@dataclass(frozen=True)
class _Scored:
    """The gradings and the results of both runs."""

    gradings: list[Graded]
    results: list[Evaluation]

    @property
    def judged(self) -> list[Score]:
        """The scores that the judge gave."""
        return [score for graded in self.gradings for score in graded.scores]

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdicts of the judge."""
        return [verdict for graded in self.gradings for verdict in graded.verdicts]


def _score(
    files: Sequence[Path], dataset: Dataset, store: Store | None = None, progress: Progress | None = None
) -> _Scored:
    """Judge and score both runs; without a store, from their files alone."""
    from graphkit.plugins.judging.grading.grade_run import grade
    from graphkit.records.progress import quiet
    from graphkit.scoring.evaluate import evaluate

    # Keep nothing beside the fixture, which may lie in an installed package.
    gradings = [grade(file, dataset, store=store) for file in files]
    judged = [score for graded in gradings for score in graded.scores]
    results = [
        evaluate(file, dataset, store=store, scores=judged, progress=progress or quiet, outcomes=True) for file in files
    ]
    return _Scored(gradings, results)


def _load(store: Store, dataset: Dataset, progress: Progress) -> str:
    """Load the dataset, and return in words what the graph holds of it."""
    from graphkit.files.problems import Problems
    from graphkit.graph.datasets import load_dataset

    summary = load_dataset(store, dataset, Problems(), progress)
    held = {kind: summary.written[kind] + summary.unchanged[kind] for kind in summary.written}
    return ", ".join(f"{count} {kind}" for kind, count in held.items())


@dataclass(frozen=True)
class _WorstQuestions:
    """What the second run did wrong: the rows of its worst questions, why, and an answer with unsound claims."""

    chosen: list[str]
    rows: list[dict[str, object]]
    explained: dict[str, list[str]]
    claimed: str
    unsound: list[str]
    verdicts: dict[str, Verdict]


def _explain(store: Store, scored: _Scored) -> _WorstQuestions:
    from graphkit.graph.failures import failures

    scores = {str(row["question"]): row for row in failures(store, RUNS[1], "questions-by-score")}
    turns = failures(store, RUNS[1], "wrong-turns", limit=1)
    chosen = [name for name, row in scores.items() if row["error"] is None][:WORST]
    chosen += [str(row["question"]) for row in turns if row["question"] not in chosen]
    both = [{str(row["question"]) for row in failures(store, RUNS[1], kind)} for kind in CLAIM_KINDS]
    claimed = min(set.intersection(*both))
    return _WorstQuestions(
        chosen=chosen,
        rows=[scores[name] for name in chosen],
        explained={question: _explained(store, question) for question in chosen},
        claimed=claimed,
        unsound=_explained(store, claimed, CLAIM_KINDS),
        verdicts={one.grader: one for one in scored.gradings[1].verdicts if one.question == claimed},
    )


def _explained(store: Store, question: str, kinds: tuple[str, ...] = TRAVERSAL_KINDS) -> list[str]:
    """Return what the second run did wrong with a question, one sentence per kind of failure."""
    from graphkit.analysis.explain import sentence
    from graphkit.graph.failures import failures

    first = {kind: failures(store, RUNS[1], kind, question=question, limit=1) for kind in kinds}
    return [sentence(kind, rows[0]) for kind, rows in first.items() if rows]


@dataclass(frozen=True)
class _Code:
    """The results of executing the code of two runs; without a sandbox there are none."""

    sandbox: str
    runs: tuple[ExecutedRun, ...] = ()
    explained: tuple[str, ...] = ()
    page: Path | None = None

    @property
    def in_words(self) -> str:
        """How many answers of the better run pass all their tests."""
        if not self.runs:
            return self.sandbox
        better = self.runs[-1].by_status
        passed, total = better.get("success", 0), sum(better.values())
        return f"{passed} of {total} answers that are code pass all their tests ({self.sandbox})"


def _execute(store: Store) -> _Code:
    """Execute the code of both runs in a sandbox, and write their page."""
    from graphkit.analysis.explain import sentence
    from graphkit.errors import InputError
    from graphkit.files.assets import storefront_code_folder
    from graphkit.files.dataset import Dataset
    from graphkit.graph.failures import failures
    from graphkit.plugins.sandbox.execute_run import execute
    from graphkit.plugins.sandbox.running import programs
    from graphkit.plugins.sandbox.sandbox import open_sandbox
    from graphkit.report import PageOptions, write_report

    dataset = Dataset(storefront_code_folder())
    files = [dataset.folder / "runs" / f"{run}.jsonl" for run in CODE_RUNS]
    try:
        with open_sandbox(programs=programs()) as sandbox:
            runs = tuple(execute(file, dataset, sandbox=sandbox, store=store) for file in files)
            description = sandbox.description
    except InputError as error:
        return _Code(f"not executed: {error}")
    rows = failures(store, CODE_RUNS[1], "failed-executions", limit=2)
    options = PageOptions(
        title="Storefront, code",
        scores=[score for one in runs for score in one.scores],
        beside=[each for one in runs for each in one.executions],
    )
    page = write_report(files, Path(CODE_PAGE), options)
    explained = tuple(f"{row['question']}: {sentence('failed-executions', row)}" for row in rows)
    return _Code(description, runs, explained, page)


def _write_page(files: Sequence[Path], scored: _Scored) -> Path:
    from graphkit.report import PageOptions, write_report

    options = PageOptions(title="Storefront", scores=scored.judged, beside=scored.verdicts, measures=ON_PAGE)
    return write_report(list(files), Path(PAGE), options)


def _print_facts(scored: _Scored, found: _WorstQuestions, code: _Code, page: Path) -> None:
    for result in scored.results:
        print_json(result.as_json())
    about = {
        "judge": scored.gradings[1].judge,
        "question": found.claimed,
        "grade": found.verdicts["rubric"].grade,
        "wrong": found.unsound,
    }
    executed = {one.run: one.by_status for one in code.runs} or code.sandbox
    print_json({"run": RUNS[1], "worst": found.explained, "judged": about, "executed": executed, "report": str(page)})


def _print_all(loaded: str, scored: _Scored, found: _WorstQuestions, compared: RunComparison, code: _Code) -> None:
    from graphkit.analysis.layers import score_layers
    from graphkit.plugins.demo import demo_tables as tables

    print_line()
    print_line(f"1. In the graph: {loaded}")
    print_line()
    tables.print_scores(scored.results, [score_layers(result) for result in scored.results], scored.gradings[1].judge)
    tables.print_traversals(RUNS[1], found.rows, found.explained)
    tables.print_claims(found.verdicts, found.unsound)
    tables.print_compared(compared)
    tables.print_code(code.sandbox, code.runs, code.explained)


def _show_pages(page: Path, code: Path | None) -> None:
    print_line(
        f"7. A page with each traversal drawn over its gold path, and each answer claim by claim: {page.resolve()}"
    )
    if code is not None:
        print_line(f"   and one with the code of the answers, each failing test beside it: {code.resolve()}")


def _show_next(question: str, dataset: Dataset) -> None:
    print_text(
        "\nWhat to type next (put `.venv/bin/` before it in a checkout):\n"
        "  graphkit db start                                  keep the database running: commands answer at once\n"
        f"  graphkit failures {RUNS[1]} --question {question}    everything this run did wrong there\n"
        f"  graphkit failures {RUNS[1]} --kind wrong-turns    where each traversal left the gold path\n"
        f"  graphkit failures {RUNS[1]} --kind claims-off-gold    claims that rest on edges which gold doesn't hold\n"
        f"  graphkit query found-and-lost -p run={RUNS[1]} -p other={RUNS[0]}\n"
        "  graphkit query -e \"MATCH (c:Claim {support: 'UNSUPPORTED'}) RETURN c.run, c.question, c.text\"\n"
        f"  graphkit evaluate {dataset.folder / 'runs' / 'storefront-graph-v2.jsonl'}"
    )
