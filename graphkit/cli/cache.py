"""``graphkit cache`` with its commands: ``stats`` and ``prune``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.cli.base import command, group, option, present, print_line, settings
from graphkit.cli.options import CHANGED_REPLIES, REPLIES
from graphkit.cli.tables import print_table
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.llm.cache import CacheStats

cache = group("Look at recorded replies of models, and remove some.")


@cache.command()
@command(home=True)
def stats(file: Path | None = REPLIES) -> None:
    """Show what the file of recorded replies contains."""
    from graphkit.llm.cache import CacheStats, ReplyCache, cache_path

    path = cache_path(settings().data, file)
    if path.exists():
        with ReplyCache(path) as replies:
            found = replies.stats()
    else:
        found = CacheStats(path, 0, {})
    present(lambda: _show(found), _facts(found))


@dataclass(frozen=True)
class PruneOptions:
    """Options that select the replies to remove."""

    older_than: float | None = option("--older-than DAYS", "Remove replies older than DAYS.")
    model: str | None = option("--model NAME", "Remove replies of this model.")
    to_size: float | None = option("--to-size MB", "Remove replies until at most MB megabytes are left.")
    everything: bool = option("--all", "Remove all replies.")
    batches: bool = option("--batches", "Forget the batches under way: their results won't be read.")

    def __post_init__(self) -> None:
        """Refuse options that name nothing or contradict each other."""
        chosen = self.older_than is not None or self.model is not None or self.to_size is not None
        if not (chosen or self.everything or self.batches):
            raise InputError(
                "no option names the replies to remove",
                remedy="Give --older-than DAYS, --model NAME, --to-size MB, --batches or --all.",
            )
        if self.everything and chosen:
            raise InputError("--all removes all replies, and excludes every other choice")
        for name, number in (("--older-than", self.older_than), ("--to-size", self.to_size)):
            if number is not None and (not math.isfinite(number) or number < 0):
                raise InputError(f"{name} must be a number of at least 0")


@cache.command()
@command(home=True)
def prune(what: PruneOptions, file: Path | None = CHANGED_REPLIES) -> None:
    """Remove recorded replies: those that fit all options, the oldest first."""
    from graphkit.errors import did_you_mean
    from graphkit.llm.cache import ReplyCache, cache_path

    path = cache_path(settings().data, file)
    with ReplyCache(path, must_exist=True) as replies:
        before = replies.stats()
        if what.model is not None and what.model not in before.models:
            raise InputError(
                f"no reply of {what.model!r} is kept",
                where=str(path),
                remedy=f"{did_you_mean(what.model, before.models)}There are: {', '.join(before.models) or 'none'}.",
            )
        removed = replies.prune(
            older_than=None if what.older_than is None else what.older_than * 86_400,
            model=what.model,
            to_bytes=None if what.to_size is None else int(what.to_size * 1_000_000),
            everything=what.everything,
        )
        forgotten = replies.forget_batches() if what.batches else 0
        after = replies.stats()
    freed = max(0, before.size - after.size)
    lines = [f"{removed} replies removed, {after.entries} left; {freed / 1e6:.1f} MB freed"]
    lines += [f"{forgotten} batches forgotten"] if what.batches else []
    counts = {"removed": removed, "entries": after.entries, "freed": freed, "batches_forgotten": forgotten}
    present(lines, {"path": str(path), **counts})


#: The figures of a model's usage, with their columns.
_USAGE = {
    "input_tokens": "input tokens",
    "output_tokens": "output tokens",
    "cache_read_tokens": "read from cache",
    "cache_write_tokens": "written to cache",
}


def _facts(found: CacheStats) -> dict[str, Any]:
    return {
        "path": str(found.path),
        "entries": found.entries,
        "size": found.size,
        "models": {
            name: {
                "entries": one.entries,
                "bytes": one.bytes,
                **{figure: getattr(one.usage, figure) for figure in _USAGE},
            }
            for name, one in found.models.items()
        },
        "oldest": _moment(found.oldest),
        "newest": _moment(found.newest),
        "hits": found.hits,
        "misses": found.misses,
        "batches_under_way": found.batches,
    }


def _show(found: CacheStats) -> None:
    print_line(f"{found.path}: {found.entries} replies, {found.size / 1e6:.1f} MB")
    if found.entries:
        rows = [
            [name, one.entries, f"{one.bytes / 1e6:.1f}", *(getattr(one.usage, figure) for figure in _USAGE)]
            for name, one in found.models.items()
        ]
        print_table(None, ["model", "replies", "MB", *_USAGE.values()], rows)
        print_line(f"kept from {_moment(found.oldest)} to {_moment(found.newest)}")
    if found.hits is not None:
        print_line(f"the last grading read {found.hits} of them, and asked for {found.misses}")
    if found.batches:
        print_line(f"{found.batches} batches under way; the next grading with --batch reads them")


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
