"""The options of a program, separated from its operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphkit.readers.shell_words import Word


@dataclass(frozen=True, slots=True)
class Options:
    """The options that take a value: letters, and long ones."""

    letters: str = ""
    long: tuple[str, ...] = ()


@dataclass(slots=True)
class Given:
    """The arguments of a program: its options, the values of those that have one, and its operands."""

    flags: set[str] = field(default_factory=set)
    values: dict[str, list[Word]] = field(default_factory=dict)
    operands: list[Word] = field(default_factory=list)


def parsed(words: Sequence[Word], options: Options) -> Given:
    """Return what a program was given.

    >>> given = parsed([Word(text) for text in ("-rn", "-A", "3", "f", "src")], Options("A"))
    >>> sorted(given.flags), [word.text for word in given.operands]
    (['A', 'n', 'r'], ['f', 'src'])
    """
    given = Given()
    waiting = iter(words)
    for word in waiting:
        text = word.text
        if text == "--":
            given.operands += waiting
        elif text.startswith("--"):
            name, equals, value = text.partition("=")
            given.flags.add(name)
            if equals or name in options.long:
                given.values.setdefault(name, []).append(Word(value, word.plain) if equals else next(waiting, Word("")))
        elif text.startswith("-") and len(text) > 1:
            _letters(word, waiting, options, given)
        elif not (text.startswith("+") and text[1:].isdecimal()):
            given.operands.append(word)
    return given


def _letters(word: Word, waiting: object, options: Options, given: Given) -> None:
    """Take letters that stand together: what follows one with a value is its value."""
    for place, letter in enumerate(word.text[1:], 2):
        given.flags.add(letter)
        if letter in options.letters:
            rest = word.text[place:]
            value = Word(rest, word.plain) if rest else next(waiting, Word(""))  # type: ignore[call-overload]
            given.values.setdefault(letter, []).append(value)
            return
