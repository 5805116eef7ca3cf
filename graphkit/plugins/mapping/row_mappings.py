"""The reader by mappings that the importer asks for: it reads rows of any form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.files.problems import Problems
from graphkit.plugins.mapping.field_maps import FieldMap
from graphkit.plugins.mapping.log_rows import own_columns, run_of_table
from graphkit.plugins.mapping.mapped_records import mapped_records
from graphkit.readers.logged import UnrecognisedLogError
from graphkit.readers.own_records import OwnRecord

if TYPE_CHECKING:
    from graphkit.cli.options import AutoLogOptions, OnError


@dataclass(frozen=True, slots=True)
class RowMapping:
    """Rows that are read by their mapped fields; see :class:`graphkit.imports.mappings.MappedRows`."""

    fields: FieldMap

    def records(
        self, path: Path, questions: Path, problems: Problems, unread: Counter[str]
    ) -> Iterator[tuple[str, OwnRecord]]:
        """Yield the records in the rows of a file, each with its ``file:line``."""
        return mapped_records(path, self.fields, questions, problems, unread)


class RowMappings:
    """The methods of :class:`graphkit.imports.mappings.Mappings`."""

    def given(self, given: Sequence[str | Path] | Mapping[str, str]) -> RowMapping:
        """Return the mapping that a user writes by ``--map``."""
        return RowMapping(FieldMap(given))

    def of_table(self, path: Path) -> RowMapping | None:
        """Return how a table is read whose columns have the names of a record's fields."""
        fields = own_columns(path)
        return None if fields is None else RowMapping(fields)

    def run_of_table(self, path: Path) -> str | None:
        """Return the run that the first row of a table names."""
        return run_of_table(path)

    def accepted(
        self, error: UnrecognisedLogError, files: Sequence[Path], dataset: Path, logs: AutoLogOptions, on_error: OnError
    ) -> list[str | Path]:
        """Return the mapping that the user accepts for logs that no reader knows."""
        from graphkit.plugins.mapping.acceptance import accepted_mapping

        return accepted_mapping(error, files, dataset, logs, on_error)


MAPPINGS = RowMappings()
