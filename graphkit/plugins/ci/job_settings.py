"""The settings of ``graphkit ci``: the section ``[ci]`` of ``graphkit.toml``, and what a command line says instead."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from graphkit.errors import InputError, did_you_mean
from graphkit.files.texts import read_toml

#: The file that is read if it lies in the working folder, and its section.
FILE, SECTION = "graphkit.toml", "ci"

Missing = Literal["fail", "pass"]


@dataclass(frozen=True, slots=True)
class CiSettings:
    """The settings of a job; an empty text says nothing.

    Attributes
    ----------
    run, dataset
        The run log, or a pattern of the repetitions of one system, and its dataset.
    evaluate, compare
        Options of these commands, as a shell reads them: quotes, comments, and as many lines as wanted.
    baseline
        A run log, a baseline folder, or ``branch:NAME`` or ``folder:DIR``, where ``graphkit baseline`` keeps them.
    name
        The name of the baseline there.
    missing_baseline
        Whether the job fails or passes if there is none.
    out
        The folder for what the job writes.
    """

    run: str = ""
    dataset: str = ""
    evaluate: str = ""
    compare: str = "--fail-on-regression"
    baseline: str = "branch:graphkit-baseline"
    name: str = "main"
    missing_baseline: Missing = "fail"
    out: str = "graphkit-ci"

    @property
    def own_dataset(self) -> Path | None:
        """The dataset of the run, if it is named."""
        return Path(self.dataset) if self.dataset else None

    def changed(self, given: Mapping[str, str | None]) -> CiSettings:
        """Return the settings with those that are given."""
        return replace(self, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]


def words_of(options: str, what: str) -> list[str]:
    """Return the words of options as a shell splits them; ``#`` begins a comment.

    >>> words_of("--fail-under EdgeF1=0.7\\n--measure 'a b'  # both", "evaluate")
    ['--fail-under', 'EdgeF1=0.7', '--measure', 'a b']

    Raises
    ------
    InputError
        A quote isn't closed.
    """
    try:
        return shlex.split(options, comments=True)
    except ValueError as error:
        what = f"the options of {what} can't be read: {str(error).lower()}"
        raise InputError(what, where=options.strip().partition("\n")[0]) from None


def read_settings(path: Path | None) -> CiSettings:
    """Read the section of a file; without one, ``graphkit.toml`` in this folder if it is there.

    Raises
    ------
    InputError
        The file can't be read, or a setting is unknown or no text.
    """
    if path is None:
        path = Path(FILE)
        if not path.is_file():
            return CiSettings()
    whole = read_toml(path)
    known = {one.name.replace("_", "-"): one.name for one in fields(CiSettings)}
    # A gate that stands elsewhere would be lost without a word.
    if astray := [
        one for one in whole if one != SECTION and (one.lower() == SECTION or one.replace("_", "-") in known)
    ]:
        what = f"{astray[0]!r} is no setting of the job, which stand in [{SECTION}]"
        raise InputError(what, where=str(path), remedy=f"Write it below the line [{SECTION}].")
    section = whole.get(SECTION, {})
    if not isinstance(section, dict):
        raise InputError(f"[{SECTION}] must be a table", where=str(path))
    found: dict[str, str] = {}
    for name, value in section.items():
        own = known.get(name.replace("_", "-"))
        if own is None:
            hint = did_you_mean(name, known)
            what = f"no setting of [{SECTION}] is called {name!r}"
            raise InputError(what, where=str(path), remedy=f"{hint}There are: {', '.join(known)}.")
        found[own] = _text(value, f"{SECTION}.{name}", path)
    if found.get("missing_baseline", "fail") not in ("fail", "pass"):
        raise InputError(f"{SECTION}.missing-baseline is fail or pass", where=str(path))
    return CiSettings().changed(found)


def _text(value: Any, name: str, path: Path) -> str:
    """Return a setting: a text, or a list of texts as a line each."""
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in values):
        raise InputError(f"{name} must be a text, or a list of texts", where=str(path))
    return "\n".join(values)
