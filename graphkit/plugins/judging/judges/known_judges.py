"""The judges that ``--judge`` finds by name: the entry points of the group ``graphkit.judges``, built-in ones included.

An entry point leads to a class or a function that returns a
:class:`~graphkit.plugins.judging.judges.contract.Judge` when called without arguments, or to a :class:`ModelBackend`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from graphkit.errors import InputError, did_you_mean
from graphkit.plugins.judging.judges.contract import Judge
from graphkit.plugins.judging.llm.requests import Model
from graphkit.records.plugins import called_with
from graphkit.records.references import imported
from graphkit.records.scores import JURY
from graphkit.records.words import shortened

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "graphkit.judges"

#: The judge by rules.
LEXICAL = "lexical"


class ModelClient(Model, Protocol):
    """A client of a model API that can be closed."""

    async def close(self) -> None:
        """Close the client's connections."""
        ...


@dataclass(frozen=True, slots=True)
class ModelBackend:
    """A language model as a judge; graphkit adds the prompts, the cache of replies, the prices and the budget."""

    client: Callable[..., ModelClient]  # opens a client that sends at most so many requests at once
    model: str | None = None  # the model that is asked for by default; None if the user must name one
    #: The service whose models it asks; its client takes an address, too.
    service: str | None = None

    def opened(
        self,
        concurrency: int,
        *,
        base_url: str | None = None,
        user: str | None = None,
        timeout: float | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> ModelClient:
        """Open a client; one that isn't of this package's services gets the number of requests alone."""
        named: dict[str, Any] = {"user": user, "timeout": timeout, "notify": notify}
        if self.service is not None:
            named |= {"base_url": base_url}
        elif self.client is not _anthropic:
            named = {}
        return self.client(concurrency, **{name: value for name, value in named.items() if value is not None})


def _anthropic(concurrency: int, **options: Any) -> ModelClient:
    from graphkit.plugins.judging.llm.anthropic_model import AnthropicModel

    return AnthropicModel(concurrency=concurrency, **options)


def _chat(name: str) -> ModelBackend:
    def client(concurrency: int, **options: Any) -> ModelClient:
        from graphkit.plugins.judging.llm.chat_completions import SERVICES, ChatModel

        return ChatModel(SERVICES[name], concurrency=concurrency, **options)

    return ModelBackend(client, service=name)


ANTHROPIC = ModelBackend(_anthropic, "claude-sonnet-5-5")

#: The services and servers that speak chat completions.
OPENAI, AZURE, GEMINI, MISTRAL, OLLAMA, VLLM, LLAMACPP = map(
    _chat, ("openai", "azure", "gemini", "mistral", "ollama", "vllm", "llamacpp")
)


def split_model(model: str, judge: str | None) -> tuple[str | None, str]:
    """Return the judge that ``PROVIDER:NAME`` names, and the model's own name; other names keep their colons.

    A provider is split off if it asks models and no other judge is named.

    >>> split_model("openai:gpt-5", None), split_model("qwen2.5-coder:1.5b", None), split_model("mistral:7b", "ollama")
    (('openai', 'gpt-5'), (None, 'qwen2.5-coder:1.5b'), ('ollama', 'mistral:7b'))
    """
    provider, _, name = model.partition(":")
    if name and provider in installed() and judge in (None, provider) and backend_of(provider) is not None:
        return provider, name
    return judge, model


@cache
def installed() -> dict[str, EntryPoint]:
    """Return the entry points of all judges by name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def _loaded(name: str) -> Any:
    """Import what the entry point of a name leads to.

    Raise an InputError if no judge has this name, or it can't be imported.
    """
    if (point := installed().get(name)) is None:
        names = [*installed()]
        remedy = f"{did_you_mean(name, names)}There are {', '.join(names)}, and your own as package.module:callable."
        raise InputError(f"no judge is called {name!r}", remedy=remedy)
    return imported(point.module, point.attr, "Reinstall the package that registers it.", here=False)


def backend_of(name: str) -> ModelBackend | None:
    """Return the model backend of a judge; None for a judge that asks no model.

    Raise an InputError if no judge has this name, or it can't be imported.
    """
    _refuse_jury(name)
    found = None if ":" in name else _loaded(name)
    return found if isinstance(found, ModelBackend) else None


def _refuse_jury(name: str) -> None:
    if name.startswith(f"{JURY}("):
        what = f"{shortened(name)} is several judges, which aren't asked as one"
        raise InputError(what, remedy="Name one of its members by --judge; `graphkit grade` takes several.")


def open_judge(name: str) -> Judge:
    """Return a judge by name or as ``package.module:callable``; for a model see :func:`backend_of`.

    Raise an InputError if no judge has this name, or it can't be imported or made.
    """
    _refuse_jury(name)
    if ":" in name:
        from graphkit.plugins.judging.judges.callable_judge import load_judge

        return load_judge(name)
    make = _loaded(name)
    judge: Any = make() if called_with(0).fits(make) else None
    if not callable(getattr(judge, "judge", None)):
        raise InputError(f"the entry point {name!r} of the group {GROUP} makes no judge: it has no method `judge`")
    return judge  # type: ignore[no-any-return]
