"""``graphkit serve-graph``."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import command, hand_over, option, present, say, settings, stop_event
from graphkit.cli.options import DATASET_FOLDER
from graphkit.errors import InputError

if TYPE_CHECKING:
    import threading

    from graphkit.plugins.cypher.dataset_graph import DatasetGraph
    from graphkit.plugins.embedded.client import Endpoint

#: Seconds between two looks at the server.
_PAUSE = 0.5


@command(home=True)
def serve_graph(
    *,
    dataset: Path = DATASET_FOLDER,
    stack: list[str] | None = option("--stack NAME", "Serve the graph NAME of a dataset with several."),
    port: int = option("--port", "Serve at this port; 0 chooses a free one.", default=0, min=0, max=65535),
    timeout: float = option("--timeout SECONDS", "End a query after SECONDS.", default=30.0, min=0.1, max=1e6),
) -> None:
    """Serve the graph of a dataset for systems to query.

    It answers Cypher over Bolt, from this machine only, to an account that can't write. Kinds are labels, relations are
    types. Ctrl-C ends the command.
    """
    from graphkit.cli.progress import shown_progress
    from graphkit.plugins.cypher.dataset_graph import kept_graph

    stop = stop_event()
    with kept_graph(dataset, settings().data, stacks=stack or (), timeout=timeout, waiting=shown_progress) as graph:
        for sentence in graph.unused:
            say(f"note: {sentence}")
        while not stop.is_set():
            _check_port(port, graph)
            with shown_progress("starting the database"):
                endpoint = graph.serve(port, shown_progress)
            try:
                _present(endpoint, graph)
                _watch(graph, endpoint, stop)
            finally:
                endpoint.release()


def _check_port(port: int, graph: DatasetGraph) -> None:
    """Refuse a port at which the server can't be."""
    running = graph.address()
    if port and running is not None and not running.endswith(f":{port}"):
        raise InputError(f"the graph is already served at {running}", remedy="Leave out --port, or end who uses it.")
    if port and running is None:
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                free.bind(("127.0.0.1", port))
            except OSError as error:
                reason = error.strerror or str(error)
                raise InputError(f"the port {port} can't be used: {reason}", remedy="Give another --port.") from None


def _present(endpoint: Endpoint, graph: DatasetGraph) -> None:
    """Print the address and the account, in a form that a shell reads."""
    account = {"NEO4J_URI": endpoint.uri, "NEO4J_USERNAME": endpoint.reader_user}
    account |= {"NEO4J_PASSWORD": endpoint.reader_password, "NEO4J_DATABASE": endpoint.database}
    facts = {"uri": endpoint.uri, "username": endpoint.reader_user, "password": endpoint.reader_password}
    facts |= {"database": endpoint.database, "digest": graph.digest}
    present([f"{name}={value}" for name, value in account.items()], {**facts, "stacks": list(graph.stacks)})
    hand_over()
    say("The account only reads, and only this machine is answered; Ctrl-C ends it.")


def _watch(graph: DatasetGraph, endpoint: Endpoint, stop: threading.Event) -> None:
    """Return at a signal, or when the server has died."""
    while not stop.wait(_PAUSE):
        if graph.address() != endpoint.uri:
            say("note: the database stopped, and is started again")
            return
