"""Node ids, ``repo:path#symbol`` or ``repo:path`` for a file, and the repository, file and symbol of nodes.

An id needn't have this form: a knowledge graph may state the repository of a node, and ids may be titles. A path may
contain a ``#`` (``C#/x.cs``). The files that a dataset names decide where an id is split; otherwise the last ``#``
begins the symbol.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

#: The most digits of a numeric identifier.
LONGEST_NUMBER = 100

#: The share of ids that must have the form ``repo:path`` if nothing states a repository.
MOST_IDS = 0.9

#: More different parts before a colon aren't repositories, unless they are this share of the ids.
MANY, FEW_IDS = 10, 0.1

#: What stands before a colon and isn't a repository, besides the kinds of the artifacts.
# fmt: off
_KINDS = frozenset((
    "chapter", "chunk", "class", "column", "community", "concept", "doc", "document", "edge", "entity", "enum",
    "event", "field", "file", "ftp", "function", "http", "https", "interface", "isbn", "location", "mailto",
    "method", "module", "node", "organisation", "organization", "package", "paragraph", "person", "place",
    "section", "sentence", "struct", "table", "topic", "type", "uri", "url", "urn", "variable", "wd", "wdt",
))
# fmt: on

#: What follows a repository: a path or a symbol, not numbers of lines. It holds a space only if it is a path, or has a
#: part behind a ``#``.
_PLACE = re.compile(r"(?!\d+(?:-\d+)?\Z)\S(?:\S*\Z|.*(?:/|#|\.\w{1,20}\Z))", re.DOTALL)


#: A symbol of a module or a file, ``flask.app:Flask.run`` or ``src/login.ts:submit``: before the colon is a name with a
#: dot, behind it no path and no file. A class begins with a capital and a small letter, as no ``README.md`` does.
_IN_MODULE = re.compile(r"(?=[^:]*?\w\.\w)[^:]+:(?:[\w$<>]+|[A-Z][a-z]\w*(?:\.[\w$<>]+)+)(?:\(.*\))?\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RepositoryRules:
    """Rules for the repository of a node: a stated one first, else the one in its id.

    Attributes
    ----------
    stated
        The repositories of nodes, by id, where the id contains another one or none.
    prefixes
        The parts before a colon that are repositories; None for all of them.
    kinds
        The parts before a colon that name a kind of node, not a repository.
    pattern
        A regular expression that is matched at the beginning of an id; its group ``repo`` is the repository.
    """

    stated: Mapping[str, str] = field(default_factory=dict)
    prefixes: frozenset[str] | None = None
    kinds: frozenset[str] = frozenset()
    pattern: str | None = None

    def of(self, node: str) -> str | None:
        """Return the repository of a node, or None if it has none.

        >>> RepositoryRules().of("web:src/login.ts#submit")
        'web'
        >>> RepositoryRules(prefixes=frozenset()).of("Harbour 1: A Story") is None
        True
        >>> [RepositoryRules().of(one) for one in ("just-a-name", "std::vector", "https://example.org")]
        [None, None, None]
        """
        return self.stated.get(node) or self.parsed_from(node)

    def parsed_from(self, node: str) -> str | None:
        """Return the repository in an id itself, or None if it contains none."""
        if self.pattern is not None:
            match = re.match(self.pattern, node)
            return (match["repo"] or None) if match else None
        repo, colon, rest = node.partition(":")
        if not colon or not repo or rest.startswith((":", "//")):
            return None
        return repo if repo not in self.kinds and (self.prefixes is None or repo in self.prefixes) else None

    @classmethod
    def inferred(
        cls,
        ids: Collection[str],
        stated: Mapping[str, str],
        names: Collection[str] = (),
        kinds: Iterable[str] = (),
        setting: str | None = None,
    ) -> RepositoryRules:
        """Return the rules that follow from what a dataset states and from the form of its ids.

        Parameters
        ----------
        ids
            The ids of the knowledge graph and of gold.
        stated
            The repositories that the knowledge graph states, by id.
        names
            The repositories that commits name.
        kinds
            The kinds of artifacts, which are no repositories.
        setting
            ``"id"``: each part before a colon is a repository; ``"none"``: no id contains one; else a pattern.

        Where repositories are stated, the others are parsed from ids if nine tenths of the stated ones agree with their
        ids. Where none is stated, nine tenths of the ids must look like ``repo:path``, not like ``module.path:symbol``,
        with few different repositories. Otherwise only a prefix that is stated elsewhere is a repository.
        """
        known = frozenset((*names, *stated.values()))
        if setting is not None:
            found = cls(
                prefixes=None if setting == "id" else frozenset(),
                pattern=None if setting in ("id", "none") else setting,
            )
        else:
            no_repository = frozenset((*_KINDS, *(kind.casefold() for kind in kinds))) - known
            every = cls(kinds=no_repository)
            agreeing = sum(every.parsed_from(node) == repo for node, repo in stated.items())
            in_ids = agreeing >= MOST_IDS * len(stated) if stated else _look_like_repositories(ids, every, known)
            found = every if in_ids else cls(prefixes=known, kinds=no_repository)
        return cls(
            {node: repo for node, repo in stated.items() if found.parsed_from(node) != repo},
            found.prefixes,
            found.kinds,
            found.pattern,
        )


def _look_like_repositories(ids: Collection[str], every: RepositoryRules, known: Collection[str]) -> bool:
    """Return whether nearly all ids look like ``repo:path``, with few different repositories."""
    found: set[str] = set()
    count = 0
    for node in ids:
        repo = every.parsed_from(node)
        if repo is not None and (repo in known or (_PLACE.match(node, len(repo) + 1) and not _IN_MODULE.match(node))):
            count += 1
            found.add(repo)
    few = len(found) <= MANY or len(found) <= FEW_IDS * len(ids)
    return count >= MOST_IDS * len(ids) and few


class KnownFiles(NamedTuple):
    """The files that a dataset names, as ``repo/path``: those with a ``#`` in their names, and the others."""

    hashed: frozenset[str]
    plain: frozenset[str]


class StatedArtifact(NamedTuple):
    """The lines of an artifact, from the first to the last, and its other names."""

    lines: tuple[int, int] | None
    aliases: tuple[str, ...] = ()


#: What knowledge graphs state of artifacts, by the name of the graph and the id.
Stated = Mapping[str, Mapping[str, StatedArtifact]]


class NodeCache(dict[str, T]):
    """A bounded cache of what is found for nodes, and whether nothing was found for one of them so far."""

    def __init__(self, find: Callable[[str], T], most: int = 20_000) -> None:
        super().__init__()
        self.lacks = False
        self._find = find
        self._most = most

    def __missing__(self, node: str) -> T:
        if len(self) >= self._most:
            self.clear()
        found = self[node] = self._find(node)
        self.lacks = self.lacks or found is None
        return found


class Places:
    """Finds the repository, the file and the symbol of each node of a dataset.

    Parameters
    ----------
    files
        Returns the files that the dataset names, from the places without files; they decide where ids are split. It is
        called when the first id with a ``#`` is split.
    repositories
        Returns the rules for repositories. It is called when the first one is asked for.
    stated
        Returns what knowledge graphs state of artifacts. It is called when the first one is asked for.

    >>> places = Places()
    >>> places.repo("web:src/login.ts#submit"), places.split("web:src/login.ts#submit")
    ('web', ('src/login.ts', 'submit'))
    """

    def __init__(
        self,
        files: Callable[[Places], Iterable[str]] | None = None,
        repositories: Callable[[], RepositoryRules] = RepositoryRules,
        stated: Callable[[], Stated] = dict,
    ) -> None:
        self._named = files
        self._repositories = repositories
        self._stated = stated
        #: Whether a dataset gives the files.
        self.given = files is not None

    def with_files(self, files: Callable[[Places], Iterable[str]]) -> Places:
        """Return the same places with other files."""
        return Places(files, lambda: self.repositories, self._stated)

    @cached_property
    def without_files(self) -> Places:
        """The same places without the files that the dataset names."""
        return Places(repositories=lambda: self.repositories)

    def read(self, stated: bool = False) -> Places:
        """Return the same places, with what they need in memory, for other processes.

        These read the graphs' own statements themselves, unless they are ``stated`` here.
        """
        files = tuple(sorted(self.files.hashed | self.files.plain))
        return Places(_Fixed(files), _Fixed(self.repositories), _Fixed(self.stated) if stated else self._stated)

    @cached_property
    def files(self) -> KnownFiles:
        """The files that the dataset names."""
        every = frozenset(self._named(self.without_files)) if self._named is not None else frozenset()
        hashed = frozenset(file for file in every if "#" in file)
        return KnownFiles(hashed, every - hashed)

    @cached_property
    def repositories(self) -> RepositoryRules:
        """The rules for repositories."""
        return self._repositories()

    @cached_property
    def stated(self) -> Stated:
        """The artifacts as the knowledge graphs state them."""
        return self._stated()

    @cached_property
    def _found(self) -> NodeCache[str | None]:
        return NodeCache(self.repositories.of, 100_000)

    @cached_property
    def _files(self) -> NodeCache[str]:
        return NodeCache(self._file_of)

    @cached_property
    def _names(self) -> NodeCache[tuple[str, ...]]:
        return NodeCache(self._names_of)

    def __getstate__(self) -> dict[str, object]:
        # The repositories go along: reading them again takes longer.
        left = ("_found", "_files", "_names", "without_files", "stated")
        kept = {name: value for name, value in self.__dict__.items() if name not in left}
        return {**kept, "_repositories": _Fixed(self.repositories)}

    def repo(self, node: str) -> str | None:
        """Return the repository of a node, or None if it has none."""
        return self._found[node]

    def named(self, nodes: Iterable[str]) -> set[str]:
        """Return the repositories of some nodes."""
        found = self._found
        return {repo for node in nodes if (repo := found[node]) is not None}

    def crosses(self, source: str, target: str) -> bool:
        """Return whether the ends of an edge lie in two different repositories."""
        start, end = self._found[source], self._found[target]
        return start != end and start is not None and end is not None

    def boundary(self, edges: Iterable[tuple[str, str | None, str]]) -> list[tuple[str, str | None, str]]:
        """Return the edges whose ends lie in different repositories."""
        found = self._found
        return [
            edge
            for edge in edges
            if (start := found[edge[0]]) != (end := found[edge[2]]) and start is not None and end is not None
        ]

    def split(self, node: str) -> tuple[str | None, str | None]:
        """Return the path and the symbol of an id; None for a missing part, and for both without a repository in it.

        >>> places = Places(lambda _: ["web/C#/login.cs"])
        >>> Places().split("web:C#/login.cs"), places.split("web:C#/login.cs"), places.split("web:C#/login.cs#submit")
        (('C', '/login.cs'), ('C#/login.cs', None), ('C#/login.cs', 'submit'))
        """
        rest = self._within(node)
        if rest is None:
            return None, None
        path, symbol = self._cut(f"{node[: -len(rest) - 1]}/" if rest else "", rest)
        return path or None, symbol or None

    def _within(self, node: str) -> str | None:
        """Return what follows the repository in an id that begins with it."""
        repo, colon, rest = node.partition(":")
        return rest if colon and repo == self._found[node] else None

    def _cut(self, prefix: str, rest: str) -> tuple[str, str]:
        """Split ``path#symbol`` after the longest path that is a file, else at its last ``#``."""
        if "#" not in rest:
            return rest, ""
        files = self.files
        path = rest if files.hashed or rest.count("#") > 1 else ""
        while path:
            if f"{prefix}{path}" in (files.hashed if "#" in path else files.plain):
                return path, rest[len(path) + 1 :]
            path = path.rpartition("#")[0]
        path, _, symbol = rest.rpartition("#")
        return path, symbol

    def lines(self, node: str, graph: str | None = None) -> tuple[int, int] | None:
        """Return the lines of an artifact: in the graph of that name, else where all graphs that state them agree."""
        found = {one.lines for one in self._stated_of(node, graph) if one.lines}
        return found.pop() if len(found) == 1 else None

    def aliases(self, node: str, graph: str | None = None) -> tuple[str, ...]:
        """Return the aliases of an artifact: in the graph of that name, else in all graphs."""
        return tuple(name for one in self._stated_of(node, graph) for name in one.aliases)

    def _stated_of(self, node: str, graph: str | None) -> list[StatedArtifact]:
        read = self.stated
        return [one for name, held in read.items() if (name == graph or graph not in read) and (one := held.get(node))]

    def path(self, node: str) -> str | None:
        """Return the file path in a node's id, or None if it has none."""
        return self.split(node)[0]

    def symbol(self, node: str) -> str | None:
        """Return the symbol in a node's id, or None for a file."""
        return self.split(node)[1]

    def file(self, name: str) -> str:
        """Return the file of a name as ``repo/path``.

        ``repo:path#symbol``, ``repo:path`` and ``repo/path`` all name the same file.

        >>> Places().file("web:src/login.ts#submit"), Places().file("web/src/login.ts")
        ('web/src/login.ts', 'web/src/login.ts')
        """
        return self._files[name]

    def _file_of(self, name: str) -> str:
        rest = self._within(name)
        if rest is None:
            return self._cut("", name)[0] if ":" not in name else name
        repo = name.partition(":")[0]
        return f"{repo}/{self._cut(f'{repo}/', rest)[0]}"

    def listed_file(self, name: str) -> str:
        """Return the file of an entry in a list of files, as ``repo/path``.

        A ``#`` belongs to the path, unless it follows a file's ending or precedes a plain name.

        >>> [Places().listed_file(one) for one in ("x:C#/a.cs", "x:C#/a.cs#F.g", "x:a.ts#f", "x/docs/C#.md")]
        ['x/C#/a.cs', 'x/C#/a.cs', 'x/a.ts', 'x/docs/C#.md']
        """
        before, _, after = name.rpartition("#")
        if not before or _ENDS_AS_FILE.search(before[-30:]) or not ("/" in after or "." in after):
            return self.without_files.file(name)
        rest = self._within(name)
        return name if rest is None else f"{name.partition(':')[0]}/{rest}"

    def file_id(self, node: str) -> str:
        """Return the id of a node's file, which is the node itself if it is a file.

        >>> Places().file_id("web:src/login.ts#submit"), Places().file_id("web:src/login.ts")
        ('web:src/login.ts', 'web:src/login.ts')
        """
        symbol = self.symbol(node)
        return node if symbol is None else node.removesuffix(f"#{symbol}")

    def names(self, node: str) -> tuple[str, ...]:
        """Return the names by which a node may be shown, the shortest first and its id last.

        The shortest one is its symbol, else the name of its file, else its id.

        >>> Places().names("web:src/login.ts#submit"), Places().names("submit")
        (('submit', 'login.ts#submit', 'src/login.ts#submit', 'web:src/login.ts#submit'), ('submit',))
        """
        return self._names[node]

    def _names_of(self, node: str) -> tuple[str, ...]:
        path, symbol = self.split(node)
        base = (path or "").rpartition("/")[2]
        short = symbol or base
        beside = f"{base}#{symbol}" if path and symbol else ""
        within = self._within(node) or ""
        return (*dict.fromkeys(name for name in (short, beside, within, node) if name),)

    def short_name(self, node: str) -> str:
        """Return the shortest name of a node: its symbol, else the name of its file, else its id."""
        return self.names(node)[0]


class _Fixed(Generic[T]):
    """Returns a value that was read before."""

    def __init__(self, value: T) -> None:
        self._value = value

    def __call__(self, *_: object) -> T:
        return self._value


def distinct_names(names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the shortest name of each node that tells it from the others; ``names`` are those of ``Places.names``.

    >>> of = Places().names
    >>> distinct_names({node: of(node) for node in ("a:m.py#leaf", "a:n.py#leaf", "a:m.py#root")})
    {'a:m.py#leaf': 'm.py#leaf', 'a:n.py#leaf': 'n.py#leaf', 'a:m.py#root': 'root'}
    >>> distinct_names({node: of(node) for node in ("a:m.py#leaf", "b:m.py#leaf")})
    {'a:m.py#leaf': 'a:m.py#leaf', 'b:m.py#leaf': 'b:m.py#leaf'}
    """
    found = {node: some[0] for node, some in names.items()}
    if len({*found.values()}) == len(found):
        return found
    longer = {node: iter(some[1:]) for node, some in names.items()}
    last = {node: some[-1] for node, some in names.items()}
    shared = True
    while shared:
        counts = Counter(found.values())
        shared = False
        for node, name in found.items():
            if counts[name] > 1 and name != last[node]:
                found[node], shared = next(longer[node]), True
    return found


#: The ending of a file's path.
_ENDS_AS_FILE = re.compile(r"\.\w{1,20}\Z")


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
