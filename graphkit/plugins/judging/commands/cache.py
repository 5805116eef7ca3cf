"""``graphkit cache`` with its commands: ``stats`` and ``prune``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import command, group, option, present, print_line, settings
from graphkit.cli.options import CHANGED_REPLIES, REPLIES
from graphkit.cli.tables import print_table
from graphkit.errors import InputError
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.plugins.judging.llm.cache import CacheStats

cache = group("Look at recorded replies of models; remove some.")


@cache.command()
@command(home=True)
def stats(file: Path | None = REPLIES) -> None:
    """Show what the file of recorded replies contains."""
    from graphkit.plugins.judging.llm.cache import cache_path, stats_of

    found = stats_of(cache_path(settings().data, file))
    present(lambda: _show(found), found.as_json())


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
    from graphkit.plugins.judging.llm.cache import ReplyCache, cache_path

    path = cache_path(settings().data, file)
    with ReplyCache(path, must_exist=True) as replies:
        before = replies.stats()
        removed = replies.prune(
            older_than=None if what.older_than is None else what.older_than * 86_400,
            model=what.model,
            to_bytes=None if what.to_size is None else int(what.to_size * 1_000_000),
            everything=what.everything,
        )
        forgotten = replies.forget_batches() if what.batches else 0
        after = replies.stats()
    freed = max(0, before.size - after.size)
    lines = [f"{counted(removed, 'reply', 'replies')} removed, {after.entries} left; {freed / 1e6:.1f} MB freed"]
    lines += [f"{forgotten} batches forgotten"] if what.batches else []
    counts = {"removed": removed, "entries": after.entries, "freed": freed, "batches_forgotten": forgotten}
    present(lines, {"path": str(path), **counts})


#: The columns of a model's usage.
_COLUMNS = ("input tokens", "output tokens", "read from cache", "written to cache")


def _show(found: CacheStats) -> None:
    from graphkit.plugins.judging.llm.cache import USAGE, moment

    print_line(f"{found.path}: {counted(found.entries, 'reply', 'replies')}, {found.size / 1e6:.1f} MB")
    if found.entries:
        rows = [
            [name, one.entries, f"{one.bytes / 1e6:.1f}", *(getattr(one.usage, figure, None) for figure in USAGE)]
            for name, one in found.models.items()
        ]
        print_table(None, ["model", "replies", "MB", *_COLUMNS], rows)
        if unmetered := sum(one.unmetered for one in found.models.values()):
            print_line(f"the tokens of {counted(unmetered, 'reply', 'replies')} are unknown, and not in these sums")
        print_line(f"kept from {moment(found.oldest)} to {moment(found.newest)}")
    if found.hits is not None:
        print_line(f"the last grading read {found.hits} of them, and asked for {found.misses}")
    if found.batches:
        print_line(f"{found.batches} batches under way; the next grading with --batch reads them")
