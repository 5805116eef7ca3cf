"""A judge that asks a language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from graphkit.plugins.judging.judges.contract import Opinion
from graphkit.plugins.judging.judges.prompts import TRUNCATED, Prompt
from graphkit.plugins.judging.llm.requests import Block, Model, Reply, Request, Turn

#: Room for a verdict: the claims of a long answer with their quotes take some thousand tokens.
MAX_TOKENS = 4096

#: The reply to an earlier verdict that can't be used.
_AGAIN = "That verdict can't be used: {reason}. Give the whole verdict again, as JSON of the given form."


@dataclass(eq=False)
class ModelJudge:
    """A judge that asks a model: the prompt becomes a request, and the reply an opinion."""

    model: Model | None  # None on the way to a worker
    name: str  # such as ``anthropic``; it stands beside each score
    model_name: str  # the model to ask for; the version of the judge
    _: KW_ONLY
    max_tokens: int = MAX_TOKENS  # room for a verdict
    effort: str | None = None  # how much the model may think; None for its default
    service: str | None = None  # that of the requests
    cost: Callable[[Reply], float | None] = lambda _: None  # of a reply; None if its price is unknown

    @property
    def version(self) -> str:
        """Return the name of the model."""
        return self.model_name

    async def judge(self, prompt: Prompt, schema: Mapping[str, Any]) -> Opinion:
        """Return the reply of the model; raise a ModelError if there is no reply."""
        request = self.request(prompt, schema)
        if self.model is None:
            raise RuntimeError("the judge has no model here")
        reply = await self.model.ask(request)
        return Opinion(
            text=reply.text,
            model=reply.model,
            stop_reason=reply.stop_reason,
            usage=reply.usage,
            cost=self.cost(reply),
            attempts=reply.attempts,
            cached=reply.cached,
            request=request.digest,
        )

    def request(self, prompt: Prompt, schema: Mapping[str, Any]) -> Request:
        """Return the request of a prompt.

        The words and data that graders share come first, and the instruction last, so that no judged text follows it.
        On a second try the model sees its earlier verdict and the reason against it; after a verdict that was cut off
        it gets twice the room instead.
        """
        data = [Block(text, shared=place == len(prompt.parts)) for place, (_, text) in enumerate(prompt.parts, 1)]
        turns = [Turn("user", (*data, Block(prompt.instruction)))]
        room = self.max_tokens
        for earlier, reason in prompt.unusable:
            if reason == TRUNCATED:
                room *= 2
                continue
            again = Block(_AGAIN.format(reason=reason))
            if earlier.strip():
                turns += [Turn("assistant", (Block(earlier),)), Turn("user", (again,))]
            else:  # a turn can't be empty
                turns[-1] = Turn("user", (*turns[-1].blocks, again))
        return Request(
            model=self.model_name,
            system=(Block(prompt.system, shared=True),),
            turns=tuple(turns),
            schema=schema,
            max_tokens=room,
            effort=self.effort,
            service=self.service,
            trial=prompt.trial,
        )
