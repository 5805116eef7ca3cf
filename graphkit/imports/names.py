"""Finds the id in a dataset for a name in a log."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from graphkit.errors import InputError, did_you_mean
from graphkit.files.tables import is_table, meant, read_table
from graphkit.imports.sources import values_of
from graphkit.records.ids import Places
from graphkit.records.words import shortened

#: Between the expression and the template of an id pattern.
ARROW = "=>"

#: How a symbol that only one file has was found.
_BY_SYMBOL = "by the name of a symbol, which only one file has"

_GROUPS = ("id", "repo", "path", "symbol")
_FORM = (
    'A pattern is a regular expression with groups, such as "(?P<repo>[^/]+)/(?P<path>[^:]+):(?P<symbol>.+)", '
    'or one with the id that they make: "(?P<package>[^.]+)\\.(?P<rest>.+) => {package}:{rest}".'
)


class IdPattern:
    """A regular expression that matches a whole name, and makes an id from its groups.

    Parameters
    ----------
    text
        ``REGEX`` with a group ``id``, or with groups ``path`` and optionally ``repo`` and ``symbol``, which make
        ``repo:path#symbol``; or ``REGEX => TEMPLATE``, whose template names any groups in braces.

    Raises
    ------
    InputError
        The text isn't such a pattern.

    >>> IdPattern(r"(?P<repo>\\w+)/(?P<path>[^#]+)(#(?P<symbol>.+))?").id_of("web/src/a.ts#f")
    'web:src/a.ts#f'
    >>> IdPattern(r"(?P<pkg>\\w+)\\.(?P<mod>\\w+) => {pkg}:src/{mod}.py").id_of("web.login")
    'web:src/login.py'
    """

    def __init__(self, text: str) -> None:
        expression, arrow, template = (part.strip() for part in text.partition(ARROW))
        try:
            self._expression = re.compile(expression)
        except re.error as error:
            raise InputError(f"the id pattern isn't a regular expression: {error}", remedy=_FORM) from None
        groups = self._expression.groupindex
        if not arrow:
            if "id" not in groups and "path" not in groups:
                raise InputError("the id pattern names neither a group id nor a group path", remedy=_FORM)
            if unknown := sorted(groups.keys() - set(_GROUPS)):
                remedy = f"{did_you_mean(unknown[0], _GROUPS)}{_FORM}"
                raise InputError(f"the id pattern has a group {unknown[0]!r}, which is no part of an id", remedy=remedy)
        self._template = template
        if arrow:
            named = re.findall(r"{(\w*)}", template)
            if not named or any(name not in groups for name in named) or re.search(r"[{}]", _filled(template, {})):
                what = f"the template {template!r} must name groups of the id pattern in braces"
                raise InputError(what, remedy=_FORM)

    def id_of(self, name: str) -> str | None:
        """Return the id of a name, or None if the expression doesn't match all of it."""
        match = self._expression.fullmatch(name)
        if match is None:
            return None
        parts = {group: part or "" for group, part in match.groupdict().items()}
        if self._template:
            return _filled(self._template, parts)
        if parts.get("id"):
            return parts["id"]
        repo, path, symbol = (parts.get(group, "") for group in ("repo", "path", "symbol"))
        return f"{repo}:{path}" * bool(repo) + path * (not repo) + f"#{symbol}" * bool(symbol)


def _filled(template: str, parts: Mapping[str, str]) -> str:
    return re.sub(r"{(\w*)}", lambda found: parts.get(found[1], ""), template)


def read_ids(path: Path) -> dict[str, str]:
    """Read ids: a table or JSON Lines with ``name`` and ``id``, or one JSON object.

    Raises
    ------
    InputError
        A row lacks its name or its id, or a name has two ids.
    """
    return read_pairs(path, "name", "id", '{"name": "pkg.mod.f", "id": "repo:pkg/mod.py#f"}')


def read_pairs(path: Path, key: str, value: str, example: str) -> dict[str, str]:
    """Read a table or JSON Lines with two columns, or one JSON object, as a mapping of the first to the second.

    Raises
    ------
    InputError
        A row lacks one of both, or a key has two values; the remedy shows the ``example``.
    """
    found: dict[str, str] = {}
    for where, name, given in _pairs(path, key, value):
        if not (isinstance(name, str) and name and isinstance(given, str) and given):
            what = f"the row needs the fields {key} and {value}, both strings"
            raise InputError(what, where=where, remedy=f"Write rows such as {example}.")
        if found.setdefault(name, given) != given:
            what = f"the {key} has two values of {value}: {shortened(found[name])} and {shortened(given)}"
            remedy = "Keep the one that is meant."
            raise InputError(what, where=f"{where}: {key} {shortened(name)!r}", remedy=remedy)
    return found


def _pairs(path: Path, key: str, value: str) -> Iterator[tuple[str, Any, Any]]:
    if ".csv" in path.suffixes or is_table(path):
        for number, row in read_table(path):
            yield f"{path}:{number}", meant(row.get(key, "")), meant(row.get(value, ""))
        return
    for where, given in values_of(path):
        if not isinstance(given, dict) or key in given or value in given:
            row = given if isinstance(given, dict) else {}
            yield where, row.get(key), row.get(value)
        else:
            yield from ((where, name, one) for name, one in given.items())


def id_sources(
    ids: str | Path | Mapping[str, str] | None, pattern: str | None
) -> tuple[Mapping[str, str] | None, IdPattern | None]:
    """Return the table of ids, read if a file is given, and the pattern."""
    table = ids if ids is None or isinstance(ids, Mapping) else read_ids(Path(ids))
    return table, IdPattern(pattern) if pattern is not None else None


class Names:
    """Finds ids by a table, by a pattern, or by the name itself.

    The first of these that the dataset knows is used. If the dataset knows none of them exactly, they are compared
    regardless of letter case, by path without the repository, by the repository and the path as folders, by the end of
    a file's path, and where names may be those of symbols, by the symbol; each of these counts only if it fits one id.
    If nothing fits, the id is that of the table, else of the pattern, else the name itself.

    Attributes
    ----------
    how
        The number of distinct names by how their id was found.
    given
        Whether there is a table or a pattern.
    several
        The names that end several files' paths, with two of these files. Such a name finds none of them.
    """

    def __init__(
        self,
        known: Collection[str],
        table: Mapping[str, str] | None = None,
        pattern: IdPattern | None = None,
        places: Places | None = None,
    ) -> None:
        self.known = known
        self._places = Places() if places is None else places
        self.how: dict[str, int] = {}
        self.given = table is not None or pattern is not None
        self.several: dict[str, tuple[str, str]] = {}
        self._table = table or {}
        self._pattern = pattern
        self._found: dict[str, str] = {}
        self._symbols: dict[str, str] = {}

    def of(self, known: Collection[str]) -> Names:
        """Return a finder with the same table and pattern for other known ids."""
        return Names(known, self._table if self.given else None, self._pattern, self._places)

    def is_id(self, value: str) -> bool:
        """Return whether a value is an id of the dataset, or the table or the pattern makes one of it."""
        made = (self._table.get(value), self._pattern.id_of(value) if self._pattern is not None else None)
        return value in self.known or any(one in self.known for one in made if one is not None)

    def id_of(self, name: str, symbols: bool = False) -> str:
        """Return the id of a name, which may be that of a symbol alone if ``symbols``."""
        if symbols and (found := self._of_symbol(name)) is not None:
            return found
        found = self._found.get(name)
        if found is None:
            found, how = self._looked_up(name)
            self._found[name] = found
            self.how[how] = self.how.get(how, 0) + 1
        return found

    def _of_symbol(self, name: str) -> str | None:
        """Return the only id with a symbol that is a name, if the name isn't known in another way."""
        found = self._symbols.get(name)
        if found is None and (meant := self._known_by_symbol.get(name)) is not None:
            if self._looked_up(name)[0] in self.known:
                return None
            found = self._symbols[name] = meant
            self.how[_BY_SYMBOL] = self.how.get(_BY_SYMBOL, 0) + 1
        return found

    def _looked_up(self, name: str) -> tuple[str, str]:
        candidates: list[tuple[str, str]] = []
        if name in self._table:
            candidates.append((self._table[name], "by the table"))
        elif (given := self._table_by_case.get(name.casefold())) is not None:
            candidates.append((given, "by the table, regardless of letter case"))
        if self._pattern is not None and (given := self._pattern.id_of(name)) is not None:
            candidates.append((given, "by the pattern"))
        candidates.append((name, "as they are"))
        for given, how in candidates:
            if given in self.known:
                return given, how
        for given, how in candidates:
            if (meant := self._known_by_case.get(given.casefold())) is not None:
                return meant, how if "letter case" in how else f"{how}, regardless of letter case"
        for given, how in candidates:
            if (meant := self._known_by_path.get(given)) is not None:
                return meant, "by the path" if how == "as they are" else f"{how}, and the path"
            if (meant := self._known_by_folder.get(given)) is not None:
                return meant, "by the repository and the path"
        for given, how in candidates:
            ends = [one for one in self._files_by_name.get(given.rpartition("/")[2], ()) if one.endswith(f"/{given}")]
            if len(ends) == 1:
                return ends[0], "by the end of the path" if how == "as they are" else f"{how}, and the end of the path"
            if len(ends) > 1:
                self.several.setdefault(name, (ends[0], ends[1]))
        if name.startswith("/") and (within := self._within_folder(name)) is not None:
            return within, "by the path within a folder"
        return candidates[0]

    def _within_folder(self, name: str) -> str | None:
        """Return the file with the longest path, of two parts at least, that ends an absolute path."""
        file, sign, symbol = name.partition("#")
        ends = [
            one
            for one in self._files_by_name.get(file.rpartition("/")[2], ())
            if file.endswith(f"/{self._places.path(one)}")
        ]
        longest = max((len(self._places.path(one) or "") for one in ends), default=0)
        best = [one for one in ends if len(self._places.path(one) or "") == longest]
        if not best:  # a file at the root of its repository, behind the repository's name
            parts = name.split("/")
            tails = ("/".join(parts[place:]) for place in range(1, len(parts) - 1))
            return next((meant for tail in tails if (meant := self._known_by_folder.get(tail)) is not None), None)
        if len(best) > 1:
            self.several.setdefault(name, (best[0], best[1]))
        found = f"{best[0]}{sign}{symbol}" if len(best) == 1 else None
        return found if found in self.known else None

    @cached_property
    def _table_by_case(self) -> dict[str, str | None]:
        return _unique((name.casefold(), given) for name, given in self._table.items())

    @cached_property
    def _known_by_case(self) -> dict[str, str | None]:
        return _unique((one.casefold(), one) for one in self.known)

    @cached_property
    def _known_by_path(self) -> dict[str, str | None]:
        """Return the ids by their path and symbol, without the repository."""
        split = self._places.split
        parts = (("#".join(filter(None, split(one))), one) for one in self.known)
        return _unique((path, one) for path, one in parts if path)

    @cached_property
    def _known_by_symbol(self) -> dict[str, str | None]:
        """Return the ids of symbols by the symbol alone, which only one file has."""
        named = ((self._places.symbol(one), one) for one in self.known)
        return _unique((symbol, one) for symbol, one in named if symbol)

    @cached_property
    def _known_by_folder(self) -> dict[str, str | None]:
        """Return the ids by repository, path and symbol, with the repository as a folder: ``schema/users.sql``."""
        split = self._places.split
        parts = ((self._places.repo(one), "#".join(filter(None, split(one))), one) for one in self.known)
        return _unique((f"{repo}/{path}", one) for repo, path, one in parts if repo and path)

    @cached_property
    def _files_by_name(self) -> dict[str, list[str]]:
        """Return the sorted ids of files in folders by base name."""
        found: dict[str, list[str]] = {}
        for one in sorted(self.known):
            path, symbol = self._places.split(one)
            if path is not None and "/" in path and symbol is None:
                found.setdefault(path.rpartition("/")[2], []).append(one)
        return found


def _unique(pairs: Iterator[tuple[str, str]]) -> dict[str, str | None]:
    """Return the value of each key, or None for a key with several values."""
    found: dict[str, str | None] = {}
    for key, value in pairs:
        if found.setdefault(key, value) != value:
            found[key] = None
    return found
