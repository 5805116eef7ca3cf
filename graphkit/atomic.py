"""Files that appear whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphkit.errors import InputError


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file beside ``path``, and move it there when the block ends well.

    Raises
    ------
    InputError
        The folder or the disk refuses; what was at ``path`` is then still there.
    """
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
        os.close(descriptor)
    except OSError as error:
        raise _refused(path, error) from None
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise _refused(path, error) from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _refused(path: Path, error: OSError) -> InputError:
    return InputError(
        f"the file can't be written: {error.strerror or error}", where=str(path), remedy="Choose another place."
    )
