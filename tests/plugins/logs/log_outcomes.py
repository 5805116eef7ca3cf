"""What comes of each variation of a log: the tables in the pages of formats, which ``docs/generate.py`` writes."""

from __future__ import annotations

import copy
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.imports.importer import ImportedLog, import_log
from graphkit.readers.known_formats import reader_of
from tests.helpers.datasets import write_jsonl
from tests.live.small_graph import EDGES, IDS
from tests.plugins.logs.log_variations import (
    OTHER,
    SAMPLES,
    SHOP,
    TOWN,
    Sample,
    Values,
    emptied,
    in_parallel,
    marked,
    nested,
    replaced,
    with_result,
    without_result,
)
from tests.plugins.logs.recordings import EDGES as FILE_EDGES
from tests.plugins.logs.recordings import GOLD

READ, DOUBT, REFUSED, NONE, SILENT = "read", "doubt", "refused", "-", "SILENT"

#: The formats of traces, of which several of one question are attempts.
TRACES = ("openinference", "otel", "mlflow", "weave", "langfuse")

#: The words of the page.
MEANINGS = {READ: "read", DOUBT: "unknown with a doubt", REFUSED: "refused", NONE: "not of this format", SILENT: SILENT}

#: A record as what is compared of it: its edges, and what it retrieved.
Walk = tuple[frozenset[tuple[str, str]] | None, frozenset[str] | None]


@dataclass
class Outcome:
    """What an import gave, or its refusal."""

    found: ImportedLog | None
    refusal: str | None = None

    def records(self, question: str = "q") -> list[dict[str, Any]]:
        """Return the records of a question."""
        records = self.found.records if self.found is not None else []
        return [one for one in records if one["question_id"] == question]

    def walks(self, question: str = "q") -> list[Walk]:
        """Return what the records of a question hold."""
        return [walk_of(one) for one in self.records(question)]

    def said(self) -> set[str]:
        """Return each doubt, each field that isn't read and each reason to skip, with its count."""
        if self.found is None:
            return set()
        figures = self.found.figures
        counts = {f"{name} {count}" for key in ("notes", "unread", "left_out") for name, count in figures[key].items()}
        return counts | set(figures["meaning"]) | {str(one) for one in self.found.problems.skipped}


def walk_of(record: dict[str, Any]) -> Walk:
    """Return what is compared of a record."""
    steps, chunks = record.get("traversal"), record.get("retrieved")
    return (
        None if steps is None else frozenset((one["source"], one["target"]) for one in steps),
        None if chunks is None else frozenset(one["id"] for one in chunks),
    )


def dataset(folder: Path, *, root: bool = False) -> Path:
    """Write the dataset of the town and the shop; with ``root``, one node of each is a file at its root."""
    asked = [("q", TOWN), ("s", SHOP), ("q2", OTHER)]
    questions: list[dict[str, Any]] = [
        {"id": one, "question": text, "relevant": {IDS["Ann"]: 1}} for one, text in asked
    ]
    questions[1] = {"id": "s", "question": SHOP, "paths": [{"steps": GOLD}]}
    ids = {**IDS, "Acme": "town:Acme.md"} if root else IDS
    edges = [{"source": ids[one], "relation": kind, "target": ids[end]} for one, kind, end in EDGES]
    edges += FILE_EDGES
    if root:
        edges, questions = (
            json.loads(json.dumps(one).replace("src/orders.py", "orders.py")) for one in (edges, questions)
        )
    write_jsonl(folder / "questions.jsonl", questions)
    write_jsonl(folder / "artifacts.jsonl", [{"id": one} for one in ids.values()])
    write_jsonl(folder / "edges.jsonl", edges)
    return folder


def imported(name: str, sample: Sample, *files: Values | str, root: bool = False, unknown: bool = False) -> Outcome:
    """Import the files of a log, which are about the question q."""
    with tempfile.TemporaryDirectory() as temporary:
        data = dataset(Path(temporary) / "ds", root=root)
        paths = []
        for number, values in enumerate(files):
            stem = "s" if sample.asked == SHOP and not number else f"log{number}"  # a session is named by its question
            path = Path(temporary) / f"{stem}{sample.suffix}"
            text = values if isinstance(values, str) else "\n".join(json.dumps(one) for one in values) + "\n"
            path.write_text(text, "utf-8")
            paths.append(path)
        ids = {one: id_ for one, id_ in IDS.items() if not (root and one == "Acme")}
        drawn = {uuid: IDS[one] for uuid, one in sample.more.get("names", {}).items()}
        try:
            return Outcome(import_log(paths, name, data, ids={} if unknown else ids | drawn, run="r"))
        except InputError as error:
            return Outcome(None, str(error))


class Format:
    """A format with its log, and what its variations give."""

    def __init__(self, name: str) -> None:
        self.name, self.sample = name, SAMPLES[name]
        self.question = "q" if self.sample.asked == TOWN else "s"
        self.plain = self.got(self.sample.values)
        (self.walk,) = self.plain.walks(self.question)

    def got(self, *files: Values | str, **how: bool) -> Outcome:
        """Return what comes of files."""
        return imported(self.name, self.sample, *files, **how)

    def values(self) -> Values:
        """Return a copy of the values of the log."""
        assert not isinstance(self.sample.values, str)
        return copy.deepcopy(self.sample.values)

    @property
    def is_text(self) -> bool:
        """Whether the log is text, and no JSON."""
        return isinstance(self.sample.values, str)

    def judged(self, got: Outcome, right: Callable[[Outcome], bool]) -> str:
        """Return a cell: right, or what was said of it."""
        if got.found is None:
            return REFUSED
        if right(got):
            return READ
        news = got.said() - self.plain.said()
        if news and (self.walk[0] is None or all(walk[0] != self.walk[0] for walk in got.walks(self.question))):
            return DOUBT
        return DOUBT if news else SILENT

    def same(self, got: Outcome) -> bool:
        """Return whether the record is the one of the log as it was."""
        return got.walks(self.question) == [self.walk]

    # The variations ---------------------------------------------------------------------------------------------------

    def _failed_call(self, got: Outcome) -> bool:
        """Return whether the call failed, and the walk lacks what it gave."""
        (record,) = got.records(self.question)
        last = [call for call in record.get("tool_calls", ()) if call.get("failed")]
        edges, full = walk_of(record)[0] or frozenset(), self.walk[0] or frozenset()
        return bool(last) and (edges < full or not full)

    def failed_call(self) -> str:
        if not self.sample.tools:
            return self._failed_search()
        if self.sample.failed is None:
            return NONE
        values = with_result(marked(self.values(), self.sample), self.sample, "no such node")
        return self.judged(self.got(values), self._failed_call)

    def _failed_search(self) -> str:
        if not self.sample.wrapped:
            return NONE
        key = next(key for key in ("question_id", "instance_id") if key in self.values()[0])
        got = self.got([{key: "q", "error": "timed out"}, *self._another()])
        return self.judged(got, lambda one: [bool(record.get("error")) for record in one.records()] == [True])

    def _another(self) -> Values:
        return [{**one, **{key: "q2" for key in ("question_id", "instance_id") if key in one}} for one in self.values()]

    def error_text(self) -> str:
        if not self.sample.tools or self.sample.error is None:
            return NONE
        values = with_result(self.values(), self.sample, self.sample.error)
        return self.judged(self.got(values), self._failed_call)

    def missing_result(self) -> str:
        if self.sample.tools:
            values = without_result(self.values(), self.sample)
            if (lost := self.sample.lost) is not None:
                values = [one for one in self.values() if not re.search(lost, json.dumps(one))]
            return self.judged(self.got(values), self._failed_call)
        if not self.sample.wrapped:
            return NONE
        values = [{key: one.get(key) for key in one if key in ("question_id", "instance_id")} for one in self.values()]
        return self.judged(self.got([*values, *self._another()]), lambda one: not one.records())

    def retry(self) -> str:
        if not self.sample.wrapped:
            return NONE
        key = next((key for key in ("question_id", "instance_id") if key in self.values()[0]), "question_id")
        got = self.got([{key: "q", "error": "429: too many requests"}, *self.values()])
        return self.judged(got, lambda one: self.same(one) and one.said() != self.plain.said())

    def parallel(self) -> str:
        if not self.sample.tools:
            return NONE
        values, done = in_parallel(self.values(), self.sample)
        return self.judged(self.got(values), self.same) if done else NONE

    def cut_file(self) -> str:
        text = self.sample.values
        if not isinstance(text, str):
            text = "\n".join(json.dumps(one) for one in text)
        cut = text.rstrip()[: -max(4, len(text.splitlines()[-1]) // 3)]
        return self.judged(self.got(cut), lambda one: False)

    def nested_list(self) -> str:
        if self.is_text:
            return NONE
        if self.sample.tools and self.question == "q":
            values = with_result(self.values(), self.sample, lambda old: [old] if isinstance(old, list) else f"[{old}]")
            return self.judged(self.got(values), self.same)
        if not self.sample.lists:
            return NONE
        return self.judged(self.got(nested(self.values(), self.sample.lists)), self.same)

    def root_file(self) -> str:
        def moved(text: str) -> str:
            text = re.sub(r"cd src && |(?:/testbed/|file:///)?src/(?=orders)", "", text)
            return re.sub(r"(?i)\bAcme\b", "Acme.md", text) if self.question == "q" else text

        values = moved(self.sample.values) if isinstance(self.sample.values, str) else replaced(self.values(), moved)
        got = self.got(values, root=True)
        to = (IDS["Acme"], "town:Acme.md") if self.question == "q" else ("shop:src/orders.py", "shop:orders.py")
        edges, chunks = ({_with(one, *to) for one in part} if part is not None else None for part in self.walk)
        return self.judged(got, lambda one: one.walks(self.question) == [(edges, chunks)])

    def unknown_part(self) -> str:
        if self.is_text:
            line = "> zebra crossing\n" if self.name == "aider" else "zebra crossing\n"
            return self.judged(self.got(f"{self.sample.values}{line}"), lambda one: False)
        part = {"type": "zebra", "zebra": {"crossing": "x"}}
        cells = {self.of_part(self.got(values), place) for place, values in with_part(self.values(), part)}
        return SILENT if SILENT in cells else DOUBT if DOUBT in cells else REFUSED if cells else NONE

    def of_part(self, got: Outcome, place: tuple[str, ...]) -> str:
        """Return what comes of a part at a place: reported by itself or with all around it, or kept in the record."""
        if got.found is None:
            return REFUSED
        whole = ".".join(place)
        reported = any(whole == name or whole.startswith(f"{name}.") for name in got.found.figures["unread"])
        beside = {*reader_of(self.name).beside} & {*place}
        kept = "zebra" in json.dumps(got.found.records)
        return DOUBT if got.said() - self.plain.said() or reported or beside or kept else SILENT

    def empty_result(self) -> str:
        sample = self.sample
        if self.is_text:
            return NONE
        if sample.tools:
            empty = sample.empty
            values = with_result(self.values(), sample, lambda old: [] if isinstance(old, list) else empty)
            return self.judged(self.got(values), self._without_edges)
        if not sample.lists:
            return NONE
        return self.judged(self.empty(), lambda one: [walk[1] for walk in one.walks()] == [frozenset()])

    def empty(self) -> Outcome:
        """Return what comes of a search that found nothing, beside another."""
        return self.got([*emptied(self.values(), self.sample.lists), *self._another()])

    def _without_edges(self, got: Outcome) -> bool:
        (walk,) = got.walks(self.question)
        return walk[0] is not None and walk[0] <= (self.walk[0] or frozenset())

    def two_questions(self) -> str:
        if self.is_text:
            text = str(self.sample.values)
            got = self.got(f"{text}{text.replace('q ', 'q2 ').replace(self.sample.asked, OTHER)}")
        elif self.name == "beir":
            got = self.got([{"q": self.values()[0]["q"], "q2": self.values()[0]["q"]}])
        else:
            asked = self.sample.asked
            further = replaced(self._another(), lambda text: text.replace(asked, OTHER).replace("trace-1", "trace-2"))
            if self.name in ("openinference", "otel"):
                further = replaced(further, lambda text: re.sub("^0x", "0x9", text) if len(text) > 20 else text)
                for one in further[:1]:
                    one["attributes"]["question_id"] = "q2"
            if self.name == "inspect":
                further[0]["samples"][0]["id"] = "q2"
            if self.name == "atif":
                further[0]["session_id"] = "q2"
            got = self.got([*self.values(), *further])
        return self.judged(got, lambda one: one.walks(self.question) == [self.walk] == one.walks("q2"))

    def several_trials(self) -> str:
        if self.is_text or not self.sample.wrapped or self.name in TRACES:
            return NONE
        if self.name == "inspect":
            values = self.values()
            values[0]["samples"].append({**copy.deepcopy(values[0]["samples"][0]), "epoch": 2})
        else:
            values = [{**one, "trial": number} for number in (1, 2) for one in self.values()]
        return self.judged(self.got(values), lambda one: one.walks() == [self.walk] * 2)

    def unknown_names(self) -> str:
        def other(text: str) -> str:
            text = re.sub(r"\b(src/)?(cart|orders|stock)\.py", r"lib/x\2.py", text)
            if self.question == "s" or text == TOWN:
                return text
            return re.sub(r"(?i)\b(Ann|Acme|Bern|Zed|people)\b", lambda one: f"X{one[0]}", text)

        values = other(self.sample.values) if isinstance(self.sample.values, str) else replaced(self.values(), other)
        got = self.got(values, unknown=True)
        if got.found is None:
            return REFUSED
        return DOUBT if got.said() - self.plain.said() else SILENT


def _with(one: Any, old: str, new: str) -> Any:
    if isinstance(one, tuple):
        return tuple(new if end == old else end for end in one)
    return new if one == old else one


def with_part(values: Values, part: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Values]]:
    """Yield the values once for each list of objects in them, with another object at its end, and the list's place."""
    yield (), [*values, part]
    places: list[tuple[tuple[str, ...], list[Any]]] = []
    kinds: set[tuple[str, ...]] = set()
    waiting: list[tuple[Any, tuple[str, ...]]] = [(values, ())]
    while waiting:
        one, way = waiting.pop(0)
        if isinstance(one, list):
            if one is not values and one and isinstance(one[-1], dict) and way not in kinds:
                kinds.add(way)
                places.append((way, one))
            waiting += [(inner, way) for inner in one]
        elif isinstance(one, dict):
            waiting += [(inner, (*way, key)) for key, inner in one.items()]
    for place, held in places:
        held.append(part)
        yield place, values
        held.pop()


#: The variations by the heads of their columns.
VARIATIONS: dict[str, Callable[[Format], str]] = {
    "failed call": Format.failed_call,
    "error text as result": Format.error_text,
    "missing result": Format.missing_result,
    "retry": Format.retry,
    "parallel calls": Format.parallel,
    "cut file": Format.cut_file,
    "nested list": Format.nested_list,
    "root file": Format.root_file,
    "unknown kind of part": Format.unknown_part,
    "empty result": Format.empty_result,
    "two questions": Format.two_questions,
    "several trials": Format.several_trials,
    "unknown names": Format.unknown_names,
}


def row(name: str) -> list[str]:
    """Return the cells of a format."""
    one = Format(name)
    return [variation(one) for variation in VARIATIONS.values()]


def outcomes(name: str) -> dict[str, str]:
    """Return what comes of each variation of a format, in the words of its page."""
    return dict(zip(VARIATIONS, (MEANINGS[one] for one in row(name)), strict=True))
