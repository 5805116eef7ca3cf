"""The process that compacts the embedded database: ``python -m ...embedded.compact_server FOLDER FD SCHEMA``.

It holds the server's lock, so no server runs meanwhile, and copies every record into a new database, which takes the
place of the former one when it is complete. It answers to the descriptor by lines of JSON.
"""

from __future__ import annotations

import json
import shutil
import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NoReturn

from graphkit.plugins.embedded.alone import reply, work_alone
from graphkit.plugins.embedded.exchange import place
from graphkit.plugins.embedded.folder import bytes_by_kind
from graphkit.plugins.embedded.import_batches import ImportBatches
from graphkit.plugins.embedded.place import Layout
from graphkit.plugins.embedded.server import start_jvm

#: Records that are reported, and nodes that are created, together.
_PACK = 2000


def main(arguments: list[str]) -> NoReturn:
    """Compact the database of a folder."""
    schema = json.loads(arguments[2])
    folder, descriptor = Path(arguments[0]), int(arguments[1])
    work_alone(folder, descriptor, "compaction", lambda layout, replies: _run(layout, schema, replies))


def _run(layout: Layout, schema: list[str], replies: IO[bytes]) -> None:
    if not layout.database.exists():
        reply(replies, {"before": 0, "after": 0})
        return
    jpype, _ = start_jvm(layout)
    factory = jpype.JClass("com.arcadedb.database.DatabaseFactory")
    former = factory(str(layout.database)).open()  # what a killed server left in its log comes into the files
    before = sum(bytes_by_kind(layout.database).values())
    if (free := shutil.disk_usage(layout.directory).free) < before:
        former.close()
        reply(replies, {"needed": before, "free": free})
        return
    layout.partial.parent.mkdir(mode=0o700)
    new = factory(str(layout.partial)).create()
    _Copy(jpype, former, new, lambda count: reply(replies, {"records": count})).run()
    for statement in schema:
        new.command("opencypher", statement)
    new.close()
    former.close()
    place(layout)
    reply(replies, {"before": before, "after": sum(bytes_by_kind(layout.database).values())})


class _Copy:
    """One copy of all nodes and relationships of a database into an empty one; properties stay Java's values."""

    def __init__(self, jpype: Any, former: Any, new: Any, done: Callable[[int], None]) -> None:
        self._former, self._new, self._done = former, new, done
        self._rid = jpype.JClass("com.arcadedb.database.RID")
        self._objects = jpype.JArray(jpype.JObject)
        self._matrix = jpype.JArray(jpype.JObject, 2)
        vertex = jpype.JClass("com.arcadedb.schema.VertexType")
        kinds = list(former.getSchema().getTypes())
        self._labels = [kind for kind in kinds if isinstance(kind, vertex)]
        self._types = [kind for kind in kinds if not isinstance(kind, vertex)]
        #: By the number of a former bucket: the new bucket, and former and new places of its nodes, in their order.
        self._places: dict[int, tuple[int, array[int], array[int]]] = {}

    def run(self) -> None:
        """Copy everything.

        Raise RuntimeError if the copy differs in the number of any kind.
        """
        schema = self._new.getSchema()
        for kind in self._labels:
            schema.createVertexType(kind.getName(), 1)
        for kind in self._types:
            schema.createEdgeType(kind.getName(), 1)
        self._batches = ImportBatches(self._new)
        for kind in self._labels:
            for bucket in kind.getBuckets(False):
                self._nodes(str(kind.getName()), bucket)
        for kind in self._types:
            for bucket in kind.getBuckets(False):
                self._relationships(str(kind.getName()), bucket)
        self._batches.current.close()
        for kind in (*self._labels, *self._types):
            name = kind.getName()
            if (copied := self._new.countType(name, False)) != (there := self._former.countType(name, False)):
                raise RuntimeError(f"{copied} of {there} records of {name} were copied")

    def _nodes(self, name: str, bucket: Any) -> None:
        former, new = array("q"), array("q")
        for records in self._records(bucket):
            former.extend(record.getIdentity().getPosition() for record in records)
            rows = [self._objects(self._properties(record)) for record in records]
            created = self._batches.current.createVertices(name, self._matrix(rows))
            new.extend(rid.getPosition() for rid in created)
            self._places[bucket.getFileId()] = (created[0].getBucketId(), former, new)

    def _relationships(self, name: str, bucket: Any) -> None:
        for records in self._records(bucket):
            for record in records:
                source, target = self._moved(record.getOut()), self._moved(record.getIn())
                self._batches.current.newEdge(source, name, target, record.propertiesAsMap())
            self._batches.related(len(records))

    def _moved(self, rid: Any) -> Any:
        """Return the new place of a node."""
        bucket, former, new = self._places[rid.getBucketId()]
        position = rid.getPosition()
        place = bisect_left(former, position)
        if former[place] != position:
            raise RuntimeError(f"a relationship leads to {rid}, where no node is")
        return self._rid(bucket, new[place])

    def _records(self, bucket: Any) -> Iterator[list[Any]]:
        """Yield the records of a bucket in packs, in the order of their places."""
        found = self._former.iterateBucket(bucket.getName())
        pack: list[Any] = []
        while found.hasNext():
            pack.append(found.next())
            if len(pack) == _PACK:
                yield pack
                self._done(len(pack))
                pack = []
        if pack:
            yield pack
            self._done(len(pack))

    def _properties(self, record: Any) -> list[Any]:
        return [part for entry in record.propertiesAsMap().entrySet() for part in (entry.getKey(), entry.getValue())]


if __name__ == "__main__":
    main(sys.argv[1:])
