"""The data that a log holds on one question, in its own names, and the base class of readers.

A reader knows one format and nothing of datasets: the import finds the id of a name and the direction of an edge. Data
that the log doesn't hold are None, which never means nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from graphkit.errors import InputError


@dataclass(slots=True)
class LoggedChunk:
    """A retrieved item by its name in the log; the best item comes first."""

    name: str
    text: str | None = None
    score: float | None = None
    commit: str | None = None


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
    known, such as of a search whose result is plain text.
    """

    name: str
    arguments: dict[str, Any]
    result: str | None = None
    failed: bool = False
    seen: list[str] | None = None


@dataclass(slots=True)
class LoggedAnswer:
    """The data that a log holds on one question.

    Attributes
    ----------
    where
        ``file:line``.
    question, question_text
        The question's id in the log, and its text, which identifies the question if there is no id.
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
    folders
        The absolute folders in which an agent worked: a file's name may begin with one of them.
    tool_calls
        The tools that were called, in order.
    trace, span, response
        The ids of the trace and of the outermost span of the answer, and of the model's response.
    notes
        Doubts about the answer, in sentences. An import prints each once per file, with its count.
    taken
        Each thing that was read beside the library's output, with the key that held it.
    record
        The whole record, where it is graphkit's own: then only its ids are looked up.
    trial
        Which of several answers to the question it is.
    scores
        What others scored the answer by, by measure.
    rankings
        The names that the system ranked at the level of files or modules, where it ranked these itself.
    dialogue
        The conversation, if the user speaks more than once: each time may be another question of the dataset. It is a
        :class:`graphkit.readers.conversations.Conversation`, which knows its parts.
    """

    where: str
    question: str | None = None
    question_text: str | None = None
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
    folders: list[str] = field(default_factory=list)
    tool_calls: list[LoggedToolCall] | None = None
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
    rankings: dict[str, list[str]] | None = None
    trial: str | None = None
    scores: dict[str, float] = field(default_factory=dict)
    dialogue: Any = field(default=None, repr=False)


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
    priority
        If several readers recognise equally many values of a file, the one with the highest priority reads it.
        graphkit's own have 10 to 140, more for a more specific format; the default puts another package's first.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    lacks: ClassVar[tuple[str, ...]] = ()
    lines: ClassVar[bool] = False
    options: ClassVar[tuple[str, ...]] = ("question_key",)
    priority: ClassVar[int] = 1000

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
