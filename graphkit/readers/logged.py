"""The data that a log holds on one question, in its own names, and the base class of readers.

A reader knows one format and nothing of datasets: the import finds the id of a name and the direction of an edge. Data
that the log doesn't hold are None, which never means nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from graphkit.errors import InputError


@dataclass(slots=True)
class LoggedChunk:
    """A retrieved item by its name in the log; the best item comes first.

    Attributes
    ----------
    values
        What a row of a query holds beside a name. Those that are ids of the dataset are retrieved with the item, or
        instead of one that isn't named.
    is_named
        Whether the name comes from the log. Otherwise the item only keeps its rank.
    by_file
        Whether only the name of its file names it: a value names it better.
    """

    name: str
    text: str | None = None
    score: float | None = None
    commit: str | None = None
    values: tuple[str, ...] = field(default=(), compare=False)
    is_named: bool = field(default=True, compare=False)
    by_file: bool = field(default=False, compare=False)


@dataclass(slots=True)
class LoggedEdge:
    """An edge that was walked, or retrieved.

    Attributes
    ----------
    directed
        Whether the log says which end is the source.
    description
        The edge in words, which may name its relation if no field does.
    """

    source: str
    relation: str | None
    target: str
    directed: bool = True
    description: str | None = field(default=None, compare=False)


@dataclass(slots=True)
class LoggedToolCall:
    """A tool that was called, with its arguments, and its result as text.

    ``seen`` holds the names of what it showed: opened by its arguments, or found in its result. None where that isn't
    known, such as of a search whose result is plain text. ``values`` are what else the rows of its result hold, of
    which ids of the dataset were seen, too.
    """

    name: str
    arguments: dict[str, Any]
    result: str | None = None
    failed: bool = False
    seen: list[str] | None = None
    values: list[str] = field(default_factory=list)


class IdOf(Protocol):
    """Finds questions of the dataset."""

    def __call__(self, text: str, after: str | None = None) -> str | None:
        """Return the id of a question by its text or its id, None for any other text.

        ``after`` is the question before it in a conversation: two sessions may hold the same text.
        """
        ...


class Dialogue(Protocol):
    """A conversation that may hold several questions."""

    def each_question(
        self, answer: LoggedAnswer, id_of: IdOf, session: Mapping[int, str] | None = None
    ) -> list[LoggedAnswer]:
        """Return an answer for each question of the dataset that it asks, or the answer of the whole.

        ``session`` has the question of each turn, if the conversation is named by a session of the dataset.
        """
        ...


@dataclass(slots=True)
class LoggedAnswer:
    """The data that a log holds on one question.

    Attributes
    ----------
    where
        ``file:line``.
    question, question_text
        The question's id in the log, and its text, which identifies the question if there is no id.
    turn
        The turn, from 1, of the session that ``question`` names.
    run
        The run's name, if the log has one.
    traversal
        Paths. A set of edges is one path that isn't ``ordered``.
    opened
        What was opened, in order, by those who walk with tools. It becomes a walk: an edge wherever the knowledge graph
        holds one between what had been opened and what was opened then. None where nothing is known of tools, and
        empty where there were tools and none opened anything.
    shown
        The edges in the results of tools, a list for each path or for each result's edges outside of paths. Those of
        which the dataset knows an end are walked, too.
    listed
        The edges that results list around what their calls opened, of which later calls show which was taken.
    unknown_calls
        How many of the calls opened what isn't known: without an edge among what is known, the walk isn't known either.
    drawn_ids
        Whether names may be ids that the library drew: what the dataset doesn't know of these can't be compared.
    repository
        The repository of files that are named without one, where the log states it otherwise: it counts if the dataset
        has it.
    symbols
        Whether names are those that a graph gives its nodes: a symbol then may stand without its file.
    folders
        The absolute folders in which an agent worked: a file's name may begin with one of them.
    tool_calls
        The tools that were called, in order.
    seeds
        The nodes that the question was linked to, best first, with their mentions as texts.
    queries
        The Cypher queries that the system wrote, in order, with their fields in a record.
    trace, span, response
        The ids of the trace and of the outermost span of the answer, and of the model's response.
    notes
        Doubts about the answer, in sentences. An import prints each once per file, with its count.
    taken
        Each thing that was read beside the library's output, with the key that held it.
    record
        The whole record, where it is graphkit's own: then only its ids are looked up.
    walked
        Whether the edges of a whole record stand as they were walked: one that the knowledge graph holds only the other
        way round is turned.
    trial
        Which of several answers to the question it is.
    scores
        What others scored the answer by, by measure.
    values
        What rows of queries hold in lists and beside edges: ids of the dataset among them were retrieved, too, without
        a rank.
    rankings
        The names that the system ranked at the level of files or modules, where it ranked these itself.
    dialogue
        The conversation, if the user speaks more than once: each time may be another question of the dataset.
    """

    where: str
    question: str | None = None
    question_text: str | None = None
    turn: int | None = None
    run: str | None = None
    retrieved: list[LoggedChunk] | None = None
    traversal: list[list[LoggedEdge]] | None = None
    ordered: bool = False
    opened: list[str] | None = None
    shown: list[list[LoggedEdge]] = field(default_factory=list)
    listed: list[LoggedEdge] = field(default_factory=list)
    unknown_calls: int = 0
    drawn_ids: bool = False
    repository: str | None = None
    symbols: bool = False
    folders: list[str] = field(default_factory=list)
    tool_calls: list[LoggedToolCall] | None = None
    seeds: list[LoggedChunk] | None = None
    queries: list[dict[str, Any]] | None = None
    answer: str | None = None
    citations: list[str] | None = None
    latency_ms: float | None = None
    model_calls: int | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    model: str | None = None
    trace: str | None = None
    span: str | None = None
    response: str | None = None
    error: str | None = None
    error_type: str | None = None
    notes: list[str] = field(default_factory=list)
    taken: dict[str, str] = field(default_factory=dict)
    record: dict[str, Any] | None = None
    walked: bool = False
    rankings: dict[str, list[str]] | None = None
    values: list[str] = field(default_factory=list)
    trial: str | None = None
    scores: dict[str, float] = field(default_factory=dict)
    dialogue: Dialogue | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options that a user gives for reading a log.

    Attributes
    ----------
    question_key
        The key of the question's id, if it is an uncommon one.
    columns
        The columns of a Cypher query's rows with source, relation and target of an edge.
    chunks_only
        Whether what was retrieved is enough, where edges can't be read and the log would be refused for it.
    parquet
        The folder of the Parquet files of Microsoft GraphRAG's index.
    """

    question_key: str | None = None
    columns: tuple[str, str, str] | None = None
    chunks_only: bool = False
    parquet: Path | None = None


class UnreadableLogError(InputError):
    """A log that can't be read, or that could only mislead."""


class UnrecognisedLogError(UnreadableLogError):
    """A log that no reader knows, or in which its reader found nothing but questions."""


#: The values of a file, each with its ``file:line``.
Values = Iterable[tuple[str, Any]]


class Reader(ABC):
    """A reader of one format, registered by the entry-point group ``graphkit.readers``.

    Attributes
    ----------
    name
        The format's name on the command line, and the name of the entry point.
    title
        One line about the logs that it reads.
    lacks
        The gaps of the format, one sentence each.
    lines
        Whether a file is lines of text. Otherwise it is JSON: lines, one document, or an array.
    options
        The fields of :class:`ReadOptions` that the reader uses.
    beside
        The keys that say nothing of a question, wherever they stand: an import counts every other that isn't read.
    finds_edges
        Whether a search that found nothing walked nothing: not where the format has a ranking and nothing else.
    priority
        If several readers recognise equally many values of a file, the one with the highest priority reads it.
        graphkit's own have 10 to 140, more for a more specific format; the default puts another package's first.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    lacks: ClassVar[tuple[str, ...]] = ()
    lines: ClassVar[bool] = False
    options: ClassVar[tuple[str, ...]] = ("question_key",)
    beside: ClassVar[tuple[str, ...]] = ()
    finds_edges: ClassVar[bool] = True
    priority: ClassVar[int] = 1000

    def unpacked(self, path: Path) -> Values | None:
        """Return the values of an archive (.zip, of any ending) if its documents may be of this format, else None."""
        return None

    def refuse(self, path: Path) -> None:
        """Raise UnreadableLogError for a file that looks like a log of this format, and is something else."""
        return

    @abstractmethod
    def recognises(self, value: Any) -> bool:
        """Return whether a value of a file (in a file of text, a line) has this format."""

    @abstractmethod
    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        """Yield the answers of a file.

        Parameters
        ----------
        values
            The values of the file, each with its ``file:line``.
        unread
            Counts each field that the reader sees and doesn't use, by its dotted name.

        Raises
        ------
        UnreadableLogError
            A value could only mislead, such as a path of which only the ends are there.
        """
