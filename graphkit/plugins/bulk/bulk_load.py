"""Load a dataset and its runs into a new database by the batch importer of the database, not through Bolt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

from graphkit import __version__
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.graph.checked import CheckedDataset
from graphkit.graph.datasets import LoadSummary
from graphkit.graph.queries import schema_statements
from graphkit.graph.runs import RunLoad
from graphkit.graph.schema_version import SCHEMA_VERSION
from graphkit.plugins.bulk.bulk_client import BulkImport
from graphkit.plugins.bulk.bulk_datasets import DatasetElements
from graphkit.plugins.bulk.bulk_elements import TIMES, Elements, Importer
from graphkit.plugins.bulk.bulk_numbers import numbers
from graphkit.plugins.bulk.bulk_runs import RunElements
from graphkit.plugins.embedded.import_batches import TOGETHER
from graphkit.records.collector import quiet_collector
from graphkit.records.progress import Progress, quiet


@dataclass(frozen=True, slots=True)
class BulkLoad:
    """The result of a bulk load: what was written of the dataset, and of each run."""

    dataset: LoadSummary
    runs: list[RunLoad]


@quiet_collector()
def bulk_load(
    importer: Callable[[], AbstractContextManager[Importer]],
    dataset: Dataset,
    runs: Sequence[Path],
    problems: Problems,
    progress: Progress = quiet,
) -> BulkLoad:
    """Load a dataset and runs into an empty database: the graph is what :func:`load_dataset` and ``load_run`` write.

    The database becomes visible as a whole at the end: an error, or a kill, leaves it empty.

    Raise InputError if a record can't be used and ``problems`` doesn't skip it, or a file doesn't hold exactly one
    run. Raise DatabaseError if the database isn't empty, or fails.
    """
    with ExitStack() as stack:
        checked = CheckedDataset(dataset, problems, stack)
        opened = stack.enter_context(importer())
        elements = Elements(opened, stack.enter_context(numbers()))
        whole = DatasetElements(elements, checked, progress)
        whole.add()
        adding = RunElements(whole)
        loaded = [adding.add(run, problems) for run in runs]
        elements.node("Graphkit", {"name": "database", "schema": SCHEMA_VERSION, "version": __version__})
        elements.send(all_of_them=True)
        opened.complete(schema_statements())
    return BulkLoad(whole.summary, loaded)


def embedded_importer(folder: Path, together: int = TOGETHER) -> Callable[[], AbstractContextManager[Importer]]:
    """Return how to open the batch importer of the embedded database in a folder.

    ``together`` is the number of relationships of one batch, whose ends are in memory.
    """
    return lambda: BulkImport(folder, TIMES, together)
