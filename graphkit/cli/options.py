"""Options that several commands share: one declaration for each, and one dataclass for each family."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from graphkit.cli.base import argument, option, print_problems
from graphkit.errors import InputError
from graphkit.records.option_values import Bound, Share, assignment, bound, number_between, share

if TYPE_CHECKING:
    from graphkit.files.problems import Problems

# Choices and defaults repeat those of the library, because importing it would make help slow; a test compares both.
OnError = Literal["fail", "skip"]
SecondNames = Literal["relations", "nodes"]
FailedAs = Literal["worst", "failed", "unscored"]
CountedAs = Literal["worst", "failed", "unscored", "zero", "0"]
SEED = 20_251


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


def one_run(name: str | None, files: Sequence[Path], verb: str) -> None:
    """Refuse ``--run`` for several files."""
    if name is not None and len(files) > 1:
        raise InputError(
            f"--run names one run, and there are {len(files)} files", remedy=f"{verb} one after the other."
        )


DATASET_FOLDER = argument("DATASET", "Read the dataset in this folder, which contains questions.jsonl.")
DATASET = option("--dataset -d DIR", "Read the dataset in DIR. [default: the folder above the run's runs/]")
NEW_RUN_DATASET = option("--dataset -d DIR", "Answer the questions of the dataset in DIR.", required=True)
NEW_RUN = option("--out -o RUN.jsonl", "Write the run to this file.", required=True, writes="a run")
NEW_RUN_NAME = option("--run NAME", "Name the run. [default: the name of its file]")
RUN_NAME = option("--run NAME", "Use this name for the run. [default: as its records say]")
REPLACE_FILE = option("--force", "Replace a file that exists.")
NO_STORE = option("--no-store", "Use no database.")
MEASURE = option("--measure -m NAME", "Use this measure, such as nDCG@10; may be repeated.")
CONFIG = option("--config FILE", "Read weights, targets and severe thresholds of the layers (TOML).")
SCORES = option("--scores FILE", "Add scores by others (.jsonl, .csv, .parquet); may be repeated.")
ANSWERED_BY = option("--answered-by MODEL", "Name the model that answered. [default: as `graphkit run` noted]")
MIN_KAPPA = option(
    "--min-kappa VALUE",
    "Fail if the lower bound of judge-human kappa is below VALUE.",
    parser=number_between("--min-kappa", "a number", -1, 1),
)
SCALE = option(
    "--scale LOW-HIGH", "Use these whole grades for the measure. [default: as declared, or as given]", parser=_scale
)
ALLOW_LOAD_CSV = option("--allow-load-csv", "Allow LOAD CSV and plug-ins, which can read files and send data.")
QUESTION_KEY = option("--question-key KEY", "Read the question's id at KEY, such as metadata.ticket.")
COLUMNS = option(
    "--columns S,R,T", "Read source, relation and target in these columns of a Cypher query's rows.", parser=_columns
)
MAP = option(
    "--map FIELD=EXPRESSION|FILE",
    "Read a field by JMESPath, such as retrieved=hits[].doc, from any JSON; or a file of such lines; may be repeated.",
)
WHERE = option(
    "--where FILTER",
    "Take only these questions, such as 'split == \"dev\" and hops > 2': by the dataset, not by results.",
)
UNDIRECTED = option("--undirected", "Compare edges without their direction, by measures that are named so.")
UNTYPED = option("--untyped", "Compare edges without their relations, by measures that are named so.")
UNORDERED = option("--unordered", "Treat each traversal as a set of edges; skip measures of its order.")
MISSING_AS = option(
    "--missing-as --failed-as",
    "Count failed, missing and unlogged questions as the worst value at gates and targets; or only failed and missing "
    "ones; or none; or each question without a value as 0.",
    default="worst",
)
BY = option(
    "--by SLICE",
    "Also give the means by a field of the questions (category, difficulty, group, split, session), or by what their "
    "gold has in the graph (repo, repositories, hops, boundary, relation, commit).",
)
CLUSTER = option(
    "--cluster",
    "Give intervals over clusters: questions of one repository, session, category or group are dependent.",
)
FAILED_AS = option(
    "--missing-as --failed-as",
    "Count failed, missing and unlogged questions as the worst value; or only failed and missing ones; or none.",
    default="worst",
)
ALLOW_STALE = option("--allow-stale N", "Accept stale gold of up to N questions at gates.", default=0, min=0)
MAX_COST = option("--max-cost AMOUNT", "Stop before more than AMOUNT is spent.", min=0)
PRICES = option("--prices FILE", "Read your prices of models (TOML).")

REPLIES = option(
    "--cache FILE", "Use this file of replies. [env: GRAPHKIT_REPLIES] [default: .graphkit/replies.sqlite]"
)
CHANGED_REPLIES = dataclasses.replace(REPLIES, writes="replies", replaces=False)


ON = option(
    "--on processes|dask|ray[=N|=ADDRESS]",
    "Spread the work over N workers of this machine (by default one a core), or over a cluster.",
)


@dataclass(frozen=True)
class ExecutorOptions:
    """The workers that share the work, and what each task needs of them."""

    on: str | None = ON
    resources: list[str] | None = option(
        "--resources NAME=AMOUNT", "Reserve this for each task on a cluster, such as gpu=1; may be repeated."
    )

    def reserved(self) -> dict[str, float]:
        """Return the amounts by name; raise an InputError if one is no amount, or there are no workers."""
        found = {}
        for text in self.resources or []:
            name, value = assignment("--resources", text)
            try:
                found[name] = float(value)
            except ValueError:
                found[name] = math.nan
            if not 0 < found[name] < math.inf:
                raise InputError(f"--resources takes NAME=AMOUNT with an amount above 0, not {text!r}")
        if found and self.on is None:
            raise InputError(
                "--resources reserves what a cluster has, and --on names none",
                remedy="Add --on dask=ADDRESS or --on ray=ADDRESS.",
            )
        return found


ON_ERROR = option("--on-error", "Refuse input with bad records, or skip and report these.", default="fail")


@dataclass(frozen=True)
class ReadingOptions:
    """Options for reading records."""

    on_error: OnError = ON_ERROR
    strict: bool = option("--strict", "Refuse records with unknown fields.")

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
class NameOptions:
    """Options for converting names to ids of artifacts."""

    ids: Path | None = option("--ids FILE", "Read the ids of names (JSON Lines or CSV with name and id).")
    id_pattern: str | None = option(
        "--id-pattern REGEX", "Match ids by groups id, or repo, path, symbol; or REGEX => TEMPLATE."
    )
    commit: list[str] | None = option("--commit REPO=SHA", "State the commit that was read; may be repeated.")

    def keywords(self) -> dict[str, Any]:
        """Return them as keywords of :func:`graphkit.import_log` or :func:`graphkit.import_graph`."""
        commits = dict(assignment("--commit", text) for text in self.commit or [])
        return {name: value for name, value in vars(self).items() if name != "commit"} | {"commits": commits}


@dataclass(frozen=True)
class LogOptions(NameOptions):
    """Options for reading the log of another tool."""

    question: str | None = option("--question ID", "Assign the whole log to this question.")
    question_key: str | None = QUESTION_KEY
    columns: Columns | None = COLUMNS
    chunks_only: bool = option("--chunks-only", "Accept a log with chunks whose edges can't be read.")
    parquet: Path | None = option("--parquet DIR", "Read which documents the texts are from in graphrag's index.")
    map: list[str] | None = MAP
    line: list[str] | None = option(
        "--line PATTERN", "Read lines of text by the named groups of a regular expression; may be repeated."
    )

    def keywords(self) -> dict[str, Any]:
        """Return them as keywords; a pattern of lines is a mapping, too."""
        given = super().keywords()
        return given | {"map": [*(given["map"] or ()), *(f"line={one}" for one in given.pop("line") or ())] or None}

    def given(self) -> list[str]:
        """Return the options that were given, as the user writes them."""
        return [f"--{name.replace('_', '-')}" for name, value in vars(self).items() if value]

    def typed(self) -> str:
        """Return the given options with their values as one types them, a space before each."""
        from graphkit.files.assets import option_text

        text = ""
        for name, value in vars(self).items():
            option = name.replace("_", "-")
            if value is True:
                text += f" --{option}"
            elif value:
                several = value if isinstance(value, list) else [",".join(value) if isinstance(value, tuple) else value]
                text += "".join(option_text(option, str(one)) for one in several)
        return text


@dataclass(frozen=True)
class AutoLogOptions(LogOptions):
    """Options for a log whose format isn't named."""

    yes: bool = option("--yes", "Read a log that no format fits by the mapping that is proposed, if nothing is open.")

    def keywords(self) -> dict[str, Any]:
        """Return those of reading a log."""
        return {name: value for name, value in super().keywords().items() if name != "yes"}


@dataclass(frozen=True)
class RunGateOptions:
    """Gates for runs; see :class:`graphkit.analysis.run_gates.RunGates`."""

    under: list[Bound] = option(
        "--fail-under MEASURE=VALUE",
        "Fail if a mean, or a percentile as of EdgeF1_p10, is lower than VALUE; may be repeated.",
        default=[],
        parser=bound("--fail-under"),
    )
    over: list[Bound] = option(
        "--fail-over MEASURE=VALUE",
        "Fail if a mean, or a percentile as of latency_p95=2s, is higher than VALUE; may be repeated.",
        default=[],
        parser=bound("--fail-over"),
    )
    each: list[Bound] = option(
        "--fail-question MEASURE=VALUE",
        "Fail if any question is worse than VALUE, by the direction of the measure; may be repeated.",
        default=[],
        parser=bound("--fail-question"),
    )
    max_failed: int | None = option("--max-failed N", "Fail if more than N questions failed or are missing.", min=0)
    severe: bool = option("--fail-on-severe", "Fail if a component of a layer is severely low.")
    stale: bool = option("--fail-on-stale", "Fail if the gold of a question is stale, as every other gate does.")
    allow_stale: int = ALLOW_STALE
    min_scored: list[Share] = option(
        "--min-scored [MEASURE=]SHARE",
        "Fail if a measure has a value on a smaller share of the questions that it could score (0 to 1): this one, or "
        "each that --measure or a gate names; may be repeated. [default: 0.8 for each bound]",
        default=[],
        parser=share("--min-scored"),
    )
    per_repetition: bool = option(
        "--per-repetition", "Hold the gates for each of the runs NAME@1, NAME@2, ... [default: for their mean]"
    )
    pass_k: int | None = option(
        "--pass-k K",
        "Hold pass^K to the bounds on means: the share of K repetitions of a question that all pass.",
        min=1,
    )
    pass_at: list[Bound] = option(
        "--pass-at MEASURE=VALUE",
        "Let a repetition pass from VALUE on; may be repeated. [default: beyond the target, else at the best value]",
        default=[],
        parser=bound("--pass-at"),
    )
    sure: bool = option("--sure", "Hold the nearer end of the mean's 95% interval to the bounds.")
    min_kappa: float | None = MIN_KAPPA
