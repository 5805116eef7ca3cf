"""The limits for the code of an answer."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """The limits of one test, besides its own time limit."""

    memory: int = 512 * MIB  # bytes of memory
    #: Bytes in the scratch folder, bytes of one file, and the number of files and folders.
    disk: int = 64 * MIB
    file_size: int = 8 * MIB
    files: int = 1000
    #: Open descriptors, and running threads, at the same time.
    open_files: int = 32
    threads: int = 256
    printed: int = 16 * MIB  # bytes of output after which the test is ended; ``kept`` bytes are shown
    kept: int = 4096
    result: int = MIB  # bytes of the result
