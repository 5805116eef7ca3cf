"""Checks whether questions can distinguish systems: fields, difficulty, duplicates, stale gold, room to improve."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from graphkit.analysis.findings import NAMED, Brief, BriefLine, listed
from graphkit.errors import GateError, one_line
from graphkit.files.assets import located
from graphkit.files.dataset import ORDER_UNKNOWN, Dataset
from graphkit.files.jsonl import read_lines
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.files.stale_gold import checked_gold
from graphkit.measures.text import normalised
from graphkit.plugins.gold.datasets.access_patterns import idle_patterns
from graphkit.plugins.gold.datasets.criterion_names import blank_criteria, unknown_names
from graphkit.plugins.gold.datasets.question_rows import refuse_run
from graphkit.plugins.gold.datasets.unanswerable_checks import absence_checks
from graphkit.records.access_rules import NOT_ALLOWED, AccessRules, no_rule
from graphkit.records.commits import CommitGraph
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.records.words import counted

Level = Literal["invalid", "warning", "note"]

#: The recommended share of each difficulty, and the tolerance.
SPREAD = {"easy": 0.4, "medium": 0.4, "hard": 0.2}
TOLERANCE = 0.1

#: The kinds of findings, in order of display.
KINDS = (
    *("record", "unknown-field", "field", "stale-gold", "undated-edge", "absence", "unknown-commit", "unknown-name"),
    *("access", "duplicate", "difficulty", "no-room"),
)

_GOLD = (
    "paths",
    "relevant",
    "evidence_sets",
    "relevant_texts",
    "expected_files",
    "expected_symbols",
    "gold_answer",
    "gold_answers",
    "expected_output",
    "facts",
    "criteria",
    "rubric",
    "gold_cypher",
)
#: The fields that a question can do without, and what they are for.
_OPTIONAL = (
    ("category", "a category", "`--by category` has nothing to group by"),
    ("difficulty", "a difficulty", "`--by difficulty` has nothing to group by"),
    ("commits", "commits or a stack", "gold holds at any commit"),
)


@dataclass(frozen=True, slots=True)
class Flaw:
    """A finding about a question, or about the whole set if ``question`` is None.

    An ``invalid`` question can't be scored fairly; a ``warning`` is for the reader to judge, and a ``note`` is only
    information. ``where`` is the place of
    an unusable record; ``what`` begins with it.
    """

    kind: str
    level: Level
    what: str
    question: str | None = None
    where: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the finding as JSON."""
        return {"kind": self.kind, "level": self.level, "question": self.question, "what": self.what}


@dataclass(frozen=True)
class Checked:
    """The findings about a set, and its number of questions."""

    questions: int
    difficulties: dict[str, int]
    findings: tuple[Flaw, ...]

    def invalid(self) -> list[str]:
        """Return the invalid questions in order, without records that name no question."""
        return list(
            dict.fromkeys(
                finding.question for finding in self.findings if finding.level == "invalid" and finding.question
            )
        )

    def as_json(self) -> dict[str, Any]:
        """Return the findings as JSON."""
        return {
            "questions": self.questions,
            "difficulties": self.difficulties,
            "invalid": self.invalid(),
            "findings": [finding.as_json() for finding in self.findings],
        }

    def hold(self, strict: bool = False) -> None:
        """Raise a GateError if a finding makes a question invalid; with ``strict``, also for a warning."""
        error = self.error(strict)
        if error is not None:
            raise error

    def error(self, strict: bool = False) -> GateError | None:
        """Return the error that :meth:`hold` raises, if any."""
        levels = Counter(finding.level for finding in self.findings)
        if not levels["invalid"] and not (strict and levels["warning"]):
            return None
        make = "makes" if levels["invalid"] == 1 else "make"
        return GateError(
            f"check failed: {counted(levels['invalid'], 'finding')} that {make} a question invalid, "
            f"{counted(levels['warning'], 'warning')}"
        )

    def groups(self) -> list[list[Flaw]]:
        """Return the findings, grouped by equal text."""
        found: dict[tuple[str, Level, str], list[Flaw]] = {}
        for finding in self.findings:
            what = finding.what.removeprefix(f"{finding.where}: ")
            found.setdefault((finding.kind, finding.level, what), []).append(finding)
        return list(found.values())


def check_dataset(dataset: str | Path | Dataset, baseline: str | Path | None = None) -> Checked:
    """Check each question of a dataset.

    Parameters
    ----------
    dataset
        The dataset, its folder, or a file of questions, with the knowledge graph beside it if there is one.
    baseline
        The run of a system without retrieval; a question that it answers leaves no room to improve.

    Raises
    ------
    InputError
        A file can't be read, or a record outside the file of questions can't be used.
    """
    file = None
    if not isinstance(dataset, Dataset):
        given = located(dataset)
        file = given if given.is_file() else None
        dataset = Dataset.of_questions(given) if file is not None else Dataset(dataset)
    problems = Problems()
    questions = [question for _, question in dataset.questions(problems)]
    if file is not None and problems.skipped and not questions:
        with suppress(ValueError, RecursionError):
            refuse_run(next((json.loads(line) for _, line in read_lines(file)), None), file, str(file))
    findings = [
        Flaw("record", "invalid", f"{problem.where}: {problem.what}", problem.record or None, problem.where)
        for problem in problems.skipped
    ]
    findings += [found for question in questions for found in _fields(question)]
    findings += _absent(questions)
    reading = Problems()
    commits = dataset.commit_graph(reading)
    gold = checked_gold(dataset, commits, reading, questions)
    for name, reasons in gold.stale.items():
        findings += [Flaw("stale-gold", "invalid", what, name) for what in reasons]
    for name, reasons in gold.undated.items():
        findings += [Flaw("undated-edge", "warning", what, name) for what in reasons]
    for one in reading.notes.get(ORDER_UNKNOWN, ())[:1]:
        findings.append(Flaw("undated-edge", "warning", f"{one.where}: {ORDER_UNKNOWN}", where=one.where))
    for invalid, what, of in absence_checks(dataset, questions, reading):
        findings.append(Flaw("absence", "invalid" if invalid else "note", what, of))
    findings += _unknown_commits(questions, commits)
    findings += [Flaw("unknown-name", "warning", *reversed(one)) for one in unknown_names(dataset, questions, commits)]
    findings += _no_rules(questions, commits.access)
    findings += [Flaw("access", "warning", what) for what in idle_patterns(dataset, questions)]
    reading.raise_if_refused()
    findings += _duplicates(questions)
    findings += _difficulty(questions)
    if baseline is not None:
        findings += _answered(questions, Path(baseline), problems)
    # The load reports unknown fields of the other files.
    findings += [Flaw("unknown-field", "warning", sentence) for sentence in problems.unknown_fields()]
    counts = Counter[str | None](question.difficulty for question in questions)
    difficulties = {name: counts[name] for name in SPREAD}
    order = {kind: number for number, kind in enumerate(KINDS)}
    return Checked(len(questions), difficulties, tuple(sorted(findings, key=lambda finding: order[finding.kind])))


def _fields(question: QuestionStruct) -> Iterator[Flaw]:
    if not question.question.strip():
        yield Flaw("field", "invalid", "the question is blank", question.id)
    if question.answerable is False:
        return
    if not any(getattr(question, name) for name in _GOLD):
        yield Flaw("field", "invalid", f"there is no gold: none of {', '.join(_GOLD)}", question.id)
    elif question.paths and not any(path.steps for path in question.paths):
        yield Flaw("field", "invalid", "its gold paths have no step", question.id)
    for what in blank_criteria(question):
        yield Flaw("field", "warning", what, question.id)
    if question.gold_cypher and not (question.paths or question.stale):
        yield Flaw("field", "note", "the gold path is that of a query: `graphkit cypher` writes it out", question.id)


def _absent(questions: Sequence[QuestionStruct]) -> Iterator[Flaw]:
    """Yield a note for each field that some questions do without."""
    for name, what, so in _OPTIONAL:
        without = sum(not getattr(one, name) and (name != "commits" or not _is_pinned(one)) for one in questions)
        if without:
            which = "no question has" if without == len(questions) else f"{without} of {len(questions)} questions lack"
            yield Flaw("field", "note", f"{which} {what}: {so}")


def _is_pinned(question: QuestionStruct) -> bool:
    return bool(question.stack) or any(path.commits for path in question.paths)


def _duplicates(questions: Iterable[QuestionStruct]) -> Iterator[Flaw]:
    first: dict[str, str] = {}
    for question in questions:
        text = normalised(question.question).strip(" .,:;!?")  # but not the signs inside: C and C++ differ
        if text in first:
            yield Flaw("duplicate", "warning", f"asks the same as {first[text]}", question.id)
        first.setdefault(text, question.id)


def _difficulty(questions: list[QuestionStruct]) -> Iterator[Flaw]:
    known = Counter[str](question.difficulty for question in questions if question.difficulty)
    total = sum(known.values())
    if total and any(abs(known[name] / total - share) > TOLERANCE for name, share in SPREAD.items()):
        has = ", ".join(f"{name} {100 * known[name] / total:.0f} %" for name in SPREAD)
        wanted = ", ".join(f"{name} {100 * share:.0f} %" for name, share in SPREAD.items())
        yield Flaw("difficulty", "warning", f"the spread is {has}, where {wanted} is wanted (10 points either way)")


def _answered(questions: Iterable[QuestionStruct], baseline: Path, problems: Problems) -> Iterator[Flaw]:
    reading = Problems()
    answers = {
        record.question_id: record.answer
        for _, record in RecordReader(baseline, AnswerStruct, reading)
        if record.answer is not None and record.error is None
    }
    reading.raise_if_refused()
    problems.merge(reading)
    for question in questions:
        span = normalised(question.expected_output or question.gold_answer or "")
        if span and span in normalised(answers.get(question.id) or ""):
            yield Flaw("no-room", "warning", "the baseline answers it without retrieval", question.id)


# Stale gold ---------------------------------------------------------------------------------------------------------


def _unknown_commits(questions: Iterable[QuestionStruct], commits: CommitGraph) -> Iterator[Flaw]:
    """Yield a warning for each annotated commit that commits.jsonl lacks: gold can't be checked against it."""
    listed = {repo for (repo, _), commit in commits.commits.items() if commit is not None}
    for question in questions:
        of_paths = (pair for path in question.paths for pair in path.commits.items())
        for repo, name in sorted({*question.commits.items(), *of_paths}):
            meant = commits.meant(repo, name)
            if repo in listed and (repo, meant.sha) not in commits.commits:
                why = f" ({meant.ambiguous})" if meant.ambiguous is not None else ""
                what = f"is annotated at {repo}@{name}, a commit that commits.jsonl does not hold{why}"
                yield Flaw("unknown-commit", "warning", what, question.id)


def _no_rules(questions: Iterable[QuestionStruct], access: AccessRules) -> Iterator[Flaw]:
    """Yield a warning for each question whose principal no rule names, and a note if the given one gets no answer."""
    for question in questions:
        if question.principal is not None and question.principal not in access.rules:
            yield Flaw("access", "warning", no_rule(question.principal), question.id)
        if question.why_not == NOT_ALLOWED and question.principal == access.principal is not None:
            what = f"it has no answer for {access.principal!r}, who may not read what its gold requires"
            yield Flaw("access", "note", what, question.id)


def check_brief(checked: Checked) -> Brief:
    """Return what to print of a check; findings that make a question invalid come first where there is no room."""
    findings = tuple(_finding(group) for group in checked.groups())
    return Brief(check_summary(checked), None, findings)


def check_summary(checked: Checked) -> str:
    """Return how many questions there are, and how many findings of each kind."""
    counts = Counter(finding.kind for finding in checked.findings)
    summary = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind]) or "nothing found"
    difficulties = ", ".join(f"{count} {name}" for name, count in checked.difficulties.items())
    return f"{counted(checked.questions, 'question')} ({difficulties}): {summary}"


def _finding(group: list[Flaw]) -> BriefLine:
    first, count = group[0], len(group)
    named = [flaw.question for flaw in group if flaw.question is not None]
    about = f"{listed(named, NAMED)}: " if named else ""
    what = f"{first.what} (the first of {count})" if first.where is not None and count > 1 else first.what
    weight = {"invalid": 90, "warning": 50, "note": 10}[first.level]
    return BriefLine(first.level, one_line(f"{first.kind}: {about}{what}"), weight)
