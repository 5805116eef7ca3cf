"""The records of a dataset and a run: validated, frozen, and tolerant about the names of fields.

Each model accepts the usual names of a field (``id``, ``question_id``, ``query_id``, ...), and ignores unknown fields.
A number is never read from a string, nor a string from a number, except for identifiers (of questions, chunks and
nodes), which may be integers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic.types import StrictBool, StrictStr

from graphkit.records.aliases import ANSWER, BESIDE_ANSWER, CODE_TEST, EDGE, GRAPH_QUERY, QUESTION, TOOL_CALL, Spellings
from graphkit.records.arguments import arguments_of_text, checked_arguments
from graphkit.records.fields import (
    Amount,
    CitedId,
    Count,
    Finite,
    Form,
    Id,
    Label,
    Name,
    Number,
    Positive,
    Record,
    RunName,
    Seconds,
    Share,
    Text,
    Time,
    wanted,
)
from graphkit.records.shapes import (
    absent_edges,
    checked_question,
    citation_ids,
    error_text,
    gains,
    gold_paths,
    in_direction,
    linked_seeds,
    retrieved_chunks,
    tool_calls,
    traversal_steps,
    with_gold,
    with_output,
)

Difficulty = Literal["easy", "medium", "hard"]

#: Why a question has no answer.
WhyNot = Literal["no path", "not in the set", "false premise", "not allowed", "other version"]

#: How expected symbols are compared: exactly by default, or by their last component too.
SymbolMatch = Literal["last_component"]


def _names(spellings: Spellings, field: str) -> AliasChoices:
    return AliasChoices(field, *spellings[field])


class Step(Record):
    """A gold edge: ``source`` -``relation``-> ``target``.

    An ``optional`` step is never wrong to follow and costs nothing to miss. ``evidence`` is the source of the step. Any
    value but ``"static"``, such as ``"manual"`` or ``"trace"``, marks a real relation that the static graph needn't
    hold: the step is never stale for lack of its edge, and static measures ignore it. A step without evidence is
    static.
    """

    source: Id
    target: Id
    relation: Name | None = Field(default=None, validation_alias=AliasChoices("relation", "type", "label"))
    optional: StrictBool = False
    evidence: StrictStr | None = None

    @classmethod
    def in_own_fields(cls, given: Any) -> Any:
        """Return a step that was walked backwards, ``~REL``, in the direction of its edge."""
        return in_direction(given)


class GoldPath(Record):
    """A list of gold steps, in order unless it isn't ``ordered``. Of paths with the same ``group``, one is enough.

    With ``from_turn``, the path of a follow-up begins in that turn of its session: a step that the run walked since is
    optional. ``commits`` are the commits at which this path holds, by repository, such as those before and after a
    change; they win over the question's.
    """

    id: Label | None = None
    group: Label | None = None
    steps: tuple[Step, ...] = ()
    ordered: StrictBool = True
    from_turn: Positive | None = None
    commits: dict[Name, Name] = Field(default_factory=dict)


#: A step written as a list: source, relation, target.
Triple = tuple[Id, Name | None, Id]


class GoldPathForm(Form):
    """A gold path as written; its steps may be triples."""

    id: Label | None = None
    group: Label | None = None
    steps: list[Step | Triple] = []
    ordered: StrictBool = True
    from_turn: Positive | None = None
    commits: dict[Name, Name] = {}


class RelevantForm(Form):
    """A relevant id in a list, or a text that has none; the default gain is 1."""

    id: Id | None = None
    text: StrictStr | None = None
    gain: Number = 1.0


class Component(Record):
    """A fact or component that a complete answer addresses."""

    text: Text = Field(validation_alias=AliasChoices("text", "fact", "name", "component"))
    repo: Label | None = None


class Conflict(Record):
    """Two sources that disagree, and the resolution."""

    id: Label | None = None
    between: tuple[Label, ...] = ()
    resolution: StrictStr | None = None


#: The name that decides a criterion in place of a text, by what it names.
Named = Annotated[dict[Literal["id", "repository", "relation", "commit"], Name], Field(min_length=1, max_length=1)]

#: What a criterion is about.
Wanted = Annotated[Text | Named, wanted("a text, or an object that names one id, repository, relation or commit,")]


class Criterion(Record):
    """A thing that an answer must say or do, or must not; exactly one of the two.

    A text is judged. ``{"id": NAME}``, or ``repository``, ``relation`` or ``commit``, is looked up in what the answer
    retrieved, traversed and cited.
    """

    must: Wanted | None = None
    must_not: Wanted | None = None
    weight: Positive = 1


class CodeTest(Record):
    """A test of the code in an answer, with exactly one of ``expected``, ``raises`` and ``assertion``.

    Attributes
    ----------
    inputs
        A list holds the arguments of the question's entry point, an object its arguments by name, a string the standard
        input of a program. Without inputs, the entry point is called without arguments.
    expected
        The returned value or, without an entry point, the printed text. Null can't be expected; use the assertion
        ``result is None`` for it.
    raises
        The name of the raised exception, or of one of its base classes.
    assertion
        An expression or statements in the language of the code, which see its names and, as ``result``, the value that
        the entry point returned. Without ``inputs`` the entry point isn't called.
    timeout
        Seconds, at most 600.
    tolerance
        The largest difference between numbers, as a share of the larger one.
    """

    name: Name
    inputs: Annotated[list[Any] | dict[StrictStr, Any] | StrictStr | None, wanted("a list, an object or a text")] = None
    expected: Any = Field(default=None, validation_alias=_names(CODE_TEST, "expected"))
    raises: Name | None = Field(default=None, validation_alias=_names(CODE_TEST, "raises"))
    assertion: StrictStr | None = Field(default=None, validation_alias=_names(CODE_TEST, "assertion"))
    timeout: Seconds = Field(default=30.0, validation_alias=_names(CODE_TEST, "timeout"))
    tolerance: Share = 1e-6


#: The arguments of a tool by name.
Arguments = Annotated[
    dict[StrictStr, Any],
    BeforeValidator(arguments_of_text, json_schema_input_type=dict[StrictStr, Any] | StrictStr),
    AfterValidator(checked_arguments),
]


class ExpectedToolCall(Record):
    """A tool call of a good run: the name of the tool, and its arguments, or null for any."""

    name: Name = Field(validation_alias=_names(TOOL_CALL, "name"))
    arguments: Arguments | None = Field(default=None, validation_alias=_names(TOOL_CALL, "arguments"))


class FunctionForm(Form):
    """The function of a call in chat completions."""

    name: Name
    arguments: Any = None


class FunctionCallForm(Form):
    """A call in chat completions."""

    function: FunctionForm


class ExpectedToolCallForm(ExpectedToolCall):
    """The further fields of an expected call in the form of chat completions."""

    function: Any = None
    id: Any = None
    type: Any = None


def _listed(value: Any) -> Any:
    """Replace null by an empty list, and refuse other values than lists."""
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list")
    return value


def _objects(field: str) -> Callable[[Any], Any]:
    """Return a function that makes each string of a list an object with one field."""
    return lambda value: [{field: item} if isinstance(item, str) else item for item in _listed(value)]


# ``json_schema_input_type`` lists the forms that a validator accepts, for the JSON Schema.
GoldPaths = Annotated[
    tuple[GoldPath, ...],
    BeforeValidator(gold_paths, json_schema_input_type=list[GoldPathForm | list[Id] | list[Step | Triple]] | None),
]
Absent = Annotated[tuple[Step, ...], BeforeValidator(absent_edges, json_schema_input_type=list[Step | Triple] | None)]
Gains = Annotated[
    dict[Name, Number],
    BeforeValidator(gains, json_schema_input_type=dict[Name, Number] | list[Id | RelevantForm] | None),
]
#: An answer span; the gold of a ranking (ids, or gains by id) goes to ``relevant``: see :func:`with_gold`.
Expected = Annotated[
    StrictStr | None,
    BeforeValidator(
        lambda value: value, json_schema_input_type=StrictStr | dict[Name, Number] | list[Id | RelevantForm] | None
    ),
]
Facts = Annotated[
    tuple[Component, ...],
    BeforeValidator(_objects("text"), json_schema_input_type=list[Text | Component] | None),
]
Conflicts = Annotated[
    tuple[Conflict, ...],
    BeforeValidator(_objects("resolution"), json_schema_input_type=list[StrictStr | Conflict] | None),
]
ExpectedToolCalls = Annotated[
    tuple[ExpectedToolCall, ...],
    BeforeValidator(
        lambda value: tool_calls(_listed(value)),
        json_schema_input_type=list[Name | ExpectedToolCall | FunctionCallForm] | None,
    ),
]


def _unchanged(value: Any) -> Any:
    return value


#: A gold answer. A list of several is read as the question's ``gold_answers``.
GoldAnswer = Annotated[
    StrictStr | None, BeforeValidator(_unchanged, json_schema_input_type=StrictStr | list[StrictStr] | None)
]


def _texts(value: Any) -> Any:
    """Read one text as a list of it, and null as none."""
    return [value] if isinstance(value, str) else _listed(value)


#: Queries of which each finds the gold paths: one text, or a list of alternatives.
GoldCypher = Annotated[
    tuple[Text, ...], BeforeValidator(_texts, json_schema_input_type=StrictStr | list[StrictStr] | None)
]


class Question(Record):
    """A question with its gold annotation, one line of ``questions.jsonl``.

    Attributes
    ----------
    session, turn
        The conversation that the question belongs to, and its place there, from 1. Without a turn, nothing is known of
        what came before.
    relevant
        Relevant ids with their gains (finite; a gain of 0 or less is not relevant).
    split
        The part of the dataset that it belongs to, such as ``dev`` or ``test``.
    stack
        The id of the compatibility row with the commits of the annotation.
    commits
        The commit of the annotation by repository.
    expected_output
        A span of text in an answering document. The default is the gold answer. A list of ids, or a map of ids to
        gains, is another way to write ``relevant``, and ``metadata.k`` one to write ``k``.
    k
        The cut-off for this question, which overrides that of the measure.
    test_cases
        Tests of the code in an answer.
    repository_context
        Stand-ins of the repositories that the code imports: import path (``auth_service.models``) to source.
    entry_point
        The function that the tests call, such as ``place_order``.
    code_language
        The language of the code. The default is Python.
    expected_tool_calls
        The tool calls of a good run, in order.
    gold_answers
        The answers of a question with several, or the spellings of one; an answer that holds any of them is right.
    evidence_sets
        Sets of ids any one of which suffices as evidence, for measures with ``sets=True``.
    relevant_texts
        Texts of evidence, each of which a retrieved chunk must contain, for data whose passages have no ids.
    criteria, rubric
        What the answer must say or do, and must not; and how a judge reads these criteria. A rubric alone is one
        criterion, which the answer must meet.
    answerable, why_not
        Whether there is an answer, which null means too; and why there is none. The right response to a question
        without an answer is to decline. It has no gold path.
    absent
        Edges that don't exist, such as one that a false premise takes for granted.
    principal
        Who asks; a row of ``access.jsonl`` says what it may read.
    withheld
        Gold paths that the principal may not read: shown, and never scored. Reading a dataset moves them here.
    gold_cypher
        A Cypher query that finds the answer in the knowledge graph, or several of which each does. Its pattern is the
        gold path; ``graphkit cypher`` writes it out.
    seeds
        The nodes at which a walk has to begin, each of which is required; by default those at which the required paths
        begin.
    stale
        Why its gold no longer holds, such as a gold query that finds nothing any more. It isn't scored then.
    """

    forms: ClassVar[Mapping[str, type[BaseModel]]] = {
        "relevant": RelevantForm,
        "expected_tool_calls": ExpectedToolCallForm,
    }

    id: Id = Field(validation_alias=_names(QUESTION, "id"))
    question: Text = Field(validation_alias=_names(QUESTION, "question"))
    category: StrictStr | None = None
    difficulty: Difficulty | None = None
    group: StrictStr | None = Field(default=None, validation_alias=_names(QUESTION, "group"))
    split: StrictStr | None = None
    session: Id | None = Field(default=None, validation_alias=_names(QUESTION, "session"))
    turn: Positive | None = None
    stack: Label | None = None
    gold_answer: GoldAnswer = Field(default=None, validation_alias=_names(QUESTION, "gold_answer"))
    expected_output: Expected = Field(default=None, validation_alias=_names(QUESTION, "expected_output"))
    commits: dict[Name, Name] = Field(default_factory=dict)
    paths: GoldPaths = Field(default=(), validation_alias=_names(QUESTION, "paths"))
    relevant: Gains = Field(default_factory=dict, validation_alias=_names(QUESTION, "relevant"))
    expected_files: tuple[Label, ...] = ()
    expected_symbols: tuple[Label, ...] = ()
    symbol_match: SymbolMatch | None = None
    facts: Facts = Field(default=(), validation_alias=_names(QUESTION, "facts"))
    conflicts: Conflicts = ()
    min_sources: Count | None = Field(default=None, validation_alias=_names(QUESTION, "min_sources"))
    k: Positive | None = None
    test_cases: tuple[CodeTest, ...] = Field(default=(), validation_alias=_names(QUESTION, "test_cases"))
    repository_context: dict[Name, StrictStr] = Field(default_factory=dict)
    entry_point: Name | None = Field(default=None, validation_alias=_names(QUESTION, "entry_point"))
    code_language: Name | None = None
    expected_tool_calls: ExpectedToolCalls = Field(default=(), validation_alias=_names(QUESTION, "expected_tool_calls"))
    gold_answers: tuple[StrictStr, ...] = ()
    evidence_sets: tuple[Annotated[tuple[Id, ...], Field(min_length=1)], ...] = ()
    relevant_texts: tuple[Text, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    rubric: Text | None = None
    answerable: StrictBool | None = None
    why_not: WhyNot | None = None
    absent: Absent = ()
    principal: Label | None = None
    withheld: GoldPaths = ()
    gold_cypher: GoldCypher = ()
    seeds: tuple[Id, ...] = Field(default=(), validation_alias=_names(QUESTION, "seeds"))
    stale: Text | None = None

    @classmethod
    def in_own_fields(cls, given: Any) -> Any:
        """Read the gold of a ranking where harnesses keep it, and several gold answers under the name of one."""
        return with_gold(given)

    @model_validator(mode="after")
    def _checked(self) -> Self:
        checked_question(self)
        return self


class Chunk(Record):
    """A retrieved chunk. Its id, ``repo:path#symbol``, supplies a missing ``repo``, ``path`` or ``symbol``."""

    id: Id = Field(validation_alias=AliasChoices("id", "chunk_id", "doc_id", "node_id"))
    repo: Label | None = Field(default=None, validation_alias=AliasChoices("repo", "repository"))
    path: Label | None = Field(default=None, validation_alias=AliasChoices("path", "file", "file_path"))
    symbol: Label | None = None
    commit: Label | None = Field(default=None, validation_alias=AliasChoices("commit", "sha"))
    branch: StrictStr | None = None
    rank: Positive | None = None
    score: Finite | None = None
    text: StrictStr | None = Field(default=None, validation_alias=AliasChoices("text", "content", "page_content"))


class TraversalStep(Record):
    """A traversed edge: its retrieved path, its position there, and the commits of its ends.

    An edge that was walked backwards is written with ``~`` before its relation: ``b ~CALLS a`` is the edge ``a CALLS
    b``. If the log has lost which end is the source, the edge isn't ``directed``: it is compared in the direction in
    which gold has it.
    """

    source: Id
    target: Id
    relation: Name | None = Field(default=None, validation_alias=AliasChoices("relation", "type", "label"))
    path: Count = 0
    position: Count | None = None
    source_commit: Label | None = None
    target_commit: Label | None = None
    directed: StrictBool = True

    @classmethod
    def in_own_fields(cls, given: Any) -> Any:
        """Return a step that was walked backwards, ``~REL``, in the direction of its edge."""
        return in_direction(given)


#: The former name, which users may import.
WalkStep = TraversalStep


class EdgeForm(Form):
    """A step in a path, a list of triples or node-link JSON, whose place supplies a missing path and position."""

    source: Id
    target: Id
    relation: Any = None
    position: Any = None
    source_commit: Label | None = None
    target_commit: Label | None = None
    directed: StrictBool = True


class StepsForm(Form):
    """A retrieved path as an object with its nodes or steps."""

    steps: list[Id] | list[EdgeForm | Triple]


#: A retrieved path: its nodes, its steps, or an object with either; or one triple of a path of triples.
PathForm = list[Id] | list[EdgeForm | Triple] | Triple | StepsForm


class PathsForm(Form):
    """A traversal as an object with paths."""

    paths: list[PathForm]


class TriplesForm(Form):
    """A traversal as an object with the triples of one path."""

    triples: list[Triple | EdgeForm]


class NodeLinkForm(Form):
    """A traversal in the form of networkx."""

    nodes: Any
    edges: list[EdgeForm]


class LinkForm(Form):
    """A traversal in the form of older versions of networkx."""

    nodes: Any
    links: list[EdgeForm]


class CitationForm(Form):
    """A citation as an object; the first existing field holds the id of the chunk."""

    id: Any = None
    chunk_id: Any = None
    chunk: Any = None


class ErrorForm(Form):
    """An error as an object."""

    type: Any = None
    message: Any = None


class ToolCall(Record):
    """A tool call of a run.

    Attributes
    ----------
    result
        The returned text.
    failed
        Whether it ended in an error.
    seen
        The ids that the call showed, in order: those that its arguments opened, and those in its result. Null if
        unknown, as for a search whose result is plain text; an empty list if it showed nothing.
    """

    name: Name = Field(validation_alias=_names(TOOL_CALL, "name"))
    arguments: Arguments = Field(default_factory=dict, validation_alias=_names(TOOL_CALL, "arguments"))
    result: StrictStr | None = Field(default=None, validation_alias=_names(TOOL_CALL, "result"))
    failed: StrictBool = False
    seen: tuple[Id, ...] | None = None


ErrorText = Annotated[
    StrictStr | None, BeforeValidator(error_text, json_schema_input_type=StrictStr | ErrorForm | None)
]


#: A row of a query's result.
ResultRow = Annotated[list[Any] | dict[StrictStr, Any], wanted("a list of values, or an object by column,")]


class GraphQuery(Record):
    """A Cypher query that a system wrote and sent to its graph.

    Attributes
    ----------
    cypher
        Its text, as the system sent it.
    parameters
        The values of its parameters by name.
    columns, rows
        Its result: the names of the columns, and a list of values, or an object by column, for each row. Null if they
        weren't logged.
    error
        The database's message, if it refused the query.
    """

    cypher: StrictStr = Field(validation_alias=_names(GRAPH_QUERY, "cypher"))
    parameters: dict[StrictStr, Any] = Field(default_factory=dict, validation_alias=_names(GRAPH_QUERY, "parameters"))
    columns: tuple[StrictStr, ...] | None = None
    rows: tuple[ResultRow, ...] | None = None
    error: ErrorText = None


class ComparedResult(Record):
    """The result of a record's queries compared with that of the question's gold query; ``graphkit cypher`` writes it.

    Attributes
    ----------
    executable
        Whether a query ran, and was allowed to; null if the database can't tell.
    ran
        The share of the record's queries that ran; null if unknown.
    same
        Whether the last query that ran has the result of a gold query; null if unknown.
    nodes, gold_nodes
        The nodes that the patterns of the record's queries bind in the rows of their results, and those of the gold
        query that is closest to it; null if they can't be traced.
    reason
        Why a query didn't run, or why its nodes, edges or equality are unknown.
    cause, cause_kind
        The change of the query that makes its result that of gold, in words, and its kind.
    """

    executable: StrictBool | None
    ran: Share | None = None
    same: StrictBool | None = None
    nodes: tuple[Id, ...] | None = None
    gold_nodes: tuple[Id, ...] | None = None
    reason: StrictStr | None = None
    cause: StrictStr | None = None
    cause_kind: StrictStr | None = None


class ToolCallForm(ToolCall):
    """The further fields of a call in the form of chat completions."""

    function: Any = None
    id: Any = None
    type: Any = None


class Seed(Record):
    """A node that a system linked the question to, at which its walk begins.

    ``mention`` is the part of the question that it was linked by, and ``score`` that of the link, on any scale.
    """

    id: Id = Field(validation_alias=AliasChoices("id", "node_id", "entity"))
    score: Finite | None = None
    mention: StrictStr | None = None


Seeds = Annotated[
    tuple[Seed, ...] | None,
    BeforeValidator(
        linked_seeds, json_schema_input_type=list[Id | Seed] | dict[Name, StrictStr | Number | None] | None
    ),
]
Chunks = Annotated[
    tuple[Chunk, ...] | None, BeforeValidator(retrieved_chunks, json_schema_input_type=list[Id | Chunk] | None)
]
#: The other forms of a traversal.
TraversalForm = Text | list[Text] | list[PathForm] | PathsForm | TriplesForm | NodeLinkForm | LinkForm
Traversal = Annotated[
    tuple[TraversalStep, ...] | None,
    BeforeValidator(traversal_steps, json_schema_input_type=list[TraversalStep] | TraversalForm | None),
]
Citations = Annotated[
    tuple[CitedId, ...], BeforeValidator(citation_ids, json_schema_input_type=list[CitedId | CitationForm] | None)
]
ToolCalls = Annotated[
    tuple[ToolCall, ...] | None,
    BeforeValidator(tool_calls, json_schema_input_type=list[Name | ToolCall | FunctionCallForm] | None),
]
Queries = Annotated[
    tuple[GraphQuery, ...] | None,
    BeforeValidator(
        lambda value: None if value is None else _objects("cypher")(value),
        json_schema_input_type=list[StrictStr | GraphQuery] | None,
    ),
]


class Answer(Record):
    """The answer of one run to one question: one line of ``runs/NAME.jsonl``.

    ``traversal`` is written as steps, as node lists, as ``[source, relation, target]`` triples, as text (``a -CALLS->
    b``), or as networkx node-link JSON. If ``traversal``, ``retrieved``, ``tool_calls`` or ``seeds`` is absent or null,
    it wasn't logged and is unknown; an empty list means that there was nothing. If ``ordered`` is false, the traversal
    is a set of edges without an order. A record with an ``error`` (a sentence) is a result: kept, counted, and not
    scored; ``failed_at`` is the time at which a runner gave up (ISO 8601). ``doubts`` are sentences about uncertain
    parts of the record, which an import writes; ``evaluate`` repeats each once per run, with the number of its records.
    ``walked_before`` are the edges that the earlier turns of the question's session walked, each with its turn as
    ``path``; absent or null if a turn's are unknown. ``graphkit run`` and ``graphkit import`` write them.
    ``abstained`` says whether the system declined to answer, and ``confidence`` how sure it was, on any scale.
    ``queries`` are the Cypher queries that the system wrote, in order, null if they weren't logged; ``graphkit
    cypher`` makes what their patterns match the traversal, and writes ``compared_result``. ``rankings`` are the ids
    that a system ranked at the level of files, modules or symbols, if they don't follow from ``retrieved``. An
    ``actual_output`` holds the answer in words, what was retrieved as a list, or fields of the record as an object.
    ``trace_id`` and ``span_id`` (hex) and ``response_id`` name the span of the answer and the model's response in the
    system's traces, to which ``export`` attaches scores. ``seeds`` are the nodes that the system linked the question
    to, best first.
    """

    forms: ClassVar[Mapping[str, type[BaseModel]]] = {
        "citations": CitationForm,
        "error": ErrorForm,
        "tool_calls": ToolCallForm,
    }
    beside: ClassVar[frozenset[str]] = BESIDE_ANSWER

    run: RunName = Field(validation_alias=_names(ANSWER, "run"))
    question_id: Id = Field(validation_alias=_names(ANSWER, "question_id"))
    retrieved: Chunks = Field(default=None, validation_alias=_names(ANSWER, "retrieved"))
    traversal: Traversal = Field(default=None, validation_alias=_names(ANSWER, "traversal"))
    ordered: StrictBool = True
    walked_before: tuple[TraversalStep, ...] | None = None
    answer: StrictStr | None = Field(default=None, validation_alias=_names(ANSWER, "answer"))
    abstained: StrictBool | None = Field(default=None, validation_alias=_names(ANSWER, "abstained"))
    confidence: Number | None = None
    citations: Citations = ()
    evidence_files: tuple[Label, ...] | None = None
    latency_ms: Amount | None = Field(default=None, validation_alias=_names(ANSWER, "latency_ms"))
    model_calls: Count | None = None
    prompt_tokens: Count | None = Field(default=None, validation_alias=_names(ANSWER, "prompt_tokens"))
    output_tokens: Count | None = Field(default=None, validation_alias=_names(ANSWER, "output_tokens"))
    cost: Amount | None = None
    error: ErrorText = None
    error_type: StrictStr | None = None
    failed_at: StrictStr | None = None
    tool_calls: ToolCalls = Field(default=None, validation_alias=_names(ANSWER, "tool_calls"))
    doubts: tuple[Label, ...] = ()
    queries: Queries = None
    compared_result: ComparedResult | None = None
    rankings: dict[Literal["file", "module", "symbol"], tuple[Id, ...]] = Field(default_factory=dict)
    trace_id: Label | None = None
    span_id: Label | None = None
    response_id: Label | None = None
    seeds: Seeds = Field(default=None, validation_alias=_names(ANSWER, "seeds"))

    @classmethod
    def in_own_fields(cls, given: Any) -> Any:
        """Read a system's output where harnesses keep it."""
        return with_output(given)


class Commit(Record):
    """A commit of a repository, one line of ``commits.jsonl``."""

    repo: Name
    sha: Name
    parents: tuple[Name, ...] = ()
    branch: StrictStr | None = None
    committed_at: Time | None = None
    tag: StrictStr | None = None
    tags: tuple[Name, ...] = ()

    @property
    def all_tags(self) -> tuple[str, ...]:
        """All tags, the displayed one first."""
        return tuple(dict.fromkeys((*((self.tag,) if self.tag else ()), *self.tags)))


def _commits(value: Any) -> Any:
    """Read a list of commits written as ``repo@sha`` or as objects."""
    return dict(map(_repo_and_sha, value)) if isinstance(value, list) else value


def _repo_and_sha(item: Any) -> tuple[str, Any]:
    if isinstance(item, str) and "@" in item:
        repo, _, sha = item.rpartition("@")
        return repo, sha
    if isinstance(item, dict) and isinstance(item.get("repo"), str) and "sha" in item:
        return item["repo"], item["sha"]
    raise ValueError('a commit must be "repo@sha" or {"repo": ..., "sha": ...}')


class CommitForm(Form):
    """A commit as an object."""

    repo: Name
    sha: Name


class Compatibility(Record):
    """A set of commits that did, or did not, work together, one line of ``compatibility.jsonl``.

    A row with an ``environment`` is a deployment: its commits ran together from the time ``at``.
    """

    forms: ClassVar[Mapping[str, type[BaseModel]]] = {"commits": CommitForm}

    id: Name
    commits: Annotated[
        dict[Name, Name],
        BeforeValidator(_commits, json_schema_input_type=dict[Name, Name] | list[StrictStr | CommitForm]),
    ]
    compatible: StrictBool = True
    source: StrictStr | None = None
    environment: StrictStr | None = None
    at: Time | None = Field(default=None, validation_alias=AliasChoices("at", "deployed_at", "time"))


#: What a pattern of access is matched with.
ByName = Annotated[dict[Literal["id", "repository", "relation"], Name], Field(min_length=1, max_length=1)]
#: A pattern of access.
Pattern = Annotated[Name | ByName, wanted("a text, or an object that names one id, repository or relation,")]


class AccessRule(Record):
    """The rule on what a principal may read, one line of ``access.jsonl``.

    A node may be read if an allowed pattern matches its id or its repository, and no denied one does. A text is a
    pattern of ids, ``{"repository": PATTERN}`` one of repositories, and ``{"relation": PATTERN}`` one of relations. All
    relations may be followed unless some are allowed. In a pattern, ``*`` stands for any characters and ``?`` for one.
    """

    # A misspelt ``deny`` would allow what it should keep out.
    model_config = ConfigDict(extra="forbid")

    principal: Name
    allow: tuple[Pattern, ...] = ()
    deny: tuple[Pattern, ...] = ()


class Artifact(Record):
    """A node of the knowledge graph at one commit, one line of ``artifacts.jsonl``.

    ``aliases`` are its other names, any of which an answer may give.
    """

    id: Name
    repo: Label | None = None
    path: Label | None = None
    symbol: Label | None = None
    kind: StrictStr | None = None
    commit: Label | None = None
    line: Count | None = None
    end_line: Count | None = None
    aliases: tuple[Label, ...] = ()


class Edge(Record):
    """A directed, typed edge of the knowledge graph, one line of ``edges.jsonl``.

    ``since`` and ``until`` are the first and the last commit at which it exists, both included, in the repository of
    its source; without one of them it has always existed, or exists still. One that was removed and came back is two
    records.
    """

    source: Name
    relation: Name = Field(validation_alias=_names(EDGE, "relation"))
    target: Name
    since: Name | None = None
    until: Name | None = None
