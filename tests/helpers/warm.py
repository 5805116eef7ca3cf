"""The process from which ``tests.helpers.forked`` forks: it has imported what commands import when they run.

For each request it forks a keeper, and this one the process itself: the keeper writes its id and then its exit code.
"""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import socket
import sys
import threading
import traceback
from importlib import import_module
from importlib.util import find_spec

import neo4j
import numpy
import rich.table
import scipy.stats
import typer

import graphkit
from graphkit.analysis import evaluation_findings
from graphkit.cli import main, progress
from graphkit.cli.app import app
from graphkit.plugins.completion.shell_scripts import commands_of
from graphkit.plugins.embedded import client
from graphkit.report import rendering
from graphkit.scoring import evaluate
from tests.helpers import models

progress.LINE_EVERY = 3600.0  # as in tests/conftest.py

#: What takes as long to import as most commands take for their work.
SLOW = (client, evaluate, evaluation_findings, models, neo4j.GraphDatabase, numpy, rendering, rich.table, scipy.stats)


def forked(control: socket.socket) -> list[int] | None:
    """Return the files of a request in the fork that has to fulfil it; None at the end of the tests."""
    keepers: list[int] = []
    while True:
        asked, files, _, _ = socket.recv_fds(control, 1, 5)
        if not asked:
            control.close()
            return None
        keeper = os.fork()
        if not keeper:
            break
        for file in files:
            os.close(file)
        keepers = [one for one in (*keepers, keeper) if not os.waitpid(one, os.WNOHANG)[0]]
    control.close()
    kept = files.pop()
    pid = os.fork()
    if pid:
        os.write(kept, f"{pid}\n".encode())
        os.write(kept, f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n".encode())
        os._exit(0)
    os.close(kept)
    return files


def become(files: list[int]) -> str | None:
    """Take the place, the environment, the streams and the words of a request; return the program if it has one."""
    with os.fdopen(files[0], encoding="utf-8") as file:
        request = json.loads(os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0))
    for number, stream in enumerate(files[1:]):
        if number:
            fcntl.fcntl(stream, fcntl.F_SETFL, fcntl.fcntl(stream, fcntl.F_GETFL) | os.O_APPEND)
        os.dup2(stream, number)
        os.close(stream)
    os.setsid()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv, sys.path[0] = request["words"], request["cwd"]
    program: str | None = request["program"]
    return program


def fulfil(files: list[int]) -> None:
    """Be the process that is asked for, to its end: to take all apart that was imported would take a second."""
    code: object = 0
    program = become(files)
    try:
        if program is None:
            main()
        else:
            exec(compile(program, "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
        code = 1
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


if __name__ == "__main__":
    for _name in graphkit.__all__:
        getattr(graphkit, _name)
    list(commands_of(typer.main.get_command(app)))
    if find_spec("anthropic"):  # an extra, which some environments of tests lack
        import_module("anthropic.resources.beta.messages")
    _files = forked(socket.socket(fileno=int(sys.argv[1])))
    if _files is not None:
        fulfil(_files)
