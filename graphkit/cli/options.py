"""What several commands share of their options: declarations, defaults, and how values are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from graphkit.cli.base import tell
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.analysis.comparison import By
    from graphkit.files.problems import OnError
    from graphkit.records.executions import Execution
    from graphkit.records.scores import Score
    from graphkit.records.verdicts import Verdict
    from graphkit.scoring.evaluate import Engine
    from graphkit.scoring.results import Label

DatasetArgument = Annotated[Path, typer.Argument(metavar="DATASET", help="The folder that holds questions.jsonl.")]
DatasetOption = Annotated[
    Path | None,
    typer.Option("--dataset", "-d", metavar="DIR", help="The run's dataset. [default: the folder above its runs/]"),
]
MeasureOption = Annotated[
    list[str] | None,
    typer.Option("--measure", "-m", metavar="NAME", help="Such as nDCG@10; may be repeated."),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Weights, targets and severe thresholds of the layers (TOML)."),
]
ScoresOption = Annotated[
    list[Path] | None,
    typer.Option("--scores", metavar="FILE", help="Add scores that others gave (.jsonl, .csv, .parquet)."),
]
VerdictsOption = Annotated[
    list[Path] | None,
    typer.Option("--verdicts", metavar="FILE", help="Show what judges said (.jsonl). [default: those beside the run]"),
]
ExecutionsOption = Annotated[
    list[Path] | None,
    typer.Option("--executions", metavar="FILE", help="Show what became of code (.jsonl). [default: beside the run]"),
]
AnsweredByOption = Annotated[
    str | None,
    typer.Option("--answered-by", metavar="MODEL", help="The model that answered. [default: as `graphkit run` noted]"),
]
IdsOption = Annotated[
    Path | None,
    typer.Option("--ids", metavar="FILE", help="The ids of its names: JSON Lines or CSV with name and id."),
]
IdPatternOption = Annotated[
    str | None,
    typer.Option("--id-pattern", metavar="REGEX", help="Groups id, or repo, path, symbol; or REGEX => TEMPLATE."),
]
QuestionOption = Annotated[
    str | None, typer.Option("--question", metavar="ID", help="The question of a log that is about one.")
]
QuestionKeyOption = Annotated[
    str | None,
    typer.Option("--question-key", metavar="KEY", help="Where the question's id is, such as metadata.ticket."),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option("--columns", metavar="S,R,T", help="Source, relation and target in the rows of a Cypher query."),
]
ChunksOnlyOption = Annotated[
    bool, typer.Option("--chunks-only", help="Take what was retrieved where the edges can't be read.")
]
ParquetOption = Annotated[
    Path | None,
    typer.Option("--parquet", metavar="DIR", help="The output of graphrag's index, which knows its texts' documents."),
]
CommitOption = Annotated[
    list[str] | None,
    typer.Option("--commit", metavar="REPO=SHA", help="The commit at which it was read; may be repeated."),
]
OnErrorOption = Annotated[
    str,
    typer.Option("--on-error", metavar="fail|skip", help="Refuse bad records, or leave them out and report them."),
]
StrictOption = Annotated[bool, typer.Option("--strict", help="Refuse records with fields that graphkit doesn't know.")]

# Defaults. Those that the library has too stand here again, because reading them there would make help slow to show;
# a test holds them equal.
ON_ERROR = "fail"
SEED = 20_251


def on_error_value(text: str) -> OnError:
    """Return what ``--on-error`` asks for."""
    if text == "fail":
        return "fail"
    if text == "skip":
        return "skip"
    raise InputError(f"--on-error is fail or skip, not {text!r}")


def given_scores(files: list[Path], skip: OnError, strict: bool = False) -> list[Score]:
    """Return what ``--scores`` adds, and report what was left out of it."""
    from graphkit.files.problems import Problems
    from graphkit.files.score_files import read_scores

    problems = Problems(skip, strict=strict)
    given = read_scores(files, problems) if files else []
    tell(problems)
    return given


def given_verdicts(files: list[Path], skip: OnError) -> list[Verdict]:
    """Return what ``--verdicts`` adds, and report what was left out of it."""
    from graphkit.files.problems import Problems
    from graphkit.files.verdict_files import read_verdicts

    problems = Problems(skip)
    given = read_verdicts(files, problems) if files else []
    tell(problems)
    return given


def given_executions(files: list[Path], skip: OnError) -> list[Execution]:
    """Return what ``--executions`` adds, and report what was left out of it."""
    from graphkit.files.execution_files import read_executions
    from graphkit.files.problems import Problems

    problems = Problems(skip)
    given = read_executions(files, problems) if files else []
    tell(problems)
    return given


def kappa_floor(value: float | None) -> float | None:
    """Return what ``--min-kappa`` asks for, before any work is done for it."""
    if value is not None and not -1 <= value <= 1:
        raise InputError(f"--min-kappa is from -1 to 1, not {value:g}")
    return value


def engine_value(text: str) -> Engine:
    """Return what ``--engine`` asks for."""
    if text == "python":
        return "python"
    if text == "cypher":
        return "cypher"
    raise InputError(f"--engine is python or cypher, not {text!r}")


def assignment(option: str, text: str) -> tuple[str, str]:
    """Split ``NAME=VALUE``; a name may hold ``=`` inside brackets, as in ``EdgeRecall(relation=False)=0.8``."""
    name, equals, value = text.rpartition("=") if option != "-p" else text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"{option} takes NAME=VALUE, not {text!r}")
    return name.strip(), value.strip()


def by_value(text: str | None) -> By | None:
    """Return what ``compare --by`` asks for."""
    from graphkit.analysis.comparison import By

    return cast("By | None", _grouping(text, get_args(By)))


def label_value(text: str | None) -> Label | None:
    """Return what ``evaluate --by`` asks for."""
    from graphkit.scoring.results import LABELS

    return cast("Label | None", _grouping(text, LABELS))


def _grouping(text: str | None, known: Sequence[str]) -> str | None:
    if text is not None and text not in known:
        raise InputError(f"--by is {', '.join(known)}, not {text!r}")
    return text
