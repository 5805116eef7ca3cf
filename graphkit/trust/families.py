"""Whether a judge grades its own kin: the families of models, the warning, and the difference to another judge."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from graphkit.records.scores import Score
from graphkit.trust.effects import Effect, effects

#: Words in the name of a model, with the family that it is of; the first that is found counts.
_FAMILIES = (
    ("claude", "Claude"),
    ("gpt", "GPT"),
    ("chatgpt", "GPT"),
    (r"o\d", "GPT"),
    ("gemini", "Gemini"),
    ("gemma", "Gemini"),
    ("llama", "Llama"),
    ("mistral", "Mistral"),
    ("mixtral", "Mistral"),
    ("ministral", "Mistral"),
    ("codestral", "Mistral"),
    ("magistral", "Mistral"),
    ("qwen", "Qwen"),
    ("qwq", "Qwen"),
    ("deepseek", "DeepSeek"),
    ("grok", "Grok"),
    ("command", "Command"),
    ("phi", "Phi"),
    ("nova", "Nova"),
)


def family_of(model: str | None) -> str | None:
    """Return the family of a model by its name, whoever serves it; None where it isn't known.

    >>> family_of("claude-sonnet-4-5"), family_of("us.anthropic.claude-opus-4"), family_of("openai/o3-mini")
    ('Claude', 'Claude', 'GPT')
    >>> family_of("lexical"), family_of(None)
    (None, None)
    """
    words = re.split(r"[^a-z0-9]+", (model or "").lower())
    for word in words:
        for start, family in _FAMILIES:
            if re.match(rf"{start}(?![a-z])", word):
                return family
    return None


def answering_model(run_file: Path, answered_by: str | None = None) -> str | None:
    """Return what made a run: what the user says, else what `graphkit run` noted beside the file; None if unknown."""
    if answered_by:
        return answered_by
    note = run_file.with_suffix(".made-by")
    return note.read_text(encoding="utf-8").strip() or None if note.is_file() else None


def self_evaluation(judge: str | None, answered_by: str | None) -> str | None:
    """Return a warning where judge and answering model are of one family, else None."""
    family = family_of(judge)
    if family is None or family != family_of(answered_by):
        return None
    return (
        f"judge and answering model are of one family ({family}: {judge} judges {answered_by}), "
        "and judges prefer answers of their own kind: have a judge of another family grade the run, too"
    )


def between_judges(first: Iterable[Score], second: Iterable[Score]) -> list[Effect]:
    """Return how a second judge grades the same answers compared with a first, by each measure that both gave."""
    one, two = list(first), list(second)
    names = (next((score.grader or "nobody named" for score in some), "nobody") for some in (one, two))
    return effects(" against ".join(names), one, two)
