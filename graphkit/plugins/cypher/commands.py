"""``graphkit cypher`` and ``graphkit gold from-cypher``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import argument, command, option, present, print_line, print_problems, say
from graphkit.cli.options import DATASET_FOLDER, ReadingOptions
from graphkit.records.words import counted, shortened

if TYPE_CHECKING:
    from graphkit.plugins.cypher.walked_dataset import GraphChoice, WalkedDataset

#: Seconds that the search for one cause may take.
MOST_SECONDS = 20.0

#: Questions and causes that are named in the output.
_NAMED = 10

GRAPH_HELP = "Run queries over the dataset's own graph, or over that of a server that speaks Bolt; neither is written."


@dataclass(frozen=True)
class QueriedGraphOptions:
    """The graph over which queries run, and their limits."""

    graph: str = option("--graph dataset|URI", GRAPH_HELP, default="dataset")
    stack: str | None = option("--stack NAME", "Use the graph NAME of a dataset with several.")
    username: str | None = option(
        "--user NAME", "Log in as NAME, with GRAPHKIT_SOURCE_PASSWORD or a password asked for."
    )
    database: str | None = option("--database NAME", "Read this database of the server.")
    id_property: str = option("--id-property NAME", "Read the names of nodes in this property.", default="id")
    timeout: float = option("--timeout SECONDS", "End a query after SECONDS.", default=30.0, min=0.1, max=1e6)
    max_rows: int = option("--max-rows N", "Keep at most N rows of a result.", default=10_000, min=1)

    def choice(self) -> GraphChoice:
        """Return the choice, with the password."""
        from graphkit.plugins.cypher.walked_dataset import OWN_GRAPH, GraphChoice
        from graphkit.plugins.graphs.commands import source_password

        password = source_password(self.username) if self.graph != OWN_GRAPH else None
        return GraphChoice(**vars(self), password=password)


@command(home=True)
def cypher(
    *,
    dataset: Path = DATASET_FOLDER,
    runs: list[Path] | None = argument(
        "RUN.jsonl...", "Walk these runs.  [default: those of the dataset]", default=None, show_default=False
    ),
    graph: QueriedGraphOptions,
    out: Path = option("--out -o FOLDER", "Write the dataset with the walks into this folder.", required=True),
    replace: bool = option("--replace", "Replace what was written into the folder before."),
    causes: float = option(
        "--causes SECONDS",
        "Look for the cause of each wrong query by edits of it for at most SECONDS; 0: don't.",
        default=MOST_SECONDS,
        min=0,
        max=1e6,
    ),
    reading: ReadingOptions,
) -> None:
    """Run logged Cypher queries, and write their walks.

    A query of gold becomes a gold path, and those of a run its traversal: the edges that their patterns match in the
    rows of the result. `graphkit evaluate FOLDER` scores it.
    """
    from graphkit.cli.progress import shown_progress
    from graphkit.files.assets import located
    from graphkit.files.dataset import Dataset
    from graphkit.plugins.cypher.found_causes import CauseFinder
    from graphkit.plugins.cypher.walked_dataset import given_dataset, walk_dataset

    source, problems = Dataset(located(dataset)), reading.problems()
    files = [*map(located, runs)] if runs else source.runs()
    given = given_dataset(source, files, out, problems=problems, replace_folder=replace)
    with graph.choice().runner(source, shown_progress) as runner, shown_progress("running queries") as progress:
        cause = CauseFinder(runner, seconds=causes) if causes else None
        walked = walk_dataset(given, runner, cause=cause, progress=progress)
    for sentence in runner.notes:
        say(f"note: {sentence}")
    print_problems(problems)
    present(partial(_show, walked), walked.figures)


def _show(walked: WalkedDataset) -> None:
    """Print what was found, and the next command."""
    from graphkit.files.assets import command_text

    for name, reason in [*walked.stale.items()][:_NAMED]:
        print_line(f"stale     {name}: {shortened(reason, 300)}")
    if (more := len(walked.stale) - _NAMED) > 0:
        print_line(f"stale     and {counted(more, 'more question')}")
    for name, found in walked.gold.items():
        if found.failed and found.stale is None:
            say(f"note: {name}: {shortened('; '.join(found.failed), 300)}")
    for run in walked.runs:
        print_line(f"run       {run.sentence}")
        if run.other_rows is not None:
            say(f"note: {run.other_rows}")
        for cause, count in sorted(run.causes.items(), key=lambda one: (-one[1], one[0]))[:_NAMED]:
            print_line(f"cause     {count} {cause}, as in {shortened(run.examples[cause], 300)}")
    queried = sum(bool(one.queries) for one in walked.gold.values())
    print_line(
        f"{counted(len(walked.gold), 'question')}: {queried} with a gold query that finds something, "
        f"{walked.with_paths} with gold paths of it, {len(walked.stale)} stale"
    )
    print_line(f"next      {command_text('evaluate' if walked.runs else 'check', walked.folder)}")


@command(home=True)
def from_cypher(
    *,
    file: Path = argument("FILE", "Read these questions with their queries: JSON, JSON Lines, CSV or Parquet."),
    graph: QueriedGraphOptions,
    dataset: Path | None = option(
        "--dataset -d DIR", "Ask the graph of this dataset, and copy its files, with --graph dataset."
    ),
    only: str | None = option("--only NAME", "Only the questions that the file says are of the graph NAME."),
    out: Path = option("--out -o FOLDER", "Write the new dataset into this folder.", required=True),
    replace: bool = option("--replace", "Replace what was written into the folder before."),
) -> None:
    """Make gold paths of questions with Cypher queries.

    The files of CypherBench and of Neo4j's text2cypher sets are such. A question is stale if its query finds nothing.
    """
    from graphkit.cli.progress import shown_progress
    from graphkit.errors import InputError
    from graphkit.files.assets import located
    from graphkit.files.dataset import Dataset
    from graphkit.plugins.cypher.query_gold import gold_from_cypher
    from graphkit.plugins.cypher.walked_dataset import OWN_GRAPH

    choice = graph.choice()
    if graph.graph != OWN_GRAPH:
        choice.settings()  # refuses an address that isn't Bolt's
    if dataset is not None and graph.graph != OWN_GRAPH:
        what = "--dataset names the graph of a dataset, --graph that of a server, and one is asked"
        raise InputError(what, remedy="Leave out one of them.")
    if dataset is None and graph.graph == OWN_GRAPH:
        raise InputError(
            "no graph is named", remedy="Name that of a dataset by --dataset DIR, or a server's by --graph URI."
        )
    source = None if dataset is None else Dataset(located(dataset), questions=False)
    with (
        choice.runner(source or out, shown_progress) as runner,
        shown_progress("running queries") as progress,
    ):
        walked = gold_from_cypher(
            file, runner, out, of_graph=only, replace_folder=replace, source=source, progress=progress
        )
    for sentence in runner.notes:
        say(f"note: {sentence}")
    present(partial(_show, walked), walked.figures)
