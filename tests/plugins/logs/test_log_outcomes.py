"""No variation of a log is read wrongly in silence, and nothing that a reader doesn't know goes unreported."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphkit.imports.importer import AUTO, _reader, import_log
from graphkit.imports.sources import values_of
from graphkit.readers.accounting import Account, says_nothing
from graphkit.readers.known_formats import formats, reader_of
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions, UnreadableLogError
from graphkit.records.doubts import NOTHING, UNREAD_PARTS
from tests.helpers import ROOT
from tests.plugins.logs.log_outcomes import MEANINGS, SILENT, VARIATIONS, Format, row, with_part
from tests.plugins.logs.log_variations import RECORDED, SAMPLES, Values

PAGES = ROOT / "docs" / "importing"


def test_every_format_has_a_page() -> None:
    """A new format needs a sample in ``log_variations.py``, and no page is of a format that there isn't."""
    assert set(SAMPLES) == set(formats())
    assert {path.stem for path in PAGES.glob("*.md")} == set(formats())


@pytest.mark.parametrize("name", formats())
def test_the_page_says_what_comes_of_each_variation(name: str) -> None:
    """Each cell is computed by importing the variation, and none is silent."""
    cells = row(name)
    assert SILENT not in cells, dict(zip(VARIATIONS, cells, strict=True))
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    shown = [f"| {variation} | {MEANINGS[one]} |" for variation, one in zip(VARIATIONS, cells, strict=True)]
    assert text.endswith("\n".join(["|---|---|", *shown, ""])), "run: python docs/generate.py"


def read(reader: Reader, values: Values) -> tuple[list[LoggedAnswer], Counter[str]]:
    """Return what an import reads of values, and what it says isn't read."""
    unread: Counter[str] = Counter()
    account = Account(reader, unread)
    given = ((f"log:{number}", value) for number, value in enumerate(values, 1))
    return list(account.read(reader.read(account.given(given), ReadOptions(), unread))), unread


#: The kinds of events of which the data say nothing of a question, whatever they hold.
BESIDE = ("session.info", "assistant.turn_start")


def objects(value: Any, way: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield each object in a value with the keys that lead to it."""
    if isinstance(value, dict):
        yield way, value
        for key, one in value.items() if value.get("type") not in BESIDE else ():
            yield from objects(one, (*way, key))
    elif isinstance(value, list):
        for one in value:
            yield from objects(one, way)


def reported(
    way: tuple[str, ...], name: str, reader: Reader, answers: list[LoggedAnswer], unread: Counter[str]
) -> bool:
    """Return whether a name is reported: by itself, with all around it, or since a record keeps it as it is."""
    place = ".".join(way)
    whole = any(place == one or place.startswith(f"{one}.") for one in unread)
    return (
        whole
        or any(name in one for one in unread)
        or any(one in reader.beside or says_nothing(one, None) for one in way)
        or name in str(answers)
    )


LOGS = sorted(one for one in RECORDED.iterdir() if one.suffix != ".md")


def check_keys(path: Path) -> None:
    """Add a key to each object of a log, and find it reported."""
    reader, _ = _reader(path, AUTO)
    check_keys_of(path.name, reader, [one for _, one in values_of(path)])


def check_keys_of(what: str, reader: Reader, values: Values) -> None:
    """Add a key to each object of each value, or of all where a value is a part of a log, and find it reported.

    A copy of an object, such as the arguments of a call that starts and ends, gets the same key.
    """
    for log in [values] if reader.name in LINES else [[one] for one in values]:
        log = copy.deepcopy(log)
        places = list(objects(log))
        keys: dict[tuple[tuple[str, ...], str], str] = {}
        names = [keys.setdefault((way[-1:], json.dumps(held)), f"zebra{len(keys)}x") for way, held in places]
        for name, (_, held) in zip(names, places, strict=True):
            held[name] = "crossing"
        try:
            answers, unread = read(reader, log)
        except UnreadableLogError:
            continue
        silent = [
            ".".join(way)
            for name, (way, _) in zip(names, places, strict=True)
            if not reported(way, name, reader, answers, unread)
        ]
        assert not silent, (what, sorted({*silent}))


#: The formats of which a line is a part.
LINES = (
    *("claude-code", "codex", "mcp", "openhands", "openinference", "otel", "openai-agents", "langchain"),
    *("copilot", "cursor", "weave"),
)


@pytest.mark.slow("each object of each recorded log")
@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_an_unknown_key_is_reported_wherever_it_stands(path: Path) -> None:
    """Of each object in each recorded log."""
    check_keys(path)


#: The formats whose log is objects of known keys.
OBJECTS = sorted(set(SAMPLES) - {"beir", "trec", "aider"})


@pytest.mark.parametrize("name", OBJECTS)
def test_an_unknown_key_is_reported_wherever_it_stands_in_a_small_log(name: str) -> None:
    """Of each object in each small log."""
    values = SAMPLES[name].values
    assert not isinstance(values, str)
    check_keys_of(name, reader_of(name), values)


@pytest.mark.parametrize("name", sorted({*OBJECTS} - {"graphkit"}))
def test_an_unknown_part_or_call_is_reported_wherever_it_stands(name: str) -> None:
    """Each list of objects in each small log gets an object of an unknown kind, and a call without a known form."""
    one = Format(name)
    for part in ({"type": "zebra", "zebra": {"crossing": "x"}}, {"zebra_call": {"name": "cross", "id": "z1"}}):
        for place, values in with_part(one.values(), part):
            assert one.of_part(one.got(values), place) != SILENT, (name, place)


def test_real_logs_have_no_silent_keys(real_logs: Path) -> None:
    """Of each object in the first values of each log that a real library wrote."""
    # The paths of one are cut, so it is refused; rows of a query have columns of its own, and so have their edges.
    others = ("vector_cypher_default", "vector_cypher_formatter", "hybrid_cypher_formatter", "graph_cypher_qa")
    for path in sorted(real_logs.glob("*/*.jsonl.gz")):
        if not path.name.startswith(others):
            check_keys(path)


# What a reader may not take ----------------------------------------------------------------------------------------


class WordsReader(Reader):
    """Reads the words of a log's parts, and a search."""

    name = "words"
    title = "words"
    beside = ("colour",)

    def recognises(self, value: Any) -> bool:
        return True

    def read(self, values: Any, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        for where, value in values:
            answer = LoggedAnswer(where, value.get("question_id"))
            words = [part["text"] for part in value.get("parts", ()) if part.get("kind") == "text"]
            answer.answer = " ".join(words) or None
            if "found" in value:
                answer.retrieved = value["found"] and []
            yield answer


def test_a_part_of_which_nothing_is_read_is_a_doubt_of_its_record() -> None:
    """Of two parts one is read; the other answer has all of its parts, and its record no doubt."""
    known, other = {"kind": "text", "text": "Acme."}, {"kind": "song", "notes": "la"}
    values = [{"question_id": "q", "parts": [known, other]}, {"question_id": "r", "parts": [known], "colour": "red"}]
    answers, unread = read(WordsReader(), values)
    assert [(one.answer, one.notes) for one in answers] == [("Acme.", [UNREAD_PARTS]), ("Acme.", [])]
    assert unread == {"parts.notes": 1}


def test_a_record_of_which_nothing_is_read_is_said_to_be_empty() -> None:
    """Only its question is known, and an import refuses a log of such records."""
    answers, unread = read(WordsReader(), [{"question_id": "q", "song": {"notes": "la"}}])
    assert answers[0].notes == [NOTHING]
    assert unread == {"song": 1}


def test_a_search_that_found_nothing_walked_nothing() -> None:
    """An empty result is an empty walk, unless parts of it aren't read: then neither is known."""
    answers, _ = read(WordsReader(), [{"question_id": "q", "found": []}])
    assert (answers[0].retrieved, answers[0].traversal) == ([], [])
    answers, _ = read(WordsReader(), [{"question_id": "q", "found": [{"song": "la"}]}])
    assert (answers[0].retrieved, answers[0].traversal, answers[0].notes) == (None, None, [UNREAD_PARTS])


def test_a_log_as_long_as_it_may_be_is_read_as_a_stream() -> None:
    """What is read of a value isn't kept: no more than two of 1 000 values are held at once."""
    held: list[int] = []
    reader = WordsReader()
    account = Account(reader, Counter())

    def values() -> Iterator[tuple[str, Any]]:
        for number in range(1000):
            held.append(sum(one is not None for one in account._held.values()))
            yield f"log:{number}", {"question_id": f"q{number}", "parts": [], "debug": 1}

    assert len(list(account.read(reader.read(account.given(values()), ReadOptions(), Counter())))) == 1000
    assert max(held) <= 2


@pytest.mark.parametrize("name", ["graphrag", "lightrag", "neo4j-graphrag", "llama-index", "langchain", "graphiti"])
def test_finding_nothing_is_the_same_in_every_search(name: str) -> None:
    """Nothing was retrieved, nothing walked, nothing failed, and the summary counts it."""
    one = Format(name)
    got = one.empty()
    (record,) = got.records()
    assert (record["retrieved"], record["traversal"], record.get("error")) == ([], [], None)
    assert got.found is not None
    assert got.found.figures["found_nothing"] == 1
    assert any("1 of 2 found nothing" in line for line in got.found.summary)
    assert json.dumps(got.found.figures)
    assert reader_of(name).finds_edges


#: How many answers found nothing, failed, have retrieved ids, and have edges, as the logs' own pages say.
LIVE = {
    "neo4j-graphrag/text2cypher": (12, 0, 0, 0),
    "neo4j-graphrag/t2c-plain": (10, 0, 2, 1),
    "llama-index/t2c": (6, 5, 1, 0),
    "lightrag/data-local": (4, 0, 6, 6),
    "lightrag/context-local": (4, 0, 6, 6),
    "lightrag/data-mix": (2, 0, 8, 8),
}


@pytest.mark.parametrize("name", LIVE)
def test_real_searches_that_found_nothing(name: str, real_logs: Path) -> None:
    """A row that isn't there, LightRAG's no_results and an empty list are one state, whatever the format."""
    log = real_logs.parent / "live" / f"{name}.jsonl.gz"
    found = import_log(log, AUTO, ROOT / "fixtures" / "storefront")
    empty = [one for one in found.records if one.get("retrieved") == [] and not one.get("traversal")]
    assert all(one["traversal"] == [] and "error" not in one for one in empty)
    held = (sum(bool(one.get(field)) for one in found.records) for field in ("retrieved", "traversal"))
    assert (found.figures["found_nothing"], found.figures["failed"], *held) == LIVE[name]
    assert len(empty) == LIVE[name][0]
