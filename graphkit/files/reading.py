"""Decodes and validates lines as records, and reports each mistake with file, line, record and remedy."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from graphkit.errors import InputError
from graphkit.files.decoding import UNDECODED, LineDecoder
from graphkit.files.intake import is_too_dense
from graphkit.files.json_stream import fault
from graphkit.files.jsonl import find_file, read_lines, run_of_file
from graphkit.files.problems import Problem, Problems, shortened
from graphkit.files.session_walks import has_turns, session_walks
from graphkit.records.aliases import ANSWER, BESIDE_ANSWER, QUESTION
from graphkit.records.json_once import RepeatedKeyError, each_key_once, may_repeat_a_key, may_repeat_keys, repeats_a_key
from graphkit.records.question_texts import QuestionTexts
from graphkit.records.shapes import BACKWARDS, WANTED
from graphkit.records.structs import (
    AnswerStruct,
    QuestionStruct,
    TraversalStepStruct,
    model_of,
    struct_of,
    turn_backward_steps,
)
from graphkit.records.three_texts import ThreeTexts, doubtful

# The models are imported when a record needs them: lines in the canonical spelling don't.
if TYPE_CHECKING:
    from graphkit.records.fields import Record

R = TypeVar("R", bound="Record")
S = TypeVar("S", bound=Struct)

#: A line: its number, itself, and its record; None for a blank line, or one that is a problem.
Parsed = tuple[int, bytes, S | None]

#: The fields that name a broken record in messages.
_ID_FIELDS = ("id", "question_id", "query_id", "sha")

#: The fields of a run's record that may hold the text of its question.
_TEXTS = ("question", *QUESTION["question"])

#: The number of mistakes of a record that are reported; the others are counted.
_MISTAKES = 3

NUMBERS_ARE_IDS = 'identifiers that are numbers are read as texts: 7 is "7"'

#: Without one of these bytes a line has no step whose relation says that it was walked backwards.
_MARK, _ESCAPE = ord(BACKWARDS), ord("\\")

#: How many lines are decoded together, and how many bytes they have at most if they are as large as those before.
_TOGETHER = 64
_BYTES_TOGETHER = 1 << 20

#: The remedy of a mistake, by its type in pydantic and the models.
_REMEDIES = {
    "string_too_long": "A name is a key of the database: give a shorter one; only texts may be of any length.",
    "time_not_storable": "Give the time in UTC: no database holds this one.",
}


def parse_record(
    model: type[R],
    line: bytes,
    where: str,
    problems: Problems,
    lists: Callable[[], ThreeTexts] | None = None,
    complete: Callable[[dict[str, Any]], dict[str, Any]] = lambda given: given,
) -> R | None:
    """Validate one line, or add a problem that describes its mistake and return None.

    Parameters
    ----------
    lists
        Returns the meaning of lists of three texts in the file of the line; by default the line alone decides.
    complete
        Adds what the file of the line says of it, or raises an InputError without a place.
    """
    from pydantic import ValidationError

    from graphkit.records.fields import NUMBERS, other_names
    from graphkit.records.unknown import unknown_fields

    value = _object(model, line, where, problems)
    if value is None:
        return None
    aliases = other_names(model)
    ids = [*_ID_FIELDS, *(aliases[key] for key in _ID_FIELDS if key in aliases)]
    if "id" not in model.model_fields:
        ids.append("question")  # the id in a score or a verdict, but the text in a question
    name = next((shortened(str(value[key])) for key in ids if isinstance(value.get(key), str | int)), None)
    try:
        value = complete(model.in_own_fields(value))
    except InputError as error:
        problems.add(Problem(where, error.what, record=name, remedy=error.remedy))
        return None
    if b"\\ud" in line.lower() and _has_half_character(value):
        what = "a text holds half of a character (a lone surrogate, \\ud800 to \\udfff)"
        problems.add(Problem(where, what, record=name, remedy="Write the character whole, or leave it out."))
        return None
    if "traversal" in model.model_fields and doubtful(value) is not None:
        value, note = (ThreeTexts([value]) if lists is None else lists()).resolved(value)
        if note is not None:
            problems.note(Problem(where, note, record=name))
    context: dict[str, bool] = {}
    try:
        record = model.model_validate(value, context=context)
    except ValidationError as error:
        mistakes = error.errors(include_url=False, include_context=False)
        for number, mistake in enumerate(mistakes[:_MISTAKES], 1):
            more = len(mistakes) - number if number == _MISTAKES else 0
            problems.add(Problem(where, _sentence(mistake), record=name, remedy=_remedy(model, mistake), more=more))
        return None
    if context.get(NUMBERS):
        problems.note(Problem(where, f"{_file_of(where)}: {NUMBERS_ARE_IDS}", record=name))
    for unknown, known in unknown_fields(model, value).items():
        if unknown.within or unknown.name not in model.beside:
            problems.ignore(where, unknown.name, known, unknown.within)
    return record


def _has(given: Mapping[str, Any], field: str) -> bool:
    """Return whether a run's record has a field by any of its names."""
    return any(given.get(name) is not None for name in (field, *ANSWER[field]))


def _object(model: type[Record], line: bytes, where: str, problems: Problems) -> dict[str, Any] | None:
    """Decode a line that must be one JSON object, or add a problem and return None."""
    if is_too_dense(line):
        problems.add(Problem(where, "the record holds millions of values", remedy="Split it, or shorten its lists."))
        return None
    try:
        # Parse the text, since from bytes json would accept half characters and guess at other encodings.
        value = json.loads(line.decode("utf-8-sig"), object_pairs_hook=each_key_once)
    except RepeatedKeyError as error:
        name = next(
            (str(error.found[key]) for key in (*_ID_FIELDS, "question") if isinstance(error.found.get(key), str)), None
        )
        problems.add(Problem(where, str(error), record=name, remedy="Leave the one out that isn't meant."))
        return None
    except UnicodeDecodeError as error:
        problems.add(
            Problem(where, f"not UTF-8: {error.reason} at byte {error.start}", remedy="Save the file as UTF-8.")
        )
        return None
    except (ValueError, RecursionError) as error:
        what = _json_mistake(error)
        problems.add(Problem(where, f"not valid JSON: {what}", remedy="Each line must be one JSON object."))
        return None
    if not isinstance(value, dict):
        problems.add(Problem(where, f"a record must be a JSON object, not {_kind(value)}"))
        return None
    return value


def _file_of(where: str) -> str:
    return Path(where.rpartition(":")[0]).name


def _json_mistake(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        what, place = fault(error)
        return f"{what} at character {place - error.doc.rfind(chr(10), 0, place)}"
    return "a number has too many digits"


def _has_half_character(value: object) -> bool:
    """Return whether a text within a decoded value can't be encoded as UTF-8, and so can't be sent or stored."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _kind(value: object) -> str:
    names = {list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _sentence(mistake: Any) -> str:
    # The location of a mistake in a map's key ends with "[key]" behind the key.
    place = ".".join(shortened(str(part)) for part in mistake["loc"] if part != "[key]")
    given = mistake["input"]
    if mistake["type"] == "missing":
        return f"the field {place!r} is missing"
    if mistake["type"] == "extra_forbidden":
        return f"no field is called {place!r}"
    what = WANTED.get(mistake["type"], mistake["msg"].removeprefix("Value error, "))
    shown = "" if isinstance(given, dict | list) else f" (found {json.dumps(given, ensure_ascii=False)[:60]})"
    return f"{place}: {what[0].lower()}{what[1:]}{shown}" if place else what


def _remedy(model: type[Record], mistake: Any) -> str | None:
    from graphkit.records.fields import other_names

    if mistake["type"] == "missing" and len(mistake["loc"]) == 1:
        field = str(mistake["loc"][0])
        names = [field, *(name for name, stands_for in other_names(model).items() if stands_for == field)]
        return f"Give one of: {', '.join(names)}." if len(names) > 1 else None
    if mistake["type"] == "extra_forbidden":
        return f"It has these: {', '.join(model.model_fields)}."
    return _REMEDIES.get(mistake["type"])


def read_records(path: Path, model: type[R], problems: Problems) -> Iterator[tuple[str, R]]:
    """Yield (``file:line``, record) of each usable line of a file; add the others to the problems."""
    for number, line in read_lines(path):
        where = f"{path}:{number}"
        record = parse_record(model, line, where, problems)
        if record is not None:
            yield where, record


def each_once(
    found: Iterable[tuple[str, R]], key: Callable[[R], Hashable], twice: Callable[[R], str], problems: Problems
) -> list[R]:
    """Return the records; a second one of a key is a problem with the message of ``twice``.

    Raises
    ------
    InputError
        A record is unusable and not skipped.
    """
    records: dict[Hashable, R] = {}
    for where, record in found:
        if records.setdefault(key(record), record) is not record:
            problems.add(Problem(where, twice(record), record=str(record["question"])))
    problems.raise_if_refused(usable=len(records))
    return list(records.values())


BY_LAST_COMPONENT = (
    "the symbols of the gold aren't qualified: SymbolRecall compares them by their last component. "
    "`graphkit import gold --repo NAME=PATH` qualifies them by a checkout"
)


def note_symbol_match(question: QuestionStruct, path: Path, problems: Problems) -> None:
    """Note a question whose expected symbols are compared by their last component."""
    if question.symbol_match is not None and question.expected_symbols:
        problems.note(Problem(str(path), BY_LAST_COMPONENT, record=question.id))


def note_missing_gold(question: QuestionStruct, path: Path, problems: Problems) -> None:
    """Note a question without any gold that measures of retrieval need, unless it has no answer."""
    if question.answerable is False:
        return
    ids = question.paths or question.relevant or question.evidence_sets or question.stale
    if question.gold_cypher and not ids:
        what = "the gold is a query: `graphkit cypher` runs it over the graph, and writes the gold path that it finds"
        problems.note(Problem(str(path), what, record=question.id))
        return
    if not (ids or question.relevant_texts or question.expected_files):
        what = "the question has neither gold paths nor relevant ids: most measures can't score it"
        problems.note(Problem(str(path), what, record=question.id))


def _values(path: Path) -> Iterator[Any]:
    """Yield the values of the lines of a file that are JSON."""
    if not path.exists():
        return
    for _, line in read_lines(path):
        with contextlib.suppress(*UNDECODED):
            yield msgspec.json.decode(line)


class RecordReader(Generic[S]):
    """Decodes the records of one file by the line decoder, and by the model if that refuses a line.

    Parameters
    ----------
    questions
        The file with the gold of a run; by default ``questions.jsonl`` in the run's folder, or in the one above.
    run
        The name of the run of records that state none; by default that of the file, unless it is a pipe.
    sessions
        Whether the record of a follow-up that doesn't state what earlier turns walked gets it from their records.
    """

    def __init__(
        self,
        path: Path,
        kind: type[S],
        problems: Problems,
        questions: Path | None = None,
        run: str | None = None,
        sessions: bool = True,
    ) -> None:
        self.path = path
        self._questions = questions
        self.sessions = sessions
        self._lists: ThreeTexts | None = None
        self.problems = problems
        self._kind = kind
        self._of_run, self._of_questions = kind is AnswerStruct, kind is QuestionStruct
        self._run = run if run is not None or not self._of_run else run_of_file(path)
        self._lines = LineDecoder(kind, self._run is not None)

    def parse(self, number: int, line: bytes) -> S | None:
        """Return the record of a line; None for a blank line, or after adding a problem."""
        try:
            found = self._lines.decode(line)
        except UNDECODED as refusal:
            return self._look_at(number, line, refusal)
        return self._checked(number, line, found)

    def parsed(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[Parsed[S]]:
        """Yield each line with its number and its record, which :meth:`parse` finds slower than some lines together."""
        lines, count = iter(lines), 1
        while some := list(islice(lines, count)):
            numbers, texts = zip(*some, strict=True)
            yield from zip(numbers, texts, self._records(numbers, texts), strict=True)
            size = sum(map(len, texts))
            count = max(1, min(_TOGETHER, _BYTES_TOGETHER * count // (size + 1)))

    def _records(self, numbers: Sequence[int], lines: Sequence[bytes]) -> Iterable[S | None]:
        """Return the records of some lines. Those that a problem may be added for are looked at one by one, when they
        are asked for.
        """
        try:
            found = self._lines.decode_all(lines)
        except UNDECODED:
            return map(self.parse, numbers, lines)
        if not self._all_plain(lines, found):
            return map(self._checked, numbers, lines, found)
        for line, record in zip(lines, found, strict=True):
            if _MARK in line or _ESCAPE in line:
                self._turn(record)
        return map(self._recalled, found) if self._of_run and self.walks else found

    def _all_plain(self, lines: Sequence[bytes], found: Sequence[S]) -> bool:
        """Return whether each record is as the decoder has read it, but for steps that may have to be turned."""
        if self._lines.unknown or may_repeat_keys(lines, found):
            return False
        records: Any = found
        if self._of_run:
            return all(run and not run.isspace() for run in {record.run for record in records})
        return not (self._of_questions and any(question.expected_tool_calls for question in records))

    def _checked(self, number: int, line: bytes, found: S) -> S | None:
        """Return the record of a line that is decoded, or what the model makes of the line."""
        doubtful = may_repeat_a_key(line, found)
        if self._of_questions and found.expected_tool_calls:  # type: ignore[attr-defined]
            doubtful = True  # they are encoded with what they don't state
        if (doubtful and repeats_a_key(line)) or (self._of_run and self._has_blank_run(found)):
            return self._by_model(number, line)
        if _MARK in line or _ESCAPE in line:
            self._turn(found)
        if self._lines.unknown:
            self._note_unknown(number, found)
        return self._recalled(found)

    def _has_blank_run(self, found: Any) -> bool:
        """Name the run of a record that states none; return whether it states a blank name."""
        if not found.run:
            found.run = self._run
        return bool(found.run.isspace())

    def _turn(self, found: S) -> None:
        if isinstance(found, AnswerStruct | QuestionStruct):
            turn_backward_steps(found)

    def _look_at(self, number: int, line: bytes, refusal: Exception) -> S | None:
        """Return the record of a line that the decoder refuses."""
        if not line or line.isspace():
            return None
        found = self._lines.learn(line, refusal)
        if found is None or (self._of_run and self._has_blank_run(found)) or repeats_a_key(line):
            return self._by_model(number, line)
        self._turn(found)
        self._note_unknown(number, found)
        return self._recalled(found)

    def _by_model(self, number: int, line: bytes) -> S | None:
        more = (self.lists, self.complete) if self._of_run else ()
        model = parse_record(model_of(self._kind), line, f"{self.path}:{number}", self.problems, *more)
        return self._recalled(struct_of(self._kind, model)) if model is not None else None

    def _recalled(self, found: S) -> S:
        """Return a record; of a follow-up that doesn't state it, with what earlier turns walked."""
        if isinstance(found, AnswerStruct) and self.walks and found.walked_before is None:
            found.walked_before = self.walks.get(found.question_id)
        return found

    @cached_property
    def walks(self) -> Mapping[str, list[TraversalStepStruct]]:
        """The edges that earlier turns walked, by the follow-up; the first use reads the file if it has sessions."""
        questions = self._questions_file() if self.sessions and self.path.is_file() else None
        if questions is None or not questions.is_file() or not has_turns(questions):
            return {}
        records = RecordReader(self.path, AnswerStruct, Problems("skip"), questions, self._run, sessions=False)
        return session_walks(self._gold(), (one for _, one in records), str(questions), self.problems.on_error)

    def complete(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return a run's record with the name of its run, and with the id of the question that its text names."""
        found = given
        if self._run is not None and not _has(given, "run"):
            found = {**found, "run": self._run}
        if not _has(given, "question_id"):
            named = next((name for name in _TEXTS if isinstance(given.get(name), str)), None)
            if named is not None:
                found = {field: value for field, value in found.items() if field != named}
                found["question_id"] = self.asked.required(given[named])
        return found

    @cached_property
    def asked(self) -> QuestionTexts:
        """The questions of the dataset by their texts; the first call reads the file."""
        found = QuestionTexts()
        for question in self._gold():
            found.add(question.id, question.question)
        return found

    def _note_unknown(self, number: int, record: S) -> None:
        for name in self._lines.pop_unknown(record):
            if not (self._of_run and name in BESIDE_ANSWER):
                self.problems.ignore(f"{self.path}:{number}", name, self._lines.known)

    def lists(self) -> ThreeTexts:
        """Return the meaning of lists of three texts in the traversals of this file; the first call reads the file."""
        if self._lists is None:
            self._lists = ThreeTexts(_values(self.path), self._gold_nodes())
        return self._lists

    def _gold(self) -> Iterator[QuestionStruct]:
        """Yield the usable questions of the run's dataset, as far as its place is known."""
        if (questions := self._questions_file()) is not None:
            yield from (one for _, one in RecordReader(questions, QuestionStruct, Problems("skip")))

    def _questions_file(self) -> Path | None:
        questions = self._questions
        if questions is None:
            beside = (find_file(folder, "questions") for folder in self.path.resolve().parents[:2])
            questions = next(filter(None, beside), None)
        return questions if questions is not None and questions.exists() else None

    def _gold_nodes(self) -> Iterator[str]:
        for question in self._gold():
            yield from question.relevant
            for path in question.paths:
                for step in path.steps:
                    yield from (step.source, step.target)

    def __iter__(self) -> Iterator[tuple[int, S]]:
        """Yield (line number, record) of each usable line."""
        for number, _, record in self.parsed(read_lines(self.path)):
            if record is not None:
                yield number, record
