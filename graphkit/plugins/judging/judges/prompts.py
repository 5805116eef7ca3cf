"""Prompts: instructions from files, and the text under judgement between delimiters that it can't close.

Each part of the materials stands between ``<answer-NONCE>`` and ``</answer-NONCE>``. The nonce is a hash of the text:
the same text makes the same request. It occurs nowhere in the text, so that no text can close its delimiter.

A file ``prompts/NAME.txt`` that begins with a JSON Schema and a line ``---`` is a whole grader: see ``own_rubric``.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from graphkit.errors import InputError, did_you_mean
from graphkit.plugins.judging.judges.materials import Materials, ShownHop, criterion_keys

#: The parts that a prompt may show, in order: the parts that most graders share come first.
PARTS = ("question", "gold_answer", "facts", "conflicts", "answer", "context", "edges")

#: Further parts, of the prompts about the walk: its edges in order, and where else it could have gone.
WALK, HOPS = "walk", "hops"

#: Further parts, of the grader of a question's own criteria.
CRITERIA, RUBRIC_PART = "criteria", "rubric"

#: The parts of a prompt that compares two answers.
PAIR_PARTS = ("question", "answer_1", "answer_2", "criterion")

#: The reason against an opinion that was cut off; a model gets more room for the next one.
TRUNCATED = "the verdict was cut off before its end"

_FOLDER = Path(__file__).parent / "prompts"


@dataclass(frozen=True)
class Prompt:
    """The question to a judge about one answer."""

    #: The grader, and the SHA-256 of its words (without the text under judgement).
    grader: str
    digest: str
    system: str  # the rules for every grader: the role of the judge, and that the text between delimiters is data
    parts: tuple[tuple[str, str], ...]  # name and delimited text of each part, in front of the instruction
    instruction: str
    materials: Materials
    #: Earlier opinions on the same prompt that couldn't be used, each with the reason.
    unusable: tuple[tuple[str, str], ...] = ()
    trial: int = 1  # which of several times it is that the same is asked

    @property
    def text(self) -> str:
        """The whole prompt as one text."""
        return "\n\n".join([self.system, *(text for _, text in self.parts), self.instruction])


def text_of(name: str) -> str:
    """Return the words of a prompt: those of a grader, or ``system``, with which every prompt begins.

    Raise an InputError if there is no such prompt.
    """
    known = _prompts_in(_FOLDER)
    if name not in known:
        raise InputError(
            f"no prompt is called {name!r}", remedy=f"{did_you_mean(name, known)}There are: {', '.join(known)}."
        )
    return known[name][1]


def form_of(name: str) -> str | None:
    """Return the JSON Schema at the head of a prompt's file; None if Python code holds the form."""
    return _prompts_in(_FOLDER)[name][0]


def prompt_names() -> tuple[str, ...]:
    """Return the names of all prompts, in order."""
    return tuple(_prompts_in(_FOLDER))


@cache
def _prompts_in(folder: Path) -> dict[str, tuple[str | None, str]]:
    """Return the form and the words of each prompt in a folder, which doesn't change."""
    return {file.stem: _parted(file.read_text(encoding="utf-8").strip()) for file in sorted(folder.glob("*.txt"))}


def _parted(text: str) -> tuple[str | None, str]:
    head, line, words = text.partition("\n---\n")
    return (head, words.strip()) if line and head.startswith("{") else (None, text)


def parts_of(materials: Materials, shows: Container[str], examples: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
    """Return the name and the delimited text of each part that a prompt shows, the examples first."""
    nonce = nonce_of(materials, hops=HOPS in shows, criteria=CRITERIA in shows, examples=examples)
    shown = [_delimited(f"x{number}", text, nonce) for number, text in enumerate(examples, 1)]
    first = (("examples", _delimited("examples", "\n".join(shown), nonce)),) if shown else ()
    return first + tuple(
        (part, _delimited(part, inner, nonce)) for part, inner in _shown(materials, nonce) if part in shows
    )


def nonce_of(materials: Materials, hops: bool = False, criteria: bool = False, examples: Sequence[str] = ()) -> str:
    """Return 16 hexadecimal characters that occur nowhere in the text under judgement, nor in its normalised form.

    The texts of the hops and of the criteria count only for a prompt that shows them: the others stay the same with and
    without a graph or criteria.
    """
    more = [*(_hop_texts(materials) if hops else ()), *examples]
    if criteria:
        more += [*criterion_keys(materials).values(), materials.rubric or ""]
    if (pair := materials.pair) is not None:
        more += [pair.first, pair.second, pair.text]
    texts = [text for text in (*_texts(materials), *more) if text]
    whole = "\n".join(texts)
    folded = unicodedata.normalize("NFKC", whole).casefold()
    state = hashlib.sha256()
    for text in texts:  # with its length: the same characters cut otherwise are other texts
        data = text.encode("utf-8", "surrogatepass")
        state.update(b"%d:" % len(data) + data)
    nonce, turn = state.hexdigest()[:16], 0
    while nonce in folded or nonce in whole:
        turn += 1
        again = state.copy()
        again.update(b"%d" % turn)
        nonce = again.hexdigest()[:16]
    return nonce


def _texts(materials: Materials) -> Iterator[str]:
    """Yield all text under judgement."""
    yield from (materials.question, materials.gold_answer or "", *materials.facts, materials.answer)
    yield from (service or "" for service in materials.services)
    for between, resolution in materials.conflicts:
        yield from (*between, resolution)
    for chunk in materials.chunks:
        yield from (chunk.id, chunk.text)
    for edge in materials.edges:
        yield from (edge.source, edge.relation or "", edge.target)


def _hop_texts(materials: Materials) -> Iterator[str]:
    for hop in materials.shown_hops:
        yield hop.leg.start
        for choice in hop.choices:
            yield from (choice.source, choice.relation or "", choice.target)


def _shown(materials: Materials, nonce: str) -> Iterator[tuple[str, str]]:
    """Yield the name and content of each part; parts without gold answer, facts or conflicts are absent."""
    yield "question", materials.question
    if materials.gold_answer is not None:
        yield "gold_answer", materials.gold_answer
    if materials.facts:
        services = materials.services or (None,) * len(materials.facts)
        yield (
            "facts",
            "\n".join(
                _delimited(f"f{number}", fact if service is None else f"{fact}\nservice: {service}", nonce)
                for number, (fact, service) in enumerate(zip(materials.facts, services, strict=True), 1)
            ),
        )
    if materials.conflicts:
        yield (
            "conflicts",
            "\n".join(
                _delimited(f"k{number}", f"between: {', '.join(between)}\nresolution: {resolution}", nonce)
                for number, (between, resolution) in enumerate(materials.conflicts, 1)
            ),
        )
    yield "answer", _sentences(materials, nonce)
    yield "context", "\n".join(_delimited(chunk.key, f"{chunk.id}\n{chunk.text}", nonce) for chunk in materials.chunks)
    yield "edges", "\n".join(_delimited(edge.key, edge.text, nonce) for edge in materials.edges)
    paths = [[_delimited(key, edge.text, nonce) for key, edge in path] for path in materials.walk]
    yield WALK, "\n".join(_delimited(f"p{number}", "\n".join(path), nonce) for number, path in enumerate(paths, 1))
    criteria = (_delimited(key, text, nonce) for key, text in criterion_keys(materials).items())
    yield CRITERIA, "\n".join(criteria)
    if materials.rubric is not None:
        yield RUBRIC_PART, materials.rubric
    if (pair := materials.pair) is not None:
        yield from zip(PAIR_PARTS[1:], (pair.first, pair.second, pair.text), strict=True)
    yield HOPS, "\n".join(_delimited(hop.key, _hop(hop, nonce), nonce) for hop in materials.shown_hops)


def _hop(hop: ShownHop, nonce: str) -> str:
    choices = [_delimited(one.key, one.text, nonce) for one in hop.choices]
    return "\n".join([_delimited("node", hop.leg.start, nonce), *choices])


def _sentences(materials: Materials, nonce: str) -> str:
    """Return the answer with each sentence between delimiters; without the delimiters it is exactly the answer."""
    answer, place, pieces = materials.answer, 0, []
    for sentence in materials.sentences:
        pieces.append(answer[place : sentence.start])
        pieces.append(f"<{sentence.key}-{nonce}>{sentence.text}</{sentence.key}-{nonce}>")
        place = sentence.end
    return "".join([*pieces, answer[place:]])


def _delimited(name: str, text: str, nonce: str) -> str:
    return f"<{name}-{nonce}>\n{text}\n</{name}-{nonce}>"
