"""Decisions on proposed paths, for all questions: in the terminal, or in a sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from graphkit.cli.asking import ask
from graphkit.cli.base import present, say
from graphkit.plugins.gold.decisions import (
    CHOICES,
    AcceptedPaths,
    ProposedPath,
    decided,
    read_decisions,
    write_decisions,
)
from graphkit.plugins.gold.proposals import Proposal, Proposals
from graphkit.records.models import Question
from graphkit.records.path_texts import text_of_steps
from graphkit.records.words import counted


@dataclass
class Deciding:
    """A question with the paths that are proposed for it, and those that were accepted so far."""

    question: Question
    found: Proposals
    accepted: AcceptedPaths

    def __post_init__(self) -> None:
        paths = [[(step.source, step.relation, step.target) for step in path.steps] for path in self.question.paths]
        self.gold = {text_of_steps(steps) for steps in paths}
        self.new = self.found.new_for(self.question)

    def sheet_rows(self) -> list[ProposedPath]:
        """Return the new paths as rows of a sheet."""
        asked = self.question
        return [ProposedPath(asked.id, asked.question, one.steps, one.commits) for one in self.new]

    def as_json(self) -> dict[str, Any]:
        """Return the decisions for programs."""
        counts = {"proposed": len(self.new), "accepted": len(self.accepted.paths)}
        return {"question": self.question.id, **counts, "commits": self.accepted.commits}


def print_notes(asked: Sequence[Deciding]) -> None:
    """Print what isn't proposed, and why."""
    known = sum(len(one.found.found) - len(one.new) for one in asked)
    foreign = sum(one.found.foreign for one in asked)
    cut = [one.question.id for one in asked if one.found.cut]
    none = [one.question.id for one in asked if not one.new]
    if known:
        say(f"note: {counted(known, 'path')} found that {'is' if known == 1 else 'are'} gold already")
    if foreign:
        say(f"note: {counted(foreign, 'path')} skipped: not only edges of the dataset's knowledge graph")
    if cut:
        say(f"note: the pattern finds more paths than --limit allows for {_listed(cut)}: narrow it, or raise --limit")
    if none:
        say(f"note: the pattern finds no path that isn't gold already for {_listed(none)}")


def write_sheet(path: Path, asked: Sequence[Deciding]) -> None:
    """Write a sheet of all proposed paths, and say how it is used."""
    rows = [row for one in asked for row in one.sheet_rows()]
    write_decisions(path, rows)
    say(f"note: fill in the column decision ({CHOICES}), and run the same command again")
    text = f"{path}: {counted(len(rows), 'path')} to decide on, of {counted(len(asked), 'question')}"
    present(text, {"decisions": str(path), "questions": len(asked), "proposed": len(rows)})


def read_sheet(path: Path, asked: Sequence[Deciding]) -> None:
    """Accept the paths that a filled sheet accepts, and say how many it leaves undecided."""
    by_id = {one.question.id: one for one in asked}
    known = {(one.question.id, text) for one in asked for text in one.gold}
    rows = [row for one in asked for row in one.sheet_rows()]
    left = len(rows)
    for proposed, path_accepted in read_decisions(path, rows, known):
        left -= 1
        accepted = by_id[proposed.question_id].accepted
        if not path_accepted:
            continue
        if conflict := accepted.conflict(proposed.commits):
            say(f"skipped: {proposed.question_id}: {conflict}")
        else:
            accepted.add(path_accepted, proposed.commits)
    if left:
        say(f"note: {counted(left, 'path')} undecided in {path}")


def ask_all(asked: Sequence[Deciding]) -> None:
    """Ask in the terminal about each new path of each question; stop where the person quits."""
    for one in asked:
        if not one.new:
            continue
        say(f"question {one.question.id}: {one.question.question}")
        for number, proposal in enumerate(one.new, 1):
            say()
            say(f"--- path {number} of {len(one.new)} " + "-" * 40)
            _show(proposal)
            if conflict := one.accepted.conflict(proposal.commits):
                say(f"skipped: {conflict}")
                continue
            answer = ask(f"{CHOICES}, q quit", partial(decided, steps=proposal.steps), "a, o, r or q")
            if answer is None:
                return
            if answer:
                one.accepted.add(answer, proposal.commits)


def _show(proposal: Proposal) -> None:
    for place, step in enumerate(proposal.steps, 1):
        say(f"{place:>3}. {step.source} -{step.relation}-> {step.target}")
    for repo, sha in proposal.commits.items():
        say(f"     {repo} at {sha}")
    if proposal.unpinned:
        say(f"     the graph knows no commit, or more than one, of: {', '.join(proposal.unpinned)}")


def print_accepted(file: Path, asked: Sequence[Deciding], only: bool) -> None:
    """Print how many paths were accepted for the only question, or for all."""
    count = counted(sum(len(one.accepted.paths) for one in asked), "path")
    changed = sum(bool(one.accepted.paths) for one in asked)
    of = asked[0].question.id if only and asked else counted(changed, "question")
    present(f"{file}: {count} more for {of}", *(one.as_json() for one in asked))


def _listed(ids: Sequence[str]) -> str:
    return ", ".join(ids[:5]) + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")
