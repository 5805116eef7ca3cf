"""Records put aside in a temporary file, between the reading that checks them and the writing that takes them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Self, TypeVar

import msgspec
from msgspec import Struct

from graphkit.errors import InputError

S = TypeVar("S", bound=Struct)

#: How many records are packed together.
TOGETHER = 100

#: What is kept in memory before a file is made, in bytes: small data never touches the disk.
IN_MEMORY = 1 << 20

_SIZE = 4


class Packer(Generic[S]):
    """Packs records as they are read: under the names of their own kind, in whatever spelling a file had them."""

    def __init__(self, kind: type[S]) -> None:
        fields = msgspec.structs.fields(kind)
        self._kind = kind
        self._count = len(fields)
        self._encode = msgspec.msgpack.Encoder().encode
        values: Any = tuple.__class_getitem__(tuple(field.type for field in fields))
        self._decode = msgspec.msgpack.Decoder(list[values]).decode

    def pack(self, records: Iterable[S]) -> bytes:
        """Return records as bytes."""
        # A record that a reader made has further fields behind its own: those that stand for other spellings.
        return self._encode([msgspec.structs.astuple(record)[: self._count] for record in records])

    def unpack(self, message: bytes) -> Iterator[S]:
        """Yield the records of what :meth:`pack` returned."""
        kind = self._kind
        return (kind(*values) for values in self._decode(message))


class Spool(Generic[S]):
    """Takes records of one kind one after the other, and gives them back in that order, as often as asked."""

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
        """Put a record aside."""
        self._count += 1
        self._waiting.append(record)
        if len(self._waiting) == self._together:
            self._pack()

    def keep(self, records: Iterable[S]) -> Iterator[S]:
        """Put each record aside, and pass it on."""
        for record in records:
            self.put(record)
            yield record

    def put_packed(self, message: bytes, count: int) -> None:
        """Put aside records that were packed elsewhere, and how many they are."""
        self._pack()
        self._count += count
        self._write(message)

    def flush(self) -> None:
        """Write what is still buffered, so that a full disk is an error here and not when the records are read back.

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
