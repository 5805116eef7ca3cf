"""A model that many workers ask through one driver, so that its limits, its budget and its cache hold for all of them.

The driver sends every request itself: a worker needs neither the key nor the file of replies, and one that dies leaves
nothing reserved. What it asked for continues, and is there when its questions are asked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from typing import Any

from graphkit.plugins.judging.llm.requests import ABOUT, Block, Model, ModelError, Reply, Request, Turn, Usage

#: The name of the call.
ASK = "ask"


@dataclass
class SharedModel:
    """The driver's side: answers the calls of workers by a model.

    A request that a question repeats after its worker died gets the reply of the first time, and isn't sent again,
    until the question is :meth:`done`.
    """

    model: Model
    _asked: dict[str, dict[str, asyncio.Task[Reply]]] = field(default_factory=dict)

    async def ask(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Return the reply to a request, or its failure, as JSON.

        Raise an InputError if no request can get a reply.
        """
        request = _request(value["request"])
        asked = self._asked.setdefault(value["question"], {})
        task = asked.get(request.digest)
        if task is None:
            task = asked[request.digest] = asyncio.create_task(self._reply(request))
        try:
            reply = await asyncio.shield(task)
        except ModelError as error:
            asked.pop(request.digest, None)
            cause = error.__cause__
            failed = {"what": str(error), "label": error.label, "attempts": error.attempts, "lost": error.lost}
            return {"failed": failed, "cause": None if cause is None else [type(cause).__name__, str(cause)]}
        except asyncio.CancelledError:
            asked.pop(request.digest, None)
            task.cancel()
            await asyncio.wait({task})
            raise
        return {"reply": asdict(reply)}

    async def _reply(self, request: Request) -> Reply:
        return await self.model.ask(request)

    def done(self, question: str) -> None:
        """Forget the replies to a question, whose result is kept."""
        self._asked.pop(question, None)


@dataclass(frozen=True)
class RemoteModel:
    """The worker's side: a model that asks through the driver, about the question in the context ``ABOUT``."""

    send: Callable[[str, Any], Future[Any]]

    async def ask(self, request: Request) -> Reply:
        """Return the reply; raise a ModelError as the driver's model did."""
        call = {"question": ABOUT.get(), "request": _sent(request)}
        answer = await asyncio.wrap_future(self.send(ASK, call))
        if (failed := answer.get("failed")) is None:
            reply = answer["reply"]
            usage = reply["usage"]
            return Reply(**{**reply, "usage": None if usage is None else Usage(**usage)})
        cause = answer["cause"]
        # Records keep the type of the error, so the copy has its name.
        copy = None if cause is None else type(cause[0], (Exception,), {})(cause[1])
        raise ModelError(**failed) from copy


def _sent(request: Request) -> dict[str, Any]:
    """Return a request as JSON, with what its blocks share: that decides what the server charges."""
    return {
        **request.as_json(),
        "system": [[one.text, one.shared] for one in request.system],
        "turns": [[turn.role, [[one.text, one.shared] for one in turn.blocks]] for turn in request.turns],
    }


def _request(value: Mapping[str, Any]) -> Request:
    return Request(
        **{
            **value,
            "system": tuple(Block(*one) for one in value["system"]),
            "turns": tuple(Turn(role, tuple(Block(*one) for one in blocks)) for role, blocks in value["turns"]),
        }
    )
