"""Sends bombs and endless inputs through every door of the command line, and measures the real processes.

    python -m tests.bombs                # all of them, some minutes
    python -m tests.bombs --only listen  # those whose name holds a text

A small file that unpacks to a gigabyte, a line or an array without an end, a pipe that never ends or says nothing, and
bodies of requests of each kind: every command has to end by itself, with its error in words, below ``MEMORY`` MB and
within ``SECONDS``. Each prints a line of a table; the exit code is 1 where one of them failed.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import zstandard

from tests.helpers.datasets import write_jsonl
from tests.helpers.workbooks import FAR, sheet_of_xlsx, write_parts

MEMORY, SECONDS = 500, 20.0
GIB = 1 << 30
_PIECE = 1 << 20

QUESTION = {"id": "q1", "question": "Who calls f?", "relevant": ["a/b.py#f"]}
RECORD = {"run": "r", "question_id": "q1", "retrieved": [{"id": "a/b.py#f"}]}


@dataclass(frozen=True)
class Ended:
    """The end of a command: exit code, peak memory in MB, seconds, output, and seconds of computing."""

    code: int
    memory: int
    seconds: float
    said: str
    computing: float = 0.0

    @property
    def held(self) -> bool:
        """Whether it refused in words, in time and in little memory."""
        in_words = self.code == 2 and "error:" in self.said and "Traceback" not in self.said
        return in_words and self.memory < MEMORY and self.seconds < SECONDS


def run(arguments: Iterable[object], meanwhile: Callable[[subprocess.Popen[bytes]], None] | None = None) -> Ended:
    """Run graphkit as a process of its own; ``meanwhile`` is done beside it."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as said:
        command = [sys.executable, "-m", "graphkit", *map(str, arguments)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
        killer = threading.Timer(4 * SECONDS, process.kill)
        killer.start()
        if meanwhile is not None:
            meanwhile(process)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        killer.cancel()
        said.seek(0)
        text = said.read().decode("utf-8", "replace")
    computing = usage.ru_utime + usage.ru_stime
    return Ended(process.returncode, usage.ru_maxrss >> 10, time.monotonic() - began, text, computing)


# Bombs --------------------------------------------------------------------------------------------------------------


def pieces(begin: bytes, piece: bytes, size: int = GIB, end: bytes = b"") -> Iterator[bytes]:
    """Yield a beginning, so much of a repeated piece, and an end."""
    yield begin
    many = piece * (_PIECE // len(piece))
    for _ in range(size // len(many)):
        yield many
    yield end


Source = Callable[[], Path]


def zst(path: Path, content: Iterable[bytes]) -> Source:
    """Return what writes a file of one frame."""

    def write() -> Path:
        if not path.exists():
            with zstandard.open(path, "wb") as stream:
                for block in content:
                    stream.write(block)
        return path

    return write


def gz(path: Path, begin: bytes, piece: bytes, size: int = GIB) -> Source:
    """Return what writes a file of members: the beginning, and over and over one of the piece."""

    def write() -> Path:
        member = gzip.compress(piece * (4 * _PIECE // len(piece)))
        path.write_bytes(gzip.compress(begin) + member * (size // (4 * _PIECE)))
        return path

    return write


LINES = (b"", b"\n")
LINE = (b'{"run": "', b"a")
RECORDS = (b"", json.dumps(RECORD).encode() + b"\n")
NESTED = (b'{"run": "r", "x": [', b"[],")
ARRAY = (b"[", b'{"run":1},')


def apart(work: Callable[[], None]) -> None:
    """Do something in a process of its own: what a command is said to have held is at least what its parent holds."""
    if (child := os.fork()) == 0:
        try:
            work()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def parquet(path: Path, kind: str) -> Source:
    """Return what writes Parquet: very many rows, one very long value, or a long value in each row."""

    def build() -> None:
        import pyarrow as pa
        from pyarrow import parquet as pq

        if kind == "rows":
            many = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000_000, pa.int32()), ["q1"])
            with pq.ParquetWriter(path, pa.schema([("question", many.type)]), compression="zstd") as writer:
                for _ in range(200):
                    writer.write_table(pa.table({"question": many}))
            return
        text = pa.array(["a" * (GIB // 2 if kind == "value" else 16 << 20)])
        rows = pa.array([0] * 4000, pa.int32())
        column = text if kind == "value" else pa.DictionaryArray.from_arrays(rows, text)
        noise = pa.array([os.urandom(200).hex() for _ in range(len(column))])  # so that the ratio is that of a log
        options = {"compression": "zstd", "dictionary_pagesize_limit": GIB}
        pq.write_table(pa.table({"question": column, "noise": noise}), path, **options)

    def write() -> Path:
        apart(build)
        return path

    return write


def archive(path: Path) -> Source:
    """Return what writes a zip archive with a document without an end."""

    def write() -> Path:
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archived,
            archived.open("header.json", "w", force_zip64=True) as stream,
        ):
            for block in pieces(b'{"a": "', b"a" * 4096, 1 << 28):
                stream.write(block)
        return path

    return write


def lines_of(path: Path, content: Iterable[bytes]) -> Source:
    """Return what writes a plain file."""

    def write() -> Path:
        path.write_bytes(b"".join(content))
        return path

    return write


def dataset(folder: Path, questions: Source | None = None) -> Path:
    """Write a dataset of one question, or with questions that ``questions`` writes."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    if questions is None:
        write_jsonl(folder / "questions.jsonl", [QUESTION])
    else:
        questions()
    write_jsonl(folder / "runs" / "r.jsonl", [RECORD])
    return folder


# Pipes --------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def fifo(path: Path, content: Callable[[], Iterator[bytes]] | None) -> Iterator[Path]:
    """Make a pipe that somebody writes to until its reader goes, or that nobody writes to."""
    os.mkfifo(path)
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set() and content is not None:
            try:
                with os.fdopen(os.open(path, os.O_WRONLY | os.O_NONBLOCK), "wb", buffering=0) as stream:
                    os.set_blocking(stream.fileno(), True)
                    for block in content():
                        stream.write(block)
            except OSError:
                time.sleep(0.02)  # nobody reads, or no longer

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        yield path
    finally:
        stop.set()
        writer.join(5)


def for_ever(begin: bytes, piece: bytes) -> Callable[[], Iterator[bytes]]:
    """Return content without an end."""

    def content() -> Iterator[bytes]:
        yield begin
        many = piece * max((1 << 16) // len(piece), 1)
        while True:
            yield many

    return content


# Requests -----------------------------------------------------------------------------------------------------------


def listening(folder: Path, send: Callable[[int], object]) -> Ended:
    """Run ``listen``, send to it, and end it; the seconds are those until the last sender was answered or cut off."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    seconds = 0.0

    def meanwhile(process: subprocess.Popen[bytes]) -> None:
        nonlocal seconds
        while process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        began = time.monotonic()
        send(port)
        seconds = time.monotonic() - began
        process.send_signal(signal.SIGINT)

    arguments = ["listen", "-d", dataset(folder / "listening"), "-o", folder / "live.jsonl", "--port", port]
    ended = run(arguments, meanwhile)
    # Nothing came: it ends as one that was stopped, with what it refused in words.
    good = ended.code == 0 and "refused:" in ended.said and "Traceback" not in ended.said
    return Ended(2 if good else 70, ended.memory, seconds, f"error: {ended.said}", ended.computing)


def post(port: int, body: object, **headers: str) -> int:
    """Send a body; return the status, or 0 where the receiver ended it otherwise."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=4 * SECONDS)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST", "/v1/traces", body, {"Content-Type": "application/json", **named})  # type: ignore[arg-type]
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def at_once(count: int, send: Callable[[], object]) -> None:
    """Let several send at the same time."""
    threads = [threading.Thread(target=send, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(4 * SECONDS)


def drip(port: int, begin: bytes) -> None:
    """Send a byte a quarter of a second until the receiver has enough."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 4 * SECONDS) as sender:
        sender.sendall(begin)
        sender.settimeout(0.25)
        while True:
            sender.sendall(b"1")
            with contextlib.suppress(TimeoutError):
                if not sender.recv(1):
                    return


HEAD = b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
DENSE = b'{"resourceSpans": [' + b"[]," * (10 << 20) + b"[]]}"


def packed_bodies(count: int, body: bytes) -> Callable[[int], None]:
    """Return what sends a body that is packed by gzip, several times at once."""
    return lambda port: at_once(count, lambda: post(port, body, Content_Encoding="gzip"))


# All of them --------------------------------------------------------------------------------------------------------


def doors(folder: Path) -> Iterator[tuple[str, Callable[[], Ended]]]:
    """Yield each case by its name; what it needs is made when it is measured."""
    data = dataset(folder / "data")
    bad = folder / "bad"
    bad.mkdir()
    answers = data / "runs/r.jsonl"

    def files(name: str, *arguments: object) -> tuple[str, Callable[[], Ended]]:
        return name, lambda: run([one() if callable(one) else one for one in arguments])

    newlines = zst(folder / "newlines.jsonl.zst", pieces(*LINES))
    frame = zstandard.compress(b"\n" * (4 << 20)) * 256
    lists = list(pieces(*NESTED, 30 << 20, b"[]]}"))
    questions = zst(bad / "questions.jsonl.zst", pieces(*LINES))

    evaluate: list[object] = ["evaluate", "-d", data]
    yield files("evaluate, zst of line ends", *evaluate, newlines)
    yield files("evaluate, zst of many frames", *evaluate, lines_of(folder / "frames.jsonl.zst", [frame]))
    yield files("evaluate, zst of one line", *evaluate, zst(folder / "line.jsonl.zst", pieces(*LINE)))
    yield files("evaluate, zst of an array", *evaluate, zst(folder / "array.jsonl.zst", pieces(*ARRAY)))
    yield files("evaluate, zst of a line of lists", *evaluate, zst(folder / "nested.jsonl.zst", lists))
    yield files("evaluate, gz of many members", *evaluate, gz(folder / "members.jsonl.gz", *LINES))
    yield files("evaluate, gz of a record repeated", *evaluate, gz(folder / "records.jsonl.gz", *RECORDS))
    yield files("evaluate, 64 MiB of line ends", *evaluate, lines_of(folder / "blank.jsonl", [b"\n" * (1 << 26)]))
    yield files("evaluate, a line of lists", *evaluate, lines_of(folder / "nested.jsonl", lists))
    rows = parquet(folder / "scores.parquet", "rows")
    yield files("evaluate --scores, Parquet of rows", "evaluate", answers, "--scores", rows)
    page = folder / "page.html"
    yield files("report --scores, zst of line ends", "report", answers, "-o", page, "--scores", newlines)
    yield files("summarize, gz of line ends", "summarize", gz(folder / "scores.jsonl.gz", *LINES))
    yield files("check, zst of questions", "check", lambda: dataset(bad, questions))
    yield files("load, zst of questions", "load", lambda: dataset(bad, questions), "--data", folder / "db")

    importing: list[object] = ["import", "auto", "-d", data, "-o", folder / "imported.jsonl"]
    yield files("import auto, zst of line ends", *importing, newlines)
    yield files("import auto, gz of lists", *importing, gz(folder / "lists.json.gz", b'{"a": [', b"[],"))
    yield files("import auto, an archive", *importing, archive(folder / "deflated.eval"))
    table = zst(folder / "ids.csv.zst", pieces(b"name,id\n", b"a,b\n"))
    yield files("import auto --ids, zst of a table", *importing, answers, "--ids", table)
    yield files("import auto --ids, zst of line ends", *importing, answers, "--ids", newlines)
    gold: list[object] = ["import", "gold", "hotpotqa", "-o", folder / "gold"]
    for kind in ("rows", "value", "values"):
        yield files(f"import gold, Parquet of {kind}", *gold, parquet(folder / f"{kind}.parquet", kind))
    yield files("import gold, gz of an array", *gold, gz(folder / "gold.json.gz", *ARRAY))
    graph: list[object] = ["import", "graph", "-d", data]
    for kind, parts in (("far cell", sheet_of_xlsx(FAR)), ("long part", sheet_of_xlsx(" " * (32 << 20)))):
        book = partial(write_parts, folder / f"{kind[:4].strip()}.xlsx", parts)
        yield files(f"init, a workbook with a {kind}", "init", folder / "made", book)
        yield files(f"import graph, a workbook with a {kind}", *graph, book)
    yield files("import graph, gz of GraphML", *graph, gz(folder / "g.graphml.gz", b"<graphml>", b"<graph/>"))
    yield files("import graph, gz of node-link", *graph, gz(folder / "g.json.gz", b'{"nodes": [', b"{},"))
    yield files("evaluate, /dev/zero", *evaluate, "/dev/zero")
    yield files("import auto, /dev/urandom", *importing, "/dev/urandom")

    def piped(
        name: str, command: list[object], content: Callable[[], Iterator[bytes]] | None
    ) -> tuple[str, Callable[[], Ended]]:
        def measured() -> Ended:
            pipe = folder / f"{len(list(folder.iterdir()))}.jsonl"
            with fifo(pipe, content):
                return run([*command, pipe])

        return name, measured

    yield piped("evaluate, a silent pipe", evaluate, None)
    yield piped("evaluate, a pipe of line ends", evaluate, for_ever(*LINES))
    yield piped("evaluate, a pipe of one line", evaluate, for_ever(*LINE))
    yield piped("evaluate, a pipe of records", evaluate, for_ever(*RECORDS))
    yield piped("evaluate, a pipe of an array", evaluate, for_ever(*ARRAY))
    yield piped("import auto, a pipe of line ends", importing, for_ever(*LINES))
    yield piped("import auto, a pipe of spans", importing, for_ever(b'{"resourceSpans": [', b'{"a": [1, 2]},'))

    def live(name: str, send: Callable[[int], object]) -> tuple[str, Callable[[], Ended]]:
        def measured() -> Ended:
            own = folder / f"live{len(list(folder.iterdir()))}"
            own.mkdir()
            return listening(own, send)

        return f"listen, {name}", measured

    def endless() -> Iterator[bytes]:
        while True:
            yield b" " * (1 << 16)

    yield live("a body in chunks without an end", lambda port: at_once(4, lambda: post(port, endless())))
    newline_bodies = gzip.compress(b"\n" * (4 << 20)) * 256
    yield live("gzip bodies of a gigabyte", packed_bodies(8, newline_bodies))
    yield live("bodies of lists", lambda port: at_once(20, lambda: post(port, DENSE)))
    yield live("gzip bodies of lists", packed_bodies(20, gzip.compress(DENSE)))
    yield live("a body longer than taken", lambda port: post(port, b"", Content_Length=str(1 << 40)))
    yield live(
        "40 bodies of a byte a while",
        lambda port: at_once(40, lambda: drip(port, HEAD + b"Content-Length: 999999\r\n\r\n")),
    )
    yield live("40 heads of a byte a while", lambda port: at_once(40, lambda: drip(port, HEAD + b"X: ")))
    yield live(
        "40 chunks of a byte a while",
        lambda port: at_once(40, lambda: drip(port, HEAD + b"Transfer-Encoding: chunked\r\n\r\n")),
    )
    yield live("heads without an end", lambda port: at_once(20, lambda: flood(port)))


def flood(port: int) -> None:
    """Send lines of a head without an end."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 4 * SECONDS) as sender:
        sender.sendall(HEAD)
        for number in range(1 << 20):
            sender.sendall(b"X%d: " % number + b"a" * 60_000 + b"\r\n")


def main(arguments: list[str] | None = None) -> int:
    """Run the cases and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bombs", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name holds it")
    only = parser.parse_args(arguments).only
    folder = Path(tempfile.mkdtemp(prefix="bombs-"))
    failed = count = 0
    try:
        for name, measured in doors(folder):
            if only not in name:
                continue
            ended = measured()
            count += 1
            failed += not ended.held
            first = next((line for line in ended.said.splitlines() if "error:" in line or "refused" in line), "")
            mark = "ok  " if ended.held else "FAIL"
            sys.stdout.write(
                f"{mark} {name:42} {ended.memory:5} MB {ended.seconds:5.1f} s {ended.computing:5.1f} s  {ended.code} "
                f"{first[:110]}\n"
            )
            sys.stdout.flush()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.stdout.write(f"{count} cases, {failed} failed\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
