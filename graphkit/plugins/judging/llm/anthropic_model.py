"""The client of the Anthropic API.

Nothing else in graphkit imports the package ``anthropic``, and this module does so only when it makes a client.
"""

from __future__ import annotations

import asyncio
import json
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from graphkit.errors import InputError
from graphkit.plugins.judging.llm import bodies
from graphkit.plugins.judging.llm.api_client import (
    ApiClient,
    FailedAttempt,
    NotThereError,
    check_key,
    is_metered,
    is_of_network,
    lost_attempt,
    token_count,
    without_surrogates,
)
from graphkit.plugins.judging.llm.requests import Block, ModelError, Reply, Request, Usage
from graphkit.records.secrets import masked

if TYPE_CHECKING:
    import anthropic

#: The most prefixes of one request that a server can cache.
_BREAKPOINTS = 4


class AnthropicModel(ApiClient):
    """Any model of the Anthropic API. The client reads its key and address from its own environment variables.

    Raise an InputError if the client isn't installed, or has no credentials.

    Parameters
    ----------
    user
        The name of the feature that asks, for messages.
    limits
        Those of :class:`ApiClient`.
    """

    def __init__(self, *, user: str = "the judge anthropic", **limits: Any) -> None:
        super().__init__(**limits)
        # A client's connections belong to the event loop in which they were made.
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, anthropic.AsyncAnthropic] = (
            weakref.WeakKeyDictionary()
        )
        self._user = user
        self._address = str(self._made().base_url.copy_with(userinfo=b"", query=None))

    def _made(self) -> anthropic.AsyncAnthropic:
        try:
            import anthropic
        except ImportError:
            remedy = "pip install 'graphkit-eval[anthropic]'. The judge lexical works without a model."
            raise InputError(f"{self._user} needs the Anthropic client", remedy=remedy) from None
        try:
            headers = {"accept-encoding": bodies.ENCODING}
            network = anthropic.DefaultAsyncHttpxClient(event_hooks={"response": [bodies.bound]}, headers=headers)
            client = anthropic.AsyncAnthropic(timeout=self._timeout, max_retries=0, http_client=network)
        except (anthropic.AnthropicError, ValueError, OSError) as error:
            raise InputError(f"the Anthropic client can't be made: {error}") from None
        except Exception as error:
            if not is_of_network(error):
                raise
            raise _no_address() from None  # a message on an address may contain a part of a password
        if client.base_url.scheme not in ("http", "https") or not client.base_url.host:
            raise _no_address()
        if client.api_key is None and client.auth_token is None and client.credentials is None:
            remedy = "Set ANTHROPIC_API_KEY. The judge lexical works without a model."
            raise InputError(f"{self._user} has no credentials for the Anthropic API", remedy=remedy)
        check_key("ANTHROPIC_API_KEY", client.api_key)
        check_key("ANTHROPIC_AUTH_TOKEN", client.auth_token)
        return client

    @property
    def client(self) -> anthropic.AsyncAnthropic:
        """The client of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = self._made()
        return self._clients[loop]

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    async def ask(self, request: Request) -> Reply:
        """Return the reply, even a refused or truncated one; its stop reason says so.

        Raise a ModelError if no attempt got a reply, or the server rejects the request. Raise an InputError if no
        request can get a reply: the credentials, the address or the name of the model are wrong.
        """
        body = parameters(request)

        async def send() -> Any:
            response = await self.client.messages.with_raw_response.create(**body)
            return response.http_response.content

        got = await self.call(send)
        try:
            return self._noted(reply_of(got.value, got.attempts, got.lost))
        except ValueError as error:
            raise ModelError(
                f"{self._address} sent no message: {error}", attempts=got.attempts, lost=got.lost + 1
            ) from None

    def failure(self, error: Exception) -> ModelError:
        """Return the failure of a request for an error of the client or the network.

        Raise an InputError as :meth:`ask`.
        """
        found = self._failure(error)
        return ModelError(found.what, lost=found.lost)

    def _failure(self, error: Exception) -> FailedAttempt:
        import anthropic

        if isinstance(error, anthropic.APIStatusError):
            return self._answered(error)
        if isinstance(error, bodies.ReplyTooLongError):  # while reading a stream
            return self._too_long(error)
        if isinstance(error, TimeoutError):
            return lost_attempt(f"no reply from {self._address} in time")
        if isinstance(error, anthropic.APIConnectionError):  # or a time-out of the client
            cause = error.__cause__
            if type(cause).__name__ == "LocalProtocolError" and "header" in str(cause):
                # The network's message repeats the header, which may be a secret.
                raise InputError(
                    "a request can't be sent: one of its headers holds a line end or a space at its end",
                    remedy="Look at ANTHROPIC_CUSTOM_HEADERS.",
                ) from None
            return self._unreachable(cause, str(error))
        if isinstance(error, ValueError | RecursionError):  # also a UnicodeError
            return lost_attempt(f"{self._address} sent invalid JSON: {bodies.json_fault(error)}")
        if isinstance(error, anthropic.AnthropicError) or is_of_network(error):
            return lost_attempt(f"{self._address}: {type(error).__name__}: {error}")
        raise error

    def _answered(self, error: anthropic.APIStatusError) -> FailedAttempt:
        status = error.status_code
        what = f"{self._address} answers {status}: {_message(error)}"
        if status in (401, 402, 403):
            raise InputError(
                what, remedy="Check ANTHROPIC_API_KEY and its permissions, and ANTHROPIC_BASE_URL."
            ) from None
        if status == 404:
            raise NotThereError(
                what, remedy="Name a model that the API has (--model), and check ANTHROPIC_BASE_URL."
            ) from None
        return self._refused(what, status, error.response.headers)


def _no_address() -> InputError:
    return InputError("ANTHROPIC_BASE_URL is no address", remedy="Write it as https://HOST, or leave it unset.")


def _message(error: anthropic.APIStatusError) -> str:
    """Return the server's message, or the beginning of its body."""
    body = error.body
    inner = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(inner, Mapping) and isinstance(inner.get("message"), str):
        return f"{inner.get('type')}: {inner['message']}"
    return " ".join(str(body if body is not None else error).split())[:300]


# Requests and replies as the API writes them ------------------------------------------------------------------------


def parameters(request: Request) -> dict[str, Any]:
    """Return a request as the parameters of ``messages.create``.

    Raise an InputError if the API can't accept the schema.
    """
    breakpoints = _breakpoints(request)
    system = _content(request.system, breakpoints)
    turns = [(turn.role, _content(turn.blocks, breakpoints)) for turn in request.turns]
    output: dict[str, Any] = {}
    if request.schema is not None:
        output["format"] = {"type": "json_schema", "schema": sendable(request.schema)}
    if request.effort is not None:
        output["effort"] = request.effort
    return {
        "model": request.model,
        "max_tokens": request.max_tokens,
        **({"system": system} if system else {}),
        "messages": [{"role": role, "content": content} for role, content in turns],
        **({"output_config": output} if output else {}),
    }


def _breakpoints(request: Request) -> set[int]:
    """Return the ids of the blocks after which the server shall cache the prompt: the last shared ones.

    The API accepts no empty block, so the block before an empty one counts instead.
    """
    found: list[Block] = []
    before: Block | None = None
    for block in (*request.system, *(block for turn in request.turns for block in turn.blocks)):
        before = block if block.text.strip() else before
        if block.shared and before is not None and (not found or found[-1] is not before):
            found.append(before)
    return {id(block) for block in found[-_BREAKPOINTS:]}


def _content(blocks: tuple[Block, ...], breakpoints: set[int]) -> str | list[dict[str, Any]]:
    """Return blocks with their breakpoints; a single block without one is plain text."""
    kept = [block for block in blocks if block.text.strip()]
    if len(kept) == 1 and id(kept[0]) not in breakpoints:
        return without_surrogates(kept[0].text)
    return [
        {
            "type": "text",
            "text": without_surrogates(block.text),
            **({"cache_control": {"type": "ephemeral"}} if id(block) in breakpoints else {}),
        }
        for block in kept
    ]


def sendable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON Schema that the API accepts: limits that it refuses (such as minimum) move to the description.

    Raise an InputError if a value in the schema has no type.
    """
    import anthropic

    try:
        return anthropic.transform_schema(_with_one_type(dict(schema)))
    except (ValueError, TypeError, AttributeError, AssertionError) as error:
        raise InputError(f"the API can't accept this schema: {error}", remedy="Give each value a type.") from None


def _with_one_type(schema: Any) -> Any:
    """Return a schema that writes several types of a value with ``anyOf``."""
    if isinstance(schema, list):
        return [_with_one_type(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {
        name: {key: _with_one_type(one) for key, one in value.items()}
        if name in ("properties", "$defs") and isinstance(value, dict)
        else (value if name in ("enum", "const", "default", "examples") else _with_one_type(value))
        for name, value in schema.items()
    }
    types = found.get("type")
    if isinstance(types, list) and all(isinstance(one, str) for one in types) and "enum" not in found:
        shared = {name: found.pop(name) for name in ("title", "description") if name in found}
        return {**shared, "anyOf": [{**found, "type": one} if one != "null" else {"type": "null"} for one in types]}
    return found


def reply_of(message: Any, attempts: int = 1, lost: int = 0, batch: bool = False) -> Reply:
    """Return the reply in a message of the API; raise a ValueError if the message has another form."""
    if not isinstance(message, Mapping) or message.get("type", "message") != "message":
        raise ValueError(f"it has another form: {json.dumps(message)[:200]}")
    content, usage = message.get("content"), _usage(message.get("usage"))
    if not isinstance(content, list) or not (content or usage):
        raise ValueError(f"content or usage is missing: {json.dumps(message)[:200]}")
    texts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
    stop, model = message.get("stop_reason"), message.get("model")
    return Reply(
        text=masked(without_surrogates("".join(text for text in texts if isinstance(text, str)))),
        model=masked(model) if isinstance(model, str) else "",
        stop_reason=masked(stop) if isinstance(stop, str) else None,
        usage=usage,
        attempts=attempts,
        lost=lost,
        batch=batch,
    )


def _usage(usage: Any) -> Usage | None:
    """Return the tokens of a reply; None if the server doesn't state them."""
    if not is_metered(usage, "input_tokens", "output_tokens"):
        return None
    return Usage(
        token_count(usage, "input_tokens"),
        token_count(usage, "output_tokens"),
        token_count(usage, "cache_read_input_tokens", 0),
        token_count(usage, "cache_creation_input_tokens", 0),
    )
