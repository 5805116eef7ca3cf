"""Versions of judges as scores store them: the judge or its model, the hash of its prompt, and its settings.

Scores of different versions aren't mixed, so a version holds everything that can change a grade.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Self

_CITATIONS = " citations="
_TEXT = re.compile(
    r"(?:(?P<judge>.+) )?prompt (?P<prompt>[0-9a-f]{8})"
    r"(?: effort=(?P<effort>\w{1,20}))?(?: context-tokens=(?P<tokens>[0-9]{1,12}))?",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class JudgeVersion:
    """The version of a judge. ``str`` returns the text that a score stores, and :meth:`parse` reads it.

    A setting that is None has its default and isn't in the text.

    Attributes
    ----------
    judge
        The version of the judge itself, such as the name of its model.
    prompt
        The first eight digits of the prompt's hash.
    effort
        How much the model may think.
    context_tokens
        How much of the retrieved context the judge sees.
    citations
        The user's pattern of citations.

    >>> str(JudgeVersion("m", "0a1b2c3d", effort="high", context_tokens=8000))
    'm prompt 0a1b2c3d effort=high context-tokens=8000'
    """

    judge: str | None
    prompt: str
    effort: str | None = None
    context_tokens: int | None = None
    citations: str | None = None

    def __str__(self) -> str:
        settings = {"effort": self.effort, "context-tokens": self.context_tokens}
        named = [f"{name}={value}" for name, value in settings.items() if value is not None]
        text = " ".join([*([self.judge] if self.judge else []), f"prompt {self.prompt}", *named])
        if self.citations is None:
            return text
        return f"{text}{_CITATIONS}{json.dumps(self.citations, ensure_ascii=False)}"

    @classmethod
    def parse(cls, text: object) -> Self | None:
        """Return the version in a text, or None if the text isn't the version of a judge."""
        if not isinstance(text, str):
            return None
        head, named, pattern = text.partition(_CITATIONS)
        found = _TEXT.fullmatch(head)
        try:
            citations = json.loads(pattern) if named else None
        except (ValueError, RecursionError):
            return None
        if found is None or not isinstance(citations, str | None):
            return None
        tokens = None if found["tokens"] is None else int(found["tokens"])
        return cls(found["judge"], found["prompt"], found["effort"], tokens, citations)
