"""The process that fills a new embedded database: ``python -m graphkit.plugins.embedded.bulk_server FOLDER FD FD N``.

It holds the server's lock, so no server runs meanwhile, and uses ArcadeDB's batch importer without a network. The new
database takes the place of the empty one when it is complete; until then nothing of it can be seen.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import IO, Any, NoReturn

from graphkit.plugins.embedded.alone import reply, work_alone
from graphkit.plugins.embedded.exchange import place, settle
from graphkit.plugins.embedded.import_batches import ImportBatches
from graphkit.plugins.embedded.place import Layout
from graphkit.plugins.embedded.server import start_jvm


def main(arguments: list[str]) -> NoReturn:
    """Read frames from one descriptor until the last one, and answer to another."""
    with os.fdopen(int(arguments[1]), "rb") as frames:
        together = int(arguments[3])
        folder, descriptor = Path(arguments[0]), int(arguments[2])
        work_alone(folder, descriptor, "bulk load", lambda layout, replies: _run(layout, frames, replies, together))


def _run(layout: Layout, frames: IO[bytes], replies: IO[bytes], together: int) -> None:
    jpype, _ = start_jvm(layout)
    if layout.database.exists() and (nodes := _nodes(jpype, layout.database)):
        reply(replies, {"nodes": nodes})
        return
    layout.partial.parent.mkdir(mode=0o700)
    reply(replies, {})
    if _Import(jpype, layout.partial, replies, together).read(frames):
        place(layout)
        reply(replies, {})
    else:
        settle(layout)


def _nodes(jpype: Any, folder: Path) -> int:
    """Return how many nodes a database holds, without the one that states its form."""
    database = jpype.JClass("com.arcadedb.database.DatabaseFactory")(str(folder)).open()
    vertex_type = jpype.JClass("com.arcadedb.schema.VertexType")
    try:
        names = [str(one.getName()) for one in database.getSchema().getTypes() if isinstance(one, vertex_type)]
        return sum(int(database.countType(name, False)) for name in names if name != "Graphkit")
    finally:
        database.close()


class _Import:
    """One import: frames of nodes and relationships, each a header and its rows as JSON."""

    def __init__(self, jpype: Any, folder: Path, replies: IO[bytes], together: int) -> None:
        self._replies = replies
        self._vertices = jpype.JClass("com.arcadedb.python.VertexBatcher")
        self._edges = jpype.JClass("com.arcadedb.python.EdgeBatcher")
        self._time = jpype.JClass("java.time.ZonedDateTime")
        self._rid = jpype.JClass("com.arcadedb.database.RID")
        self._objects = jpype.JArray(jpype.JObject)
        self._matrix = jpype.JArray(jpype.JObject, 2)
        self._long = jpype.JLong
        self._list = jpype.JClass("java.util.ArrayList")
        self._database = jpype.JClass("com.arcadedb.database.DatabaseFactory")(str(folder)).create()
        self._batches = ImportBatches(self._database, together)

    def read(self, frames: IO[bytes]) -> bool:
        """Import frames; return False if they end before the last one, as they do when the client dies."""
        while line := frames.readline():
            header = json.loads(line)
            if "schema" in header:
                self._batches.current.close()
                for statement in header["schema"]:
                    self._database.command("opencypher", statement)
                self._database.close()
                return True
            rows = frames.read(header["bytes"])
            if len(rows) < header["bytes"]:
                break
            if "label" in header:
                self._create(header["label"], rows, header["times"])
            else:
                self._relate(header["type"], rows, header["times"])
                self._batches.related(header["rows"])
        self._batches.current.abandon()
        self._database.close()
        return False

    def _create(self, label: str, rows: bytes, times: list[str]) -> None:
        self._declare(label, "createVertexType")
        if times:
            matrix = self._matrix([self._objects(self._values(row, times)) for row in json.loads(rows)])
            created = ";".join(str(rid) for rid in self._batches.current.createVertices(label, matrix))
        else:
            created = str(self._vertices.createVerticesJson(self._batches.current, label, rows.decode()))
        self._replies.write(created.encode() + b"\n")
        self._replies.flush()

    def _relate(self, kind: str, rows: bytes, times: list[str]) -> None:
        self._declare(kind, "createEdgeType")
        if not times:
            self._edges.newEdgesJson(self._batches.current, kind, rows.decode())
            return
        for row in json.loads(rows):
            source, target = self._rid(row.pop("_src")), self._rid(row.pop("_dst"))
            self._batches.current.newEdge(source, kind, target, *self._values(row, times))

    def _declare(self, name: str, create: str) -> None:
        schema = self._database.getSchema()
        if not schema.existsType(name):
            getattr(schema, create)(name, 1)

    def _values(self, row: dict[str, Any], times: list[str]) -> list[Any]:
        """Return names and values in turn, as the importer takes them; times aren't known to JSON."""
        return [
            part
            for name, value in row.items()
            for part in (name, self._time.parse(value) if name in times else self._value(value))
        ]

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return self._list([self._value(item) for item in value])
        return self._long(value) if type(value) is int else value


if __name__ == "__main__":
    main(sys.argv[1:])
