"""Results as a folder: rows in Parquet parts of a fixed size, a summary, problems, and a manifest written last."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any

import msgspec

from graphkit.errors import InputError
from graphkit.files.leftovers import FOLDERS
from graphkit.files.made import stamp
from graphkit.records.usage import Spread
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.relation_counts import RelationCounts
from graphkit.scoring.results import Evaluation, Row
from graphkit.scoring.row_tables import HIDDEN, arrow, rows_of
from graphkit.shards.locations import Location

#: How many questions a part holds, and how many of them a group of its rows.
QUESTIONS = 50_000
GROUP = 10_000

#: The form of the folder; a reader refuses a newer one.
FORMAT = 1

MANIFEST, SUMMARY, PROBLEMS = "manifest.json", "summary.json", "problems.jsonl"

#: How Parquet is written: fixed, so that the same rows give the same bytes.
_OPTIONS: dict[str, Any] = {
    "version": "2.6",
    "data_page_version": "1.0",
    "compression": "zstd",
    "compression_level": 3,
    "use_dictionary": True,
    "write_statistics": True,
    "store_schema": True,
}


def check_results_folder(out: Location) -> None:
    """Refuse a folder with files of others, or results of several runs; former results of one run are replaced.

    Raises
    ------
    InputError
        Another file is there, or the results of a run in a folder of its own.
    """
    if other := next((file.name for file in out.files() if not _is_of_results(file.name)), None):
        raise _other(out, f"another file, {other}")
    runs = (one for one in out.folders() if not one.name.startswith(FOLDERS))
    if other := next((one.name for one in runs if one.child(MANIFEST).exists()), None):
        raise _other(out, f"results of several runs, such as {other}, and would hold those of one beside them")


def check_folder_of_several(out: Location) -> None:
    """Refuse the results of one run where several shall have a folder each: they would be read as those of all.

    Raises
    ------
    InputError
        They are there, finished or not.
    """
    if other := next((file.name for file in out.files() if _is_of_results(file.name)), None):
        raise _other(out, f"results of one run ({other}), and would hold those of several beside them")


def _is_of_results(name: str) -> bool:
    return name in (MANIFEST, SUMMARY, PROBLEMS) or re.fullmatch(r"part-\d+\.parquet", name) is not None


def _other(out: Location, held: str) -> InputError:
    return InputError(f"the folder holds {held}", where=str(out), remedy="Name a new or an empty folder.")


def cut(tables: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows of some tables in tables of ``QUESTIONS`` rows, the same bytes however the rows arrive."""
    waiting: list[Any] = []
    count = 0
    for table in tables:
        waiting.append(table)
        count += table.num_rows
        while count >= QUESTIONS:
            every = arrow().concat_tables(waiting)
            yield every.slice(0, QUESTIONS).combine_chunks()
            waiting = [every.slice(QUESTIONS)]
            count = waiting[0].num_rows
    if count:
        yield arrow().concat_tables(waiting).combine_chunks()


class ResultsWriter:
    """Writes the files of a results folder, of which :meth:`finish` makes results: former ones in it are none at once.

    Attributes
    ----------
    out
        The folder.
    parts
        What the manifest says of the parts that are written.
    """

    def __init__(self, out: Location) -> None:
        self.out = out
        self.parts: list[dict[str, Any]] = []
        self._problems: dict[str, Any] = {}
        out.child(MANIFEST).remove()

    def write(self, table: Any) -> None:
        """Write a part with the rows of a table, without those of their fields that the folder doesn't hold."""
        from pyarrow import parquet

        rows = table.drop_columns([HIDDEN])
        name = f"part-{len(self.parts):05}.parquet"
        options = {"row_group_size": GROUP, **_OPTIONS}
        self.parts.append(self._put(name, lambda file: parquet.write_table(rows, file, **options), rows.num_rows))

    def write_problems(self, problems: Iterable[dict[str, Any]], count: int) -> None:
        """Write the records that couldn't be used, of which there are so many."""

        def lines(file: Path) -> None:
            with file.open("w", encoding="utf-8") as stream:
                for problem in problems:
                    stream.write(json.dumps(problem, ensure_ascii=False) + "\n")

        self._problems = self._put(PROBLEMS, lines, count)

    def finish(self, manifest: dict[str, Any], summary: dict[str, Any]) -> None:
        """Write the summary and, at last, the manifest; remove parts of former results."""
        listed = self._put(SUMMARY, lambda file: _write_json(file, {"runs": [summary], "made": stamp()}))
        known = {part["name"] for part in self.parts}
        for former in self.out.files():
            if former.name.startswith("part-") and former.name.endswith(".parquet") and former.name not in known:
                former.remove()
        whole = {"format": FORMAT, **manifest, "parts": self.parts, "problems": self._problems, "summary": listed}
        self._put(MANIFEST, lambda file: _write_json(file, whole))

    def _put(self, name: str, write: Callable[[Path], None], rows: int | None = None) -> dict[str, Any]:
        with self.out.staging() as staging:
            file = staging / name
            write(file)
            listed = {"name": name, **({} if rows is None else {"rows": rows}), "digest": digest_of(file)}
            self.out.put(file, name)
        return listed


def _write_json(file: Path, whole: dict[str, Any]) -> None:
    file.write_text(json.dumps(whole, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


#: The name of a file in the folder itself: another place is nobody's business here.
_Name = Annotated[str, msgspec.Meta(pattern=r"^[\w-]+\.\w+$")]


class _Listed(msgspec.Struct):
    """A file in a manifest."""

    name: _Name
    digest: str
    rows: int = 0


class _Measured(msgspec.Struct):
    """A measure in a manifest."""

    name: str


class _Manifest(msgspec.Struct):
    """The fields that a reader needs."""

    measures: list[_Measured]
    parts: list[_Listed]
    problems: _Listed
    summary: _Listed


def digest_of(file: Path) -> str:
    """Return the digest of a file as a manifest states it."""
    digest = blake2b(digest_size=20)
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@dataclass(frozen=True)
class ResultsFolder:
    """Results in a folder.

    Attributes
    ----------
    manifest
        Versions, run, dataset, hash of the gold, the number of questions, and the parts with their digests.
    summary
        What ``.summary.json`` holds of the run.
    """

    folder: Location
    manifest: dict[str, Any]
    summary: dict[str, Any]

    @property
    def measures(self) -> list[str]:
        """The measures, in their order."""
        return [measure["name"] for measure in self.manifest["measures"]]

    def rows(self) -> Iterator[Row]:
        """Yield the rows in the order of the questions; each part is compared with its digest first.

        Raises
        ------
        InputError
            A part is missing or was changed.
        """
        for part in self.manifest["parts"]:
            with self._checked(part) as path:
                yield from _rows(path, self.measures)

    def evaluation(self) -> Evaluation:
        """Return the results with all rows, as :func:`graphkit.evaluate` returns them: about 1 kB a question."""
        summary = self.summary
        return Evaluation(
            run=summary["run"],
            dataset=summary["dataset"],
            questions=summary["questions"],
            failed=summary["failed"],
            missing=summary["missing"],
            invalid=summary.get("stale", {}),
            measures={name: Summary(**summary_fields(one)) for name, one in summary["measures"].items()},
            rows=tuple(self.rows()),
            efficiency={name: Spread(**one) for name, one in summary["efficiency"].items()},
            unscored=summary["unscored"],
            warnings=tuple(summary["warnings"]),
            gold_hash=summary["gold_hash"],
            principal=summary.get("principal"),
            failed_as=summary["failed_as"],
            relations=RelationCounts.of_json(summary.get("relations", {})),
        )

    def problems(self) -> Iterator[dict[str, Any]]:
        """Yield the records that couldn't be used: file, line, record, what is wrong, and the remedy."""
        with self._checked(self.manifest["problems"]) as path, path.open(encoding="utf-8") as stream:
            yield from map(json.loads, stream)

    @contextmanager
    def _checked(self, listed: dict[str, Any]) -> Iterator[Path]:
        file = self.folder.child(listed["name"])
        with file.local_copy() as path:
            if not path.is_file() or digest_of(path) != listed["digest"]:
                raise InputError(
                    "the file isn't the one of the manifest: it was changed, or is gone",
                    where=str(file),
                    remedy="Make the results anew.",
                )
            yield path


def holds_results(folder: str | Path) -> bool:
    """Return whether a path or a URL is a folder of finished results."""
    place = Location.of(folder)
    return (place.path is None or place.path.is_dir()) and place.child(MANIFEST).exists()


def read_results(folder: str | Path) -> ResultsFolder:
    """Return the results in a folder that ``evaluate`` wrote with ``--out FOLDER``.

    Parameters
    ----------
    folder
        A path or a URL.

    Raises
    ------
    InputError
        There are no results, they aren't complete, or another version of graphkit wrote a newer form.
    """
    place = Location.of(folder)
    file = place.child(MANIFEST)
    if not file.exists():
        raise InputError(
            "the folder holds no manifest.json: it holds no results, or they aren't finished",
            where=str(place),
            remedy="`graphkit evaluate RUN --out FOLDER` writes some.",
        )
    try:
        with file.opened() as stream:
            manifest = json.load(stream)
        if not isinstance(manifest, dict) or not isinstance(manifest.get("format"), int):
            raise ValueError("it names no format")
        if manifest["format"] > FORMAT:
            raise InputError("a newer graphkit wrote these results", where=str(file), remedy="Update graphkit.")
        msgspec.convert(manifest, _Manifest)
    except ValueError as error:  # that of msgspec is one
        remedy = "Make the results anew."
        raise InputError(f"this is no manifest of results: {error}", where=str(file), remedy=remedy) from None
    found = ResultsFolder(place, manifest, {})
    with found._checked(manifest["summary"]) as path:
        return ResultsFolder(place, manifest, json.loads(path.read_text(encoding="utf-8"))["runs"][0])


def _rows(path: Path, measures: Sequence[str]) -> Iterator[Row]:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=GROUP):
            yield from rows_of(batch, measures)


def summary_fields(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a summary without the interval, which is computed from the rows."""
    return {name: value for name, value in summary.items() if name not in ("held", "interval")}


def remove_folder(folder: Location) -> None:
    """Remove a folder of parts."""
    if folder.path is not None:
        shutil.rmtree(folder.path, ignore_errors=True)
        return
    for file in folder.files():
        file.remove()
