"""The stage at which each question failed, and whether a right answer was luck.

The stage is the first of five that failed: gold was not in the graph, the question was not linked to a node at which
its walk begins, gold was not retrieved, was retrieved but not used, or was used and the answer is wrong. Linking is
passed over where the record logs no seeds. A question with a right answer has not failed, whatever it missed;
:func:`two_by_two` counts the right answers by a wrong path. A question is undecided if the records don't decide it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, fields, replace

from graphkit.measures.answer_matching import NO_GOLD_ANSWER, AnswerText, gold_answers
from graphkit.measures.case import Case, Gold
from graphkit.measures.completeness import Completeness
from graphkit.measures.edges import EdgeRecall
from graphkit.measures.identifiers import SHORTEST
from graphkit.measures.integration import NO_ANSWER, used_sources
from graphkit.measures.matching import Edge
from graphkit.measures.missed import aligned_with_gold, counted_paths
from graphkit.measures.seeds import came_to, gold_seeds, linked
from graphkit.measures.sided_case import sided
from graphkit.measures.text import contained, last_component, named, words_of
from graphkit.measures.unscored import NO_RETRIEVAL, NO_TRAVERSAL, Unscored
from graphkit.records.words import counted

NOT_IN_GRAPH = "not in the graph"
NOT_LINKED = "not linked"
NOT_RETRIEVED = "not retrieved"
NOT_USED = "retrieved but unused"
WRONG = "used but wrong"
RIGHT = "right"
UNDECIDED = "undecided"

#: Why nothing decides whether an answer is right.
UNDECIDABLE = "the question has neither facts, nor an expected output, nor a gold answer"

#: What decides on the answer to a question without one, and on a record that declines.
ABSTENTION = "abstention"

#: The measure of the decision whether an answer is right: 1 or 0, or no value if nothing decides it.
RIGHT_ANSWER = "RightAnswer"

#: Why the text of an answer decides nothing if only its grades were loaded.
NOT_EVALUATED = "the run wasn't evaluated in this graph"

#: The measures that grade the whole answer, of which the highest value says that it is right.
OF_WHOLE_ANSWER = ("Correct", "FactualCorrectness", "PersonGrade", "RubricGrade")

#: Why the stage of an answer that a grade calls wrong isn't known.
GRADED_WRONG = "the answer is graded as wrong"

#: Every stage, in the order in which a question passes them.
STAGES = (NOT_IN_GRAPH, NOT_LINKED, NOT_RETRIEVED, NOT_USED, WRONG, RIGHT, UNDECIDED)


@dataclass(frozen=True, slots=True)
class Stage:
    """The stage of one question: one of ``STAGES``, the reason in a sentence, and the missing ids or files."""

    question: str
    name: str
    reason: str
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether an answer is right, None if undecided; who or what says so, or the reason why nothing does."""

    right: bool | None
    by: str


@dataclass(frozen=True, slots=True)
class TwoByTwo:
    """Question ids by right or wrong answer and right or wrong path, each in the order of the cases.

    Attributes
    ----------
    sound, luck
        A right answer by the right path, and by a wrong one.
    misread, lost
        A wrong answer by the right path, and by a wrong one.
    undecided
        Questions whose answer or path is undecided, with the reason.
    """

    sound: tuple[str, ...] = ()
    luck: tuple[str, ...] = ()
    misread: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    undecided: dict[str, str] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """The number of questions in each cell, undecided ones included."""
        return {cell.name: len(getattr(self, cell.name)) for cell in fields(self)}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one question: whether its answer and its path are right, None if undecided, and its stage.

    ``undecided`` is the reason why one of the two is undecided, and ``missed_edges`` the number of required gold edges
    that weren't traversed, as far as the traversal is logged and the gold valid; ``missed_ids`` is that of the relevant
    ids that weren't retrieved. ``missed`` are these edges, and ``absent`` those of gold that no knowledge graph of the
    question holds, None if that isn't known or the outcome is from a results folder.
    """

    answer: bool | None
    path: bool | None
    stage: Stage
    undecided: str = ""
    missed_edges: int = 0
    missed_ids: int = 0
    missed: tuple[Edge, ...] = field(default=(), compare=False)
    absent: tuple[Edge, ...] | None = field(default=None, compare=False)

    def graded(self, decision: Decision) -> Outcome:
        """Return the outcome with what grades of the whole answer decide; where it failed, they don't say."""
        if decision.right is None or decision.right is self.answer:
            return self
        question = self.stage.question
        if decision.right:
            stage = Stage(question, RIGHT, "the answer is right")
        elif self.stage.name == RIGHT:
            stage = Stage(question, UNDECIDED, GRADED_WRONG)
        else:
            stage = self.stage
        return replace(
            self, answer=decision.right, stage=stage, undecided="" if self.path is not None else self.undecided
        )

    @property
    def ended(self) -> str:
        """The stage in words; where only the stage is undecided, the answer is named beside it."""
        if self.stage.name == UNDECIDED and self.answer is not None:
            return f"{'right' if self.answer else 'wrong'} answer, the stage at which it failed is undecided"
        return self.stage.name


def decided(by_text: Decision, grades: Iterable[Decision]) -> Decision:
    """Return whether an answer is right: the one place that decides it.

    Grades of the whole answer come first: it is right if each of them says so. Without any, its text decides
    (:func:`right_answer`).

    >>> decided(Decision(True, "facts"), [])
    Decision(right=True, by='facts')
    >>> decided(Decision(True, "facts"), [Decision(True, "RubricGrade"), Decision(False, "PersonGrade")])
    Decision(right=False, by='PersonGrade')
    """
    graded = [grade for grade in grades if grade.right is not None]
    if not graded:
        return by_text
    right = all(grade.right for grade in graded)
    return Decision(right, " and ".join(sorted({grade.by for grade in graded if grade.right is right})))


def grade_of(measure: str, value: float | None, grader: str | None) -> Decision:
    """Return what a score says about the whole answer; nothing if it has no value, or is by another measure."""
    right = value >= 1 if value is not None and measure in OF_WHOLE_ANSWER else None
    return Decision(right, f"{measure} by {grader}" if grader else measure)


def outcome(case: Case, invalid: str | None = None, decision: Decision | None = None) -> Outcome:
    """Judge one question; ``decision`` is its :func:`right_answer`, if known already.

    If its gold is stale, ``invalid`` is the reason: the path is undecided, and a wrong answer failed because gold was
    not in the graph.
    """
    answer = right_answer(case) if decision is None else decision
    path = right_path(case) if invalid is None else Unscored(invalid)
    if invalid is None or answer.right:
        stage = stage_of(case, decision=answer)
    else:
        stage = Stage(case.question.id, NOT_IN_GRAPH, invalid)
    undecided = answer.by if answer.right is None else path.reason if isinstance(path, Unscored) else ""
    right = None if isinstance(path, Unscored) else path
    missed = _missed_edges(case) if path is False else ()
    lacking = sided(case).absent
    absent = None if lacking is None else tuple(sorted(lacking, key=_in_order))
    ids = _missed_ids(case) if invalid is None and case.failure is None and case.chunks_logged else 0
    return Outcome(answer.right, right, stage, undecided, len(missed), ids, missed, absent)


def stage_of(case: Case, known: Collection[str] | None = None, decision: Decision | None = None) -> Stage:
    """Return the stage that a question ended at.

    Parameters
    ----------
    case
        The question with what the run did.
    known
        The ids of all artifacts of the graph; None if unknown, which skips the first stage.
    decision
        The :func:`right_answer` of the case, if it is known already.

    Notes
    -----
    *Right*: :func:`right_answer` says so. *In the graph*: both ends of each required gold step are known; of
    alternative paths one is enough. *Linked*: the record logs no seeds, or one of
    them, or of the ends of edges that were traversed, also in earlier turns, is a gold seed; else a question that lacks
    something isn't. *Retrieved*: each expected file is that of a retrieved chunk or of an end of a
    traversed edge; for a question without expected files the same of its relevant ids, else of the ends of its required
    gold steps. A question with none of these passes. *Used*: the answer names an identifier longer than 4 characters of
    an expected source, as :class:`~graphkit.measures.integration.Integration` has it, or the symbol of a traversed node
    of one.

    A missing or failed record is undecided, unless the gold is not in the graph. A question that lacks something is
    undecided if the record doesn't log what was retrieved or traversed, since it may be there.
    """
    question = case.question.id
    answer = right_answer(case) if decision is None else decision
    if answer.right:
        return Stage(question, RIGHT, "the answer is right")
    absent = tuple(_least(case, known)[1]) if known is not None else ()
    if absent:
        reason = f"{counted(len(absent), 'required gold node')} {_be(absent)} not in the graph"
        return Stage(question, NOT_IN_GRAPH, reason, absent)
    if case.answer is None or case.answer.error is not None:
        return Stage(question, UNDECIDED, case.failure or "")
    if case.question.answerable is False and answer.right is False:
        return Stage(question, WRONG, "answered, though the question has no answer")
    expected, lacking, kind = _not_retrieved(case)
    unlogged = NO_RETRIEVAL if not case.chunks_logged else NO_TRAVERSAL if not case.walk_logged else None
    if lacking and unlogged is not None:
        return Stage(question, UNDECIDED, unlogged)
    if lacking and (missing := _not_linked(case)):
        return Stage(question, NOT_LINKED, f"linked to none of {counted(len(missing), 'gold seed')}", missing)
    if lacking:
        reason = f"{len(lacking)} of {counted(len(expected), kind)} {_be(lacking)} neither retrieved nor traversed"
        return Stage(question, NOT_RETRIEVED, reason, lacking)
    if case.answer.answer is None:
        return Stage(question, UNDECIDED, NO_ANSWER)
    if not expected:
        reason = answer.by if answer.right is None else "the answer is wrong, and no file, id or step is expected"
        return Stage(question, UNDECIDED, reason)
    sources = {case.places.file(name) for name in expected}
    if case.abstained:
        return Stage(question, NOT_USED, "declined, though what is expected was there", tuple(sorted(sources)))
    if not sources & _used(case):
        if unlogged is not None:
            return Stage(question, UNDECIDED, unlogged)
        return Stage(question, NOT_USED, "the answer names nothing of an expected source", tuple(sorted(sources)))
    if answer.right is None:
        return Stage(question, UNDECIDED, answer.by)
    return Stage(question, WRONG, "the answer names an expected source and is wrong")


def two_by_two(outcomes: Iterable[Outcome]) -> TwoByTwo:
    """Sort questions by right or wrong answer (:func:`right_answer`) and right or wrong path (:func:`right_path`)."""
    cells: dict[str, list[str]] = {"sound": [], "luck": [], "misread": [], "lost": []}
    undecided: dict[str, str] = {}
    for each in outcomes:
        if each.answer is None or each.path is None:
            undecided[each.stage.question] = each.undecided
        else:
            cell = ("sound" if each.path else "luck") if each.answer else ("misread" if each.path else "lost")
            cells[cell].append(each.stage.question)
    return TwoByTwo(**{name: tuple(ids) for name, ids in cells.items()}, undecided=undecided)


def stage_counts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Return how many questions ended at each of the ``STAGES``, in their order."""
    counts = dict.fromkeys(STAGES, 0)
    for each in outcomes:
        counts[each.stage.name] += 1
    return counts


def right_answer(case: Case) -> Decision:
    """Return whether the text of the answer is right, by the first of these that the question has.

    Its *facts*, all of which the answer must address, as :class:`~graphkit.measures.completeness.Completeness` searches
    them; its *expected output*, which the answer must hold as whole words; its *gold answers*, one of which the answer
    must hold, as :class:`~graphkit.measures.answer_matching.AnswerHit` has it; its *gold query*, whose result the
    record's query must have. A question with none is undecided.

    To decline is right if the question has no answer, and wrong otherwise: an answer that declines by its words is no
    right one, even if it goes on with what is right, since it would be right wherever nothing is.
    """
    if case.question.answerable is False:
        return Decision(case.declined, case.failure or NO_ANSWER if case.declined is None else ABSTENTION)
    if case.failure is None and case.abstained:
        return Decision(False, ABSTENTION)
    found = _right_text(case)
    return Decision(False, ABSTENTION) if found.right and case.declined else found


def _right_text(case: Case) -> Decision:
    """Return whether the text of an answer is right, to a question that has one."""
    question = case.question
    if list(question.facts):
        complete = Completeness().score(case)
        if isinstance(complete, Unscored):
            return Decision(None, complete.reason)
        return Decision(complete == 1, "facts")
    if (reason := case.failure) is not None:
        return Decision(None, reason)
    answer = case.answer.answer if case.answer is not None else None
    span = question.expected_output
    if span and span.strip():
        return Decision(None, NO_ANSWER) if answer is None else Decision(contained(span, answer), "expected output")
    gold = Unscored(NO_GOLD_ANSWER) if question.test_cases else gold_answers(question)
    compared = case.answer.compared_result if case.answer is not None else None
    if isinstance(gold, Unscored) and compared is not None and compared.same is not None:
        return Decision(compared.same, "the result of its query")
    if isinstance(gold, Unscored):
        return Decision(None, UNDECIDABLE if gold.reason == NO_GOLD_ANSWER else gold.reason)
    return Decision(None, NO_ANSWER) if answer is None else Decision(AnswerText(answer).holds_any(gold), "gold answers")


def right_path(case: Case) -> bool | Unscored:
    """Return whether the traversal contains every required gold edge: EdgeRecall is 1."""
    recall = EdgeRecall().score(case)
    return recall if isinstance(recall, Unscored) else recall == 1


def missed_without_direction(case: Case, invalid: str | None) -> tuple[Edge, ...]:
    """Return the required edges that were walked in neither direction; none if the walk isn't judged."""
    compared = aligned_with_gold(case)
    return _missed_edges(compared) if invalid is None and right_path(compared) is False else ()


def _missed_edges(case: Case) -> tuple[Edge, ...]:
    """Return the edges that EdgeRecall misses, each once."""
    missed = {edge for path in counted_paths(case, boundaries=False) for edge in path.required - path.walked}
    return tuple(sorted(missed, key=_in_order))


def _in_order(edge: Edge) -> tuple[str, str, str]:
    return edge[0], edge[1] or "", edge[2]


def _missed_ids(case: Case) -> int:
    """Return how many relevant ids weren't retrieved."""
    return sum(gain > 0 and node not in case.ranks for node, gain in case.question.relevant.items())


def _ends(path: Gold) -> list[str]:
    """Return the nodes of the required steps of a path, each once, in order."""
    return list(dict.fromkeys(node for source, _, target in path.required for node in (source, target)))


def _least(case: Case, there: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the nodes that gold requires, and the missing ones; of alternatives, the one with fewest missing."""
    wanted: dict[str, None] = {}
    for unit in case.units:
        choices = [ends for path in unit if (ends := _ends(path))]
        if choices:
            best = min(choices, key=lambda ends: sum(node not in there for node in ends))
            wanted.update(dict.fromkeys(best))
    return list(wanted), [node for node in wanted if node not in there]


def _not_retrieved(case: Case) -> tuple[list[str], tuple[str, ...], str]:
    """Return the items to retrieve, the missing ones, and the noun for one."""
    nodes = {*case.ranks, *(end for source, _, target in case.walked for end in (source, target))}
    if case.expected_files:
        # Not `case.files`, which may be the files that the run names as its evidence.
        wanted = sorted(case.expected_files)
        seen = {case.source_of(chunk) for chunk in case.chunks} | {case.places.file(node) for node in nodes}
        return wanted, tuple(node for node in wanted if node not in seen), "expected file"
    relevant = [node for node, gain in case.question.relevant.items() if gain > 0]
    if relevant:
        return relevant, tuple(node for node in relevant if node not in nodes), "relevant id"
    required, lacking = _least(case, nodes)
    return required, tuple(lacking), "required gold node"


def _not_linked(case: Case) -> tuple[str, ...]:
    """Return the gold seeds if the record was linked to none, and it and earlier turns walked to none of them.

    Without seeds it is nothing.
    """
    ranks = linked(case)
    gold = gold_seeds(case, ranks or {})
    lost = ranks is not None and ranks.keys().isdisjoint(gold) and came_to(case).isdisjoint(gold)
    return tuple(gold) if lost else ()


def _be(subjects: Collection[str]) -> str:
    return "is" if len(subjects) == 1 else "are"


def _used(case: Case) -> set[str]:
    """Return the sources that the answer names, of retrieved chunks and of the ends of traversed edges."""
    text = (case.answer.answer if case.answer is not None else None) or ""
    words = words_of(text)
    used = used_sources(case)
    for source, _, target in case.walked:
        for node in (source, target):
            symbol = last_component(case.places.symbol(node) or "")
            if len(symbol) >= SHORTEST and named(symbol, text, words):
                used.add(case.places.file(node))
    return used
