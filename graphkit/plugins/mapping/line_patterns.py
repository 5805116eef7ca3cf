"""Patterns with named groups for texts that hold two nodes, and for the lines of a log in plain text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from graphkit.plugins.mapping.field_values import TOKEN, Vocabulary

#: A key before a name, as in ``source=web:a.ts``, and signs that end a sentence.
_KEY, _STOPS = re.compile(r"^\w+[=:](?=.)"), ".:;,!?"

#: The most words before a name that its pattern keeps, and the most patterns that are proposed.
_PATTERNS = 8

#: A key under which people log an answer.
_ANSWER = re.compile(
    r"\b(?:(?:final|model|generated)[_ ]?)?(?:answer|response|completion|reply)\b\s*[=:]\s*(?P<quote>[\"'`]?)", re.I
)


class Mention(NamedTuple):
    """A name in a line: where it stands, and what it is."""

    start: int
    end: int
    what: str
    name: str


@dataclass(frozen=True)
class LineForms:
    """The patterns of a log in plain text.

    Attributes
    ----------
    questions
        Patterns of lines that name a question by its text or its id, with how many lines and questions each finds.
    steps
        Patterns of lines that hold two nodes.
    answer
        The pattern of answers, if a word says that they are.
    """

    questions: list[str]
    steps: list[str]
    answer: str | None

    def interleaved(self, lines: Sequence[str]) -> bool:
        """Return whether a question begins before the former one is answered, or directly behind it."""
        if not self.questions:
            return False
        begins = [re.search(self.questions[0], line) is not None for line in lines if line.strip()]
        if any(first and second for first, second in pairwise(begins)):
            return True
        if self.answer is None:
            return False
        asked, answered = re.compile(self.questions[0]), re.compile(self.answer)
        kinds = "".join("q" if asked.search(line) else "a" if answered.search(line) else "" for line in lines)
        return "qq" in kinds and kinds.count("q") <= kinds.count("a") + 1


def mentions(line: str, vocabulary: Vocabulary) -> Iterator[Mention]:
    """Yield the nodes, relations and ids of questions that a line names, in order."""
    spaced = [Mention(place, place + len(one), "node", one) for place, one in vocabulary.spaced_in(line)]
    yield from spaced
    for found in TOKEN.finditer(line):
        text, start = found[0], found.start()
        if any(one.start <= start < one.end for one in spaced):
            continue
        if (key := _KEY.match(text)) and vocabulary.node(text) is None:
            text, start = text[key.end() :], start + key.end()
        stripped = text.rstrip(_STOPS)
        for one in (text, stripped):
            what = (
                "node"
                if vocabulary.node(one)
                else "relation"
                if vocabulary.relation(one.strip("-_:=>*~"))
                else "question_id"
                if one in vocabulary.questions.ids
                else None
            )
            if what == "relation":
                inner = one.strip("-_:=>*~")
                start, one = start + one.index(inner), inner
            if what:
                yield Mention(start, start + len(one), what, one)
                break


def step_patterns(texts: Iterable[str], vocabulary: Vocabulary) -> list[str]:
    """Return the patterns of texts that hold two known nodes, the most frequent first."""
    found: Counter[str] = Counter()
    for text in texts:
        named = list(mentions(text, vocabulary))
        nodes = [one for one in named if one.what == "node"]
        if len(nodes) != 2 or nodes[0].name == nodes[1].name:
            continue
        links = [one for one in named if one.what == "relation"]
        asked = [one for one in named if one.what == "question_id"][:1]
        slots = sorted([*nodes, *_nearest(links, nodes), *asked])
        found[_pattern_of(text, slots)] += 1
    # A pattern finds more than its own texts where it is less exact: of equal ones, the most frequent counts.
    return [pattern for pattern, _ in found.most_common(_PATTERNS)]


def _nearest(links: list[Mention], nodes: list[Mention]) -> list[Mention]:
    """Return the relation that stands between two nodes, or else nearest to them."""
    between = [one for one in links if nodes[0].end <= one.start and one.end <= nodes[1].start]
    return (
        between or sorted(links, key=lambda one: min(abs(one.start - nodes[1].end), abs(nodes[0].start - one.end)))
    )[:1]


def _pattern_of(text: str, slots: list[Mention]) -> str:
    """Return a pattern with a group for each name, and the text around them with any numbers."""
    first = slots[0]
    before = re.search(r"(?:[^\s\d]+ ?)?$", text[: first.start])
    pattern = _bounded(_loosely(before[0] if before else ""))
    ends = iter(("source", "target"))
    for place, one in enumerate(slots):
        after = text[one.end : slots[place + 1].start] if place + 1 < len(slots) else _beside(text[one.end :])
        stop = after[:1]
        group = next(ends) if one.what == "node" else one.what
        if one.what == "relation":
            kind = r"[^\s\]\)>:|-]+" if stop not in ("-", "") else r"\w+"
        else:
            kind = r"\S+" if stop in ("", " ") else rf"[^\s{re.escape(stop)}]+" if stop not in ":./#-=" else r"\S+?"
        pattern += f"(?P<{group}>{kind}){_loosely(after)}"
    return pattern


def _bounded(pattern: str) -> str:
    """Return a pattern that begins where a word does, if it begins with one."""
    return rf"(?<!\w){pattern}" if re.match(r"\w", pattern) else pattern


def _beside(rest: str) -> str:
    """Return the sign directly behind the last name, which is no part of the name."""
    return rest[:1] if rest[:1] in "\"'`,;|()[]{}<>" else ""


def _loosely(text: str) -> str:
    """Return the pattern of a text between names, with any number in the place of each of its numbers."""
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return "".join(r"\d+(?:\.\d+)?" if place % 2 else _escaped(part) for place, part in enumerate(parts))


def _escaped(text: str) -> str:
    """Return a literal text as a pattern, in which only what has a meaning is escaped."""
    return re.sub(r"([\\.^$*+?{}\[\]()|])", r"\\\1", text)


def line_forms(lines: list[str], vocabulary: Vocabulary) -> LineForms:
    """Return the patterns of the lines of a log."""
    steps = step_patterns(lines, vocabulary)
    questions: Counter[str] = Counter()
    beginnings: dict[str, list[str]] = {}
    for text in vocabulary.texts:
        beginnings.setdefault(" ".join(text.split())[:12].casefold(), []).append(text)
    answer: Counter[str] = Counter()
    for line in lines:
        for pattern in _question_patterns(line, beginnings, vocabulary, steps):
            questions[pattern] += 1
        if (found := _ANSWER.search(line)) is not None:
            quote = found["quote"]
            word = line[found.start() : found.end() - len(quote)].rstrip()
            answer[
                f"{_escaped(word)}\\s*{quote}(?P<answer>.+){quote}" if quote else rf"{_escaped(word)}\s*(?P<answer>.+)"
            ] += 1
    return LineForms(
        [one for one, _ in questions.most_common(_PATTERNS)],
        steps,
        next((one for one, _ in answer.most_common(1)), None),
    )


def step_forms(lines: Iterable[str], pattern: str, vocabulary: Vocabulary) -> list[str]:
    """Return the forms of the lines that hold a step by a pattern: their words, without names, numbers and marks."""
    found: Counter[str] = Counter()
    step = re.compile(pattern)
    for line in lines:
        if step.search(line) is None:
            continue
        rest = line
        for one in sorted(mentions(line, vocabulary), reverse=True):
            rest = f"{rest[: one.start]} {rest[one.end :]}"
        words = re.findall(r"(?<![\w.:/#-])[^\W\d_]+(?![\w.:/#-])|(?<!\S)[+-](?!\S)", rest)
        found[" ".join(words)] += 1
    return [form for form, _ in found.most_common()]


def _question_patterns(
    line: str, beginnings: dict[str, list[str]], vocabulary: Vocabulary, steps: list[str]
) -> Iterator[str]:
    """Yield the pattern of a line that holds the text of a question; else of one that names its id and no step."""
    plain = line.casefold()
    for word in re.finditer(r"(?<!\w)\w", line):
        for text in beginnings.get(plain[word.start() :][:12], ()):
            if plain.startswith(text.casefold(), word.start()):
                before = re.search(r"(?:[^\s\d]+ ?)?$", line[: word.start()])
                rest = line[word.start() + len(text) :]
                stop = _loosely(re.match(r"\W{0,2}", rest)[0].rstrip()) if rest.strip() else ""  # type: ignore[index]
                yield f"{_bounded(_loosely(before[0] if before else ''))}(?P<question>.+){stop}"
                return
    if any(re.search(one, line) for one in steps):
        return
    ids = [one for one in mentions(line, vocabulary) if one.what == "question_id"]
    if len(ids) == 1:
        yield _pattern_of(line, ids)


#: A token that may say which lines belong together: a key with a value, or a word with a number.
_SESSION = re.compile(
    r"(?<![\w-])(?:(?P<key>[A-Za-z]\w*)[=:](?P<value>[\w-]+)|(?P<word>[A-Za-z]+-)(?P<number>[\w-]*\d[\w-]*))"
)


def sessions_of(lines: Sequence[str], forms: LineForms, vocabulary: Vocabulary) -> str | None:
    """Return the pattern of what the lines of one question have in common, and no other question has."""
    if not forms.questions:
        return None
    asked = re.compile(forms.questions[0])
    steps = [re.compile(one) for one in forms.steps]
    of_questions: list[dict[str, str]] = []
    of_steps: list[dict[str, str]] = []
    for line in lines:
        if (found := asked.search(line)) is not None:
            of_questions.append(_tokens(line[: found.start()] + " " + line[found.end() :]))
        elif any(one.search(line) for one in steps):
            of_steps.append(_tokens(line))
    for key in dict.fromkeys(key for tokens in of_questions for key in tokens):
        values = [tokens.get(key) for tokens in of_questions]
        if None in values or len(set(values)) < len(values) or len(values) < 2:
            continue
        if of_steps and all(tokens.get(key) in values for tokens in of_steps):
            return f"(?<![\\w-]){_escaped(key)}(?P<session>[\\w-]+)"
    return None


def _tokens(line: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in _SESSION.finditer(line):
        key = f"{one['key']}{line[one.end('key')]}" if one["key"] else one["word"]
        found.setdefault(key, one["value"] or one["number"])
    return found
