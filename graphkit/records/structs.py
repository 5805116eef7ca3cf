"""The records as msgspec structs: a file's lines are decoded into them, and the rest of graphkit reads them.

Each is the twin of the model of its name (``QuestionStruct`` of ``Question``), which declares its fields, defaults and
bounds: ``python -m tests.records.twins`` writes them here. The models guard the entrance: they accept every form of a
record, report what is wrong with it, and give its schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from graphkit.errors import InputError
from graphkit.records.aliases import LARGEST, LONGEST_NAME, LONGEST_WAIT, WIDEST
from graphkit.records.arguments import checked_arguments
from graphkit.records.shapes import checked_question, forwards

# The models are imported only when a record needs them; lines in the canonical spelling don't.
if TYPE_CHECKING:
    from graphkit.records.fields import Record

S = TypeVar("S", bound=Struct)

Text = Annotated[str, Meta(min_length=1)]
Label = Annotated[str, Meta(max_length=LONGEST_NAME)]
Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
RunName = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME, pattern="\\S")]
Number = Annotated[float, Meta(ge=-WIDEST, le=WIDEST)]
Amount = Annotated[float, Meta(ge=0, le=WIDEST)]
Count = Annotated[int, Meta(ge=0, le=LARGEST)]
Positive = Annotated[int, Meta(ge=1, le=LARGEST)]
Share = Annotated[float, Meta(ge=0, le=1)]
Seconds = Annotated[float, Meta(gt=0, le=LONGEST_WAIT)]
Named = Annotated[dict[Literal["id", "repository", "relation", "commit"], Name], Meta(min_length=1, max_length=1)]


class StepStruct(Struct, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """Twin of :class:`graphkit.records.models.Step`."""

    source: Name
    target: Name
    relation: Name | None = None
    optional: bool = False
    evidence: str | None = None


class GoldPathStruct(Struct, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """Twin of :class:`graphkit.records.models.GoldPath`."""

    id: Label | None = None
    group: Label | None = None
    steps: list[StepStruct] = []
    ordered: bool = True
    from_turn: Positive | None = None
    commits: dict[Name, Name] = {}


class ComponentStruct(Struct, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """Twin of :class:`graphkit.records.models.Component`."""

    text: Text
    repo: Label | None = None


class ConflictStruct(Struct, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """Twin of :class:`graphkit.records.models.Conflict`."""

    id: Label | None = None
    between: list[Label] = []
    resolution: str | None = None


class CriterionStruct(Struct, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """Twin of :class:`graphkit.records.models.Criterion`."""

    must: Text | Named | None = None
    must_not: Text | Named | None = None
    weight: Positive = 1


class CodeTestStruct(Struct, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """Twin of :class:`graphkit.records.models.CodeTest`."""

    name: Name
    inputs: list[Any] | dict[str, Any] | str | None = None
    expected: Any = None
    raises: Name | None = None
    assertion: str | None = None
    timeout: Seconds = 30.0
    tolerance: Share = 1e-06


class ExpectedToolCallStruct(Struct, gc=False, forbid_unknown_fields=True):
    """Twin of :class:`graphkit.records.models.ExpectedToolCall`."""

    name: Name
    arguments: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        checked_arguments(self.arguments or {})


class QuestionStruct(Struct, gc=False):
    """Twin of :class:`graphkit.records.models.Question`."""

    id: Name
    question: Text
    category: str | None = None
    difficulty: Literal["easy", "medium", "hard"] | None = None
    group: str | None = None
    split: str | None = None
    session: Name | None = None
    turn: Positive | None = None
    stack: Label | None = None
    gold_answer: str | None = None
    expected_output: str | None = None
    commits: dict[Name, Name] = {}
    paths: list[GoldPathStruct] = []
    relevant: dict[Name, Number] = {}
    expected_files: list[Label] = []
    expected_symbols: list[Label] = []
    symbol_match: Literal["last_component"] | None = None
    facts: list[ComponentStruct] = []
    conflicts: list[ConflictStruct] = []
    min_sources: Count | None = None
    k: Positive | None = None
    test_cases: list[CodeTestStruct] = []
    repository_context: dict[Name, str] = {}
    entry_point: Name | None = None
    code_language: Name | None = None
    expected_tool_calls: list[ExpectedToolCallStruct] = []
    gold_answers: list[str] = []
    evidence_sets: list[Annotated[list[Name], Meta(min_length=1)]] = []
    relevant_texts: list[Text] = []
    criteria: list[CriterionStruct] = []
    rubric: Text | None = None
    answerable: bool | None = None
    why_not: Literal["no path", "not in the set", "false premise", "not allowed", "other version"] | None = None
    absent: list[StepStruct] = []
    principal: Label | None = None
    withheld: list[GoldPathStruct] = []
    gold_cypher: list[Text] = []
    seeds: list[Name] = []
    stale: Text | None = None

    def __post_init__(self) -> None:
        if self.turn is not None or self.paths or self.criteria or self.answerable is False or self.why_not:
            checked_question(self)


class ChunkStruct(Struct, gc=False, forbid_unknown_fields=True):
    """Twin of :class:`graphkit.records.models.Chunk`."""

    id: Name
    repo: Label | None = None
    path: Label | None = None
    symbol: Label | None = None
    commit: Label | None = None
    branch: str | None = None
    rank: Positive | None = None
    score: float | None = None
    text: str | None = None


class TraversalStepStruct(Struct, gc=False, forbid_unknown_fields=True):
    """Twin of :class:`graphkit.records.models.TraversalStep`."""

    source: Name
    target: Name
    relation: Name | None = None
    path: Count = 0
    position: Count | None = None
    source_commit: Label | None = None
    target_commit: Label | None = None
    directed: bool = True


class ToolCallStruct(Struct, gc=False, forbid_unknown_fields=True):
    """Twin of :class:`graphkit.records.models.ToolCall`."""

    name: Name
    arguments: dict[str, Any] = {}
    result: str | None = None
    failed: bool = False
    seen: list[Name] | None = None

    def __post_init__(self) -> None:
        checked_arguments(self.arguments)


class GraphQueryStruct(Struct, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """Twin of :class:`graphkit.records.models.GraphQuery`."""

    cypher: str
    parameters: dict[str, Any] = {}
    columns: list[str] | None = None
    rows: list[list[Any] | dict[str, Any]] | None = None
    error: str | None = None


class SeedStruct(Struct, gc=False, forbid_unknown_fields=True):
    """Twin of :class:`graphkit.records.models.Seed`."""

    id: Name
    score: float | None = None
    mention: str | None = None


class ComparedResultStruct(Struct, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """Twin of :class:`graphkit.records.models.ComparedResult`."""

    executable: bool | None
    ran: Share | None = None
    same: bool | None = None
    nodes: list[Name] | None = None
    gold_nodes: list[Name] | None = None
    reason: str | None = None
    cause: str | None = None
    cause_kind: str | None = None


class AnswerStruct(Struct, gc=False):
    """Twin of :class:`graphkit.records.models.Answer`."""

    run: RunName
    question_id: Name
    retrieved: list[ChunkStruct] | None = None
    traversal: list[TraversalStepStruct] | None = None
    ordered: bool = True
    walked_before: list[TraversalStepStruct] | None = None
    answer: str | None = None
    abstained: bool | None = None
    confidence: Number | None = None
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
    tool_calls: list[ToolCallStruct] | None = None
    doubts: list[Label] = []
    queries: list[GraphQueryStruct] | None = None
    compared_result: ComparedResultStruct | None = None
    rankings: dict[Literal["file", "module", "symbol"], list[Name]] = {}
    trace_id: Label | None = None
    span_id: Label | None = None
    response_id: Label | None = None
    seeds: list[SeedStruct] | None = None


class ArtifactStruct(Struct, gc=False, forbid_unknown_fields=True):
    """Twin of :class:`graphkit.records.models.Artifact`."""

    id: Name
    repo: Label | None = None
    path: Label | None = None
    symbol: Label | None = None
    kind: str | None = None
    commit: Label | None = None
    line: Count | None = None
    end_line: Count | None = None
    aliases: list[Label] = []


class EdgeStruct(Struct, gc=False, forbid_unknown_fields=True):
    """Twin of :class:`graphkit.records.models.Edge`."""

    source: Name
    relation: Name
    target: Name
    since: Name | None = None
    until: Name | None = None


def turn_backward_steps(record: QuestionStruct | AnswerStruct) -> None:
    """Turn the steps whose relations say that they were walked backwards (``~CALLS``) as their edges point."""
    if isinstance(record, AnswerStruct):
        for step in (*(record.traversal or ()), *(record.walked_before or ())):
            if (along := forwards(step.relation)) is not None:
                step.source, step.relation, step.target = step.target, along, step.source
                step.source_commit, step.target_commit = step.target_commit, step.source_commit
        return
    for steps in (record.absent, *(path.steps for path in (*record.paths, *record.withheld))):
        for gold in steps:
            if (along := forwards(gold.relation)) is not None:
                gold.source, gold.relation, gold.target = gold.target, along, gold.source


def declared_fields(record: Struct) -> tuple[str, ...]:
    """Return the names of a record's fields as they are declared here, whatever its file's spelling and order."""
    kind = type(record)
    declared: type[Struct] = getattr(kind, "declared", kind)
    return declared.__struct_fields__


def model_of(kind: type[Struct]) -> type[Record]:
    """Return the model that a struct is the twin of."""
    from graphkit.records import models

    model: type[Record] = getattr(models, kind.__name__.removesuffix("Struct"))
    return model


def struct_of(kind: type[S], record: object) -> S:
    """Return a record as a struct of a kind; a model is converted.

    Raise InputError if it is neither, or a model that was made without validation and is invalid.
    """
    if isinstance(record, kind):
        return record
    model = model_of(kind)
    name = f"graphkit.{model.__name__}"
    if not isinstance(record, model):
        given = type(record).__name__
        raise InputError(f"a {name} is needed, not {given}", remedy=f"{name}.model_validate makes one of a mapping.")
    try:
        return msgspec.convert(record, kind, from_attributes=True)
    except msgspec.ValidationError as error:
        what = str(error)
        raise InputError(
            f"it holds what {name} refuses: {what[0].lower()}{what[1:]}",
            where=f"{record!r:.100}",
            remedy=f"It was made or copied without validation; {name}.model_validate reports all mistakes.",
        ) from None
