"""Comparisons of answers on the page: win rates, and the answers side by side with what the judge said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from markupsafe import Markup

from graphkit.files.grades_beside import graded_files
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.plugins.judging.pairwise.comparisons import COMPARISONS, PLACE, AnswerComparison, read_comparisons
from graphkit.plugins.judging.pairwise.win_rates import HeadToHead, WinRate, unclear
from graphkit.records.scores import answer_hash
from graphkit.records.structs import AnswerStruct
from graphkit.report.data import ReportData
from graphkit.report.escaping import visible_text
from graphkit.report.rendering import environment

#: How many questions are shown side by side, and how many characters of an answer.
MOST_QUESTIONS, LONGEST = 50, 4_000

_WINNER = {"first": "the first wins", "second": "the second wins", "tie": "a tie"}


@dataclass(frozen=True)
class ShownSide:
    """An answer side by side with another one."""

    run: str
    text: str


@dataclass(frozen=True)
class Said:
    """A judge's verdict on two answers by a criterion in one order."""

    criterion: str
    first: str
    words: str
    why: str


@dataclass(frozen=True)
class SideBySide:
    """Two answers to a question, and what the judge said of them."""

    question: str
    text: str
    sides: tuple[ShownSide, ShownSide]
    said: tuple[Said, ...]


@dataclass(frozen=True)
class JudgedSection:
    """The comparisons of the runs of a page by one version of a judge, differential or not."""

    found: HeadToHead
    judge: str
    version: str
    differential: bool
    questions: dict[str, str]
    answers: dict[tuple[str, str], str]

    @cached_property
    def rates(self) -> list[tuple[WinRate, str]]:
        """The win rates, each with why it is unclear although its interval excludes 0, if it is so."""
        return [(one, unclear(one)) for one in self.found.rates]

    @property
    def more(self) -> int:
        """The number of pairs of answers that aren't shown side by side."""
        return max(0, len(self._pairs) - MOST_QUESTIONS)

    @cached_property
    def _pairs(self) -> list[tuple[str, str, str]]:
        """The answers that a judge compared, those first on which the orders disagree."""
        apart = {(one.first, one.second, question) for one in self.found.rates for question in one.disagreeing}
        every = [(*pair, question) for question in self.found.questions for pair in self.found.pairs]
        return sorted(every, key=lambda one: one not in apart)

    @property
    def side_by_side(self) -> Iterator[SideBySide]:
        """The first of these pairs of answers."""
        said: dict[tuple[frozenset[str], str], list[AnswerComparison]] = {}
        for one in self.found.comparisons:
            said.setdefault((frozenset((one.first, one.second)), one.question), []).append(one)
        for first, second, question in self._pairs[:MOST_QUESTIONS]:
            sides = tuple(
                ShownSide(run, visible_text(self.answers.get((run, question), "no answer"), LONGEST))
                for run in (first, second)
            )
            yield SideBySide(
                question,
                visible_text(self.questions[question], LONGEST),
                (sides[0], sides[1]),
                tuple(_said(one) for one in said.get((frozenset((first, second)), question), ())),
            )


def _said(one: AnswerComparison) -> Said:
    words = "no verdict" if one.winner is None else _WINNER[one.winner]
    if one.winner in ("first", "second"):
        words = f"{one.first if one.winner == 'first' else one.second} wins"
    return Said(one.criterion, one.first, words, visible_text(one.explanation or one.reason or "", LONGEST))


def pairwise_section(files: Sequence[Path] | None, data: ReportData) -> Markup:
    """Return the section of a page that shows comparisons of its runs; it is empty without any.

    Parameters
    ----------
    files
        The files of comparisons; None for those beside the runs, of which unreadable records are left out.
    """
    problems = Problems() if files is not None else Problems("skip")
    places = dict.fromkeys(Path(run.source).with_name(PLACE) for run in data.runs)
    kept = chain.from_iterable(graded_files(one, COMPARISONS.removesuffix(".jsonl")) for one in places)
    given = read_comparisons(kept if files is None else files, problems)
    text = Path(__file__).with_name("pairwise.html").read_text(encoding="utf-8")
    shown, outdated = _sections(given, data)
    rendered = environment().from_string(text).render(sections=shown, outdated=outdated)
    return Markup(rendered)  # noqa: S704 - the template escapes


def _sections(given: Sequence[AnswerComparison], data: ReportData) -> tuple[list[JudgedSection], int]:
    """Return the comparisons of the runs of a page by judge, and how many are of answers that have changed since."""
    runs = tuple(run.evaluation.run for run in data.runs)
    asked = {row.question: data.questions[place]["text"] for place, row in enumerate(data.runs[0].evaluation.rows)}
    own = [one for one in given if one.first in runs and one.second in runs and one.question in asked]
    if not own:
        return [], 0
    answers = {
        (run.evaluation.run, answer.question_id): answer.answer
        for run in data.runs
        if Path(run.source).is_file()
        for _, answer in RecordReader(
            Path(run.source), AnswerStruct, Problems("skip"), data.dataset.questions_file, run.evaluation.run
        )
        if answer.answer is not None
    }
    hashes = {key: answer_hash(text) for key, text in answers.items()}
    groups: dict[tuple[str, str, bool], list[AnswerComparison]] = {}
    for one in own:
        if all(
            hashes.get((run, one.question)) == known
            for run, known in ((one.first, one.first_hash), (one.second, one.second_hash))
        ):
            groups.setdefault((one.grader, one.version, one.differential), []).append(one)
    sections = [
        JudgedSection(HeadToHead(runs, tuple(dict.fromkeys(one.criterion for one in some)), some), *of, asked, answers)
        for of, some in groups.items()
    ]
    return sections, len(own) - sum(map(len, groups.values()))
