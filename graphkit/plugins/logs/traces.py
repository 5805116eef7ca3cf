"""Spans put together by question.

Spans of one trace may lie anywhere in a file, so that nothing is known of a question before the file's end.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from graphkit.plugins.logs.logged_rankings import Ranking, distinct
from graphkit.plugins.logs.model_messages import CUT
from graphkit.plugins.logs.spans import Operation, Span, SpanReading, ToolUse
from graphkit.plugins.logs.tool_calls import Trail
from graphkit.readers.json_values import identifier
from graphkit.readers.logged import LoggedAnswer, LoggedEdge, ReadOptions, UnreadableLogError, Values
from graphkit.records.usage import Number, added


class TracePart(Protocol):
    """A part of a trace: a span, or a run of LangChain."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def parent(self) -> str | None:
        """The id of the part that holds it."""

    @property
    def start(self) -> Any:
        """A value by which the parts of a trace are in order; None if it is unknown."""


P = TypeVar("P", bound=TracePart)


@dataclass(slots=True)
class Tree(Generic[P]):
    """The spans of one question in one trace, parents before children, and the place of each one's parent, or -1."""

    spans: list[P] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, spans: list[P]) -> Tree[P]:
        """Return spans with parents first. In a circle of parents, the first span counts as the outermost."""
        ids = {span.id: index for index, span in enumerate(spans)}
        parents = [ids.get(span.parent) if span.parent is not None else None for span in spans]
        below: dict[int, list[int]] = defaultdict(list)
        for index, parent in enumerate(parents):
            if parent is not None:
                below[parent].append(index)
        place: dict[int, int] = {}
        tree = cls()
        for first in (*(index for index, parent in enumerate(parents) if parent is None), *range(len(spans))):
            waiting = [(first, -1)]
            while waiting:
                index, above = waiting.pop()
                if index not in place:
                    place[index] = len(tree.spans)
                    tree.spans.append(spans[index])
                    tree.parents.append(above)
                    waiting.extend((inner, place[index]) for inner in reversed(below[index]))
        return tree

    @property
    def tops(self) -> list[P]:
        """The spans whose parent isn't there, in the order in which they began."""
        return _by_start(span for span, parent in zip(self.spans, self.parents, strict=True) if parent < 0)

    def outermost(self, chosen: Callable[[P], bool]) -> list[P]:
        """Return the chosen spans that lie within no other chosen one, in the order in which they began."""
        within = self.within(chosen)
        found = zip(self.spans, self.parents, within, strict=True)
        return _by_start(span for span, parent, inside in found if inside and (parent < 0 or not within[parent]))

    def innermost(self, chosen: Callable[[P], bool]) -> list[P]:
        """Return the chosen spans that hold no other chosen one, in the order in which they began."""
        holding = [False] * len(self.spans)
        found = []
        for index in range(len(self.spans) - 1, -1, -1):
            is_chosen = chosen(self.spans[index])
            if is_chosen and not holding[index]:
                found.append(self.spans[index])
            if (is_chosen or holding[index]) and self.parents[index] >= 0:
                holding[self.parents[index]] = True
        return _by_start(found)

    def within(self, chosen: Callable[[P], bool]) -> list[bool]:
        """Return for each span whether it is chosen, or lies within one that is."""
        inside: list[bool] = []
        for span, parent in zip(self.spans, self.parents, strict=True):
            inside.append((parent >= 0 and inside[parent]) or chosen(span))
        return inside


def _by_start(spans: Iterable[P]) -> list[P]:
    return sorted(spans, key=lambda span: (span.start is not None, span.start))


@dataclass(slots=True)
class AskedQuestion:
    """The traces of one question, usually one. Without an id, each trace is its own question."""

    where: str
    question: str | None
    taken: str | None
    trees: list[Tree[Span]] = field(default_factory=list)


@dataclass(slots=True)
class TracedRetrieval:
    """The findings of the retrievals of a trace.

    Attributes
    ----------
    ranking
        The retrieved items; None if no retrieval logs them.
    by_score
        Whether a higher score is better than an earlier place.
    edges
        The edges among the retrieved items; None if nothing can hold them.
    """

    ranking: Ranking | None = None
    by_score: bool = False
    edges: list[LoggedEdge] | None = None

    def add(self, edges: Iterable[LoggedEdge]) -> None:
        """Add edges."""
        self.edges = [*(self.edges or ()), *edges]


class TraceConventions(Protocol):
    """The meaning of the attributes of spans.

    Attributes
    ----------
    used
        The attributes that are read, each with all that begins with its name and a dot.
    conversation
        The attribute of a conversation, whose id is the question's if there is no other.
    """

    used: tuple[str, ...]
    conversation: str

    def operation(self, span: Span) -> Operation:
        """Return the operation of a span."""

    def asked(self, span: Span) -> str | None:
        """Return the text of the question in the input of a span."""

    def answered(self, span: Span) -> str | None:
        """Return the answer in the output of a span."""

    def retrieved(self, tree: Tree[Span], unread: Counter[str], notes: list[str]) -> TracedRetrieval:
        """Return the retrieved documents, and the edges if the documents hold any."""


def read_traces(
    values: Values, options: ReadOptions, unread: Counter[str], conventions: TraceConventions
) -> Iterator[LoggedAnswer]:
    """Yield the answers that were traced.

    Several traces of one question are merged, as its retrieval may be in one and its answer in another. Traces
    that hold both are attempts, each an answer of its own.
    """
    for asked in asked_questions(values, options, unread, conventions.used):
        parts = [_Part(tree, conventions, unread) for tree in asked.trees]
        attempts = [[part] for part in parts] if sum(part.is_whole for part in parts) > 1 else [parts]
        for attempt in attempts:
            if asked.question is None and not any(part.speaks for part in attempt):
                unread["traces without a retrieval or a call of a model"] += 1
            else:
                yield _logged(asked, attempt, conventions)


class _Part:
    """The part of an answer that one trace holds."""

    def __init__(self, tree: Tree[Span], conventions: TraceConventions, unread: Counter[str]) -> None:
        self.tree = tree
        self.notes: list[str] = []
        for span in tree.spans:
            span.operation = conventions.operation(span)
        self.found = conventions.retrieved(tree, unread, self.notes)
        self.tops = tree.tops
        self.calls = tree.innermost(lambda span: span.operation.kind == "model")
        retrievals = tree.outermost(lambda span: span.operation.kind == "retrieval")
        self.answer = next(filter(None, map(conventions.answered, reversed([*self.calls, *self.tops]))), None)
        self.question_text = next(filter(None, map(conventions.asked, [*self.tops, *retrievals, *self.calls])), None)
        self.tools = _tools(tree, self.calls)
        self.speaks = bool(retrievals or self.calls or self.tools)
        self.failed = next((span for span in reversed(self.tops) if span.failed), None)
        self.prompt_tokens: int | None = self._sum("prompt_tokens")
        self.output_tokens: int | None = self._sum("output_tokens")
        self.cost: float | None = self._sum("cost")
        models = [span.operation.model for span in self.calls if span.operation.model is not None]
        self.model = models[-1] if models else None
        if len(set(models)) > 1:
            self.notes.append("several models were called: the last is named")
        self._doubt(retrievals)

    @property
    def is_whole(self) -> bool:
        """Whether it holds a retrieval and an answer."""
        return self.found.ranking is not None and self.answer is not None

    @property
    def latency_ms(self) -> float | None:
        """The time from the beginning of the first to the end of the last of the outermost spans."""
        starts = [span.start for span in self.tops if span.start is not None]
        ends = [span.end for span in self.tops if span.end is not None]
        if len(starts) < len(self.tops) or len(ends) < len(self.tops):
            return None
        taken = max(ends) - min(starts)
        return taken / 1000 if taken >= 0 else None

    def _sum(self, figure: str) -> Any:
        """Return the sum of a figure of the innermost calls that log it; outer spans may repeat it."""

        def logs(span: Span) -> bool:
            return span.operation.kind == "model" and getattr(span.operation, figure) is not None

        counting = self.tree.innermost(logs)
        ids = set(map(id, counting))
        within = self.tree.within(lambda span: id(span) in ids)
        covered = {id(span) for span, inside in zip(self.tree.spans, within, strict=True) if inside}
        silent = any(not span.failed and id(span) not in covered for span in self.calls)
        if silent and counting:
            self.notes.append(f"some calls of a model don't log their {figure.replace('_', ' ')}: it has no sum")
        return None if silent or not counting else added(getattr(span.operation, figure) for span in counting)

    def _doubt(self, retrievals: list[Span]) -> None:
        if self.found.ranking is None and retrievals:
            self.notes.append("a retrieval doesn't log its documents")
        if any(span.parent is not None for span in self.tops):
            self.notes.append("the outermost span's parent isn't in the log: latency and answer are what is there")
        if len(self.tops) > 1:
            self.notes.append("there are several outermost spans: latency is from the first's start to the last's end")
        if self.failed is None and any(span.failed for span in self.tree.spans):
            self.notes.append("a span failed within a question that was answered")
        if any(span.operation.cut for span in self.calls):
            self.notes.append(CUT)
        if any(span.dropped for span in self.tree.spans):
            self.notes.append("spans lost attributes, though none of a retrieval")


def _tools(tree: Tree[Span], calls: list[Span]) -> list[ToolUse]:
    """Return the tools that ran, with the arguments by which a model asked for each, else those asked for."""
    asked = [use for span in calls for use in span.operation.tools]
    uses = [use for span in tree.outermost(lambda span: span.operation.kind == "tool") for use in span.operation.tools]
    for use in uses:
        fits = (one for one in asked if one.name == use.name and (None in (one.call, use.call) or one.call == use.call))
        if (match := next(fits, None)) is not None:
            asked.remove(match)
            use.arguments = match.arguments
    return uses or asked


def _logged(asked: AskedQuestion, parts: list[_Part], conventions: TraceConventions) -> LoggedAnswer:
    logged = LoggedAnswer(asked.where, asked.question)
    logged.question_text = next(filter(None, (part.question_text for part in parts)), None)
    if asked.taken is not None:
        logged.taken["question id"] = asked.taken
    else:  # an id that no question has is looked up by its text all the same
        named = (span.attributes.get(conventions.conversation) for part in parts for span in part.tops)
        logged.question = next(filter(None, map(identifier, named)), None)
        if logged.question is not None:
            logged.taken["question id"] = conventions.conversation
    logged.notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    trail = Trail(each_result=False)  # an instrumentation may leave contents out
    for use in (use for part in parts for use in part.tools):
        trail.called(use.name, use.arguments, use.call)
        trail.returned(use.result, use.call, use.failed)
    if trail.calls:
        trail.into(logged, tools=False)
    _add_retrieved(logged, [part.found for part in parts])
    logged.answer = next(filter(None, (part.answer for part in reversed(parts))), None)
    logged.model = next(filter(None, (part.model for part in reversed(parts))), None)
    logged.model_calls = sum(len(part.calls) for part in parts)
    _add_ids(logged, next((part for part in reversed(parts) if part.answer), parts[-1]))
    logged.latency_ms = _sum(part.latency_ms for part in parts)
    with_calls = [part for part in parts if part.calls]
    logged.prompt_tokens = _sum(part.prompt_tokens for part in with_calls)
    logged.output_tokens = _sum(part.output_tokens for part in with_calls)
    logged.cost = _sum(part.cost for part in with_calls)
    failed = parts[-1].failed
    if failed is not None:
        logged.error, logged.error_type = failed.error, failed.error_type
    if len(parts) > 1:
        logged.notes.append("several traces have this question's id: they are merged")
    return logged


def _add_ids(logged: LoggedAnswer, part: _Part) -> None:
    """Name the outermost span of the trace that holds the answer, and the last response of a model in it."""
    first = part.tops[0]
    logged.trace, logged.span = first.trace, first.id
    responses = [span.operation.response for span in part.calls if span.operation.response is not None]
    logged.response = responses[-1] if responses else None


def _add_retrieved(logged: LoggedAnswer, found: list[TracedRetrieval]) -> None:
    """Add to an answer what the traces of its question retrieved, if any of them logs it."""
    rankings = [one.ranking for one in found if one.ranking is not None]
    if rankings:
        whole = Ranking()
        for ranking in rankings:
            whole.extend(ranking)
        logged.retrieved = whole.chunks(by_score=len(rankings) == 1 and any(one.by_score for one in found))
    edges = [one.edges for one in found if one.edges is not None]
    if edges:
        once = distinct(edge for some in edges for edge in some)
        logged.traversal, logged.ordered = [once] if once else [], False


def _sum(values: Iterable[Number | None]) -> Number | None:
    """Return the sum, or None if a value is unknown, or there is none."""
    given = list(values)
    known = [value for value in given if value is not None]
    return added(known) if known and len(known) == len(given) else None


def asked_questions(
    values: Values, options: ReadOptions, unread: Counter[str], used: tuple[str, ...]
) -> Iterator[AskedQuestion]:
    """Yield the traces of each question, in the order in which the questions appear.

    Parameters
    ----------
    used
        The dotted names of the attributes that the reader uses, each with all that begins with it and a dot.

    Raises
    ------
    UnreadableLogError
        Something isn't a span, or the key that the user named for the question's id isn't in a trace.
    """
    reading = SpanReading(options, unread, used)
    traces: dict[str, dict[str, Span]] = {}
    for where, value in values:
        for span in reading.spans(where, value):
            # An exporter that heard no answer sends again: the first is as good as the second.
            if traces.setdefault(span.trace, {}).setdefault(span.id, span) is not span:
                unread["spans that were there twice"] += 1
    questions: dict[str, AskedQuestion] = {}
    for trace in traces.values():
        for asked in _asked(Tree.of(list(trace.values())), options, unread):
            known = questions.setdefault(asked.question, asked) if asked.question is not None else asked
            if known is not asked:
                known.trees.extend(asked.trees)
            elif asked.question is None:
                questions[f"\0{len(questions)}"] = asked
    for asked in questions.values():
        asked.trees.sort(key=lambda tree: min((span.start for span in tree.tops if span.start is not None), default=0))
        yield asked


def _asked(tree: Tree[Span], options: ReadOptions, unread: Counter[str]) -> Iterator[AskedQuestion]:
    """Yield the questions of a trace. Where it holds several, a span belongs to that of the nearest one around it."""
    named = [span for span in tree.spans if span.question is not None]
    questions = dict.fromkeys(span.question for span in named)
    where = f"{tree.spans[0].where.rpartition(', span ')[0]}, trace {tree.spans[0].trace}"
    if not named and options.question_key is not None:
        raise UnreadableLogError(
            f"no span of it has a question's id at {options.question_key!r}",
            where=where,
            remedy="Correct --question-key: the name of an attribute, or metadata. and a key of the metadata.",
        )
    if len(questions) <= 1:
        first = named[0] if named else None
        yield AskedQuestion(where, first.question if first else None, first.taken if first else None, [tree])
        return
    belongs: list[str | None] = []
    parts: dict[str, tuple[AskedQuestion, Tree[Span], dict[int, int]]] = {}
    for index, span in enumerate(tree.spans):
        parent = tree.parents[index]
        question = span.question or (belongs[parent] if parent >= 0 else None)
        belongs.append(question)
        if question is None:
            unread["spans around several questions"] += 1
            continue
        if question not in parts:
            part: Tree[Span] = Tree()
            parts[question] = AskedQuestion(where, question, span.taken, [part]), part, {}
        _, part, place = parts[question]
        place[index] = len(part.spans)
        part.spans.append(span)
        part.parents.append(place.get(parent, -1))
    for asked, _, _ in parts.values():
        yield asked
