"""Graders that compare two answers by one criterion: ``pairwise``, and ``pairwise_differential`` for what differs.

The judge never learns which run gave an answer. The criteria of GraphRAG's evaluations (Edge et al. 2024) are built in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from graphkit.errors import InputError, did_you_mean
from graphkit.files.texts import read_toml
from graphkit.measures.completeness import content_words, identifiers_in
from graphkit.measures.text import named, words_of
from graphkit.plugins.judging.judges.contract import Finding, Grader, Reading
from graphkit.plugins.judging.judges.forms import VerdictForm, Words, plain
from graphkit.plugins.judging.judges.materials import Materials
from graphkit.plugins.judging.judges.prompts import PAIR_PARTS
from graphkit.plugins.judging.judges.sentences import sentences_of

Winner = Literal["first", "second", "tie"]

#: The worth of a verdict for the answer that was shown first.
WORTH: dict[str, float] = {"first": 1.0, "tie": 0.5, "second": 0.0}

#: The measure of a verdict, which is the worth for the answer that was shown first.
WIN = "Win"

#: The built-in criteria: the first four of Edge et al. (2024), and relevance.
CRITERIA: dict[str, str] = {
    "comprehensiveness": "How much detail does the answer give to cover all aspects of the question?",
    "diversity": "How varied and rich is the answer in different perspectives on the question and insights into it?",
    "empowerment": "How well does the answer help its reader to understand the subject and to make informed judgements "
    "about it, by reasons, examples and sources?",
    "directness": "How specifically and clearly does the answer address the question, without detours?",
    "relevance": "How much of what the answer says bears on the question?",
}

#: At least this share of a sentence's content words must stand in one sentence of the other answer for it to be shared.
SHARED = 0.8

#: The name of every win rate in a bound, which no criterion may have.
WIN_RATE = "win_rate"

IDENTICAL = "both are the same"

_NAME = re.compile(r"[^\W\d][\w-]{0,99}\Z")
_FORM = 'Write a line such as: cites = "Does the answer name the files in which its claims can be checked?"'


@dataclass(frozen=True, slots=True)
class PairwiseCriterion:
    """A criterion by which two answers are compared: its name, and its words for the judge."""

    name: str
    text: str


def criteria_of(names: Sequence[str], file: Path | None) -> tuple[PairwiseCriterion, ...]:
    """Return the built-in criteria that are named, then those of a file.

    Without names, all built-in ones, or only those of the file if there is one.

    Raises
    ------
    InputError
        A name is unknown, or the file can't be used: it must be TOML that gives each criterion a text.
    """
    own = _own(file) if file is not None else {}
    known = CRITERIA | own
    for name in names:
        if name not in known:
            remedy = f"{did_you_mean(name, known)}There are: {', '.join(known)}; --criteria FILE adds your own."
            raise InputError(f"no criterion is called {name!r}", remedy=remedy)
    chosen = dict.fromkeys(names) or dict.fromkeys(own or CRITERIA)
    return tuple(PairwiseCriterion(name, known[name]) for name in chosen)


def _own(file: Path) -> dict[str, str]:
    where, given = str(file), read_toml(file, _FORM)
    if not given:
        raise InputError("the file holds no criterion", where=where, remedy=_FORM)
    for name, text in given.items():
        if not _NAME.match(name):
            raise InputError(
                f"a criterion can't be called {name!r}", where=where, remedy="Use letters, digits, _ and -."
            )
        if name == WIN_RATE:
            raise InputError(
                f"{name!r} names the win rates by all criteria in a bound", where=where, remedy="Rename it."
            )
        if name in CRITERIA:
            raise InputError(f"{name!r} is a built-in criterion", where=where, remedy="Rename it.")
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"the criterion {name!r} has no text", where=where, remedy=_FORM)
    return {name: text.strip() for name, text in given.items()}


class PreferenceVerdict(VerdictForm):
    """The better of two answers by one criterion, with the reason."""

    reasoning: Words
    winner: Winner


def _read(verdict: PreferenceVerdict, _: Materials) -> Reading:
    return Reading([Finding(WIN, WORTH[verdict.winner], grade=verdict.winner, explanation=verdict.reasoning)])


def _same(materials: Materials) -> Reading | None:
    """Return a tie of answers that don't differ; no judge is asked for it."""
    pair = materials.pair
    if pair is None or plain(pair.first) != plain(pair.second):
        return None
    found = Finding(WIN, WORTH["tie"], grade="tie", explanation=IDENTICAL)
    return Reading([found], content={"reasoning": IDENTICAL, "winner": "tie"})


PAIRWISE, DIFFERENTIAL = (
    Grader(name, PreferenceVerdict, PAIR_PARTS, (WIN,), _read, unasked=_same, system="pairwise_system")
    for name in ("pairwise", "pairwise_differential")
)

#: Both graders by name.
PAIR_GRADERS = {one.name: one for one in (PAIRWISE, DIFFERENTIAL)}


def differences(first: str, second: str) -> tuple[str, str]:
    """Return the sentences of each of two answers that the other one lacks, each on a line.

    A sentence is shared if one sentence of the other answer has all its identifiers and at least ``SHARED`` of its
    content words; one without content words, if it occurs there.

    >>> differences("The login calls it. The cache is kept in redis.", "The cache is kept in redis. It expires.")
    ('The login calls it.', 'It expires.')
    """
    one, two = ([sentence.text for sentence in sentences_of(text)] for text in (first, second))
    return _lacking(one, two), _lacking(two, one)


def _lacking(own: Iterable[str], other: Sequence[str]) -> str:
    prepared = [(text, plain(text).casefold(), content_words(text), words_of(text)) for text in other]
    kept = []
    for sentence in own:
        wanted, names, text = content_words(sentence), identifiers_in(sentence), plain(sentence).casefold()
        shared = any(
            text == other_text
            or (
                wanted
                and len(wanted & content) >= SHARED * len(wanted)
                and all(named(name, whole, words) for name in names)
            )
            for whole, other_text, content, words in prepared
        )
        if not shared:
            kept.append(sentence)
    return "\n".join(kept)
