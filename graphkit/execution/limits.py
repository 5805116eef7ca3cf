"""The limits for the code of an answer."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """The limits of one test, besides its own time limit.

    Attributes
    ----------
    memory
        Bytes of memory.
    disk, file_size, files
        Bytes in the scratch folder, bytes of one file, and the number of files and folders.
    open_files, threads
        Open descriptors, and running threads, at the same time.
    printed
        Bytes of output after which the test is ended; ``kept`` bytes are shown.
    result
        Bytes of the result.
    """

    memory: int = 512 * MIB
    disk: int = 64 * MIB
    file_size: int = 8 * MIB
    files: int = 1000
    open_files: int = 32
    threads: int = 256
    printed: int = 16 * MIB
    kept: int = 4096
    result: int = MIB
