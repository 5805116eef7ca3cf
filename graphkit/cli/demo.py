"""``graphkit demo``: the main job on the storefront fixture, from files to explained failures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import as_json, open_graph, print_json, print_line, with_graph

if TYPE_CHECKING:
    from graphkit.database.store import Store
    from graphkit.files.dataset import Dataset
    from graphkit.scoring.results import Evaluation

RUNS = ("storefront-bm25", "storefront-graph")
WORST = 2
PAGE = "graphkit-demo.html"


@with_graph
def demo() -> None:
    """Load the storefront fixture, evaluate two runs, and explain their worst failures."""
    from graphkit.analysis.compare_runs import compare_runs
    from graphkit.cli.comparisons import print_comparison
    from graphkit.cli.progress import shown_progress
    from graphkit.files.assets import storefront_folder
    from graphkit.files.dataset import Dataset
    from graphkit.files.problems import Problems
    from graphkit.graph.datasets import load_dataset
    from graphkit.graph.failures import failures
    from graphkit.report import PageOptions, write_report
    from graphkit.scoring.evaluate import evaluate

    dataset = Dataset(storefront_folder())
    if not as_json():
        print_line("graphkit demo: a storefront of six repositories, 30 questions, two retrieval runs\n")
    with open_graph() as store, shown_progress("demo") as progress:
        summary = load_dataset(store, dataset, Problems(), progress)
        if not as_json():
            held = {kind: summary.written[kind] + summary.unchanged[kind] for kind in summary.written}
            print_line(f"1. In the graph: {', '.join(f'{count} {kind}' for kind, count in held.items())}\n")
        results = [
            evaluate(dataset.folder / "runs" / f"{run}.jsonl", dataset, store=store, progress=progress) for run in RUNS
        ]
        scores = {str(row["question"]): row for row in failures(store, RUNS[1], "questions-by-score", limit=1000)}
        turns = failures(store, RUNS[1], "wrong-turns", limit=1)
        chosen = [name for name, row in scores.items() if row["error"] is None][:WORST]
        chosen += [str(row["question"]) for row in turns if row["question"] not in chosen]
        worst = [scores[name] for name in chosen]
        explained = {str(row["question"]): _explained(store, str(row["question"])) for row in worst}
        compared = compare_runs(store, *RUNS)
    page = write_report(
        [dataset.folder / "runs" / f"{run}.jsonl" for run in RUNS], Path(PAGE), PageOptions(title="Storefront")
    )
    if as_json():
        for result in results:
            print_json(result.as_json())
        print_json({"run": RUNS[1], "worst": explained, "report": str(page)})
        return
    _show(results, worst, explained)
    print_line("4. The two runs compared, question by question")
    print_comparison(compared)
    print_line(f"5. A page to look at, with each walk drawn over its gold path: {page.resolve()}\n")
    _show_next(next(iter(explained), "sf-04"), dataset)


def _explained(store: Store, question: str) -> list[str]:
    """Return what the second run did wrong with a question, one sentence a kind of failure."""
    from graphkit.analysis.explain import SENTENCES, sentence
    from graphkit.graph.failures import failures

    sentences = []
    for kind in SENTENCES:
        rows = failures(store, RUNS[1], kind, question=question, limit=1)
        if rows:
            sentences.append(sentence(kind, rows[0]))
    return sentences


def _show(results: list[Evaluation], worst: list[dict[str, object]], explained: dict[str, list[str]]) -> None:
    from graphkit.cli.tables import print_scoreboard, print_table

    print_line("2. The scoreboard: flat BM25 against BM25 with expansion along the knowledge graph")
    print_scoreboard(results)
    print_line(f"3. Where {RUNS[1]} went wrong: its worst questions and a wrong turn, explained")
    columns = ("question", "difficulty", "edge_recall", "found", "required")
    print_table(None, columns, [[row[name] for name in columns] for row in worst])
    for question, sentences in explained.items():
        print_line(question)
        for each in sentences:
            print_line(f"  - {each}")
    print_line("")


def _show_next(first: str, dataset: Dataset) -> None:
    print_line(
        "\nWhat to type next (put `.venv/bin/` before it in a checkout):\n"
        "  graphkit db start                                  keep the database running: commands answer at once\n"
        f"  graphkit failures {RUNS[1]} --question {first}    everything this run did wrong there\n"
        f"  graphkit failures {RUNS[1]} --kind wrong-turns    where each walk left the gold path\n"
        f"  graphkit query found-and-lost -p run={RUNS[1]} -p other={RUNS[0]}\n"
        "  graphkit query -e \"MATCH (a)-[g:GOLD]->(b) WHERE g.question = 'sf-04' RETURN a.id, g.relation, b.id\"\n"
        f"  graphkit evaluate {dataset.folder / 'runs' / 'storefront-graph-v2.jsonl'}"
    )
