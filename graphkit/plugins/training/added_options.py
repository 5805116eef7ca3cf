"""The options of the condition ``training`` of ``graphkit run``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import option
from graphkit.plugins.judging.commands.grade import BASE_URL

if TYPE_CHECKING:
    from graphkit.plugins.systems.importing import System
    from graphkit.plugins.systems.runner import Limits


@dataclass(frozen=True)
class TrainingOptions:
    """The baseline without retrieval: a model alone."""

    model: str = option(
        "--model [PROVIDER:]NAME", "Ask this model in the condition training.", default="claude-haiku-5-5"
    )
    base_url: str | None = BASE_URL
    prompt: Path | None = option("--prompt FILE", "Ask the model with this prompt, which contains {question}.")
    max_tokens: int = option("--max-tokens", "Limit an answer of the model to so many tokens.", default=1024, min=1)

    def system(self, limits: Limits) -> System:
        """Return the baseline as a system."""
        from graphkit.plugins.training.baseline import baseline, read_prompt

        prompt = read_prompt(self.prompt)
        limit = limits.timeout
        return baseline(self.model, prompt, max_tokens=self.max_tokens, timeout=limit, base_url=self.base_url)
