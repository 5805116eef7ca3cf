"""The verdict and the board of some runs, as the page and a notebook show them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Any

from graphkit.analysis.board import Board, BoardCell, BoardRow, board
from graphkit.analysis.config import Config
from graphkit.analysis.layers import Scorecard
from graphkit.analysis.pair_verdict import UNCLEAR, judged
from graphkit.analysis.standings import Standings, resamples_for, standings
from graphkit.records.words import counted, two
from graphkit.report.data import letter_of
from graphkit.report.escaping import visible
from graphkit.scoring.results import Evaluation

#: Runs up to which a column has room for its words.
FEW = 4

#: The shortest beginning of all names that is worth a sentence, with the separator at its end.
SHARED = re.compile(r".{2,}[-_./: ]")


def shared_beginning(names: Sequence[str]) -> str:
    """Return how several names begin, up to a separator; empty if they share less, or one of them has no more.

    What is left of each name has a letter: a bare number in a sentence would be taken for a count.

    >>> shared_beginning(["storefront-graph", "storefront-graph-v2", "storefront-bm25"])
    'storefront-'
    >>> shared_beginning(["ppr-", "ppr-2"]), shared_beginning(["storefront-graph"])
    ('', '')
    >>> shared_beginning(["shop-try-no-0", "shop-try-no-1"]), shared_beginning(["run-0", "run-1"])
    ('shop-try-', '')
    """
    first, last = min(names), max(names)  # what these two share, all names share
    same = next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    letters = [max((place for place, one in enumerate(name) if one.isalpha()), default=0) for name in names]
    found = SHARED.match(first[: min(same, *letters)]) if len(names) > 1 else None
    return found[0] if found else ""


class BoardView:
    """The content of the templates of the verdict and of the board, computed once.

    The others are compared with the run of the number ``baseline``, by default the second best one; where the reader
    may ``choose``, with each run that can be a baseline. Measures that someone ``asked`` for are never
    folded, and those that are ``hidden`` aren't there.
    """

    def __init__(
        self,
        results: Sequence[Evaluation],
        cards: Sequence[Scorecard],
        config: Config,
        baseline: int | None = None,
        choose: bool = False,
        asked: Collection[str] = (),
        hidden: Collection[str] = (),
    ) -> None:
        self.results, self._asked, self._hidden = list(results), asked, hidden
        self._cards, self._config, self._baseline, self._choose = cards, config, baseline, choose

    @cached_property
    def runs(self) -> list[dict[str, str]]:
        """The runs with their letters, and with what is left of their names behind the beginning of all."""
        names = [visible(one.run) for one in self.results]
        return [
            {"name": name, "letter": letter_of(number), "short": name[len(self.beginning) :]}
            for number, name in enumerate(names)
        ]

    @cached_property
    def beginning(self) -> str:
        """The common beginning of all run names, which headings leave out; see :func:`shared_beginning`."""
        return shared_beginning([visible(one.run) for one in self.results])

    @property
    def many(self) -> bool:
        """Whether the runs are too many for whole words in their columns."""
        return len(self.results) > FEW

    @property
    def size(self) -> str:
        """The room of a column: "one", "few" or "many" runs."""
        return "one" if len(self.results) == 1 else "many" if self.many else "few"

    @cached_property
    def board(self) -> Board:
        """The measures of all runs."""
        values = sum(len(one.measures) * one.questions for one in self.results)
        return board(self.results, self._cards, self._config, resamples_for(values), self._asked, self._hidden)

    @cached_property
    def standings(self) -> Standings:
        """The comparison of each pair of runs by the measures of the board that aren't folded."""
        return standings(self.results, self.board.measures, self._config)

    @property
    def baseline(self) -> int | None:
        """The baseline that is shown first."""
        return self.standings.baseline if self._baseline is None else self._baseline

    @property
    def baselines(self) -> tuple[int, ...]:
        """The baselines that differences are written for."""
        if self._choose:
            return self.standings.baselines
        return () if self.baseline is None else (self.baseline,)

    @cached_property
    def rows(self) -> list[BoardRow]:
        """Every row of the board, the folded ones too."""
        return [*(row for layer in self.board.layers for row in layer.rows), *self.board.others, *self.board.more]

    @property
    def cautioned(self) -> bool:
        """Whether an interval of the board has a caution."""
        return any(cell.caution for row in self.rows for cell in row.cells)

    def verdicts(self) -> list[dict[str, Any]]:
        """Return the verdict against each baseline, the default one marked."""
        return [
            {
                "baseline": number,
                "default": number == self.baseline,
                **{
                    name: visible(text)
                    for name, text in (("text", one.text), ("change", one.change), ("more", one.more))
                },
            }
            for number in (self.baselines or (None,))
            for one in (self.standings.verdict(number),)
        ]

    def differences(self, measure: str, run: int) -> Iterator[dict[str, Any]]:
        """Yield the difference of a run to each baseline by a measure; nothing for a folded measure.

        Where one of the two has no value, there is no difference either, though both may have failed on questions.
        """
        if measure not in self.board.measures:
            return
        cells = next(row.cells for row in self.rows if row.measure == measure)
        for baseline in self.baselines:
            found = self.standings.difference(baseline, run, measure)
            shown: dict[str, Any] = {"baseline": baseline, "default": baseline == self.baseline}
            if baseline == run:
                yield {**shown, "text": "baseline", "kind": "own", "title": ""}
            elif found is not None and None not in (cells[run].value, cells[baseline].value):
                kind = judged(found)
                low, high = (two(end, sign=True) for end in (found.low, found.high))
                between = (
                    f"95% interval {low} to {high}" if found.low is not None else "too few questions for an interval"
                )
                questions = counted(found.questions, "question")
                over = self.standings.correction
                title = f"{kind}: {between}, p {found.p_corrected:.3f} after correction over {over}, {questions}"
                star = "" if kind == UNCLEAR else "*"
                yield {**shown, "text": two(found.delta, sign=True) + star, "kind": kind, "title": title}

    @staticmethod
    def drawn(row: BoardRow, cell: BoardCell) -> dict[str, Any] | None:
        """Return the places of a dot, its interval and the target in percent; None without a value."""
        if cell.value is None:
            return None
        words = two(cell.value)
        found = {"at": _percent(row, cell.value), "low": None, "high": None, "target": None, "state": cell.state}
        if cell.low is not None and cell.high is not None:
            found |= {"low": _percent(row, cell.low), "high": _percent(row, cell.high)}
            words += f", 95% interval {two(cell.low)} to {two(cell.high)}"
        if row.target is not None:
            found["target"] = _percent(row, row.target)
            words += f", target {'below' if row.lower else 'above'} {row.target:g}: {cell.state}"
        return {**found, "words": "; ".join(part for part in (words, cell.counts, cell.caution) if part)}


def _percent(row: BoardRow, value: float) -> str:
    return f"{100 * row.place(value):.1f}%"
