"""The Parquet files of a GraphRAG index: the documents of its texts, and the rows that an answer cites.

A search names a text by its place in the index's table, and version 1 by its place among what a basic search found; so
a text is first looked for by its words. The files are ``text_units.parquet``, ``documents.parquet`` and so on since
version 2, ``create_final_text_units.parquet`` before.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from graphkit.files.parquet import parquet_rows
from graphkit.readers.json_values import identifier, text
from graphkit.readers.logged import UnreadableLogError

#: Where the files lie below the folder that the user names: it may be the project's, or one of a run of the index.
_BELOW = (".", "output", "artifacts", "output/artifacts", "output/*/artifacts")
_PREFIXES = ("", "create_final_")


class GraphragIndex:
    """The tables of an index, each read when something is first asked of it.

    Raises
    ------
    UnreadableLogError
        The folder has no table of texts.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = next((found for found in _folders(folder) if _file(found, "text_units") is not None), folder)
        if _file(self._folder, "text_units") is None:
            raise UnreadableLogError(
                "the folder has no text_units.parquet, nor create_final_text_units.parquet",
                where=str(folder),
                remedy="--parquet names the output folder of graphrag's index.",
            )

    def documents(self, number: str | None, words: str | None) -> list[str]:
        """Return the titles of the documents that a text comes from, by its words, or else its number."""
        by_words = self._documents_of_words.get(words) if words is not None else None
        return by_words if by_words is not None else self._documents_of_numbers.get(number or "", [])

    def cited(self, table: str, number: str) -> list[str]:
        """Return the names in a citation such as ``Relationships (3)``: two ends, an entity, or documents."""
        if table == "sources":
            return self.documents(number, None)
        return {"entities": self._entities, "relationships": self._relationships}.get(table, {}).get(number, [])

    def _rows(self, table: str, *columns: str) -> Iterator[dict[str, Any]]:
        path = _file(self._folder, table)
        return parquet_rows(path, columns) if path is not None else iter(())

    @cached_property
    def _texts(self) -> list[tuple[str | None, list[str]]]:
        """Return the words of each text in the order of the table, and the titles of its documents."""
        titles = {
            identifier(row.get("id")): identifier(row.get("title")) for row in self._rows("documents", "id", "title")
        }
        found = []
        for row in self._rows("text_units", "text", "document_ids", "document_id"):
            ids = map(identifier, [*(row.get("document_ids") or ()), row.get("document_id")])
            names = [titles.get(one) or one for one in ids if one is not None]
            found.append((text(row.get("text")), list(dict.fromkeys(names))))
        return found

    @cached_property
    def _documents_of_words(self) -> dict[str, list[str]]:
        """Return the documents of each text, by its words; those that several texts have are left to the numbers."""
        found: dict[str, list[str]] = {}
        for words, names in self._texts:
            if words is not None and found.setdefault(words, names) != names:
                found[words] = []
        return {words: names for words, names in found.items() if names}

    @cached_property
    def _documents_of_numbers(self) -> dict[str, list[str]]:
        return {str(place): names for place, (_, names) in enumerate(self._texts)}

    @cached_property
    def _entities(self) -> dict[str, list[str]]:
        # Version 1 calls an entity's title its name in some releases.
        rows = self._rows("entities", "human_readable_id", "title", "name")
        return _numbered((row.get("human_readable_id"), (row.get("title") or row.get("name"),)) for row in rows)

    @cached_property
    def _relationships(self) -> dict[str, list[str]]:
        rows = self._rows("relationships", "human_readable_id", "source", "target")
        return _numbered((row.get("human_readable_id"), (row.get("source"), row.get("target"))) for row in rows)


def _folders(folder: Path) -> Iterator[Path]:
    for below in _BELOW:
        # Use the last of several runs of the index by name, which is its time.
        yield from sorted(folder.glob(below), reverse=True) if "*" in below else [folder / below]


def _file(folder: Path, table: str) -> Path | None:
    files = (folder / f"{prefix}{table}.parquet" for prefix in _PREFIXES)
    return next((file for file in files if file.is_file()), None)


def _numbered(rows: Iterator[tuple[Any, tuple[Any, ...]]]) -> dict[str, list[str]]:
    found = ((identifier(number), [name for name in map(identifier, names) if name]) for number, names in rows)
    return {number: names for number, names in found if number is not None}
