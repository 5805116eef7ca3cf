"""Replays the file of replies; the error for a missing request shows the nearest recorded one."""

from __future__ import annotations

import difflib
import itertools
import json
import math
from dataclasses import dataclass

from graphkit.errors import InputError
from graphkit.plugins.judging.llm.cache import ReplyCache
from graphkit.plugins.judging.llm.requests import Reply, Request

#: The limits of the search for the recorded request that is nearest to a missing one.
_CANDIDATES = 2000
_COMPARED = 20
_LONGEST_COMPARED = 4000
_DIFFERENCES = 6


@dataclass
class RecordedModel:
    """A model that only replays recorded replies: no network, no cost, the same each time."""

    cache: ReplyCache
    hits: int = 0

    async def ask(self, request: Request) -> Reply:
        """Return the recorded reply, even one that was unusable.

        Raise an InputError if there is none; the error shows the nearest recorded request, and the differences.
        """
        found = self.cache.get(request.digest, unusable=True)
        if found is not None:
            self.hits += 1
            return found
        closest = nearest(self.cache, request)
        lines: list[str] = []
        if closest is None:
            nearby = "nothing at all is recorded there"
        else:
            lines = [f"  {line}" for line in differences(closest[1], request)]
            nearby = f"the nearest is {closest[0][:12]}, which differs so (- recorded, + asked for):"
        raise InputError(
            f"there is no recorded reply to the request {request.digest[:12]}; {nearby}",
            where=str(self.cache.path),
            details=lines,
            remedy="Grade once without --replay to record it.",
        )


def nearest(cache: ReplyCache, request: Request) -> tuple[str, Request] | None:
    """Return the recorded request that is most similar to another one, with its digest; None if there is none.

    It searches the newest requests, those of the same model first: selects those that share the most pieces of text,
    and then compares their other pieces.
    """
    rows = cache.rows(
        "SELECT digest, request FROM replies ORDER BY model = ? DESC, kept_at DESC LIMIT ?",
        (request.model, _CANDIDATES),
    )
    own = set(_pieces(request))
    found = [(digest, Request.from_json(json.loads(text))) for digest, text in rows]
    shared = {digest: len(own & set(_pieces(one))) for digest, one in found}
    found.sort(key=lambda pair: (pair[1].model == request.model, shared[pair[0]]), reverse=True)
    return max(found[:_COMPARED], key=lambda pair: _likeness(request, pair[1]), default=None)


def differences(before: Request, after: Request) -> list[str]:
    """Return the differences of two requests in a few lines: settings first, then lines of text.

    >>> from graphkit.plugins.judging.llm.requests import Block, Turn
    >>> one = Request("m", (), (Turn("user", (Block("Grade this."),)),))
    >>> differences(one, Request("n", (), (Turn("user", (Block("Grade that."),)),)))
    ['- model: m', '+ model: n', '- user 1.1: Grade this.', '+ user 1.1: Grade that.']
    """
    found: list[str] = []
    for name in ("service", "model", "max_tokens", "effort"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            found += [f"- {name}: {old}", f"+ {name}: {new}"]
    if before.schema != after.schema:
        found += _changed("schema", json.dumps(before.schema, indent=1), json.dumps(after.schema, indent=1))
    old_pieces, new_pieces = _pieces(before), _pieces(after)
    for place in dict.fromkeys([*(name for name, _ in old_pieces), *(name for name, _ in new_pieces)]):
        old, new = dict(old_pieces).get(place, ""), dict(new_pieces).get(place, "")
        if old != new:
            found += _changed(place, old, new)
    if len(found) > 2 * _DIFFERENCES:
        found = [*found[: 2 * _DIFFERENCES], f"... and {len(found) - 2 * _DIFFERENCES} more lines"]
    return found


def _changed(place: str, before: str, after: str) -> list[str]:
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))[2:]  # two name files
    gone, come = ([line[1:] for line in lines if line[0] == sign] for sign in "-+")
    found = []
    for old, new in itertools.zip_longest(gone, come):
        # Show the part of a long line that differs.
        same = 0 if old is None or new is None else _same_begin(old, new)
        for sign, line in (("-", old), ("+", new)):
            if line is not None:
                found.append(f"{sign} {place}: {_around(line, same)}")
    return found


def _same_begin(one: str, other: str) -> int:
    return next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)


def _around(text: str, place: int) -> str:
    before, most = 40, 160
    begin = max(0, place - before) if len(text) > most else 0
    end = "…" if len(text) > begin + most else ""
    return f"{'…' if begin else ''}{text[begin : begin + most]}{end}"


def _pieces(request: Request) -> list[tuple[str, str]]:
    """Return the blocks of a request with the names of their places."""
    found = [(f"system {number}", block.text) for number, block in enumerate(request.system, 1)]
    for place, turn in enumerate(request.turns, 1):
        found += [(f"{turn.role} {place}.{number}", block.text) for number, block in enumerate(turn.blocks, 1)]
    return found


def _likeness(one: Request, other: Request) -> float:
    """Return the similarity of two requests, from 0 to 1: the mean over the places of their blocks."""
    first, second = dict(_pieces(one)), dict(_pieces(other))
    places = first.keys() | second.keys()
    parts = [_alike(first.get(place, ""), second.get(place, "")) for place in places]
    settings = [one.model == other.model, one.schema == other.schema, one.max_tokens == other.max_tokens]
    return math.fsum([*parts, *settings]) / (len(parts) + len(settings))


def _alike(one: str, other: str) -> float:
    if one == other:
        return 1.0
    begins = one[:_LONGEST_COMPARED], other[:_LONGEST_COMPARED]
    return difflib.SequenceMatcher(None, *begins, autojunk=False).quick_ratio()
