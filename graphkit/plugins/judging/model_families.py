"""Families of models, and the warning about a judge of the same family as the answering model."""

from __future__ import annotations

import re
from collections.abc import Iterable

from graphkit.records.scores import Score

#: Words in model names with their families. The first match counts.
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
    """Return the family of a model by its name, whoever serves it, or None if it is unknown.

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


def self_evaluation(judge: str | None, answered_by: str | None) -> str | None:
    """Return a warning if the judge and the answering model are of one family, else None."""
    family = family_of(judge)
    if family is None or family != family_of(answered_by):
        return None
    return (
        f"judge and answering model are of one family ({family}: {judge} judges {answered_by}), and judges prefer "
        "answers of their own family: let a judge of another family grade the run too; "
        "`graphkit judge bias RUN.jsonl --against FILE` shows the difference between the two, with its interval"
    )


def self_evaluations(judges: Iterable[str | None], answered_by: Iterable[str | None]) -> tuple[str, ...]:
    """Return the warnings about some judges and answering models, one per family."""
    answerers = list(dict.fromkeys(answered_by))
    found: dict[str | None, str] = {}
    for judge in dict.fromkeys(judges):
        for answerer in answerers:
            if (warning := self_evaluation(judge, answerer)) is not None:
                found.setdefault(family_of(judge), warning)
    return tuple(found.values())


def judges_of(scores: Iterable[Score]) -> list[str]:
    """Return the judges of some scores: the models in their versions, and the judges' own names."""
    names = ((str(score.version or "").partition(" prompt ")[0], score.grader or "") for score in scores)
    return list(dict.fromkeys(name for both in names for name in both if name))
