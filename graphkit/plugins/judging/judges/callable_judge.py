"""A user's judge: ``package.module:callable``, a function of prompt and schema that returns a verdict."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

from graphkit.errors import InputError
from graphkit.plugins.judging.judges.contract import Opinion
from graphkit.plugins.judging.judges.prompts import Prompt
from graphkit.plugins.judging.llm.requests import ModelError
from graphkit.records.references import imported_callable, is_async
from graphkit.shards.event_loop import call_in_thread

_FORM = "A judge is written package.module:callable; it takes (prompt, schema) and returns the verdict."

#: The longest message of a judge's exception that is kept.
_LONGEST_ERROR = 500


class CallableJudge:
    """A judge that calls a function with the prompt as one text and the JSON Schema of the verdict.

    The function returns the verdict as an object or as JSON, or an awaitable of either. One that isn't async runs in
    its own thread. Its version is the function's attribute ``version``, if it has one.
    """

    def __init__(self, call: Callable[..., Any], name: str) -> None:
        self.call = call
        self._is_async = is_async(call)
        self.name = name
        own = getattr(call, "version", None)
        self.version = str(own) if isinstance(own, str | int) else None

    async def judge(self, prompt: Prompt, schema: Mapping[str, Any]) -> Opinion:
        """Call the function, and return its verdict as JSON; raise a ModelError if it raises an exception."""
        wrong = [f"An earlier verdict couldn't be used: {reason}." for _, reason in prompt.unusable]
        given = ("\n\n".join([prompt.text, *wrong]), dict(schema))
        try:
            if self._is_async:
                verdict = self.call(*given)
            else:
                verdict, stopped = await call_in_thread(self._outcome, *given)
                if stopped is not None:
                    raise stopped
            if inspect.isawaitable(verdict):
                verdict = await verdict
        except (KeyboardInterrupt, MemoryError, asyncio.CancelledError):
            raise
        except BaseException as error:
            what = " ".join(str(error).split())[:_LONGEST_ERROR]
            raise ModelError(
                f"the judge {self.name} raised {type(error).__name__}{': ' if what else ''}{what}"
            ) from None
        return Opinion(_json_of(verdict))

    def _outcome(self, *given: Any) -> tuple[Any, StopIteration | None]:
        """Call the function, and return a StopIteration: awaiting a thread that raised it would never end."""
        try:
            return self.call(*given), None
        except StopIteration as error:
            return None, error


def _json_of(verdict: Any) -> str:
    """Return a verdict as JSON; a value that can't be JSON becomes a text that fails as unreadable."""
    if isinstance(verdict, str):
        return verdict
    if isinstance(verdict, BaseModel):
        return verdict.model_dump_json()
    try:
        return json.dumps(dict(verdict) if isinstance(verdict, Mapping) else verdict, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return f"<a value of type {type(verdict).__name__}>"


def load_judge(text: str) -> CallableJudge:
    """Import the judge that ``package.module:callable`` names; modules of the working folder are found too.

    Raise an InputError if the text has another form, the module can't be imported, or its object can't be called with a
    prompt and a schema.
    """
    found = imported_callable(text, "judge", _FORM)
    with contextlib.suppress(TypeError, ValueError):  # it can't be inspected
        signature = inspect.signature(found)
        try:
            signature.bind("prompt", {})
        except TypeError:
            raise InputError(
                f"{text} can't be called with a prompt and a schema: it takes {signature}", remedy=_FORM
            ) from None
    return CallableJudge(found, text)
