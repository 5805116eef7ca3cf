"""Answers that decline, recognised by their words: in English, German, French, Spanish, Italian, Portuguese, Dutch,
Polish, Russian, Turkish, Chinese, Japanese and Korean.

It is a reading with a doubt: a record that states ``abstained`` needs none. An answer that is blank declines, as in
SQuAD 2. Any other declines if its first sentence begins with a phrase, or its last one is a phrase and nothing more; in
Japanese, Turkish and Korean, whose verbs come last, if its first sentence ends with one, or its last one does. An
answer that goes on with a *but*, or names what it knows after an *other than*, answers. The words stand in
``declining.txt``.
"""

from __future__ import annotations

import re
from pathlib import Path

from graphkit.measures.text import normalised

#: What is read of an answer: its beginning and its end. A longer sentence says more than a phrase.
_HEAD, _TAIL = 600, 200


def _words() -> dict[str, str]:
    """Return the alternatives of each section of the words, as one pattern without a group of its own."""
    found: dict[str, list[str]] = {}
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            own = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            own.append(line)
    return {name: f"(?:{'|'.join(some)})" for name, some in found.items()}


_W = _words()

#: What may stand before a phrase.
_BEFORE = re.compile(rf"(?:{_W['label']}\s*[:：]\s*)?(?:{_W['regret']}(?:\s*[,，、.。:]\s*|\s+)(?:{_W['but']}\s+)?)?")
_WHOLE, _PHRASE, _FINAL = (re.compile(_W[name]) for name in ("whole", "phrase", "final"))
_ENDING, _FINAL_END = (re.compile(rf"{_W[name]}\Z") for name in ("ending", "final"))

#: What shows that an answer goes on, after a phrase in its sentence or at the beginning of a later one.
_GOES_ON = re.compile(rf"\b{_W['goes on']}\b|(?<=[,;:.] ){_W['instead']}\b|{_W['goes on within words']}")

#: Ends of sentences and of the clauses that a colon, a semicolon or a dash ends.
_END = re.compile(r"(?<=[.!?]) | [–—] |[。！？] ?| ?[;；:：] ")
_SIGNS = " \t*_#>`\"'“”‘’«»„.!?。！？…"


def declines(text: str) -> bool:
    """Return whether an answer declines, by its words.

    >>> declines("I don't know."), declines("I don't know who wrote it, but api:auth.py reads it."), declines("")
    (True, False, True)
    """
    plain = normalised(text.replace("’", "'"))
    if not (bare := plain.strip(_SIGNS)):
        return True
    head = _BEFORE.sub("", bare[:_HEAD], count=1) if _BEFORE.match(bare) else bare[:_HEAD]
    if len(bare) <= _TAIL and _WHOLE.fullmatch(head.strip(_SIGNS)):
        return True
    if _GOES_ON.search(head):
        return False
    first, *later = [one for part in _END.split(head) if (one := part.strip(_SIGNS))] or [""]
    if _PHRASE.match(first) or _ENDING.search(first) or _FINAL_END.search(first):
        return True
    last = _BEFORE.sub("", later[-1], count=1) if later and len(bare) <= _HEAD else ""
    return any((_PHRASE.fullmatch(last), _FINAL.fullmatch(last), _ENDING.search(last)))
