"""Prompts: our words in files, the text under judgement between delimiters that it can't close."""

from __future__ import annotations

from dataclasses import dataclass

from graphkit.judges.materials import Materials

#: What a prompt may show, in the order in which it is shown: what most graders share comes first.
PARTS = ("question", "gold_answer", "facts", "conflicts", "answer", "context", "edges")


@dataclass(frozen=True)
class Prompt:
    """What a judge is asked.

    Attributes
    ----------
    grader, digest
        The grader that asks, and the SHA-256 of its words (not of the text under judgement).
    system
        What holds for every grader: who the judge is, and that what stands between delimiters is data.
    parts
        Name and text of what is judged, delimited; the last thing before the instruction.
    instruction
        What is asked.
    unusable
        Earlier opinions on the same prompt that couldn't be used, each with the reason.
    """

    grader: str
    digest: str
    system: str
    parts: tuple[tuple[str, str], ...]
    instruction: str
    materials: Materials
    unusable: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The whole prompt as one text."""
        return "\n\n".join([self.system, *(text for _, text in self.parts), self.instruction])
