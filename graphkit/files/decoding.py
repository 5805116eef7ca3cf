"""A lean decoder for the large files: at least four times as fast as the models, with the same meaning.

It reads the canonical spelling of a record and nothing else. Whatever it doesn't take (an alias, another form of a
path, a mistake), it hands to the models, which accept it or say what is wrong: one set of messages and definitions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct

from graphkit.records.aliases import (
    ANSWER,
    EDGE,
    LARGEST,
    LONGEST_NAME,
    QUESTION,
    WIDEST,
    Spellings,
    fields_by_other_name,
)

S = TypeVar("S", bound=Struct)

Text = Annotated[str, Meta(min_length=1)]
Label = Annotated[str, Meta(max_length=LONGEST_NAME)]
Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
Number = Annotated[float, Meta(ge=-WIDEST, le=WIDEST)]
Amount = Annotated[float, Meta(ge=0, le=WIDEST)]
Count = Annotated[int, Meta(ge=0, le=LARGEST)]
Positive = Annotated[int, Meta(ge=1, le=LARGEST)]


#: What the decoder raises on a line that it doesn't take.
UNDECODED = (msgspec.MsgspecError, UnicodeError, RecursionError)

#: The type of a field that must not be there: no value fits it, so that the decoder itself refuses the record.
Nothing = Annotated[str, Meta(min_length=1, max_length=0)]


class LeanStep(Struct, gc=False, forbid_unknown_fields=True):
    """Twin of :class:`graphkit.records.models.Step`."""

    source: Name
    target: Name
    relation: Name | None = None
    optional: bool = False
    evidence: str | None = None


class LeanPath(Struct, gc=False, forbid_unknown_fields=True):
    """Twin of :class:`graphkit.records.models.GoldPath`."""

    id: Label | None = None
    group: Label | None = None
    steps: list[LeanStep] = []


class LeanComponent(Struct, gc=False, forbid_unknown_fields=True):
    """Twin of :class:`graphkit.records.models.Component`."""

    text: Text
    repo: Label | None = None


class LeanConflict(Struct, gc=False, forbid_unknown_fields=True):
    """Twin of :class:`graphkit.records.models.Conflict`."""

    id: Label | None = None
    between: list[Label] = []
    resolution: str | None = None


class LeanQuestion(Struct, gc=False):
    """Twin of :class:`graphkit.records.models.Question`."""

    id: Name
    question: Text
    category: str | None = None
    difficulty: Literal["easy", "medium", "hard"] | None = None
    group: str | None = None
    stack: Label | None = None
    gold_answer: str | None = None
    expected_output: str | None = None
    commits: dict[Name, Name] = {}
    paths: list[LeanPath] = []
    relevant: dict[Name, Number] = {}
    expected_files: list[Label] = []
    expected_symbols: list[Label] = []
    facts: list[LeanComponent] = []
    conflicts: list[LeanConflict] = []
    min_sources: Count | None = None
    k: Positive | None = None


class LeanChunk(Struct, gc=False, forbid_unknown_fields=True):
    """Twin of :class:`graphkit.records.models.Chunk`."""

    id: Name
    repo: Label | None = None
    path: Label | None = None
    symbol: Label | None = None
    commit: Label | None = None
    branch: str | None = None
    rank: Positive | None = None
    score: Number | None = None
    text: str | None = None


class LeanWalk(Struct, gc=False, forbid_unknown_fields=True):
    """Twin of :class:`graphkit.records.models.WalkStep`."""

    source: Name
    target: Name
    relation: Name | None = None
    path: Count = 0
    position: Count | None = None
    source_commit: Label | None = None
    target_commit: Label | None = None


class LeanAnswer(Struct, gc=False):
    """Twin of :class:`graphkit.records.models.Answer`."""

    run: Name
    question_id: Name
    retrieved: list[LeanChunk] = []
    traversal: list[LeanWalk] = []
    answer: str | None = None
    citations: list[Label] = []
    evidence_files: list[Label] | None = None
    latency_ms: Amount | None = None
    model_calls: Count | None = None
    prompt_tokens: Count | None = None
    output_tokens: Count | None = None
    cost: Amount | None = None
    error: str | None = None
    error_type: str | None = None
    failed_at: str | None = None


class LeanArtifact(Struct, gc=False, forbid_unknown_fields=True):
    """Twin of :class:`graphkit.records.models.Artifact`."""

    id: Name
    repo: Label | None = None
    path: Label | None = None
    symbol: Label | None = None
    kind: str | None = None
    commit: Label | None = None
    line: Count | None = None
    end_line: Count | None = None


class LeanEdge(Struct, gc=False, forbid_unknown_fields=True):
    """Twin of :class:`graphkit.records.models.Edge`."""

    source: Name
    relation: Name
    target: Name


_SPELLINGS: dict[type[Struct], Spellings] = {
    LeanQuestion: QUESTION,
    LeanAnswer: ANSWER,
    LeanArtifact: {},
    LeanEdge: EDGE,
}


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default_factory is msgspec.NODEFAULT:
        return msgspec.field(default=field.default)
    return msgspec.field(default_factory=field.default_factory)


class LeanReader(Generic[S]):
    """Decodes the lines of one file into lean records.

    A file that spells a field in another way (``query_id``) does so in each line: the reader takes that spelling over
    from the first line that has it. A line that has both spellings, or a third one, is left to the model. Unknown
    fields of the record itself are ignored, as the model ignores them; those of its parts are left to the model.
    """

    def __init__(self, lean: type[S]) -> None:
        self._lean = lean
        self._others = fields_by_other_name(_SPELLINGS[lean])
        self._build({})

    def _build(self, spelling: dict[str, str]) -> None:
        traps = [name for name in self._others if name not in spelling.values()] + list(spelling)
        # Each field is given anew: msgspec doesn't rename those that are merely inherited.
        fields: list[Any] = [
            (field.name, field.type, _default(field)) if not field.required else (field.name, field.type)
            for field in msgspec.structs.fields(self._lean)
        ]
        kind: Any = msgspec.defstruct(
            f"{self._lean.__name__}Spelled",
            fields + [(f"trap_{number}", Nothing, UNSET) for number in range(len(traps))],
            bases=(self._lean,),
            rename={**spelling, **{f"trap_{number}": name for number, name in enumerate(traps)}},
            gc=False,
        )
        #: Returns the lean record of a line; raises one of ``UNDECODED`` where the model has to look at it.
        self.decode: Callable[[bytes], S] = msgspec.json.Decoder(kind).decode
        self._learnt = bool(spelling)

    def learn(self, line: bytes) -> S | None:
        """Take over the spelling of the first line that :attr:`decode` refuses, and return its record if that helps."""
        if self._learnt:
            return None
        self._learnt = True
        try:
            keys = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        except UNDECODED:
            return None
        spelling: dict[str, str] = {}
        for name, field in self._others.items():
            if name in keys and field not in keys:
                spelling.setdefault(field, name)
        if not spelling:
            return None
        self._build(spelling)
        try:
            return self.decode(line)
        except UNDECODED:
            return None
