"""Decodes the lines of large files to structs: at least four times as fast as the models, with the same meaning.

It reads only the canonical spelling of a record. Other lines (an alias, another form of a path, a mistake) go to the
models, which accept them or report what is wrong, so that there is one set of messages and definitions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET, Struct

from graphkit.records.aliases import ANSWER, EDGE, QUESTION, Spellings, fields_by_other_name
from graphkit.records.shapes import OUTPUTS
from graphkit.records.structs import (
    AnswerStruct,
    ArtifactStruct,
    ChunkStruct,
    EdgeStruct,
    Name,
    QuestionStruct,
    RunName,
    SeedStruct,
    ToolCallStruct,
    TraversalStepStruct,
    declared_fields,
)

S = TypeVar("S", bound=Struct)

#: The errors of the decoder on a line that it refuses.
UNDECODED = (msgspec.MsgspecError, UnicodeError, RecursionError)

_SPELLINGS: dict[type[Struct], Spellings] = {
    QuestionStruct: QUESTION,
    AnswerStruct: ANSWER,
    ArtifactStruct: {},
    EdgeStruct: EDGE,
}


#: The lists of parts that are decoded as the file spells them, and leave out defaults when they are encoded again.
#: Only those of an answer: the gold's hash is made of the parts of a question as they are declared.
_PARTS: dict[type[Struct], dict[str, type[Struct]]] = {
    AnswerStruct: {
        **dict.fromkeys(("traversal", "walked_before"), TraversalStepStruct),
        **{"retrieved": ChunkStruct, "tool_calls": ToolCallStruct, "seeds": SeedStruct},
    }
}

_MISSING = re.compile(r"Object missing required field `(.+?)`")


def _declared(field: msgspec.structs.FieldInfo, kind: Any, required: bool) -> tuple[Any, ...]:
    """Return a field for ``defstruct``."""
    if required or field.required:
        return field.name, kind
    if field.default_factory is msgspec.NODEFAULT:
        return field.name, kind, msgspec.field(default=field.default)
    return field.name, kind, msgspec.field(default_factory=field.default_factory)


#: The fields whose content belongs into others (``in_own_fields`` of the models): the models read lines with them.
_ELSEWHERE: dict[type[Struct], frozenset[str]] = {
    QuestionStruct: frozenset(("metadata",)),
    AnswerStruct: frozenset(OUTPUTS),
}

#: The most unknown names of a file that the decoder accepts; lines with others go to the model.
MOST_UNKNOWN = 32


def _reduced(record: Any) -> tuple[Any, ...]:
    """Reduce a record to the declared struct, for another process, which doesn't know how its file is spelled."""
    return type(record).declared, tuple(getattr(record, name) for name in declared_fields(record))


class LineDecoder(Generic[S]):
    """Decodes the lines of one file into structs of a kind.

    A file that spells a field differently (``query_id``) does so in each line: the decoder learns that spelling from
    the first line that has it. A line with both spellings, or a third one, goes to the model. So does one with unknown
    fields in its parts; the decoder also learns those of the record itself, for :meth:`pop_unknown`.

    It accepts a blank name of a run, and the caller checks for it, which is quicker than a pattern. A record that
    states no run has an empty name.

    The decoder also requires the fields that the first record of the file and its parts have, until one lacks them.
    So a line of which :func:`graphkit.records.json_once.may_repeat_a_key` doubts its record is rare.

    Parameters
    ----------
    run
        Whether records need not state the name of their run.

    Attributes
    ----------
    known
        The names that a record may have.
    unknown
        The unknown names of some lines, by the attribute of the struct that holds each.
    """

    def __init__(self, kind: type[S], run: bool = False) -> None:
        self._kind = kind
        self._run = run
        self._others = fields_by_other_name(_SPELLINGS[kind])
        self.known = frozenset((*kind.__struct_fields__, *self._others))
        self.unknown: dict[str, str] = {}
        self._spelling: dict[str, str] = {}
        self._learnt = False
        self._given: dict[type[Struct], list[str]] = {}
        #: Returns the struct of a line, or raises one of ``UNDECODED`` if the model must read it.
        self.decode: Callable[[bytes], S] = self._first

    def decode_all(self, lines: Sequence[bytes]) -> list[S]:
        """Return the structs of one line or more, or raise one of ``UNDECODED`` if the model must read one."""
        first = self.decode(lines[0])  # perhaps of the file, from which the decoder learns
        return [first, *map(self.decode, lines[1:])]

    def _first(self, line: bytes) -> S:
        """Return the struct of the first line, and require its fields from now on."""
        value = msgspec.json.decode(line)
        if isinstance(value, dict):
            self._given[self._kind] = [*value]
            for name, kind in _PARTS.get(self._kind, {}).items():
                match value.get(name):
                    case [dict(part), *_]:
                        self._given[kind] = [*part]
        self._build()
        return self.decode(line)

    def _build(self) -> None:
        # List each field again: msgspec doesn't rename inherited ones.
        given = self._given.get(self._kind, ())
        parts = {
            name: list[self._part(kind)] | None  # type: ignore[misc]
            for name, kind in _PARTS.get(self._kind, {}).items()
        }
        fields: list[Any] = []
        for field in msgspec.structs.fields(self._kind):
            kind = Name if field.type == RunName else parts.get(field.name, field.type)
            if field.name == "run" and self._run and "run" not in given:
                fields.append((field.name, kind, msgspec.field(default="")))
            else:
                fields.append(_declared(field, kind, field.name in given))
        fields += [(attribute, Any, UNSET) for attribute in self.unknown]
        spelled: Any = msgspec.defstruct(
            f"{self._kind.__name__}Spelled",
            fields,
            bases=(self._kind,),
            namespace={"declared": self._kind, "__reduce__": _reduced},
            rename={**self._spelling, **self.unknown},
            gc=False,
            forbid_unknown_fields=True,
            omit_defaults=True,
            kw_only=True,
        )
        self.decode = msgspec.json.Decoder(spelled).decode

    def _part(self, kind: type[Struct]) -> type[Struct]:
        """Return a struct like that of a part, with its fields in the order of the file, which a base would change."""
        given = self._given.get(kind, [])
        fields = {field.name: field for field in msgspec.structs.fields(kind)}
        names = [*(name for name in given if name in fields), *(name for name in fields if name not in given)]
        declared: Any = [_declared(fields[name], fields[name].type, name in given) for name in names]
        return msgspec.defstruct(
            f"{kind.__name__}Spelled",
            declared,
            namespace={
                "declared": kind,
                "__reduce__": _reduced,
                **{name: vars(kind)[name] for name in ("__post_init__",) if name in vars(kind)},
            },
            gc=False,
            forbid_unknown_fields=True,
            omit_defaults=True,
            kw_only=True,
        )

    def _relax(self, refusal: Exception) -> bool:
        """Require a field no longer that a record lacks, and return whether only the first one made it required."""
        missing = _MISSING.match(str(refusal))
        if missing is None:
            return False
        given = [names for names in self._given.values() if missing[1] in names]
        for names in given:
            names.remove(missing[1])
        if given:
            self._build()
        return bool(given)

    def learn(self, line: bytes, refusal: Exception | None = None) -> S | None:
        """Learn the spelling and the unknown names of a line that :attr:`decode` refuses; return its record or None.

        The spelling is that of the first line whose refusal unknown names alone don't explain. After it, only a
        ``refusal`` because of an unknown field of the record itself is examined; that of a part names its place.
        """
        while refusal is not None and self._relax(refusal):
            try:
                return self.decode(line)
            except UNDECODED as other:
                refusal = other
        if self._learnt and refusal is not None:
            message = str(refusal)
            if len(self.unknown) == MOST_UNKNOWN or "unknown field" not in message or " - at `$" in message:
                return None
        try:
            keys = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        except UNDECODED:
            return None
        if not _ELSEWHERE.get(self._kind, frozenset()).isdisjoint(keys):
            return None
        spelling: dict[str, str] = {}
        for name, field in self._others.items():
            if name in keys and field not in keys and not self._learnt:
                spelling.setdefault(field, name)
        there = self.known.union(self.unknown.values())
        # msgspec accepts no name that JSON must escape.
        new = [name for name in keys if name not in there and name.isprintable() and not {'"', "\\"} & set(name)]
        del new[MOST_UNKNOWN - len(self.unknown) :]
        if spelling or not new:
            self._learnt, self._spelling = True, self._spelling or spelling
        if not spelling and not new:
            return None
        self.unknown |= {f"unknown_{number}": name for number, name in enumerate(new, len(self.unknown))}
        self._build()
        try:
            return self.decode(line)
        except UNDECODED:
            return None

    def pop_unknown(self, record: S) -> list[str]:
        """Return the unknown fields of a record, and drop their values, which would keep the line in memory."""
        found = []
        for attribute, name in self.unknown.items():
            if getattr(record, attribute) is not UNSET:
                setattr(record, attribute, UNSET)
                found.append(name)
        return found
