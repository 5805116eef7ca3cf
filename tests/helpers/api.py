"""A local server in the place of the Anthropic API: it answers by a script, and keeps what it was asked.

``python -m tests.helpers.api [MODULE:FUNCTION]`` runs it until its standard input ends, for processes of their own: it
prints its address, and answers by the function, which gets the body of each request, or else with "fine".
"""

from __future__ import annotations

import importlib
import json
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Response:
    """A response: ``body`` as JSON, or bytes unchanged; the connection breaks after ``cut`` bytes."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None

    @property
    def data(self) -> bytes:
        """The body as bytes."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


Reply = tuple[int, dict[str, Any]]
Script = Callable[["Api", dict[str, Any]], Reply | Response]


@dataclass
class Api:
    """A running server. ``reply`` gets the body of each request, and returns status and body."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)  # of each request, by names in small letters
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def env(self) -> dict[str, str]:
        """The environment in which the client of the Anthropic API asks this server."""
        return {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": "test"}


def message(text: str, prompt_tokens: int = 10, output_tokens: int = 2, **fields: Any) -> Reply:
    """Return a message of the model; ``fields`` stand in the place of others, such as ``stop_reason``."""
    return 200, {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5",
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": prompt_tokens, "output_tokens": output_tokens},
        **fields,
    }


def refusal(status: int, kind: str, text: str) -> Reply:
    """Return an error of the API."""
    return status, {"type": "error", "error": {"type": kind, "message": text}}


def limited(seconds: float) -> Response:
    """Return a refusal for the rate, with the pause that is asked for."""
    return Response(429, refusal(429, "rate_limit_error", "slow down")[1], {"retry-after": f"{seconds:g}"})


def in_turn(*replies: Reply | Response) -> Script:
    """Return a script that gives these replies one after the other, and the last one for ever."""
    left = iter(replies)
    lock = threading.Lock()

    def script(api: Api, body: dict[str, Any]) -> Reply | Response:
        with lock:
            return next(left, replies[-1])

    return script


@dataclass
class Batch:
    """A batch that was submitted; ``looks`` is how often it is asked after until it has ended."""

    id: str
    requests: list[dict[str, Any]]
    looks: int
    created_at: str


@dataclass
class BatchApi:
    """The protocol of message batches.

    ``result`` gets the parameters of each request, and returns a reply (its message, or why it errored) or one of
    ``"canceled"`` and ``"expired"``. Results come in another order than the requests. ``created`` gets each batch as
    it is made and may return what is sent instead of it. A batch that is submitted arrives ``seconds`` later.
    """

    result: Callable[[dict[str, Any]], Reply | str]
    looks: int = 1
    seconds: float = 0.0
    created: Callable[[Batch], Reply | Response | None] = lambda _: None
    results: Callable[[bytes], Response] = lambda data: Response(200, data)
    batches: dict[str, Batch] = field(default_factory=dict)

    def answer(self, api: Api, path: str, body: dict[str, Any] | None) -> Reply | Response:
        """Return what is sent for a request whose path is that of batches."""
        parts = [part for part in urlsplit(path).path.split("/") if part][3:]
        if body is not None:
            batch = Batch(f"msgbatch_{len(self.batches) + 1}", body["requests"], self.looks, _now())
            self.batches[batch.id] = batch
            return self.created(batch) or (200, self._shown(api, batch))
        if not parts:
            return self._page(api, parse_qs(urlsplit(path).query))
        found = self.batches.get(parts[0])
        if found is None:
            return refusal(404, "not_found_error", "no such batch")
        if parts[1:] == ["results"]:
            return self.results(self._results(found))
        found.looks -= 1
        return 200, self._shown(api, found)

    def _page(self, api: Api, query: Mapping[str, Sequence[str]]) -> Reply:
        newest = list(reversed(self.batches.values()))
        after = query.get("after_id", [""])[0]
        names = [batch.id for batch in newest]
        begin = names.index(after) + 1 if after else 0
        page = newest[begin : begin + 2]  # two a page, so that pages are turned
        shown = [self._shown(api, batch) for batch in page]
        more = begin + 2 < len(newest)
        ends = {"first_id": shown[0]["id"] if shown else None, "last_id": shown[-1]["id"] if shown else None}
        return 200, {"data": shown, "has_more": more, **ends}

    def _shown(self, api: Api, batch: Batch) -> dict[str, Any]:
        ended = batch.looks <= 0
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        counts["succeeded" if ended else "processing"] = len(batch.requests)
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": batch.created_at,
            "expires_at": batch.created_at,
            "ended_at": batch.created_at if ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{api.url}/v1/messages/batches/{batch.id}/results" if ended else None,
        }

    def _results(self, batch: Batch) -> bytes:
        lines = [
            json.dumps({"custom_id": one["custom_id"], "result": self._result(one["params"])}).encode() + b"\n"
            for one in batch.requests
        ]
        random.Random(1).shuffle(lines)
        return b"".join(lines)

    def _result(self, parameters: dict[str, Any]) -> dict[str, Any]:
        found = self.result(parameters)
        if isinstance(found, str):
            return {"type": found}
        status, body = found
        return {"type": "succeeded", "message": body} if status == 200 else {"type": "errored", "error": body}


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


@contextmanager
def served(reply: Script, batches: BatchApi | None = None) -> Iterator[Api]:
    """Serve replies on a free port of this machine until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            data = self.rfile.read(length)
            if len(data) < length:  # the client was killed while it sent
                self.close_connection = True
                return
            body = json.loads(data)
            with lock:
                api.requests.append({"path": self.path, **body})
                api.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.answer(body)

        def do_GET(self) -> None:
            with lock:
                api.requests.append({"path": self.path})
            self.answer(None)

        def answer(self, body: dict[str, Any] | None) -> None:
            if self.path.startswith("/v1/messages/batches") and batches is not None:
                time.sleep(batches.seconds if body is not None else 0.0)
                with lock:
                    answer = batches.answer(api, self.path, body)
            else:
                answer = reply(api, body or {})
            response = answer if isinstance(answer, Response) else Response(*answer, {"retry-after-ms": "1"})
            data = response.data
            try:
                self.send_response(response.status)
                for name, value in {"content-type": "application/json", **response.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[: response.cut])
            except ConnectionError:
                pass  # the client has given up, as a test wants it to

        def log_message(self, *_: object) -> None:
            pass

    lock = threading.Lock()
    server = _Server(("127.0.0.1", 0), Handler)
    api = Api(f"http://127.0.0.1:{server.server_address[1]}")
    # The end of each server would wait for half a second otherwise.
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield api
    finally:
        api.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


def with_faults(script: Script, limits: float = 0.05, errors: float = 0.01, seed: int = 1) -> Script:
    """Return a script with a share of refusals for the rate, and one of errors of the server, drawn by a seed."""
    draw, lock = random.Random(seed), threading.Lock()

    def faulty(api: Api, body: dict[str, Any]) -> Reply | Response:
        with lock:
            chance = draw.random()
        if chance < limits:
            return limited(0.02)
        if chance < limits + errors:
            return refusal(500, "api_error", "internal server error")
        return script(api, body)

    return faulty


def _main() -> None:
    script: Script = lambda api, body: message("fine")  # noqa: E731
    if len(sys.argv) > 1:
        module, _, name = sys.argv[1].partition(":")
        function = getattr(importlib.import_module(module), name)
        script = lambda api, body: function(body)  # noqa: E731
    with served(script) as api:
        sys.stdout.write(f"{api.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    _main()
