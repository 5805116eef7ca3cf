"""The means of compared runs as a table for a paper: LaTeX, CSV and Markdown.

Names come from logs and datasets: none can leave its cell, begin a command or a formula, or become markup.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphkit.errors import InputError, one_line
from graphkit.files.atomic import written
from graphkit.files.tables import write_table
from graphkit.plugins.compare.run_means import WORSE_MARK, MeansOfGroup, MeasureMeans, RunMean, RunMeans, letter
from graphkit.records.words import counted

_COLUMNS = (
    *("measure", "by", "slice", "run", "mean", "low", "high", "compared", "scored", "worst", "questions", "best"),
    *(
        "better_than",
        "worse_than",
        "against",
        "correction",
        "failed_as",
        "where",
        "dataset",
        "resamples",
        "seed",
        "graphkit",
    ),
)

#: What TeX reads otherwise than it is written.
_TEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "{}$&#_%"},
    "\0": "{}",
    **{"^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}"},
    **{"|": r"\textbar{}", '"': "''", "`": r"\textasciigrave{}", "–": "--", WORSE_MARK: r"\dag{}"},
}

#: Signs that make a ligature with the same sign behind them.
_LIGATURE = re.compile(r"([-,'])(?=\1)")


@dataclass(frozen=True, slots=True)
class _Markup:
    """Functions that write foreign text, the best mean, and a superscript in one format."""

    text: Callable[[str], str]
    bold: Callable[[str], str]
    above: Callable[[str], str]


def tex(text: str) -> str:
    r"""Return text as LaTeX shows it, letter by letter, in a document of any encoding that has its letters.

    Letters stay as they are. Other signs beyond ASCII, which fonts may lack, are written by their number.

    >>> print(tex(r"50% of \input{a_b} & c--d"))
    50\% of \textbackslash{}input\{a\_b\} \& c-{}-d
    >>> print(tex("Köln \U0001f600"))
    Köln U+1F600
    """
    shown = []
    for sign in _LIGATURE.sub("\\1\0", one_line(text)):
        known = sign.isascii() or sign in _TEX or unicodedata.category(sign)[0] == "L"
        shown.append(_TEX.get(sign, sign) if known else f"U+{ord(sign):04X}")
    return "".join(shown)


def markdown(text: str) -> str:
    """Return text that can't leave its cell or its line in Markdown, or become markup."""
    text = one_line(text)
    for sign in "\\`*_{}[]<>|#!":
        text = text.replace(sign, f"\\{sign}" if sign not in "<>" else {"<": "&lt;", ">": "&gt;"}[sign])
    return " ".join(text.split())


_LATEX = _Markup(tex, lambda text: rf"\textbf{{{text}}}", lambda text: rf"\textsuperscript{{{text}}}")
_MARKDOWN = _Markup(markdown, lambda text: f"**{text}**", lambda text: f"<sup>{text}</sup>")


def check_tables(paths: list[Path]) -> None:
    """Refuse a file of another form, or in no folder; call it before the runs are read.

    Raises
    ------
    InputError
        One is.
    """
    for path in paths:
        if path.suffix not in WRITERS:
            what = f"a comparison can't be written as {path.suffix or 'a file without an ending'}"
            raise InputError(what, where=str(path), remedy=f"Use one of: {', '.join(WRITERS)}; or --json > FILE.")
        if not path.parent.is_dir():
            what = "the file can't be written: there is no such folder"
            raise InputError(what, where=str(path), remedy="Make it first.")


def write_tables(paths: list[Path], means: RunMeans, verdicts: list[str]) -> None:
    """Write the means of compared runs to files, each in the form of its ending; Markdown also has the verdicts."""
    for path in paths:
        with written(path) as temporary:
            WRITERS[path.suffix](temporary, means, verdicts)


def _latex(path: Path, means: RunMeans, verdicts: list[str]) -> None:
    path.write_text("\n".join(_latex_lines(means)) + "\n", encoding="utf-8")


def _latex_lines(means: RunMeans) -> Iterator[str]:
    yield r"% graphkit compare: needs \usepackage{booktabs}, and below LaTeX 2020 textcomp."
    for warning in means.warnings():
        yield f"% {tex(warning)}."
    runs = " & ".join(map(_header(means, _LATEX), range(len(means.runs))))
    yield r"\begin{table}"
    yield r"  \centering"
    yield rf"  \caption{{{' '.join(f'{tex(note)}.' for note in means.notes())}}}"
    yield r"  \label{tab:graphkit-compare}"
    yield rf"  \begin{{tabular}}{{l{'c' * len(means.runs)}r}}"
    yield r"    \toprule"
    yield rf"    measure & {runs} & $n$ \\"
    for group in means.groups:
        yield r"    \midrule"
        if group.name is not None:
            yield rf"    \multicolumn{{{len(means.runs) + 2}}}{{l}}{{\textit{{{tex(_title(means, group))}}}}} \\"
        for row in group.rows:
            cells = [_cell(means, one, _LATEX) for one in row.runs]
            yield rf"    {tex(row.measure)} & {' & '.join(cells)} & {_n(row)} \\"
            intervals = [rf"\scriptsize {one}" if (one := _interval(mean)) else "" for mean in row.runs]
            yield rf"    & {' & '.join(f'{{{one}}}' for one in intervals)} & \\"
    yield r"    \bottomrule"
    yield r"  \end{tabular}"
    yield r"\end{table}"


def _markdown(path: Path, means: RunMeans, verdicts: list[str]) -> None:
    header = _header(means, _MARKDOWN)
    lines = []
    for group in means.groups:
        lines += [] if group.name is None else ["", f"**{markdown(_title(means, group))}**", ""]
        lines.append(f"| measure | {' | '.join(map(header, range(len(means.runs))))} | n |")
        lines.append(f"|---|{'---:|' * (len(means.runs) + 1)}")
        for row in group.rows:
            cells = [f"{_cell(means, one, _MARKDOWN)} {_interval(one)}".rstrip() for one in row.runs]
            lines.append(f"| {markdown(row.measure)} | {' | '.join(cells)} | {_n(row)} |")
    sentences = [*verdicts, *means.notes(), *(f"warning: {one}" for one in means.warnings())]
    lines += [f"\n{markdown(one)}." for one in sentences]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _csv(path: Path, means: RunMeans, verdicts: list[str]) -> None:
    write_table(path, _COLUMNS, _rows(means))


def _rows(means: RunMeans) -> Iterator[dict[str, Any]]:
    """Yield a row for each group, measure and run; lists of runs are JSON."""
    from graphkit import __version__

    pair = means.any_pair
    same = {
        **{"by": means.by, "against": means.baseline, "correction": means.correction, "failed_as": pair.failed_as},
        **{"where": means.part and means.part.filter},
        **{"dataset": pair.dataset, **means.draws._asdict(), "graphkit": __version__},
    }
    for one in means.as_json()["means"]:
        row = {name: value for name, value in one.items() if name != "group"}
        lists = {name: json.dumps(one[name], ensure_ascii=False) for name in ("better_than", "worse_than")}
        yield same | row | lists | {"slice": one["group"], "best": str(one["best"]).lower()}


#: The forms, by the endings of their files.
WRITERS: dict[str, Callable[[Path, RunMeans, list[str]], None]] = {".tex": _latex, ".csv": _csv, ".md": _markdown}


def _header(means: RunMeans, form: _Markup) -> Callable[[int], str]:
    """Return the function of the header of a run, with its letter if marks name runs by these."""
    lettered = means.baseline is None
    return lambda place: form.text(means.runs[place]) + (form.above(letter(place)) if lettered else "")


def _cell(means: RunMeans, one: RunMean, form: _Markup) -> str:
    """Return a mean, bold if it is the best one, with its marks."""
    if one.mean is None:
        return form.text("–")
    value, marks = _figure(one.mean), means.marks(one)
    return (form.bold(value) if one.best else value) + (form.above(form.text(marks)) if marks else "")


def _interval(one: RunMean) -> str:
    return "" if one.low is None or one.high is None else f"[{_figure(one.low)}, {_figure(one.high)}]"


def _figure(value: float) -> str:
    """Return a value with three decimals, and with fewer where it is large.

    >>> _figure(0.81249), _figure(12.345), _figure(5331.9), _figure(-0.0001)
    ('0.812', '12.3', '5332', '0.000')
    """
    decimals = 3 if abs(value) < 10 else 1 if abs(value) < 1000 else 0
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def _n(row: MeasureMeans) -> str:
    """Return how many questions are compared, and of how many."""
    return f"{row.compared}/{row.questions}"


def _title(means: RunMeans, group: MeansOfGroup) -> str:
    return f"{means.title(group)} ({counted(group.rows[0].questions, 'question')})"
