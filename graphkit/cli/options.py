"""Options that several commands share: one declaration for each, and one dataclass for each family."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from graphkit.cli.base import Writes, print_problems
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.files.problems import Problems
    from graphkit.trust.rejudging import RejudgeOptions

# Choices and defaults repeat those of the library, because importing it would make help slow; a test compares both.
OnError = Literal["fail", "skip"]
FailedAs = Literal["worst", "unscored"]
SEED = 20_251


def assignment(option: str, text: str) -> tuple[str, str]:
    """Split ``NAME=VALUE``; a name may contain ``=`` inside brackets, as in ``EdgeRecall(relation=False)=0.8``."""
    name, equals, value = text.rpartition("=") if option != "-p" else text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"{option} takes NAME=VALUE, not {text!r}")
    return name.strip(), value.strip()


class Bound(NamedTuple):
    """A measure by its text, and the bound of a gate."""

    measure: str
    value: float


def bound(option: str) -> Callable[[str], Bound]:
    """Return a function that reads ``MEASURE=VALUE``."""

    def read(text: str) -> Bound:
        name, value = assignment(option, text)
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise InputError(f"{option} takes MEASURE=VALUE with a number, not {text!r}")
        return Bound(name, number)

    return read


def number_between(option: str, what: str, low: float, high: float) -> Callable[[str], float]:
    """Return a function that reads a number of a range."""

    def read(text: str) -> float:
        number = float(text)
        if not low <= number <= high:  # NaN is refused as well
            raise InputError(f"{option} is {what} from {low:g} to {high:g}, not {number:g}")
        return number

    return read


class Columns(NamedTuple):
    """The columns that contain the parts of an edge."""

    source: str
    relation: str
    target: str


def _columns(text: str) -> Columns:
    names = [name.strip() for name in text.split(",")]
    if len(names) != 3 or not all(names):
        raise InputError(f"--columns takes source, relation and target with commas, not {text!r}")
    return Columns(*names)


#: A scale with more grades than these is continuous.
_MOST_GRADES = 101


def _scale(text: str) -> range:
    """Return the whole grades of a scale, such as 1 to 5 for ``1-5``."""
    low, dash, high = (part.strip() for part in text.partition("-"))
    whole = dash and all(part.isascii() and part.isdigit() and len(part) < 10 for part in (low, high))
    if not whole or not 0 < int(high) - int(low) < _MOST_GRADES:
        raise InputError(
            f"--scale is the lowest and the highest of at most {_MOST_GRADES} whole grades, not {text!r}",
            remedy="Write it as 1-5.",
        )
    return range(int(low), int(high) + 1)


def one_run(name: str | None, files: Iterable[Path], verb: str) -> None:
    """Refuse ``--run`` for several files."""
    count = len(list(files))
    if name is not None and count > 1:
        raise InputError(f"--run names one run, and there are {count} files", remedy=f"{verb} one after the other.")


DatasetArgument = Annotated[
    Path, typer.Argument(metavar="DATASET", help="Read the dataset in this folder, which contains questions.jsonl.")
]
DatasetOption = Annotated[
    Path | None,
    typer.Option(
        "--dataset", "-d", metavar="DIR", help="Read the dataset in DIR. [default: the folder above the run's runs/]"
    ),
]
NewRunDatasetOption = Annotated[
    Path, typer.Option("--dataset", "-d", metavar="DIR", help="Answer the questions of the dataset in DIR.")
]
NewRunOption = Annotated[
    Path, typer.Option("--out", "-o", metavar="RUN.jsonl", help="Write the run to this file."), Writes("a run")
]
NewRunNameOption = Annotated[
    str | None, typer.Option("--run", metavar="NAME", help="Name the run. [default: the name of its file]")
]
RunNameOption = Annotated[
    str | None, typer.Option("--run", metavar="NAME", help="Use this name for the run. [default: as its records say]")
]
ReplaceFileOption = Annotated[bool, typer.Option("--force", help="Replace a file that exists.")]
NoStoreOption = Annotated[bool, typer.Option("--no-store", help="Use no database.")]
MeasureOption = Annotated[
    list[str] | None,
    typer.Option("--measure", "-m", metavar="NAME", help="Use this measure, such as nDCG@10; may be repeated."),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Read weights, targets and severe thresholds of the layers (TOML)."),
]
ScoresOption = Annotated[
    list[Path] | None,
    typer.Option("--scores", metavar="FILE", help="Add scores by others (.jsonl, .csv, .parquet); may be repeated."),
]
AnsweredByOption = Annotated[
    str | None,
    typer.Option(
        "--answered-by", metavar="MODEL", help="Name the model that answered. [default: as `graphkit run` noted]"
    ),
]
MinKappaOption = Annotated[
    float | None,
    typer.Option(
        "--min-kappa",
        metavar="VALUE",
        parser=number_between("--min-kappa", "a number", -1, 1),
        help="Fail if the lower bound of judge-human kappa is below VALUE.",
    ),
]
ScaleOption = Annotated[
    range | None,
    typer.Option(
        "--scale",
        metavar="LOW-HIGH",
        parser=_scale,
        help="Use these whole grades for the measure. [default: as declared, or as given]",
    ),
]
IdsOption = Annotated[
    Path | None,
    typer.Option("--ids", metavar="FILE", help="Read the ids of names (JSON Lines or CSV with name and id)."),
]
IdPatternOption = Annotated[
    str | None,
    typer.Option(
        "--id-pattern", metavar="REGEX", help="Match ids by groups id, or repo, path, symbol; or REGEX => TEMPLATE."
    ),
]
QuestionKeyOption = Annotated[
    str | None,
    typer.Option("--question-key", metavar="KEY", help="Read the question's id at KEY, such as metadata.ticket."),
]
ColumnsOption = Annotated[
    Columns | None,
    typer.Option(
        "--columns",
        metavar="S,R,T",
        parser=_columns,
        help="Read source, relation and target in these columns of a Cypher query's rows.",
    ),
]
CommitOption = Annotated[
    list[str] | None,
    typer.Option("--commit", metavar="REPO=SHA", help="State the commit that was read; may be repeated."),
]
UndirectedOption = Annotated[
    bool,
    typer.Option("--undirected", help="Compare edges without their direction, by measures that are named so."),
]
UnorderedOption = Annotated[
    bool,
    typer.Option("--unordered", help="Treat each traversal as a set of edges; don't score what compares its order."),
]
FailedAsOption = Annotated[
    FailedAs,
    typer.Option(
        "--failed-as",
        help="Count a failed or missing question as the worst value at gates and targets, or leave it unscored.",
    ),
]
MaxCostOption = Annotated[
    float | None,
    typer.Option("--max-cost", min=0, metavar="AMOUNT", help="Stop before more than AMOUNT is spent."),
]
PricesOption = Annotated[
    Path | None, typer.Option("--prices", metavar="FILE", help="Read your prices of models (TOML).")
]


def commit_values(texts: list[str] | None) -> dict[str, str]:
    """Return the commits that ``--commit`` names."""
    return dict(assignment("--commit", text) for text in texts or [])


@dataclass(frozen=True)
class ReadingOptions:
    """Options for reading records."""

    on_error: Annotated[
        OnError, typer.Option("--on-error", help="Refuse input with bad records, or skip and report these.")
    ] = "fail"
    strict: Annotated[bool, typer.Option("--strict", help="Refuse records with unknown fields.")] = False

    def problems(self) -> Problems:
        """Return a collection for the problems of an input."""
        from graphkit.files.problems import Problems

        return Problems(self.on_error, strict=self.strict)

    def read(self, reader: Callable[[Iterable[Path], Problems], list[Any]], files: Iterable[Path]) -> list[Any]:
        """Return the records in some files, and print the problems."""
        problems = self.problems()
        records = reader(files, problems) if files else []
        print_problems(problems)
        return records


@dataclass(frozen=True)
class LogOptions:
    """Options for reading the log of another tool."""

    ids: IdsOption = None
    id_pattern: IdPatternOption = None
    question: Annotated[
        str | None, typer.Option("--question", metavar="ID", help="Assign the whole log to this question.")
    ] = None
    question_key: QuestionKeyOption = None
    columns: ColumnsOption = None
    chunks_only: Annotated[
        bool, typer.Option("--chunks-only", help="Accept a log with chunks whose edges can't be read.")
    ] = False
    parquet: Annotated[
        Path | None,
        typer.Option("--parquet", metavar="DIR", help="Read which documents the texts are from in graphrag's index."),
    ] = None
    commit: CommitOption = None

    def given(self) -> list[str]:
        """Return the options that were given, as the user writes them."""
        return [f"--{one.name.replace('_', '-')}" for one in dataclasses.fields(self) if getattr(self, one.name)]

    def keywords(self) -> dict[str, Any]:
        """Return them as keywords of :func:`graphkit.import_log`."""
        values = {one.name: getattr(self, one.name) for one in dataclasses.fields(self) if one.name != "commit"}
        return {**values, "commits": commit_values(self.commit)}


@dataclass(frozen=True)
class AskOptions:
    """Settings for asking a judge again; by default those of the first grading."""

    model: Annotated[
        str | None, typer.Option("--model", metavar="MODEL", help="Ask this model. [default: the one that graded]")
    ] = None
    effort: Annotated[
        str | None,
        typer.Option("--effort", metavar="low|medium|high", help="Limit how much the model thinks. [default: as then]"),
    ] = None
    context_tokens: Annotated[
        int | None,
        typer.Option(
            "--context-tokens", min=0, help="Show the judge at most so many tokens of context. [default: as then]"
        ),
    ] = None
    citations: Annotated[
        str | None,
        typer.Option("--citations", metavar="REGEX", help="Recognise further citations. [default: as then]"),
    ] = None
    max_cost: MaxCostOption = None
    prices: PricesOption = None

    def for_library(self) -> RejudgeOptions:
        """Return them as the library takes them."""
        from graphkit.trust.rejudging import RejudgeOptions

        return RejudgeOptions(**dataclasses.asdict(self))


@dataclass(frozen=True)
class RunGateOptions:
    """Gates for runs; see :class:`graphkit.analysis.evaluation_plan.PlannedGates`."""

    under: Annotated[
        list[Bound],
        typer.Option(
            "--fail-under",
            metavar="MEASURE=VALUE",
            parser=bound("--fail-under"),
            help="Fail if a mean is lower than VALUE; may be repeated.",
        ),
    ] = field(default_factory=list)
    over: Annotated[
        list[Bound],
        typer.Option(
            "--fail-over",
            metavar="MEASURE=VALUE",
            parser=bound("--fail-over"),
            help="Fail if a mean is higher than VALUE; may be repeated.",
        ),
    ] = field(default_factory=list)
    max_failed: Annotated[
        int | None,
        typer.Option("--max-failed", min=0, metavar="N", help="Fail if more than N questions failed or are missing."),
    ] = None
    severe: Annotated[
        bool, typer.Option("--fail-on-severe", help="Fail if a component of a layer is severely low.")
    ] = False
    stale: Annotated[bool, typer.Option("--fail-on-stale", help="Fail if the gold of a question is stale.")] = False
    min_scored: Annotated[
        float | None,
        typer.Option(
            "--min-scored",
            metavar="SHARE",
            parser=number_between("--min-scored", "a share of the questions,", 0, 1),
            help="Fail if a measure was scored on a smaller share of all questions (0 to 1): each measure that "
            "--measure or a gate names, or every one.",
        ),
    ] = None
    min_kappa: MinKappaOption = None
