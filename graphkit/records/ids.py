"""Node ids: ``repo:path#symbol``, or ``repo:path`` for a file.

A path may contain a ``#`` (``C#/x.cs``). The files that a dataset names decide where an id is split; otherwise the last
``#`` begins the symbol.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property

#: The most digits of a numeric identifier.
LONGEST_NUMBER = 100


def repo_of(node: str) -> str | None:
    """Return the repository of a node id, or None if it has none.

    >>> repo_of("web:src/login.ts#submit")
    'web'
    >>> repo_of("just-a-name") is None
    True
    """
    repo, colon, _ = node.partition(":")
    return repo if colon and repo else None


class KnownFiles:
    """The files that a dataset names, as ``repo/path``. They are read when the first id with a ``#`` is split.

    ``named`` returns the files: the expected files of questions, and the paths of artifacts.
    """

    def __init__(self, named: Callable[[], Iterable[str]] = tuple) -> None:
        self._named = named
        self.given = named is not tuple

    @cached_property
    def hashed(self) -> frozenset[str]:
        """The files with a ``#`` in their names."""
        return frozenset(file for file in self._named() if "#" in file)

    @cached_property
    def plain(self) -> frozenset[str]:
        """The other files, which only ids with more than one ``#`` need."""
        return frozenset(file for file in self._named() if "#" not in file)

    def split(self, prefix: str, rest: str) -> tuple[str, str] | None:
        """Split ``path#symbol`` after the longest path that is a file, or return None if there is none."""
        path = rest if self.hashed or rest.count("#") > 1 else ""
        while path:
            if f"{prefix}{path}" in (self.hashed if "#" in path else self.plain):
                return path, rest[len(path) + 1 :]
            path = path.rpartition("#")[0]
        return None


def split_node(node: str, files: KnownFiles | None = None) -> tuple[str | None, str | None]:
    """Return the path and the symbol of a node id; None for a missing part, and for both without a repository.

    >>> split_node("web:src/login.ts#submit"), split_node("web:C#/login.cs#submit")
    (('src/login.ts', 'submit'), ('C#/login.cs', 'submit'))
    >>> split_node("web:C#/login.cs"), split_node("web:C#/login.cs", KnownFiles(lambda: ["web/C#/login.cs"]))
    (('C', '/login.cs'), ('C#/login.cs', None))
    """
    repo, colon, rest = node.partition(":")
    if not colon:
        return None, None
    path, symbol = _split(f"{repo}/", rest, files)
    return path or None, symbol or None


def _split(prefix: str, rest: str, files: KnownFiles | None) -> tuple[str, str]:
    if "#" not in rest:
        return rest, ""
    found = files.split(prefix, rest) if files is not None else None
    if found is None:
        path, _, symbol = rest.rpartition("#")
        return path, symbol
    return found


def path_of(node: str, files: KnownFiles | None = None) -> str | None:
    """Return the file path of a node id, or None if the id has no repository.

    >>> path_of("web:src/login.ts#submit")
    'src/login.ts'
    """
    return split_node(node, files)[0]


def symbol_of(node: str, files: KnownFiles | None = None) -> str | None:
    """Return the symbol of a node id, or None for a file.

    >>> symbol_of("web:src/login.ts#submit")
    'submit'
    """
    return split_node(node, files)[1]


def file_id(node: str) -> str:
    """Return the id of a node's file, which is the node itself if it is a file.

    >>> file_id("web:src/login.ts#submit"), file_id("web:src/login.ts")
    ('web:src/login.ts', 'web:src/login.ts')
    """
    symbol = symbol_of(node)
    return node if symbol is None else node.removesuffix(f"#{symbol}")


def short_name(node: str) -> str:
    """Return the shortest name of a node: its symbol, else the name of its file, else its id.

    >>> short_name("web:src/login.ts#submit"), short_name("web:src/login.ts"), short_name("submit")
    ('submit', 'login.ts', 'submit')
    """
    return symbol_of(node) or (path_of(node) or "").rpartition("/")[2] or node


def distinct_names(nodes: Iterable[str]) -> dict[str, str]:
    """Return the short name of each node, lengthened by its file, its path and its repository until all differ.

    >>> distinct_names(["a:m.py#leaf", "a:n.py#leaf", "a:m.py#root"])
    {'a:m.py#leaf': 'm.py#leaf', 'a:n.py#leaf': 'n.py#leaf', 'a:m.py#root': 'root'}
    >>> distinct_names(["a:m.py#leaf", "b:m.py#leaf"])
    {'a:m.py#leaf': 'a:m.py#leaf', 'b:m.py#leaf': 'b:m.py#leaf'}
    """
    longer = {node: iter(_longer_names(node)) for node in nodes}
    names = {node: short_name(node) for node in longer}
    shared = True
    while shared:
        counts = Counter(names.values())
        shared = False
        for node, name in names.items():
            if counts[name] > 1 and name != node:
                names[node], shared = next(longer[node]), True
    return names


def _longer_names(node: str) -> tuple[str, ...]:
    """Return the names of a node that are longer than its short one; the last is its id."""
    rest = node.partition(":")[2]
    path, symbol = split_node(node)
    beside = f"{(path or '').rpartition('/')[2]}#{symbol}" if path and symbol else rest
    return *(name for name in dict.fromkeys((beside, rest)) if name), node


def crosses(source: str, target: str) -> bool:
    """Return whether the ends of an edge name two different repositories."""
    start, end = repo_of(source), repo_of(target)
    return start != end and start is not None and end is not None


def file_of(name: str, files: KnownFiles | None = None) -> str:
    """Return the file of a name as ``repo/path``.

    ``repo:path#symbol``, ``repo:path`` and ``repo/path`` all name the same file.

    >>> file_of("web:src/login.ts#submit"), file_of("web/src/login.ts")
    ('web/src/login.ts', 'web/src/login.ts')
    """
    repo, colon, rest = name.partition(":")
    return f"{repo}/{_split(f'{repo}/', rest, files)[0]}" if colon else _split("", name, files)[0]


#: The ending of a file's path.
_ENDS_AS_FILE = re.compile(r"\.\w{1,20}\Z")


def listed_file(name: str) -> str:
    """Return the file of an entry in a list of files, as ``repo/path``.

    A ``#`` belongs to the path, unless it follows a file's ending or precedes a plain name.

    >>> [listed_file(one) for one in ("x:C#/a.cs", "x:C#/a.cs#F.g", "x:a.ts#f", "x/docs/C#.md", "x:Makefile#all")]
    ['x/C#/a.cs', 'x/C#/a.cs', 'x/a.ts', 'x/docs/C#.md', 'x/Makefile']
    """
    before, _, after = name.rpartition("#")
    if not before or _ENDS_AS_FILE.search(before[-30:]) or not ("/" in after or "." in after):
        return file_of(name)
    repo, colon, rest = name.partition(":")
    return f"{repo}/{rest}" if colon else name


def id_of_text(text: str) -> str:
    """Return an id for a text without one: a digest, which is the same everywhere.

    >>> id_of_text("a")
    'text-ca978112ca1bbdca'
    """
    return f"text-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def id_of(value: object) -> str | None:
    """Return an identifier as a string, since a log may hold it as an integer; None for other values.

    >>> id_of(7), id_of(7.0), id_of("7"), id_of(True), id_of(7.5)
    ('7', '7', '7', None, None)
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        # Python refuses to print integers of several thousand digits.
        return str(value) if abs(value) < 10**LONGEST_NUMBER else None
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else None
