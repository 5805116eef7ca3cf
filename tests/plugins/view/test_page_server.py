"""The server of a page, by real requests on a real port: who is answered, and what is kept."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.plugins.view import served_page as module
from graphkit.plugins.view.kept_grades import grades_file, read_grades
from graphkit.plugins.view.page_server import PageServer
from graphkit.plugins.view.served_page import ServedPage
from graphkit.records.gold import gold_hash
from graphkit.records.scores import answer_hash
from graphkit.records.structs import QuestionStruct
from tests.helpers.cli import tiny, write_lines
from tests.helpers.pages import HOSTILE, hostile_dataset
from tests.helpers.served import JSON, ask, served, served_page, serving

QUESTIONS = [
    {"id": name, "question": "Who?", "gold_answer": "x", "category": "who", "difficulty": "easy"}
    for name in ("q1", "q2", "q3")
]
#: The run failed on q3.
ANSWERS: list[dict[str, Any]] = [
    {"run": "r", "question_id": "q1", "answer": "x"},
    {"run": "r", "question_id": "q2", "answer": "y"},
    {"run": "r", "question_id": "q3", "error": "timed out"},
]
#: The hash of the gold of each question.
GOLD = gold_hash(QuestionStruct("q", "?", gold_answer="x"))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a run of three questions; nothing waits between two builds."""
    monkeypatch.setattr(module, "REST", 0.0)
    return tiny(tmp_path / "data", QUESTIONS, ANSWERS)


@pytest.fixture
def opened(run: Path) -> Iterator[tuple[ServedPage, str]]:
    """Serve its page; return it with its address."""
    with served([run]) as one:
        yield one


@pytest.fixture
def address(opened: tuple[ServedPage, str]) -> str:
    """Return the address of the page."""
    return opened[1]


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Serve a page for all requests that change nothing; return its run and its address."""
    run = tiny(tmp_path_factory.mktemp("standing"), QUESTIONS, ANSWERS)
    with served([run]) as (_, address):
        yield run, address


def grade(question: str = "q1", value: Any = 1, note: str = "", **more: Any) -> dict[str, Any]:
    """Return a grade as the page sends it."""
    return {"run": "r", "question": question, "value": value, "note": note, **more}


def base(address: str) -> str:
    """Return the address without the token."""
    return address.rsplit("/", 2)[0]


# What is served ----------------------------------------------------------------------------------------------------


def test_the_page(opened: tuple[ServedPage, str]) -> None:
    """GET returns the whole page, HEAD its headers alone; neither is stored, guessed, framed, or named to others."""
    page, address = opened
    whole, head = ask(address), ask(address, method="HEAD")
    assert (whole.status, head.status, head.body) == (200, 200, b"")
    assert whole.headers["Content-Length"] == head.headers["Content-Length"] == str(len(whole.body))
    assert f'data-served="{page.status()["version"]}"'.encode() in whole.body
    assert whole.headers["Content-Type"] == "text/html; charset=utf-8"
    for reply in (whole, head, ask(address, "version"), ask(address, "nothing"), ask(base(address), "/")):
        assert reply.headers["Cache-Control"] == "no-store"
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["X-Frame-Options"] == "DENY"
        assert reply.headers["Referrer-Policy"] == "no-referrer"
        assert reply.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert reply.headers["Server"] == "graphkit"


def test_the_version(opened: tuple[ServedPage, str], run: Path) -> None:
    """It is that of the page, with the error while it can't be built again; the page is swapped as a whole."""
    page, address = opened
    first = ask(address, "version").json()
    assert list(first) == ["version"]
    run.write_text("{")
    page.look()
    page.look()
    assert ask(address, "version").json() == {**first, "error": page.status()["error"]}
    assert f'data-served="{first["version"]}"'.encode() in ask(address).body
    write_lines(run, ANSWERS[:2])
    page.look()
    page.look()
    second = ask(address, "version").json()
    assert list(second) == ["version"]
    assert second != first
    assert f'data-served="{second["version"]}"'.encode() in ask(address).body


@pytest.mark.slow("the reader waits for the next page")
def test_a_page_that_is_being_read_stays_whole(opened: tuple[ServedPage, str], run: Path) -> None:
    """A reader who has begun the former page gets all of it, though a new one has taken its place."""
    page, address = opened
    whole = ask(address).body
    parts = urllib.parse.urlsplit(address)
    with socket.create_connection((str(parts.hostname), parts.port or 0), 60) as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
        reader.sendall(f"GET {parts.path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        received = reader.recv(100)
        write_lines(run, ANSWERS[:2])
        page.look()
        page.look()
        while block := reader.recv(1 << 16):
            received += block
    assert received.partition(b"\r\n\r\n")[2] == whole
    assert ask(address).body != whole


# Who is answered ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "",
        "/version",
        "/grades",
        "/favicon.ico",
        "//",
        "/TOKEN",  # the address ends with a slash
        "/TOKENx/",
        "/x/TOKEN/",
        "/./TOKEN/",
        "/%2e/TOKEN/",
        "/TOKEN%2f",
        "/?TOKEN/",
        "/../../etc/passwd",
        "/\u00e9/",
        "/" + "a" * 5000 + "/",
    ],
)
def test_strangers_learn_nothing(standing: tuple[Path, str], path: str) -> None:
    """Without the token in its place every path is the same 404, for each method, and nothing is kept."""
    _, address = standing
    token = address.rsplit("/", 2)[1]
    path = urllib.parse.quote(path.replace("TOKEN", token), safe="/%?.")
    for method, body in (("GET", None), ("HEAD", None), ("POST", grade())):
        reply = ask(base(address), path, body, method)
        assert reply.status == 404
        assert reply.body == (b"" if method == "HEAD" else b"Not Found\n")


@pytest.mark.parametrize(
    "place", ["version/", "grades/x", "../version", "%76ersion", "index.html", "//version", "VERSION"]
)
def test_other_places_below_the_token(standing: tuple[Path, str], place: str) -> None:
    """There are three places; no other spelling of them is one."""
    _, address = standing
    assert ask(address, place).error == "there is no such place"
    assert ask(address, place).status == 404


def test_other_methods(standing: tuple[Path, str]) -> None:
    """Nothing else is done to a place, and a grade is sent to one place only."""
    _, address = standing
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "BREW"):
        assert ask(address, "grades", method=method).status == 405
    for place in ("", "version"):
        reply = ask(address, place, grade())
        assert (reply.status, reply.error) == (405, "the server accepts GET and HEAD, and POST of a grade")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "127.0.0.1@evil"])
def test_a_name_of_another_host(standing: tuple[Path, str], host: str) -> None:
    """A web page whose name points to this machine isn't answered, though it knew the token."""
    run, address = standing
    for place, body in (("", None), ("grades", grade())):
        reply = ask(address, place, body, Host=host)
        assert (reply.status, reply.body) == (403, b"Forbidden\n")
    assert read_grades(run) == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"},
    ],
)
def test_other_sites_give_no_grade(standing: tuple[Path, str], headers: dict[str, str]) -> None:
    """A grade that another site lets the browser send is refused, though it knew the token."""
    run, address = standing
    reply = ask(address, "grades", grade(), **headers)
    assert (reply.status, reply.error) == (403, "another site's requests aren't accepted")
    assert read_grades(run) == []


def test_the_page_itself_gives_grades(address: str) -> None:
    """Its own origin is accepted by either name, also if the browser hides it."""
    port = urllib.parse.urlsplit(address).port
    own = {"Sec-Fetch-Site": "same-origin"}
    for headers in ({"Origin": f"http://127.0.0.1:{port}"}, {"Origin": f"http://localhost:{port}", **own}):
        assert ask(address, "grades", grade(), **headers).status == 200
    assert ask(address, "grades", grade(), **own, Origin="null").status == 200
    assert ask(address, "grades", grade(), Host=f"localhost:{port}").status == 200


# What is kept ------------------------------------------------------------------------------------------------------


def test_a_grade_is_kept(address: str, run: Path) -> None:
    """It is a score with the hashes of the answer and the gold and the question's labels; the last one counts."""
    assert ask(address, "grades").json() == []
    kept = ask(address, "grades", grade("q1", 0, "the wrong table"))
    expected = {
        "run": "r",
        "question": "q1",
        "measure": "PersonGrade",
        "value": 0.0,
        "explanation": "the wrong table",
        "grader": "person",
        "category": "who",
        "difficulty": "easy",
        "gold_hash": GOLD,
        "answer_hash": answer_hash("x"),
    }
    assert (kept.status, kept.json()) == (200, expected)
    assert ask(address, "grades", grade("q1", 1)).json()["value"] == 1
    assert ask(address, "grades", grade("q2", None, "look again")).json()["reason"] == "noted, not graded"
    given = ask(address, "grades").json()
    assert [(one["question"], one["value"], one.get("explanation")) for one in given] == [
        ("q1", 1, None),
        ("q2", None, "look again"),
    ]
    assert [one.question for one in read_grades(run)] == ["q1", "q2"]


def test_a_grade_is_taken_back(address: str, run: Path) -> None:
    """Without a value and a note it is removed, and null is returned; so is one that was never given."""
    ask(address, "grades", grade("q1", 1))
    for question in ("q1", "q2"):
        reply = ask(address, "grades", grade(question, None))
        assert (reply.status, reply.json()) == (200, None)
    assert ask(address, "grades").json() == []
    assert not grades_file(run).exists()


@pytest.mark.parametrize(
    ("sent", "status", "words"),
    [
        (b"", 400, "isn't JSON"),
        (b"{", 400, "isn't JSON"),
        (b"\xff", 400, "isn't JSON"),
        (b"[" * 60_000, 400, "isn't JSON"),
        ([], 400, "is a JSON object"),
        (7, 400, "is a JSON object"),
        ({}, 400, "'run' must be a text"),
        ({"run": "r", "question": "q1"}, 400, "'value' must be 1 (right), 0 (wrong) or null"),
        (grade(value=0.5), 400, "'value' must be"),
        (grade(value=True), 400, "'value' must be"),
        (grade(value="1"), 400, "'value' must be"),
        (grade(value=[1]), 400, "'value' must be"),
        (b'{"run": "r", "question": "q1", "value": NaN}', 400, "'value' must be"),
        ({**grade(), "note": None}, 400, "'note' must be a text"),
        ({**grade(), "question": 1}, 400, "'question' must be a text"),
        (grade(notes="x"), 400, "a grade has no 'notes'"),
        (b'{"run": "r", "question": "q1", "value": 1, "note": "\\ud800"}', 400, "half of a character"),
        ({**grade(), "run": "s"}, 404, "the page shows no run 's'"),
        ({**grade(), "run": "../r"}, 404, "the page shows no run"),
        (grade("q9"), 404, "the page shows no question 'q9'"),
        (grade("q3"), 409, "has no answer to 'q3'"),
        (grade(version="older"), 409, "the page has been built again since"),
        (grade(note="x" * (64 << 10)), 413, "longer than 64 KiB"),
    ],
    ids=str,
)
def test_what_is_no_grade(standing: tuple[Path, str], sent: Any, status: int, words: str) -> None:
    """Each is refused with its status and a sentence; nothing is kept, and the next one is."""
    run, address = standing
    reply = ask(address, "grades", sent)
    assert reply.status == status
    assert words in reply.error
    assert read_grades(run) == []
    assert ask(address, "grades", grade()).status == 200
    assert ask(address, "grades", grade(value=None)).json() is None


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": ""}, 415),
        ({"Content-Length": "65537"}, 413),
        ({"Content-Length": "9" * 50}, 413),
        ({"Content-Length": "-1"}, 411),
        ({"Transfer-Encoding": "chunked"}, 411),
    ],
)
def test_how_a_grade_is_sent(standing: tuple[Path, str], headers: dict[str, str], status: int) -> None:
    """Its type and its length are stated and checked before it is read."""
    run, address = standing
    assert ask(address, "grades", b"" if "Length" in str(headers) else grade(), **headers).status == status
    assert read_grades(run) == []


def test_the_version_of_the_page(opened: tuple[ServedPage, str]) -> None:
    """A grade that names the version of the page it was given in is kept as long as that is the current one."""
    page, address = opened
    assert ask(address, "grades", grade(version=page.status()["version"])).status == 200


def test_a_grade_of_an_earlier_answer(opened: tuple[ServedPage, str], run: Path) -> None:
    """If the answer changes, its grade is left out but kept; a grade without the hash of an answer stays."""
    page, address = opened
    ask(address, "grades", grade("q1", 1))
    ask(address, "grades", grade("q2", 1))
    write_lines(run, [{**ANSWERS[0], "answer": "another"}, *ANSWERS[1:]])
    page.look()
    page.look()
    assert [one["question"] for one in ask(address, "grades").json()] == ["q2"]
    assert [one.question for one in read_grades(run)] == ["q1", "q2"]
    assert ask(address, "grades", grade("q1", 0)).json()["answer_hash"] == answer_hash("another")
    assert [one.value for one in read_grades(run)] == [0, 1]


def test_a_grade_by_other_gold(opened: tuple[ServedPage, str], run: Path) -> None:
    """If the gold of a question changes, the grade by the former gold is left out."""
    page, address = opened
    ask(address, "grades", grade("q1", 1))
    ask(address, "grades", grade("q2", 1))
    write_lines(run.parents[1] / "questions.jsonl", [QUESTIONS[0], {**QUESTIONS[1], "gold_answer": "z"}, QUESTIONS[2]])
    page.look()
    page.look()
    assert [one["question"] for one in ask(address, "grades").json()] == ["q1"]


def test_names_that_the_page_escapes(tmp_path: Path) -> None:
    """Hostile names of runs and questions are graded as the page shows them, and kept as they are."""
    run = hostile_dataset(tmp_path)
    name, question = HOSTILE[0], f"4 {HOSTILE[4]}"
    shown = question.replace("\x1b", "\\u001b").replace("\x07", "\\u0007")
    assert shown != question
    with served([run]) as (_, address):
        assert ask(address, "grades", {"run": name, "question": shown, "value": 1}).json()["question"] == question
        assert [one["question"] for one in ask(address, "grades").json()] == [question]
    assert [(one.run, one.question) for one in read_grades(run)] == [(name, question)]


def test_two_people_at_the_same_time(run: Path) -> None:
    """Four threads grade in three servers, two of them of the same person: no grade is lost, and none is mixed."""
    questions = [f"q{number}" for number in range(24)]
    write_lines(run.parents[1] / "questions.jsonl", [{**QUESTIONS[0], "id": name} for name in questions])
    write_lines(run, [{"run": "r", "question_id": name, "answer": name} for name in questions])
    people = ("person:ann", "person:ben", "person:ben")
    with (
        closing(served_page(run)) as page,
        serving(page, people[0]) as ann,
        serving(page, people[1]) as ben,
        serving(page, people[2]) as ben_too,
    ):

        def give(place: int) -> None:
            for number, name in enumerate(questions):
                if number % 2 == place % 2:
                    assert ask((ann, ann, ben, ben_too)[place], "grades", grade(name, place // 2)).status == 200

        threads = [threading.Thread(target=give, args=(place,)) for place in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(ask(ann, "grades").json()) == 24
    for person, value in ((people[0], 0), (people[1], 1)):
        found = {one.question: one.value for one in read_grades(run, person)}
        assert found == dict.fromkeys(questions, value)


def test_a_file_that_cannot_be_used(address: str, run: Path) -> None:
    """A damaged file of grades is reported to the page, and left alone."""
    ask(address, "grades", grade())
    grades_file(run).write_text("mine")
    for body in (None, grade()):
        reply = ask(address, "grades", body)
        assert reply.status == 503
        assert f"{grades_file(run)}:1" in reply.error
    assert grades_file(run).read_text() == "mine"


# The connection ----------------------------------------------------------------------------------------------------


def test_one_connection_for_many_requests(address: str) -> None:
    """A page that asks for its version each second keeps its connection, also after a grade."""
    parts = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=60)
    for _ in range(3):
        connection.request("GET", f"{parts.path}version")
        assert "version" in json.loads(connection.getresponse().read())
        connection.request("POST", f"{parts.path}grades", json.dumps(grade()).encode(), JSON)
        assert json.loads(connection.getresponse().read())["value"] == 1
    connection.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
    ],
)
def test_what_is_no_http(address: str, capfd: pytest.CaptureFixture[str], sent: bytes) -> None:
    """Other protocols and broken requests are cut off, without a word here; the next request is answered."""
    parts = urllib.parse.urlsplit(address)
    with socket.create_connection((str(parts.hostname), parts.port or 0), timeout=60) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        try:
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
        except ConnectionResetError:
            answer = b""
    assert b"200 OK" not in answer
    assert ask(address, "version").status == 200
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow("two hundred connections")
def test_requests_that_are_sent_by_half(run: Path) -> None:
    """200 connections that hold back the rest of their request don't keep others out, and fill no screen."""
    reported: list[str] = []
    with closing(served_page(run)) as page, PageServer(page, "person", 0, reported.append) as server:
        server.start()
        address = server.page_address
        parts = urllib.parse.urlsplit(address)
        half = [socket.create_connection((str(parts.hostname), parts.port or 0)) for _ in range(200)]
        for number, one in enumerate(half):
            head = (
                b"GET / HTTP/1.1\r\nHost: x"
                if number % 2
                else b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
            )
            with contextlib.suppress(OSError):  # the server has ended it
                one.sendall(head)
        begun = time.monotonic()
        assert ask(address).status == 200
        assert time.monotonic() - begun < 5  # a request may take 10 s to arrive
        for one in half:
            one.close()
        server.stop()
    assert len(reported) <= 5, reported


def test_a_port_that_is_taken(address: str, run: Path) -> None:
    """It is reported with what to do."""
    port = urllib.parse.urlsplit(address).port or 0
    with (
        closing(served_page(run)) as page,
        pytest.raises(InputError, match=rf"port {port} of 127.0.0.1 can't be opened"),
    ):
        PageServer(page, "person", port)


def test_each_server_has_a_token(run: Path) -> None:
    """It is long, and never the same; an unexpected error is reported without it."""
    reported: list[str] = []
    with closing(served_page(run)) as page:
        servers = [PageServer(page, "person", 0, reported.append) for _ in range(2)]
        tokens = {server.token for server in servers}
        for server in servers:
            server.report(f"a request for /{server.token}/ caused an error")
            server.server_close()
    assert len(tokens) == 2
    assert all(len(token) >= 32 for token in tokens)
    assert reported == ["a request for /TOKEN/ caused an error"] * 2
