"""The options of ``graphkit load --bulk``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import option, present, print_line, print_problems, settings
from graphkit.errors import InputError
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.cli.options import ReadingOptions
    from graphkit.files.dataset import Dataset
    from graphkit.plugins.bulk.bulk_load import BulkLoad
    from graphkit.plugins.bulk.bulk_neo4j import Neo4jBulkLoad


@dataclass(frozen=True)
class BulkOptions:
    """Filling a new database by its batch importer."""

    bulk: bool = option("--bulk", "Fill a new database by its batch importer, which is faster than Bolt.")
    runs: list[Path] | None = option("--runs RUN.jsonl", "With --bulk, load this run, too; may be repeated.")
    out: Path | None = option(
        "--out FOLDER", "With --bulk and Neo4j, write the files of the import here. [default: DATASET-import]"
    )
    home: Path | None = option(
        "--neo4j-home DIR", "With --bulk, run the import of the stopped Neo4j in this folder, too."
    )
    overwrite: bool = option("--overwrite", "Let the import delete what the database holds.")

    def asked(self) -> bool:
        """Return whether the batch importer is asked for; raise InputError if its other options stand alone."""
        others = {"--runs": self.runs, "--out": self.out, "--neo4j-home": self.home, "--overwrite": self.overwrite}
        given = [name for name, value in others.items() if value]
        if given and not self.bulk:
            remedy = "Add --bulk to fill a new database; `graphkit evaluate RUN.jsonl` loads and scores a run."
            raise InputError(f"{given[0]} needs --bulk", remedy=remedy)
        return self.bulk

    def fill(self, source: Dataset, reading: ReadingOptions) -> None:
        """Fill a new database with a dataset and runs."""
        import dataclasses

        from graphkit.cli.progress import shown_progress
        from graphkit.database.settings import hide_password
        from graphkit.plugins.bulk.bulk_load import bulk_load, embedded_importer
        from graphkit.plugins.bulk.bulk_neo4j import bulk_load_neo4j

        chosen, problems, runs = settings(), reading.problems(), self.runs or []
        if chosen.uri is None:
            if self.out or self.home or self.overwrite:
                remedy = "Name the server (NEO4J_URI); the embedded database is filled without files."
                raise InputError("--out, --neo4j-home and --overwrite are for Neo4j", remedy=remedy)
            with shown_progress(f"filling the database in {chosen.data}") as progress:
                loaded = bulk_load(embedded_importer(chosen.data), source, runs, problems, progress)
            print_problems(problems)
            present(lambda: _show_filled(loaded), dataclasses.asdict(loaded))
            return
        folder = self.out or Path(f"{source.name}-import")
        with shown_progress(f"filling {hide_password(chosen.uri)}") as progress:
            step = bulk_load_neo4j(
                chosen,
                source,
                runs,
                problems,
                folder,
                home=self.home,
                overwrite=self.overwrite,
                progress=progress,
            )
        print_problems(problems)
        facts = {**dataclasses.asdict(step), "folder": step.folder and str(step.folder)}
        present(lambda: _show_step(source.name, step), facts)


def _show_step(dataset: str, step: Neo4jBulkLoad) -> None:
    """Print what a step of a bulk load into Neo4j did, and the next one."""
    from graphkit.plugins.bulk.neo4j_admin import OVERWRITE

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
    from graphkit.cli.load import print_loaded

    print_loaded(loaded.dataset)
    for run in loaded.runs:
        print_line(f"{run.run}: {counted(run.written, 'answer')} loaded")
