"""``graphkit load``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import command, open_graph, option, present, print_line, print_problems, say, settings
from graphkit.cli.options import DATASET_FOLDER, ReadingOptions
from graphkit.errors import InputError
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.files.dataset import Dataset
    from graphkit.graph.bulk import BulkLoad
    from graphkit.graph.bulk_neo4j import Neo4jBulkLoad
    from graphkit.graph.datasets import LoadSummary


@dataclass(frozen=True)
class BulkOptions:
    """Options for filling a new database."""

    bulk: bool = option("--bulk", "Fill a new database by its batch importer, which is faster than Bolt.")
    runs: list[Path] | None = option("--runs RUN.jsonl", "With --bulk, load this run, too; may be repeated.")
    out: Path | None = option(
        "--out FOLDER", "With --bulk and Neo4j, write the files of the import here. [default: DATASET-import]"
    )
    home: Path | None = option(
        "--neo4j-home DIR", "With --bulk, run the import of the stopped Neo4j in this folder, too."
    )
    overwrite: bool = option("--overwrite", "Let the import delete what the database holds.")

    def options(self) -> dict[str, object]:
        """Return the values of the options that need --bulk."""
        return {
            "--runs": self.runs,
            "--out": self.out,
            "--neo4j-home": self.home,
            "--overwrite": self.overwrite,
        }


@command(graph=True)
def load(*, dataset: Path = DATASET_FOLDER, filling: BulkOptions, reading: ReadingOptions) -> None:
    """Load a dataset into the graph.

    It holds questions with gold paths, commits, compatibility and knowledge graphs.
    """
    import dataclasses

    from graphkit.cli.progress import shown_progress
    from graphkit.files.dataset import Dataset
    from graphkit.graph.datasets import load_dataset

    source = Dataset(dataset)
    if filling.bulk:
        _fill(source, filling, reading)
        return
    if given := [name for name, value in filling.options().items() if value]:
        remedy = "Add --bulk to fill a new database; `graphkit evaluate RUN.jsonl` loads and scores a run."
        raise InputError(f"{given[0]} needs --bulk", remedy=remedy)
    problems = reading.problems()
    with open_graph() as store, shown_progress(f"loading {source.name}") as progress:
        summary = load_dataset(store, source, problems, progress)
    print_problems(problems)
    present(lambda: _show(summary), dataclasses.asdict(summary))


def _fill(source: Dataset, filling: BulkOptions, reading: ReadingOptions) -> None:
    """Fill a new database with a dataset and runs."""
    import dataclasses

    from graphkit.cli.progress import shown_progress
    from graphkit.database.settings import hide_password
    from graphkit.graph.bulk import bulk_load, embedded_importer
    from graphkit.graph.bulk_neo4j import bulk_load_neo4j

    chosen, problems, runs = settings(), reading.problems(), filling.runs or []
    if chosen.uri is None:
        if filling.out or filling.home or filling.overwrite:
            remedy = "Name the server (NEO4J_URI); the embedded database is filled without files."
            raise InputError("--out, --neo4j-home and --overwrite are for Neo4j", remedy=remedy)
        with shown_progress(f"filling the database in {chosen.data}") as progress:
            loaded = bulk_load(embedded_importer(chosen.data), source, runs, problems, progress)
        print_problems(problems)
        present(lambda: _show_filled(loaded), dataclasses.asdict(loaded))
        return
    folder = filling.out or Path(f"{source.name}-import")
    with shown_progress(f"filling {hide_password(chosen.uri)}") as progress:
        step = bulk_load_neo4j(
            chosen,
            source,
            runs,
            problems,
            folder,
            home=filling.home,
            overwrite=filling.overwrite,
            progress=progress,
        )
    print_problems(problems)
    facts = {**dataclasses.asdict(step), "folder": step.folder and str(step.folder)}
    present(lambda: _show_step(source.name, step), facts)


def _show_step(dataset: str, step: Neo4jBulkLoad) -> None:
    """Print what a step of a bulk load into Neo4j did, and the next one."""
    from graphkit.database.neo4j_admin import OVERWRITE

    if step.finished:
        print_line(f"{dataset}: the import is finished, and the graph is complete")
        return
    if step.loaded is not None:
        _show_filled(step.loaded)
    if step.imported:
        print_line(f"imported the files in {step.folder}, which are no longer needed")
        print_line("next: start the server, and run this command again without --neo4j-home; it finishes the import")
        return
    print_line(f"{'the files are' if step.loaded else 'the files were there already,'} in {step.folder}")
    print_line("next: stop the server, and run on its machine, as its user:")
    print_line(f"  {step.command}", fold=False)
    if OVERWRITE not in str(step.command):
        print_line(f"  (if the database exists, and nothing in it is needed, with {OVERWRITE})")
    print_line("then: start the server, and run this command again; it finishes the import")


def _show_filled(loaded: BulkLoad) -> None:
    _show(loaded.dataset)
    for run in loaded.runs:
        print_line(f"{run.run}: {counted(run.written, 'answer')} loaded")


def _show(summary: LoadSummary) -> None:
    """Print what a load wrote, what was there already, and which artifacts only edges name."""
    for kind in summary.written:
        written, unchanged = summary.written[kind], summary.unchanged[kind]
        there = f", {unchanged} there already" if unchanged else ""
        done = "" if kind.endswith(" removed") else " loaded"
        print_line(f"{summary.dataset}: {written} {kind}{done}{there}")
    for note in summary.notes:
        say(f"note: {note}")
    if summary.retried_writes:
        from graphkit.graph.writing import retried_writes

        say(f"note: {retried_writes(summary.retried_writes)}")
    if summary.created_artifacts:
        shown = ", ".join(summary.created_artifacts[:5])
        more = ", ..." if len(summary.created_artifacts) > 5 else ""
        say(
            f"note: {counted(len(summary.created_artifacts), 'artifact')} made from the ids that edges name: "
            f"{shown}{more}"
        )
