"""A local server in the place of the Anthropic API: it answers by a script, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, dict[str, Any]]


@dataclass
class Api:
    """A running server. ``reply`` gets the body of each request, and returns status and body."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def env(self) -> dict[str, str]:
        """The environment in which the client asks this server."""
        return {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": "test"}


def message(text: str, prompt_tokens: int = 10, output_tokens: int = 2) -> Reply:
    """Return a message of the model."""
    return 200, {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5",
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": prompt_tokens, "output_tokens": output_tokens},
    }


def refusal(status: int, kind: str, text: str) -> Reply:
    """Return an error of the API."""
    return status, {"type": "error", "error": {"type": kind, "message": text}}


@contextmanager
def served(reply: Callable[[Api, dict[str, Any]], Reply]) -> Iterator[Api]:
    """Serve replies on a free port of this machine until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                api.requests.append({"path": self.path, **body})
            status, answer = reply(api, body)
            data = json.dumps(answer).encode()
            try:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(data)
            except ConnectionError:
                pass  # the client has given up, as a test wants it to

        def log_message(self, *_: object) -> None:
            pass

    lock = threading.Lock()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    api = Api(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        api.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
