"""Fields that a user maps by hand: the JMESPath expression by which each is read from a row of any JSON."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphkit.errors import InputError, did_you_mean
from graphkit.files.texts import read_text
from graphkit.records.aliases import ANSWER, BESIDE_ANSWER, LONGEST_NAME, QUESTION, fields_by_other_name
from graphkit.records.ids import id_of, id_of_text
from graphkit.records.models import Answer, Question
from graphkit.records.repetition_names import TRIALS
from graphkit.records.words import shortened

#: The measure of a mapped score, alone or before a dot and the measure's own name: ``score.reward=reward``.
SCORE = "score"

#: How a file is divided into rows: the rows in each of its values, the pattern of a row of text, what rows of one
#: answer have in common, and the step of a walk that a row holds: rows of one question add up.
ROWS, LINE, SESSION, STEP = "rows", "line", "session", "step"

#: The ends and the relation of a step, as groups of a pattern.
ENDS = ("source", "relation", "target")

#: The longest expression in characters, and the most values that one may visit or return on a row.
LONGEST, MOST = 1000, 200_000

#: The remedy of a value that no record can hold.
REMEDY = "Correct the expression of --map."

_FORM = (
    "Write FIELD=EXPRESSION in JMESPath (jmespath.org), such as retrieved=evidence or "
    "'traversal=hops[].{source: from, relation: type, target: to}'."
)
_ANSWER_NAMES, _QUESTION_NAMES = fields_by_other_name(ANSWER), fields_by_other_name(QUESTION)

#: The fields whose values are ids, where a longer text gets the id of its content.
_IDS = ("retrieved", "relevant")


class FieldMap:
    """The expressions of some fields, of runs and of questions alike, and how the file is divided into rows.

    ``rows`` finds the rows in each value of a file, such as ``rows=items(@)`` in an object that has the ids of
    questions for its keys. ``line`` is a regular expression that finds named groups in lines of text, each of which is
    a field of the line's row; several may be given. ``step`` is a step of a walk, several, or a node: those of a
    question's rows are its walk. Rows of text without a question belong to the question before, or to that of the same
    ``session``.

    Parameters
    ----------
    given
        Texts ``FIELD=EXPRESSION``, and files of such lines; or the expression of each field.

    Raises
    ------
    InputError
        A field is unknown or named twice, an expression isn't JMESPath, or a file can't be read.

    >>> FieldMap(["retrieved=hits[].doc", "relevant=gold"]).answer({"id": "q1", "hits": [{"doc": "a"}], "gold": ["a"]})
    {'id': 'q1', 'retrieved': ['a']}
    """

    def __init__(self, given: Sequence[str | Path] | Mapping[str, str]) -> None:
        self._compiled: dict[str, Any] = {}
        self._rows: dict[str, Any] = {}
        self.patterns: list[re.Pattern[str]] = []
        self._expressions: dict[str, str] = {}
        self._read: set[str] = set()
        self._tried: set[str] = set()
        self._found: set[str] = set()
        for where, name, expression in _assignments(given):
            if name == LINE:
                self.patterns.append(_pattern(expression, where))
            else:
                self._add(where, name, expression)
        groups = {group for pattern in self.patterns for group in pattern.groupindex}
        if STEP not in self._rows and {"source", "target"} <= groups:
            given = ", ".join(f"{name}: {name}" for name in ENDS if name in groups)
            self._add("line", STEP, f"{{{given}}}")
        if SESSION not in self._rows and SESSION in groups:
            self._add("line", SESSION, SESSION)

    @property
    def joins(self) -> bool:
        """Whether several rows make one record."""
        return bool(self.patterns) or STEP in self._rows

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures of the mapped scores."""
        return tuple(_measure(name) for name in self._compiled if _is_score(name))

    def _add(self, where: str, name: str, expression: str) -> None:
        if _ANSWER_NAMES.get(name, name) == "run":
            raise InputError("a map names no run", where=where, remedy="A log is one run, which --run NAME names.")
        known = {*Answer.model_fields, *Question.model_fields, *_ANSWER_NAMES, *_QUESTION_NAMES, *TRIALS[:1], SCORE}
        known |= {ROWS, LINE, SESSION, STEP}
        if name not in known and not _is_score(name):
            hint = did_you_mean(name, known)
            raise InputError(f"no record has a field {name!r}", where=where, remedy=f"{hint}{_FORM}")
        if name in self._expressions:
            raise InputError(f"the field {name!r} is mapped twice", where=where, remedy="Leave out one of both.")
        found = compiled(expression, where)
        (self._rows if name in (ROWS, SESSION, STEP) else self._compiled)[name] = found
        self._expressions[name] = expression
        if name != ROWS:
            self._read |= {*_top_fields(found.parsed)}

    @property
    def empty(self) -> list[str]:
        """The assignments that found nothing in any row so far."""
        return [f"{name}={one}" for name, one in self._expressions.items() if name in self._tried - self._found]

    def rows(self, value: Any) -> list[Any] | None:
        """Return the rows in a value of a file; None if the map doesn't say which they are; raise as below."""
        if ROWS not in self._rows:
            return None
        found = self._value(ROWS, self._rows[ROWS], value)
        return found if isinstance(found, list) else [] if found is None else [found]

    def row_of(self, line: str) -> dict[str, str]:
        """Return what the patterns find in a line of text, by group; empty if none does."""
        row: dict[str, str] = {}
        for pattern in self.patterns:
            asked = "question" in row and "question" not in pattern.groupindex
            if (match := pattern.search(line)) is not None and not (asked and {*ENDS} & pattern.groupindex.keys()):
                row = {name: one for name, one in match.groupdict().items() if one is not None} | row
        return row

    def session(self, row: Any) -> str | None:
        """Return what the rows of one answer have in common; None if the map or the row doesn't say; raise as below."""
        return id_of(self._value(SESSION, self._rows[SESSION], row)) if SESSION in self._rows else None

    def steps(self, row: Any) -> list[Any] | None:
        """Return the steps of a walk that a row holds; None if rows hold none; raise as below."""
        if STEP not in self._rows:
            return None
        found = self._value(STEP, self._rows[STEP], row)
        if isinstance(found, dict):
            found = [found] if any(found.get(end) not in (None, "") for end in ("source", "target")) else []
        return found if isinstance(found, list) else [] if found in (None, "") else [found]

    def answer(self, row: Any) -> dict[str, Any]:
        """Return the record of a run in a row: its mapped fields, and its own fields that a run's record has.

        Raises
        ------
        InputError
            An expression can't be applied to the row.
        """
        own = {*Answer.model_fields, *_ANSWER_NAMES, *BESIDE_ANSWER, *TRIALS}
        return self._record(row, own, Answer.model_fields, _ANSWER_NAMES, ("question", *TRIALS[:1]))

    def question(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row of questions with its mapped fields, and without what they were read from; raise as above."""
        mapped = self._record(row, (), Question.model_fields, _QUESTION_NAMES, ())
        return {name: value for name, value in row.items() if name not in self._read} | mapped

    def scores(self, row: Any) -> dict[str, float]:
        """Return the mapped scores of a row by measure, without null; raise as above."""
        found = {}
        for name, expression in self._compiled.items():
            if _is_score(name) and (value := self._value(name, expression, row)) is not None:
                if not isinstance(value, bool | int | float):
                    what = f"{name}: {shortened(self._expressions[name])} is {_kind(value)} where a number is needed"
                    raise InputError(what, remedy=REMEDY)
                found[_measure(name)] = float(value)
        return found

    def unread(self, row: Any) -> list[str]:
        """Return the fields of a row that neither the map nor a run's record reads."""
        own = {*Answer.model_fields, *_ANSWER_NAMES, *BESIDE_ANSWER, *TRIALS, *self._read}
        return [name for name in row if name not in own] if isinstance(row, dict) else []

    def _record(
        self, row: Any, own: Iterable[str], fields: Iterable[str], others: Mapping[str, str], beside: Iterable[str]
    ) -> dict[str, Any]:
        mine = {*fields, *beside}
        ids = {"question_id", *ANSWER["question_id"]}
        foreign = ({*Answer.model_fields} | {*Question.model_fields}) - mine
        found = {}
        if isinstance(row, dict):
            found = {name: row[name] for name in row if name in {*own}}
        if "question" in beside and "question" in self._compiled and not ids & self._compiled.keys():
            found = {name: one for name, one in found.items() if name not in ids}  # another id of the row's own
        for name, expression in self._compiled.items():
            if _is_score(name) or name in foreign or not (name in mine or name in others):
                continue
            field = name if name in mine else others[name]
            for other in [one for one, of in others.items() if of == field] + [field]:
                found.pop(other, None)
            value = self._value(name, expression, row)
            if value is not None:
                found[field] = _with_ids(value) if field in _IDS else value
        return found

    def _value(self, name: str, compiled: Any, row: Any) -> Any:
        from jmespath.exceptions import JMESPathError

        from graphkit.plugins.mapping.bounded_jmespath import TooMuchError, searched

        expression = shortened(self._expressions[name])
        try:
            found = searched(compiled, row, MOST)
            self._tried.add(name)
            if found is not None and found != []:
                self._found.add(name)
            return found
        except TooMuchError:
            what = f"{name}: {expression} takes or makes more than {MOST:,} values of this row"
        except RecursionError:
            what = f"{name}: {expression} or the row is nested too deeply"
        except (JMESPathError, TypeError, ValueError, OverflowError, AttributeError) as error:
            what = f"{name}: {expression} can't be applied: {shortened(str(error))}"
        raise InputError(what, remedy=REMEDY)


def _assignments(given: Sequence[str | Path] | Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the place, the field and the expression of each assignment."""
    if isinstance(given, Mapping):
        yield from (("map", name, expression) for name, expression in given.items())
        return
    for one in given:
        text = str(one)
        lines = [(f"--map {shortened(text)}", text)]
        if isinstance(one, Path) or "=" not in text or os.path.isfile(text):  # noqa: PTH113 - it may be too long for a path
            numbered = enumerate(read_text(Path(text), f"Check the path and its spelling. {_FORM}").splitlines(), 1)
            lines = [(f"{text}:{number}", line) for number, line in numbered if line.strip()[:1] not in ("", "#")]
        for where, line in lines:
            name, equals, expression = (part.strip() for part in line.partition("="))
            if name and equals and not expression:
                what = f"the field {shortened(name)!r} has no expression yet: a choice is to be made"
                raise InputError(what, where=where, remedy=_FORM)
            if not (name and equals and expression):
                raise InputError("a mapped field needs its name, =, and an expression", where=where, remedy=_FORM)
            yield where, name, expression


def _pattern(expression: str, where: str) -> re.Pattern[str]:
    form = r"Write one such as 'expand (?P<source>\S+) -\[(?P<relation>\w+)\]-> (?P<target>\S+)'."
    try:
        pattern = re.compile(expression)
    except (re.error, RecursionError, OverflowError) as error:
        what = f"the pattern of lines isn't a regular expression: {error}"
        raise InputError(what, where=where, remedy=form) from None
    if not pattern.groupindex:
        raise InputError("the pattern of lines has no named group", where=where, remedy=form)
    known = {*Answer.model_fields, *_ANSWER_NAMES, *BESIDE_ANSWER, *TRIALS, *ENDS, SESSION}
    if unknown := sorted(pattern.groupindex.keys() - known):
        remedy = did_you_mean(unknown[0], known) or f"The groups of a step are {', '.join(ENDS)}."
        what = f"the pattern of lines has a group {unknown[0]!r}, which no record has"
        raise InputError(what, where=where, remedy=remedy)
    return pattern


def compiled(expression: str, where: str) -> Any:
    """Return a compiled expression; raise an InputError if it isn't JMESPath."""
    import jmespath
    from jmespath.exceptions import JMESPathError

    if len(expression) > LONGEST:
        what = f"the expression has {len(expression):,} characters, and may have {LONGEST:,}"
        raise InputError(what, where=where, remedy="Shorten it, or change the rows before.")
    try:
        return jmespath.compile(expression)
    except (JMESPathError, ValueError) as error:
        why = str(error).partition("\n")[0].rstrip(":")
        raise InputError(f"the expression isn't JMESPath: {shortened(why)}", where=where, remedy=_FORM) from None
    except RecursionError:
        raise InputError("the expression is nested too deeply", where=where, remedy=_FORM) from None


#: The parts of an expression whose first child alone is applied to the row itself.
_CHAINS = (
    *("subexpression", "index_expression", "projection", "value_projection", "filter_projection", "flatten", "pipe"),
    "slice",
)


def _top_fields(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields of the row itself that an expression reads."""
    kind, children = node["type"], [one for one in node["children"] if isinstance(one, dict)]
    if kind == "field":
        yield node["value"]
    elif kind != "expref":  # which is applied to the items of a list
        for child in children[:1] if kind in _CHAINS else children:
            yield from _top_fields(child)


def _with_ids(value: Any) -> Any:
    """Return a list of ids in which a text that can't be an id has the id of its content."""
    if not isinstance(value, list):
        return value
    return [
        {"id": id_of_text(one), "text": one}
        if isinstance(one, str) and (len(one) > LONGEST_NAME or "\n" in one)
        else one
        for one in value
    ]


def _is_score(name: str) -> bool:
    return name == SCORE or (name.startswith(f"{SCORE}.") and len(name) > len(SCORE) + 1)


def _measure(name: str) -> str:
    return name.removeprefix(f"{SCORE}.")


def _kind(value: Any) -> str:
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else "a text"
