"""``graphkit demo``: the main job on the storefront fixture, from files to explained failures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import as_json, command, open_graph, print_json, print_line, print_text
from graphkit.cli.tables import print_table
from graphkit.records.words import shown

if TYPE_CHECKING:
    from graphkit.analysis.layers import Scorecard
    from graphkit.analysis.run_pairs import RunComparison
    from graphkit.database.store import Store
    from graphkit.files.dataset import Dataset
    from graphkit.records.progress import Progress
    from graphkit.records.verdicts import AnswerClaim, Verdict
    from graphkit.scoring.execute_run import ExecutedRun
    from graphkit.scoring.results import Evaluation

RUNS = ("storefront-bm25", "storefront-graph")
WORST = 2
PAGE = "graphkit-demo.html"

#: The runs whose answers are code, and their page.
CODE_RUNS = ("storefront-code-graph", "storefront-code-graph-v2")
CODE_PAGE = "graphkit-demo-code.html"

#: The measures that are printed beside those of the layers, and those that are compared.
BESIDE = ("PathPrefix", "BoundaryRecall", "CitationRecall", "RubricGrade")
COMPARED = ("EdgeRecall", "PathPrefix", "nDCG@10", "Coherence", "Groundedness", "Attribution", "RubricGrade")

#: The failure queries about traversals, and those about claims.
TRAVERSAL_KINDS = (
    *("wrong-turns", "missed-edges", "missed-boundaries", "right-files-wrong-path"),
    *("wrong-repositories", "incoherent-pairs", "unknown-commits"),
)
CLAIM_KINDS = ("unsupported-claims", "bad-citations")


@command(graph=True)
def demo() -> None:
    """Load the storefront fixture, evaluate and judge two runs, execute code, and explain the worst failures."""
    from graphkit.analysis.compare_runs import compare_runs
    from graphkit.analysis.layers import score_layers
    from graphkit.cli.progress import shown_progress
    from graphkit.files.assets import storefront_folder
    from graphkit.files.dataset import Dataset
    from graphkit.files.outputs import check_output
    from graphkit.graph.failures import failures
    from graphkit.measures.registry import DEFAULT_MEASURES
    from graphkit.report import PageOptions, write_report
    from graphkit.scoring.evaluate import evaluate
    from graphkit.scoring.grade_run import grade

    dataset = Dataset(storefront_folder())
    files = [dataset.folder / "runs" / f"{run}.jsonl" for run in RUNS]
    for name in (PAGE, CODE_PAGE):
        check_output(Path(name), "a page", files)
    if not as_json():
        print_line("graphkit demo: a storefront of six repositories, 30 questions, two retrieval runs")
        print_line()
    with open_graph() as store, shown_progress("demo") as progress:
        _load(store, dataset, progress)
        # Keep nothing beside the fixture, which may lie in an installed package.
        gradings = [grade(file, dataset, store=store) for file in files]
        judged = [score for graded in gradings for score in graded.scores]
        measures = [*DEFAULT_MEASURES, "Integration", "Completeness"]
        results = [
            evaluate(file, dataset, measures=measures, store=store, scores=judged, progress=progress) for file in files
        ]
        scores = {str(row["question"]): row for row in failures(store, RUNS[1], "questions-by-score")}
        turns = failures(store, RUNS[1], "wrong-turns", limit=1)
        chosen = [name for name, row in scores.items() if row["error"] is None][:WORST]
        chosen += [str(row["question"]) for row in turns if row["question"] not in chosen]
        explained = {question: _explained(store, question) for question in chosen}
        both = [{str(row["question"]) for row in failures(store, RUNS[1], kind)} for kind in CLAIM_KINDS]
        claimed = min(set.intersection(*both))
        unsound = _explained(store, claimed, CLAIM_KINDS)
        compared = compare_runs(store, *RUNS, measures=COMPARED, movers=2)
        code = _execute(store)
    verdicts = [verdict for graded in gradings for verdict in graded.verdicts]
    page = write_report(files, Path(PAGE), PageOptions(title="Storefront", scores=judged, verdicts=verdicts))
    said = {one.grader: one for one in gradings[1].verdicts if one.question == claimed}
    if as_json():
        for result in results:
            print_json(result.as_json())
        about = {"judge": gradings[1].judge, "question": claimed, "grade": said["rubric"].grade, "wrong": unsound}
        executed = {one.run: one.by_status for one in code.runs} or code.sandbox
        print_json({"run": RUNS[1], "worst": explained, "judged": about, "executed": executed, "report": str(page)})
        return
    _show_scores(results, [score_layers(result) for result in results], gradings[1].judge)
    _show_traversals([scores[name] for name in chosen], explained)
    _show_claims(said, unsound)
    _show_compared(compared)
    _show_code(code)
    _show_pages(page, code.page)
    _show_next(chosen[0], dataset)


def _load(store: Store, dataset: Dataset, progress: Progress) -> None:
    from graphkit.files.problems import Problems
    from graphkit.graph.datasets import load_dataset

    summary = load_dataset(store, dataset, Problems(), progress)
    if not as_json():
        held = {kind: summary.written[kind] + summary.unchanged[kind] for kind in summary.written}
        print_line(f"1. In the graph: {', '.join(f'{count} {kind}' for kind, count in held.items())}")
        print_line()


@dataclass(frozen=True)
class _Code:
    """The results of executing the code of two runs; without a sandbox there are none."""

    sandbox: str
    runs: tuple[ExecutedRun, ...] = ()
    explained: tuple[str, ...] = ()
    page: Path | None = None


def _execute(store: Store) -> _Code:
    """Execute the code of both runs in a sandbox, and write their page."""
    from graphkit.analysis.explain import sentence
    from graphkit.errors import InputError
    from graphkit.execution.running import programs
    from graphkit.execution.sandbox import open_sandbox
    from graphkit.files.assets import storefront_code_folder
    from graphkit.files.dataset import Dataset
    from graphkit.graph.failures import failures
    from graphkit.report import PageOptions, write_report
    from graphkit.scoring.execute_run import execute

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
        executions=[each for one in runs for each in one.executions],
    )
    page = write_report(files, Path(CODE_PAGE), options)
    explained = tuple(f"{row['question']}: {sentence('failed-executions', row)}" for row in rows)
    return _Code(description, runs, explained, page)


def _explained(store: Store, question: str, kinds: tuple[str, ...] = TRAVERSAL_KINDS) -> list[str]:
    """Return what the second run did wrong with a question, one sentence per kind of failure."""
    from graphkit.analysis.explain import sentence
    from graphkit.graph.failures import failures

    first = {kind: failures(store, RUNS[1], kind, question=question, limit=1) for kind in kinds}
    return [sentence(kind, rows[0]) for kind, rows in first.items() if rows]


def _show_scores(results: list[Evaluation], cards: list[Scorecard], judge: str) -> None:
    """Print the layers of both runs side by side, with their measures."""
    print_line("2. The layers: flat BM25 against BM25 with expansion along the knowledge graph")
    rows: list[list[object]] = []
    for layers in zip(*(card.layers for card in cards), strict=True):
        rows.append([layers[0].name, "", *(shown(layer.score) for layer in layers)])
        for components in zip(*(layer.components for layer in layers), strict=True):
            target = components[0].target
            cells = [_held(one.held, one.counts, one.scored < one.total) for one in components]
            rows.append([f"  {components[0].measure}", "" if target is None else f"{target:g}", *cells])
    rows.append(["overall", "", *(shown(card.overall) + (" (partial)" if card.partial else "") for card in cards)])
    for name in BESIDE:
        summaries = [result.measures[name] for result in results]
        rows.append([name, "", *(_held(one.held(), one.counts(), one.scored < one.total) for one in summaries)])
    print_table(None, ("layer and measure", "target", *RUNS), rows)
    print_text(
        f"Generation and RubricGrade are judged by `{judge}`, a judge of rules: it compares words, and can't see what\n"
        "is true. It needs neither key nor network. `graphkit grade RUN.jsonl --judge anthropic` asks a model.\n"
    )


def _held(value: float | None, counts: str, unscored: bool) -> str:
    return shown(value) + (f"  ({counts})" if unscored else "")


def _show_traversals(worst: list[dict[str, object]], explained: dict[str, list[str]]) -> None:
    print_line(f"3. Where the traversals of {RUNS[1]} went wrong: its worst questions, and a wrong turn")
    for row in worst:
        question = str(row["question"])
        print_line(f"{question} ({row['difficulty']}): {row['found']} of {row['required']} gold edges traversed")
        for each in explained[question]:
            print_line(f"  - {each}")
    print_line()


def _show_claims(said: dict[str, Verdict], unsound: list[str]) -> None:
    """Print the verdict on one answer, claim by claim."""
    claims, rubric = said["claims"], said["rubric"]
    print_line(f"4. The answer to {claims.question}, claim by claim, as `{claims.judge}` judged it: {rubric.grade}")
    for number, claim in enumerate(claims.claims, 1):
        print_line(f"  {number}. {claim.text}")
        print_line(f"     {_claim(claim, claims)}")
    print_line("  What is unsound, by the failure queries:")
    for each in unsound:
        print_line(f"  - {each}")
    print_line()


def _claim(claim: AnswerClaim, verdict: Verdict) -> str:
    """Return the evidence of a claim in one line."""
    parts: list[str] = [claim.support]
    parts += [f"by {one.chunk}" for one in claim.evidence if one.occurs][:1]
    if claim.edge is not None:
        parts.append(f"traversed {claim.edge.relation}, {'a gold edge' if claim.edge.in_gold else 'not in gold'}")
    for citation in (verdict.citations[place] for place in claim.cited):
        parts.append(f"cites {citation.text}{'' if citation.correct else ', wrongly'}")
    return "; ".join(parts)


def _show_compared(compared: RunComparison) -> None:
    from graphkit.cli.pair_tables import print_comparison

    print_line("5. The two runs compared, question by question")
    print_comparison(compared)
    print_line()


def _show_code(code: _Code) -> None:
    """Print how the code of each run ended, and why two answers failed."""
    from graphkit.measures.judged import TESTED

    print_line(f"6. Answers that are code, run on the tests of their questions ({code.sandbox})")
    if not code.runs:
        return
    statuses = list(dict.fromkeys(status for run in code.runs for status in run.by_status))
    rows = [
        [run.run, shown(run.summary.mean), *(run.by_status.get(status, 0) for status in statuses)] for run in code.runs
    ]
    print_table(None, ("run", TESTED, *statuses), rows)
    for each in code.explained:
        print_line(f"  - {each}")
    print_line()


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
