"""The HTTP server of a served page: the page, its version and a person's grades, below a token in the address."""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from graphkit.files.loopback import LOOPBACK, LoopbackHandler, LoopbackServer, RefusedError, too_late
from graphkit.plugins.view.page_grades import PageGrades
from graphkit.plugins.view.served_page import ServedPage
from graphkit.records.json_once import each_key_once

#: The longest grade that a page sends, in bytes.
LONGEST = 64 << 10

JSON = "application/json"

#: The places below the token: the page, its version, and the grades.
PLACES = ("", "version", "grades")

#: How often the same refusal is reported, in seconds, and the most different ones in this time.
REPORT_EVERY, MOST_REPORTS = 60.0, 100

#: The headers of every answer: nothing is stored, guessed, handed on or framed.
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class PageServer(LoopbackServer):
    """A server on loopback that answers whoever knows its token.

    Parameters
    ----------
    grader
        The grader of the grades that the page sends.
    port
        The port; 0 chooses a free one.
    report
        Called with an unexpected error of a request.

    Raises
    ------
    InputError
        The port can't be opened.
    """

    def __init__(
        self, page: ServedPage, grader: str, port: int = 0, report: Callable[[str], None] = lambda why: None
    ) -> None:
        self.page, self.grades = page, PageGrades(page, grader)
        self.token = secrets.token_urlsafe(24)
        super().__init__(port, _PageHandler, SeldomReported(lambda why: report(why.replace(self.token, "TOKEN"))))

    @property
    def page_address(self) -> str:
        """The address of the page."""
        return f"{self.address}/{self.token}/"


class _PageHandler(LoopbackHandler):
    server: PageServer
    accepts = "the server accepts GET and HEAD, and POST of a grade"

    def handle_one_request(self) -> None:
        """Handle a request, whose sender is a stranger at first."""
        self._is_known = False
        super().handle_one_request()

    def do_GET(self) -> None:  # noqa: N802 - so the base class calls it
        """Answer with the page, its version, or the person's grades."""
        self._handle({"": self._send_page, "version": self._send_version, "grades": self._send_grades})

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:  # noqa: N802
        """Keep a grade."""
        self._handle({"grades": self._keep_grade})

    def _handle(self, places: dict[str, Callable[[], None]]) -> None:
        try:
            place = self._place()
            if place not in places:
                raise (
                    RefusedError(405, self.accepts) if place in PLACES else RefusedError(404, "there is no such place")
                )
            places[place]()
        except TimeoutError:
            self.refuse(RefusedError(408, too_late()))
        except RefusedError as refusal:
            self.refuse(refusal)

    def _place(self) -> str:
        """Return the path below the token."""
        self.check_host()
        token, slash, place = self.path.partition("?")[0].removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(errors="replace"), self.server.token.encode()) or not slash:
            raise RefusedError(404, "unknown")
        self._is_known = True
        return place

    def _send_page(self) -> None:
        with self.server.page.opened() as (file, size):
            self.answer_head(200, {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(size)})
            at = 0
            while self.command != "HEAD" and (block := os.pread(file, 1 << 18, at)):
                self.wfile.write(block)
                at += len(block)

    def _send_version(self) -> None:
        self._send_json(200, self.server.page.status())

    def _send_grades(self) -> None:
        self._send_json(200, self.server.grades.given())

    def _keep_grade(self) -> None:
        self._check_sender()
        if self.content_type() != JSON:
            raise RefusedError(415, f"a grade is sent as {JSON}")
        if self.headers.get("Transfer-Encoding") is not None:
            raise RefusedError(411, "the length of the grade is missing")
        length = self.body_length(LONGEST, RefusedError(413, f"the grade is longer than {LONGEST >> 10} KiB"))
        self.end_head()
        body = b""
        while len(body) < length:
            body += self.read_some(length - len(body))
        try:
            sent = json.loads(body, object_pairs_hook=each_key_once)
        except (ValueError, RecursionError):
            raise RefusedError(400, "the grade isn't JSON") from None
        self._send_json(200, self.server.grades.keep(sent))

    def _check_sender(self) -> None:
        """Refuse the requests of other sites, which a browser may send here."""
        site, origin = self.headers.get("Sec-Fetch-Site"), self.headers.get("Origin")
        own = [f"http://{host}:{self.server.server_port}" for host in (LOOPBACK, "localhost")]
        if site == "same-origin":
            own.append("null")  # the page sends no referrer, and some browsers then send no origin either
        if site not in (None, "same-origin") or origin not in (None, *own):
            raise RefusedError(403, "another site's requests aren't accepted")

    def _send_json(self, status: int, value: Any) -> None:
        self.answer(status, JSON, json.dumps(value).encode())

    def refuse(self, refusal: RefusedError) -> None:
        """Answer with the reason, but give strangers no hint; close the connection, as the base class does."""
        self.close_connection = True
        if self._is_known:
            self._send_json(refusal.status, {"error": str(refusal)})
        else:
            phrase = HTTPStatus(refusal.status).phrase
            self.answer(refusal.status, "text/plain; charset=utf-8", f"{phrase}\n".encode())

    def end_headers(self) -> None:
        """Add the headers of every answer."""
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()


class SeldomReported:
    """Passes each reason of a refusal on at most once a minute, and a hundred in all of a minute."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._reported: dict[str, float] = {}
        self._guard = threading.Lock()

    def __call__(self, why: str) -> None:
        """Report a reason, unless it was reported just now."""
        now = time.monotonic()
        with self._guard:
            self._reported = {one: at for one, at in self._reported.items() if now - at < REPORT_EVERY}
            if why in self._reported or len(self._reported) >= MOST_REPORTS:
                return
            self._reported[why] = now
        self._report(why)
