"""What several commands share of their options: declarations, defaults, and how values are read."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args, get_type_hints

import typer

from graphkit.cli.base import print_problems
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.analysis.run_pairs import By
    from graphkit.files.problems import OnError
    from graphkit.records.executions import Execution
    from graphkit.records.scores import Score
    from graphkit.records.unanswered import FailedAs
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
UndirectedOption = Annotated[
    bool, typer.Option("--undirected", help="Compare edges without their direction: measures are so named and kept.")
]
UnorderedOption = Annotated[
    bool,
    typer.Option("--unordered", help="Take each traversal as a set of edges: what compares its order isn't scored."),
]
RunNameOption = Annotated[
    str | None,
    typer.Option("--run", metavar="NAME", help="The run's name. [default: as its records say]"),
]
OnErrorOption = Annotated[
    str,
    typer.Option("--on-error", metavar="fail|skip", help="Refuse bad records, or leave them out and report them."),
]
FailedAsOption = Annotated[
    str,
    typer.Option(
        "--failed-as",
        metavar="worst|unscored",
        help="Count a failed or missing question as the worst value at gates and targets, or leave it unscored.",
    ),
]
StrictOption = Annotated[bool, typer.Option("--strict", help="Refuse records with fields that graphkit doesn't know.")]


@dataclass(frozen=True, slots=True)
class LogOptions:
    """How the log of another tool is read: the options that each command has which reads one."""

    ids: IdsOption = None
    id_pattern: IdPatternOption = None
    question: QuestionOption = None
    question_key: QuestionKeyOption = None
    columns: ColumnsOption = None
    chunks_only: ChunksOnlyOption = False
    parquet: ParquetOption = None
    commit: CommitOption = None

    def given(self) -> list[str]:
        """Return the options that were given, as they are written."""
        return [f"--{name.replace('_', '-')}" for name in _declared(LogOptions) if getattr(self, name)]

    def of_library(self) -> dict[str, Any]:
        """Return them as :func:`graphkit.import_log` takes them."""
        values = {name: getattr(self, name) for name in _declared(LogOptions) if name != "commit"}
        return {**values, "columns": columns_value(self.columns), "commits": commit_values(self.commit)}


@dataclass(frozen=True, slots=True)
class AskOptions:
    """How a judge is asked once more: the options of each command that has answers graded again."""

    model: Annotated[
        str | None,
        typer.Option("--model", metavar="MODEL", help="The model that is asked. [default: that which graded]"),
    ] = None
    effort: Annotated[
        str | None,
        typer.Option(
            "--effort", metavar="low|medium|high", help="How much the model may think. [default: as it graded]"
        ),
    ] = None
    context_tokens: Annotated[
        int | None,
        typer.Option(
            "--context-tokens", min=0, help="How much context the judge is shown. [default: as in the grading]"
        ),
    ] = None
    citations: Annotated[
        str | None,
        typer.Option("--citations", metavar="REGEX", help="What else is a citation. [default: as in the grading]"),
    ] = None
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", min=0, metavar="AMOUNT", help="Stop before more would be spent.")
    ] = None
    prices: Annotated[Path | None, typer.Option("--prices", metavar="FILE", help="Your prices of models (TOML).")] = (
        None
    )


def _declared(options: type) -> dict[str, Any]:
    """Return the options of a class by name, with their declarations."""
    return get_type_hints(options, include_extras=True)


def with_log_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of :class:`LogOptions`; its parameter ``how`` takes them."""
    return _with_options(command, LogOptions)


def with_ask_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of :class:`AskOptions`; its parameter ``how`` takes them."""
    return _with_options(command, AskOptions)


def _with_options(command: Callable[..., None], kind: type[Any]) -> Callable[..., None]:
    declared = _declared(kind)

    @functools.wraps(command)
    def run(**given: Any) -> None:
        how = kind(**{name: given.pop(name) for name in declared})
        command(**given, how=how)

    own = inspect.signature(command, eval_str=True)
    defaults = {field.name: field.default for field in fields(kind)}
    parameters: list[inspect.Parameter] = []
    for parameter in own.parameters.values():
        if parameter.name == "how":
            for name, annotation in declared.items():
                parameters.append(
                    inspect.Parameter(name, parameter.KEYWORD_ONLY, default=defaults[name], annotation=annotation)
                )
        else:
            parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY))
    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del run.__wrapped__
    return run


def commit_values(texts: list[str] | None) -> dict[str, str]:
    """Return the commits that ``--commit`` names."""
    return dict(assignment("--commit", text) for text in texts or [])


# Defaults. Those that the library has too stand here again, because reading them there would make help slow to show;
# a test holds them equal.
ON_ERROR = "fail"
FAILED_AS = "worst"
SEED = 20_251


def on_error_value(text: str) -> OnError:
    """Return what ``--on-error`` asks for."""
    if text == "fail":
        return "fail"
    if text == "skip":
        return "skip"
    raise InputError(f"--on-error is fail or skip, not {text!r}")


def failed_as_value(text: str) -> FailedAs:
    """Return what ``--failed-as`` asks for."""
    if text == "worst":
        return "worst"
    if text == "unscored":
        return "unscored"
    raise InputError(f"--failed-as is worst or unscored, not {text!r}")


def given_scores(files: list[Path], skip: OnError, strict: bool = False) -> list[Score]:
    """Return what ``--scores`` adds, and report what was left out of it."""
    from graphkit.files.problems import Problems
    from graphkit.files.score_files import read_scores

    problems = Problems(skip, strict=strict)
    given = read_scores(files, problems) if files else []
    print_problems(problems)
    return given


def given_verdicts(files: list[Path], skip: OnError, strict: bool = False) -> list[Verdict]:
    """Return what ``--verdicts`` adds, and report what was left out of it."""
    from graphkit.files.problems import Problems
    from graphkit.files.verdict_files import read_verdicts

    problems = Problems(skip, strict=strict)
    given = read_verdicts(files, problems) if files else []
    print_problems(problems)
    return given


def given_executions(files: list[Path], skip: OnError, strict: bool = False) -> list[Execution]:
    """Return what ``--executions`` adds, and report what was left out of it."""
    from graphkit.files.execution_files import read_executions
    from graphkit.files.problems import Problems

    problems = Problems(skip, strict=strict)
    given = read_executions(files, problems) if files else []
    print_problems(problems)
    return given


def kappa_floor(value: float | None) -> float | None:
    """Return what ``--min-kappa`` asks for, before any work is done for it."""
    if value is not None and not -1 <= value <= 1:
        raise InputError(f"--min-kappa is from -1 to 1, not {value:g}")
    return value


#: A scale of more grades than these is one of numbers.
_MOST_GRADES = 101


def scale_value(text: str | None) -> range | None:
    """Return the whole grades that ``--scale`` names, such as 1 to 5 for ``1-5``."""
    if text is None:
        return None
    low, dash, high = (part.strip() for part in text.partition("-"))
    whole = dash and all(part.isascii() and part.isdigit() and len(part) < 10 for part in (low, high))
    if not whole or not 0 < int(high) - int(low) < _MOST_GRADES:
        raise InputError(
            f"--scale is the lowest and the highest of at most {_MOST_GRADES} whole grades, not {text!r}",
            remedy="Write it as 1-5.",
        )
    return range(int(low), int(high) + 1)


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
    from graphkit.analysis.run_pairs import By

    return cast("By | None", _grouping(text, get_args(By)))


def label_value(text: str | None) -> Label | None:
    """Return what ``evaluate --by`` asks for."""
    from graphkit.scoring.results import LABELS

    return cast("Label | None", _grouping(text, LABELS))


def _grouping(text: str | None, known: Sequence[str]) -> str | None:
    if text is not None and text not in known:
        raise InputError(f"--by is {', '.join(known)}, not {text!r}")
    return text


def columns_value(text: str | None) -> tuple[str, str, str] | None:
    """Return the three columns that ``--columns`` names."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if len(names) != 3 or not all(names):
        raise InputError(f"--columns takes source, relation and target with commas, not {text!r}")
    return names[0], names[1], names[2]
