"""``graphkit cache`` with its commands: ``stats`` and ``prune``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphkit.cli.base import Commands, Writes, as_json, print_json, print_line, settings, with_home
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.llm.cache import CacheStats

cache = typer.Typer(
    cls=Commands, no_args_is_help=True, rich_markup_mode=None, help="Look at recorded replies of models, and drop some."
)

_CACHE = typer.Option(
    "--cache", metavar="FILE", help="The file of replies. [env: GRAPHKIT_REPLIES] [default: .graphkit/replies.sqlite]"
)
CacheOption = Annotated[Path | None, _CACHE]
ChangedCacheOption = Annotated[Path | None, _CACHE, Writes("replies", replaces=False)]


@cache.command()
@with_home
def stats(file: CacheOption = None) -> None:
    """Tell what the file of recorded replies holds."""
    from graphkit.llm.cache import CacheStats, ReplyCache

    path = _path(file)
    if path.exists():
        with ReplyCache(path) as replies:
            found = replies.stats()
    else:
        found = CacheStats(path, 0, {})
    if as_json():
        print_json(_facts(found))
    else:
        _show(found)


@cache.command()
@with_home
def prune(
    older_than: Annotated[
        float | None, typer.Option("--older-than", metavar="DAYS", help="Those kept before so many days.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="Those of this model.")] = None,
    to_size: Annotated[
        float | None, typer.Option("--to-size", metavar="MB", help="Until no more than so many million bytes are left.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    batches: Annotated[
        bool, typer.Option("--batches", help="Forget the batches under way: their results won't be read.")
    ] = False,
    file: ChangedCacheOption = None,
) -> None:
    """Drop recorded replies: those that fit all that is given, the oldest first."""
    from graphkit.errors import did_you_mean
    from graphkit.llm.cache import ReplyCache

    if older_than is None and model is None and to_size is None and not everything and not batches:
        raise InputError(
            "nothing says what to drop",
            remedy="Give --older-than DAYS, --model NAME, --to-size MB, --batches or --all.",
        )
    if everything and (older_than is not None or model is not None or to_size is not None):
        raise InputError("--all drops all of them, and goes with no other choice")
    for name, number in (("--older-than", older_than), ("--to-size", to_size)):
        if number is not None and (not math.isfinite(number) or number < 0):
            raise InputError(f"{name} is a number of at least 0")
    path = _path(file)
    with ReplyCache(path, must_exist=True) as replies:
        before = replies.stats()
        if model is not None and model not in before.models:
            raise InputError(
                f"no reply of {model!r} is kept",
                where=str(path),
                remedy=f"{did_you_mean(model, before.models)}There are: {', '.join(before.models) or 'none'}.",
            )
        removed = replies.prune(
            older_than=None if older_than is None else older_than * 86_400,
            model=model,
            to_bytes=None if to_size is None else int(to_size * 1_000_000),
            everything=everything,
        )
        forgotten = replies.forget_batches() if batches else 0
        after = replies.stats()
    freed = max(0, before.size - after.size)
    if as_json():
        print_json(
            {
                "path": str(path),
                "removed": removed,
                "entries": after.entries,
                "freed": freed,
                "batches_forgotten": forgotten,
            }
        )
        return
    print_line(f"{removed} replies removed, {after.entries} left; {freed / 1e6:.1f} MB freed")
    if batches:
        print_line(f"{forgotten} batches forgotten")


def _path(file: Path | None) -> Path:
    from graphkit.llm.cache import cache_path

    return cache_path(settings().data, file)


def _facts(found: CacheStats) -> dict[str, Any]:
    return {
        "path": str(found.path),
        "entries": found.entries,
        "size": found.size,
        "models": {
            name: {
                "entries": one.entries,
                "bytes": one.bytes,
                "input_tokens": one.usage.input_tokens,
                "output_tokens": one.usage.output_tokens,
                "cache_read_tokens": one.usage.cache_read_tokens,
                "cache_write_tokens": one.usage.cache_write_tokens,
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
    from graphkit.cli.tables import print_table

    print_line(f"{found.path}: {found.entries} replies, {found.size / 1e6:.1f} MB")
    if found.entries:
        columns = ["model", "replies", "MB", "input tokens", "output tokens", "read from cache", "written to cache"]
        rows = [
            [
                name,
                one.entries,
                f"{one.bytes / 1e6:.1f}",
                one.usage.input_tokens,
                one.usage.output_tokens,
                one.usage.cache_read_tokens,
                one.usage.cache_write_tokens,
            ]
            for name, one in found.models.items()
        ]
        print_table(None, columns, rows)
        print_line(f"kept from {_moment(found.oldest)} to {_moment(found.newest)}")
    if found.hits is not None:
        print_line(f"the last grading read {found.hits} of them, and asked for {found.misses}")
    if found.batches:
        print_line(f"{found.batches} batches under way; the next grading with --batch reads them")


def _moment(seconds: float | None) -> str | None:
    from datetime import UTC, datetime

    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
