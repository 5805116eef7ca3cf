"""``graphkit baseline save`` and ``get``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.cli.base import argument, command, group, option, present
from graphkit.cli.options import DATASET
from graphkit.errors import GateError, InputError

if TYPE_CHECKING:
    from graphkit.files.dataset import Dataset

baseline = group("Save or get the run that others are compared with.")


@dataclass(frozen=True)
class PlaceOptions:
    """Where baselines are kept."""

    folder: Path | None = option("--folder DIR", "Keep it in DIR, which CI may store as an artifact.")
    branch: str | None = option(
        "--branch NAME", "Keep it on this branch of the git repository around. [default: graphkit-baseline]"
    )
    name: str = option("--name NAME", "The name of the baseline; several may lie side by side.", default="main")

    def place(self) -> str | None:
        """Return the branch; None for a folder. Raise InputError for both."""
        from graphkit.plugins.ci.baseline_branches import BRANCH

        if self.folder is not None and self.branch is not None:
            raise InputError("--folder and --branch are two places", remedy="Name one of them.")
        return None if self.folder is not None else self.branch or BRANCH


@baseline.command()
@command()
def save(
    run: Path = argument(
        "RUN.jsonl", "The run log to save, or a quoted pattern of repetitions, such as 'mine@*.jsonl'."
    ),
    dataset: Path | None = DATASET,
    *,
    where: PlaceOptions,
    push: bool = option("--push", "Push the branch to origin, after fetching what is there."),
    partial: bool = option("--partial-baseline", "Save a run that answered fewer than four fifths of its questions."),
) -> None:
    """Save a run with the dataset that it was asked, its commit and graphkit's version."""
    branch = where.place()
    if push and branch is None:
        raise InputError("--push pushes a branch, and --folder names none", remedy="Leave out one of them.")
    facts = saved(run, dataset, where, push=push, partial=partial)
    present(facts.pop("text"), facts)


def saved(
    run: Path, dataset: Path | None, where: PlaceOptions, *, push: bool = False, partial: bool = False
) -> dict[str, Any]:
    """Save a run as a baseline in a folder or on a branch, and return what was done, with a ``text``.

    Raises
    ------
    InputError
        The run can't be used, or answered fewer than four fifths of its questions and isn't accepted as ``partial``.
    """
    from graphkit.cli.progress import shown_progress
    from graphkit.files.dataset import Dataset
    from graphkit.plugins.ci.baselines import checked_name, packed
    from graphkit.plugins.compare.repeated_logs import repeated_files
    from graphkit.records.words import counted

    checked_name(where.name)
    with shown_progress(f"saving {run.name}"):
        files = repeated_files(run)
        own = Dataset.of_runs(files) if dataset is None else Dataset(dataset)
        system, asked, answered = _answered(run, files, own, partial)
        with packed(files, own, run=system, questions=asked, answered=answered) as folder:
            target = _kept(folder, where, push)
    times = "" if len(files) == 1 else f", {counted(len(files), 'repetition')}"
    text = f"saved {system} ({answered} of {asked} questions answered{times}) as {where.name} in {target}"
    facts = {"run": system, "questions": asked, "answered": answered, "place": target, "name": where.name}
    return {"text": text, **facts, "repetitions": len(files)}


def _answered(run: Path, files: Sequence[Path], dataset: Dataset, partial: bool) -> tuple[str, int, int]:
    """Return the name of a run or system, how many questions it was asked, and answered in its worst repetition."""
    from graphkit.analysis.gates import LEAST_SCORED, RETRY
    from graphkit.files.problems import Problems
    from graphkit.plugins.compare.repeated_logs import repeated_name
    from graphkit.records.bounds import under
    from graphkit.scoring.evaluate import evaluate

    results = [evaluate(file, dataset, measures=["EdgeRecall"], problems=Problems()) for file in files]
    system = results[0].run if len(files) == 1 else repeated_name([one.run for one in results], str(run))
    asked = results[0].questions
    answered = min(one.questions - one.missing - one.failed for one in results)
    if under(answered, LEAST_SCORED * asked) and not partial:
        raise InputError(
            f"the run answered {answered} of {asked} questions, too few for a baseline",
            where=str(run),
            remedy=f"Complete it by {RETRY}, or accept it by --partial-baseline.",
        )
    return system, asked, answered


def _kept(packed_folder: Path, where: PlaceOptions, push: bool) -> str:
    """Keep a packed baseline at its place, and return that in words."""
    from graphkit.plugins.ci.baseline_branches import fetch_branch, push_branch, save_on_branch
    from graphkit.plugins.ci.baselines import save_in_folder

    if where.folder is not None:
        return str(save_in_folder(packed_folder, where.folder, where.name))
    branch, here = where.place() or "", Path()
    if push:
        fetch_branch(here, branch)
    commit = save_on_branch(packed_folder, here, branch, where.name)
    if push:
        push_branch(here, branch)
    return f"the branch {branch}, commit {commit[:12]}"


@baseline.command()
@command()
def get(
    *,
    where: PlaceOptions,
    out: Path = option("--out -o DIR", "Write the baseline to DIR.", required=True),
) -> None:
    """Get a baseline: a folder that `graphkit compare` takes as its first run. The exit code is 1 if there is none."""
    from graphkit.plugins.ci.baselines import NoBaselineError, write_out

    try:
        with found(where) as folder:
            held = write_out(folder, out)
    except NoBaselineError as error:
        raise GateError(error.what, where=error.where, remedy=error.remedy) from None
    facts = {name: getattr(held.about, name) for name in held.about.__struct_fields__ if name != "files"}
    present(f"{out}: {held.about.sentence}", facts | {"out": str(out)})


@contextmanager
def found(where: PlaceOptions) -> Iterator[Path]:
    """Yield the folder of a baseline at its place, after fetching the branch."""
    from graphkit.plugins.ci.baseline_branches import fetch_branch, from_branch
    from graphkit.plugins.ci.baselines import in_folder

    branch = where.place()
    if where.folder is not None:
        yield in_folder(where.folder, where.name)
        return
    assert branch is not None
    fetch_branch(Path(), branch)
    with from_branch(Path(), branch, where.name) as folder:
        yield folder
