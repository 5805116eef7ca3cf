"""Records buffered in a temporary file, from their validation until they are written."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Self, TypeVar

import msgspec
from msgspec import Struct

from graphkit.errors import InputError

S = TypeVar("S", bound=Struct)

#: The number of records in a pack.
TOGETHER = 100

#: The number of bytes in memory before a file is made; small data never reaches the disk.
IN_MEMORY = 1 << 20

_SIZE = 4


class Packer(Generic[S]):
    """Packs records under their canonical names, whatever the spelling in their file."""

    def __init__(self, kind: type[S]) -> None:
        fields = msgspec.structs.fields(kind)
        self._kind = kind
        self._count = len(fields)
        self._encode = msgspec.msgpack.Encoder().encode
        values: Any = tuple.__class_getitem__(tuple(field.type for field in fields))
        self._decode = msgspec.msgpack.Decoder(list[values]).decode

    def pack(self, records: Iterable[S]) -> bytes:
        """Return records as bytes."""
        # A record from a reader has further fields behind its own, for other spellings.
        return self._encode([msgspec.structs.astuple(record)[: self._count] for record in records])

    def unpack(self, message: bytes) -> Iterator[S]:
        """Yield the records in the bytes of :meth:`pack`."""
        kind = self._kind
        return (kind(*values) for values in self._decode(message))


class Spool(Generic[S]):
    """A buffer of records of one kind, which can be read in their order several times."""

    def __init__(self, kind: type[S], together: int = TOGETHER) -> None:
        self._packer = Packer(kind)
        self._together = together
        self._waiting: list[S] = []
        self._count = 0
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY, prefix="graphkit-")  # noqa: SIM115 - closed by close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return self._count

    def put(self, record: S) -> None:
        """Add a record."""
        self._count += 1
        self._waiting.append(record)
        if len(self._waiting) == self._together:
            self._pack()

    def keep(self, records: Iterable[S]) -> Iterator[S]:
        """Add each record, and yield it."""
        for record in records:
            self.put(record)
            yield record

    def put_packed(self, message: bytes, count: int) -> None:
        """Add records that were packed elsewhere, with their number."""
        self._pack()
        self._count += count
        self._write(message)

    def flush(self) -> None:
        """Write the buffered records, so that a full disk is an error here and not when the records are read back.

        Raises
        ------
        InputError
            The temporary file can't be written; :meth:`put` and :meth:`put_packed` raise it as well.
        """
        self._pack()
        self._guarded(self._file.flush)

    def _pack(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self._write(self._packer.pack(waiting))

    def _write(self, message: bytes) -> None:
        self._guarded(self._file.write, len(message).to_bytes(_SIZE, "little") + message)

    def _guarded(self, write: Callable[..., object], *given: bytes) -> None:
        try:
            write(*given)
        except OSError as error:
            raise InputError(
                f"the temporary file for records that were read can't be written: {error.strerror or error}",
                where=tempfile.gettempdir(),
                remedy="Make room there, or name another folder by TMPDIR.",
            ) from None

    def __iter__(self) -> Iterator[S]:
        self.flush()
        self._file.seek(0)
        while size := self._file.read(_SIZE):
            yield from self._packer.unpack(self._file.read(int.from_bytes(size, "little")))
