"""``graphkit grade``."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphkit.cli.base import (
    Writes,
    as_json,
    open_graph,
    print_json,
    print_line,
    print_problems,
    say,
    settings,
    with_graph,
)
from graphkit.cli.options import (
    ON_ERROR,
    DatasetOption,
    OnErrorOption,
    RunNameOption,
    StrictOption,
    kappa_floor,
    on_error_value,
)
from graphkit.errors import GateError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphkit.analysis.judge_cost import GradingCost
    from graphkit.records.verdicts import Verdict
    from graphkit.scoring.judge_setup import GradingEstimate
    from graphkit.scoring.verdict_job import Graded

# As in the library, and held equal by a test: to read them there would make help slow.
JUDGE = "lexical"
CONCURRENCY = 8
CONTEXT_TOKENS = 24_000

#: How many failed verdicts are told one by one.
_FAILURES = 5


@with_graph
def grade(
    run: Annotated[Path, typer.Argument(metavar="RUN.jsonl", help="The run whose answers are judged.")],
    dataset: DatasetOption = None,
    judge: Annotated[
        str,
        typer.Option("--judge", "-j", metavar="NAME", help="lexical (rules, offline), anthropic, or module:callable."),
    ] = JUDGE,
    model: Annotated[str | None, typer.Option("--model", metavar="MODEL", help="The model that judges.")] = None,
    effort: Annotated[
        str | None, typer.Option("--effort", metavar="low|medium|high", help="How much the model may think.")
    ] = None,
    grader: Annotated[
        list[str] | None,
        typer.Option(
            "--grader",
            "-g",
            metavar="NAME",
            help="What is asked; may be repeated. [default: claims, rubric, aggregation]",
        ),
    ] = None,
    rubric: Annotated[
        list[Path] | None,
        typer.Option("--rubric", metavar="DIR", help="Your own rubric: a folder with prompt.txt and schema.json."),
    ] = None,
    citations: Annotated[
        str | None,
        typer.Option("--citations", metavar="REGEX", help="What else is a citation; its group `target` names what."),
    ] = None,
    context_tokens: Annotated[
        int, typer.Option("--context-tokens", min=0, help="How much of the retrieved context a judge is shown.")
    ] = CONTEXT_TOKENS,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, help="Answers that are judged at the same time.")
    ] = CONCURRENCY,
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache",
            metavar="FILE",
            help="The file of replies. [env: GRAPHKIT_REPLIES] [default: .graphkit/replies.sqlite]",
        ),
        Writes("replies", replaces=False),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Keep no replies, and read none.")] = False,
    replay: Annotated[bool, typer.Option("--replay", help="Serve recorded replies only; ask nobody.")] = False,
    batch: Annotated[bool, typer.Option("--batch", help="Ask by batches: within a day, at half the price.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell calls, tokens and cost, and send nothing.")] = False,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", min=0, metavar="AMOUNT", help="Stop before more would be spent.")
    ] = None,
    prices: Annotated[
        Path | None, typer.Option("--prices", metavar="FILE", help="Your prices of models (TOML).")
    ] = None,
    answered_by: Annotated[
        str | None,
        typer.Option(
            "--answered-by", metavar="MODEL", help="The model that answered. [default: as `graphkit run` noted]"
        ),
    ] = None,
    min_kappa: Annotated[
        float | None,
        typer.Option("--min-kappa", metavar="VALUE", help="Exit with 1 where kappa with a person may be lower."),
    ] = None,
    run_name: RunNameOption = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Grade without a database.")] = False,
    on_error: OnErrorOption = ON_ERROR,
    strict: StrictOption = False,
) -> None:
    """Have a judge say what the answers of a run are worth; scores and verdicts are kept beside it and in the graph."""
    from graphkit.analysis import gates
    from graphkit.analysis.judge_cost import grading_cost
    from graphkit.analysis.spot_check_files import kept_checks
    from graphkit.cli.progress import shown_progress
    from graphkit.files.problems import Problems
    from graphkit.judges.citations import citation_pattern
    from graphkit.llm.cache import cache_path
    from graphkit.records.model_families import self_evaluation
    from graphkit.records.words import counted
    from graphkit.scoring.grade_run import GradingOptions, cost_of_run, estimate_grading
    from graphkit.scoring.grade_run import grade as grade_run
    from graphkit.scoring.judge_setup import ANTHROPIC, JudgeOptions
    from graphkit.scoring.verdict_job import DEFAULT_GRADERS
    from graphkit.trust.families import answering_model

    problems = Problems(on_error_value(on_error), strict=strict)
    kappa_floor(min_kappa)
    if no_cache and cache is not None:
        raise InputError("--cache names a file of replies, and --no-cache keeps none")
    replies = cache_path(settings().data, cache) if judge == ANTHROPIC and not no_cache else cache
    chosen = JudgeOptions(judge, model, effort, concurrency, replies, replay, max_cost, prices)
    made_by = answering_model(run, answered_by)
    options = GradingOptions(
        grader or (() if rubric else DEFAULT_GRADERS),
        rubric or (),
        context_tokens,
        citation_pattern(citations) if citations is not None else None,
        made_by,
    )
    if dry_run:
        _show_estimate(estimate_grading(run, dataset, chosen, options, batch=batch, problems=problems))
        return
    warning = self_evaluation(chosen.model_name if judge == ANTHROPIC else judge, made_by)
    with nullcontext() if no_store else open_graph() as store, shown_progress("grade") as advance:

        def progress(verdicts: Sequence[Verdict]) -> None:
            advance("verdicts", len(verdicts))

        try:
            graded = grade_run(
                run,
                dataset,
                judge=chosen,
                options=replace(options, progress=progress),
                batch=batch,
                store=store,
                keep=True,
                name=run_name,
                problems=problems,
                tell=say,
            )
        except KeyboardInterrupt:
            if replies is not None:
                say(f"stopped: the replies so far are kept in {replies}, and the same command goes on from there")
            raise
    print_problems(problems)
    cost = grading_cost(graded.verdicts, cost_of_run(run))
    if as_json():
        print_json(_facts(graded, cost, warning))
    else:
        _show(run, graded, cost)
    _tell_failures(graded)
    if warning:
        say(f"warning: {warning}")
    if min_kappa is not None:
        gates.hold(gates.min_kappa([graded.run], graded.scores, kept_checks([run]), min_kappa))
    if unpaid := sum(verdict.failure == "over_budget" for verdict in graded.failed):
        raise GateError(
            f"stopped at --max-cost {max_cost:g}: {counted(unpaid, 'verdict')} not asked for",
            remedy="What is done is kept; the same command asks for the rest, with a limit of its own.",
        )
    if graded.verdicts and len(graded.failed) == len(graded.verdicts):
        raise InputError("no verdict could be had", remedy="See above why, mend it, and run the same command again.")


def _show_estimate(found: GradingEstimate) -> None:
    import dataclasses

    from graphkit.records.words import counted

    if as_json():
        print_json(dataclasses.asdict(found))
        return
    kept = f" ({found.kept} more {'is' if found.kept == 1 else 'are'} answered by kept replies)" if found.kept else ""
    print_line(f"{counted(found.calls, 'call')}{kept}, about {counted(found.prompt_tokens, 'token')} of prompts")
    if found.cost is None:
        print_line("what they cost isn't known: give the model's price by --prices FILE")
    else:
        price = f"{found.cost:.4f} {found.currency}, and no more than {found.most or 0:.4f}"
        print_line(f"about {price} (prices of {found.as_of}; a verdict that can't be used is asked for once more)")


def _facts(graded: Graded, cost: GradingCost, warning: str | None) -> dict[str, Any]:
    import dataclasses

    means = {name: dataclasses.asdict(summary) for name, summary in graded.summaries().items()}
    failures = Counter(str(verdict.failure) for verdict in graded.failed)
    return {
        "run": graded.run,
        "judge": graded.judge,
        "measures": means,
        "verdicts": len(graded.verdicts),
        "failures": dict(failures),
        "cost": {**dataclasses.asdict(cost), "share": cost.share},
        "saving": dataclasses.asdict(graded.saving),
        "warning": warning,
    }


def _show(run: Path, graded: Graded, cost: GradingCost) -> None:
    from graphkit.cli.tables import print_table
    from graphkit.files.verdict_files import grades_folder
    from graphkit.records.words import counted, shown
    from graphkit.scoring.results import scored_in_words

    rows = [
        [name, shown(summary.mean), scored_in_words(summary, "worst")] for name, summary in graded.summaries().items()
    ]
    print_table(f"{graded.run}, judged by {graded.judge}", ("measure", "mean", "scored"), rows)
    print_line(str(cost))
    saving = graded.saving
    if saving.calls:
        tokens = f" and about {counted(saving.prompt_tokens, 'token')}" if saving.prompt_tokens else ""
        print_line(f"claims were judged once: {counted(saving.calls, 'call')}{tokens} less than a call a measure")
    print_line(f"kept in {grades_folder(run)}")


def _tell_failures(graded: Graded) -> None:
    from graphkit.records.words import counted

    for verdict in graded.failed[:_FAILURES]:
        say(f"no verdict on {verdict.question} by {verdict.grader}: {verdict.failure}: {verdict.reason}")
    if len(graded.failed) > _FAILURES:
        say(f"no verdict: ... and {counted(len(graded.failed) - _FAILURES, 'more failure')}")
