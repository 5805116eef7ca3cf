"""Finds the queries and the fixtures: inside an installed package, or at the top of a checkout."""

from __future__ import annotations

import os
import shlex
from functools import cache, lru_cache
from pathlib import Path

from graphkit.errors import InputError, did_you_mean, one_line

#: The bundled datasets, by the names that address them.
BUNDLED = {"@storefront": "storefront", "@storefront-code": "storefront-code"}

#: Who asks the questions of the datasets that a command opens, and whether it opened any; see ``dataset.asking``.
asked_as: dict[str, bool] = {}
#: The commands that are typed for the same principal as the one that names them.
_ASKING = frozenset(("compare", "evaluate", "failures", "load", "report", "run", "why"))

_PACKAGE = Path(__file__).parents[1]


@cache
def _folder(name: str) -> Path:
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def cypher_folder() -> Path:
    """Return the folder of the Cypher queries."""
    return _folder("cypher")


def storefront_folder() -> Path:
    """Return the folder of the storefront dataset that the demo loads."""
    return _folder("fixtures") / "storefront"


def storefront_code_folder() -> Path:
    """Return the folder of the dataset whose questions ask for code, over the same platform."""
    return _folder("fixtures") / "storefront-code"


def located(path: str | Path) -> Path:
    """Return the place of a bundled dataset, or of a file in it; return any other path unchanged.

    ``@storefront`` is its folder and ``@storefront/runs/NAME`` one of its runs, also without ``.jsonl``. A file or
    folder of your own of such a name is read by its absolute path.

    Raises
    ------
    InputError
        The path begins with ``@``, no bundled dataset has this name, and there is no such file.

    >>> located("@storefront/runs/storefront-graph") == storefront_folder() / "runs" / "storefront-graph.jsonl"
    True
    """
    found = bundled(path)
    if found is not None:
        return found
    name = os.fspath(path).partition("/")[0]
    if name.startswith("@") and not Path(path).exists():
        remedy = f"{did_you_mean(name, BUNDLED)}There are: {', '.join(BUNDLED)}."
        raise InputError(f"no bundled dataset is called {name!r}", where=str(path), remedy=remedy)
    return Path(path)


def bundled(path: str | Path) -> Path | None:
    """Return the place of what ``path`` addresses in a bundled dataset; None for any other path."""
    name, _, rest = os.fspath(path).partition("/")
    if name not in BUNDLED:
        return None
    found = _folder("fixtures") / BUNDLED[name] / rest
    run = found.with_name(f"{found.name}.jsonl")
    return run if rest and not found.exists() and run.exists() else found


def as_typed(named: str | Path) -> str:
    r"""Return a name or path as one types it in bash: quoted if needed, and a bundled file by its address.

    What isn't printable is written out.

    >>> as_typed(storefront_folder() / "runs" / "storefront-graph.jsonl"), as_typed("my run")
    ('@storefront/runs/storefront-graph', "'my run'")
    >>> as_typed("a\nb")
    "$'a\\u000ab'"
    """
    text = str(named)
    # A page names each question; a Path costs ten times as much.
    if os.path.isabs(text) and (address := _address(Path(text))) is not None:  # noqa: PTH117
        return shlex.quote(address)
    if text.isprintable():
        return shlex.quote(text)
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{one_line(escaped)}'"


@lru_cache(100)  # a page names its runs at each question
def _address(path: Path) -> str | None:
    """Return the address of a bundled file; None for any other."""
    for address, name in BUNDLED.items():
        folder = _folder("fixtures") / name
        if path.is_relative_to(folder):
            return "/".join((address, *path.relative_to(folder).parts)).removesuffix(".jsonl")
    return None


def command_text(name: str, *arguments: str | Path, options: str = "") -> str:
    """Return a command of graphkit as one types it in bash; ``options`` are typed already, a space before each.

    A principal that asks in this command asks in that one, too.

    >>> command_text("why", "my run", "q1", options=" --dataset d"), command_text("why", "r", "-1")
    ("graphkit why 'my run' q1 --dataset d", 'graphkit why -- r -1')
    """
    typed = " ".join(map(as_typed, arguments))
    options += "".join(option_text("as", one) for one in asked_as if name in _ASKING)
    if any(str(one).startswith("-") for one in arguments):
        return f"graphkit {name}{options} -- {typed}"
    return f"graphkit {name} {typed}{options}"


def option_text(name: str, value: str | Path) -> str:
    """Return an option with its value as one types it in bash, a space before it.

    >>> option_text("question", "my q"), option_text("question", "-1")
    (" --question 'my q'", ' --question=-1')
    """
    return f" --{name}{'=' if str(value).startswith('-') else ' '}{as_typed(value)}"


def dataset_option(run: str | Path, folder: str | Path | None) -> str:
    """Return the option of a command that names the dataset of a run file, a space before it.

    It is empty if the run's own dataset is meant: None, or the folder whose ``runs/`` holds the file.
    """
    file = Path(run)
    if folder is None or (file.parent.name == "runs" and file.parent.parent.resolve() == Path(folder).resolve()):
        return ""
    return option_text("dataset", folder)


def is_bundled(path: Path) -> bool:
    """Tell whether a file or folder lies in a bundled dataset, which isn't written to."""
    fixtures = _folder("fixtures").resolve()
    return any(path.resolve().is_relative_to(fixtures / name) for name in BUNDLED.values())


def refuse_bundled(folder: Path) -> None:
    """Raise an InputError if a command would write to a bundled dataset."""
    if is_bundled(folder):
        what = "a bundled dataset isn't changed"
        raise InputError(what, where=str(folder), remedy=f"Copy it first: cp -r {folder} .")
