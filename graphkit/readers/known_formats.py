"""Every reader by its name, and which of them a file's content asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

from graphkit.errors import did_you_mean
from graphkit.readers.logged import Reader, UnreadableLogError
from graphkit.readers.unrecognised import RECORD, advice, described

#: The readers by name, each the ``READER`` of its module, from the most specific to the most general: of two that
#: recognise equally many values of a file, the earlier one reads it.
READERS = {
    "graphkit": "graphkit.readers.own_records",
    "inspect": "graphkit.readers.inspect_logs",
    "atif": "graphkit.readers.atif",
    "openinference": "graphkit.readers.openinference",
    "otel": "graphkit.readers.otel_genai",
    "graphrag": "graphkit.readers.graphrag",
    "lightrag": "graphkit.readers.lightrag",
    "neo4j-graphrag": "graphkit.readers.neo4j_graphrag",
    "llama-index": "graphkit.readers.llama_index",
    "langchain": "graphkit.readers.langchain",
    "ragas": "graphkit.readers.ragas_rows",
    "messages": "graphkit.readers.chat_messages",
    "beir": "graphkit.readers.beir",
    "trec": "graphkit.readers.trec",
}

#: From which share of the lines on a text is lines, and isn't looked at as a whole.
KNOWN_BY = 0.5


def formats() -> list[str]:
    """Return the names of the readers."""
    return list(READERS)


def reader_of(name: str) -> Reader:
    """Return the reader of a name.

    Raises
    ------
    UnreadableLogError
        There is none of that name.
    """
    if name not in formats():
        remedy = f"{did_you_mean(name, formats())}There are: {', '.join(formats())}, and auto."
        raise UnreadableLogError(f"there is no format {name!r}", remedy=remedy)
    reader: Reader = import_module(READERS[name]).READER
    return reader


def recognised(values: Iterable[Any], lines: Iterable[str], where: str) -> tuple[Reader, str]:
    """Return the reader that recognises the largest share of a file's first values, and how it was chosen.

    Parameters
    ----------
    values
        JSON values; of a file that is no JSON its whole text, which is only looked at where no reader knows the lines.
    lines
        The first lines of a file that is no JSON.

    Raises
    ------
    UnreadableLogError
        No reader recognises any of them.
    """
    readers = [reader_of(name) for name in formats()]
    seen: list[Any] = []
    shares = _shares([reader for reader in readers if reader.lines], lines)
    form = "text" if shares else "JSON"
    if max(shares.values(), default=0.0) < KNOWN_BY:
        shares |= _shares([reader for reader in readers if not reader.lines], _kept(values, seen))
    best = max(shares.values(), default=0.0)
    if best == 0:
        raise UnreadableLogError(
            f"no format is recognised in it: it is {form}, and none of {', '.join(formats())} writes such; "
            f"{described(seen)}",
            where=where,
            details=(advice(seen), *RECORD.splitlines()),
        )
    chosen, *others = [name for name in formats() if shares.get(name) == best]
    part = "" if best == 1 else f" by {best:.0%} of its first values"
    also = f"; it could be {' or '.join(others)} too, and the more specific is taken" if others else ""
    return reader_of(chosen), f"recognised{part} as {chosen}{also}"


def _kept(values: Iterable[Any], kept: list[Any]) -> Iterator[Any]:
    for value in values:
        kept.append(value)
        yield value


def _shares(readers: Sequence[Reader], values: Iterable[Any]) -> dict[str, float]:
    """Return the share of values that each reader recognises; none of a file that has no such values."""
    counts = dict.fromkeys((reader.name for reader in readers), 0)
    seen = 0
    for value in values:
        seen += 1
        for reader in readers:
            counts[reader.name] += reader.recognises(value)
    return {name: count / seen for name, count in counts.items()} if seen else {}
