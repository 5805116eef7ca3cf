"""``graphkit evaluate --cypher``: the queries of gold and of runs are run, and what they walk is scored."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import option
from graphkit.errors import InputError
from graphkit.records.words import counted, shortened

if TYPE_CHECKING:
    from graphkit.cli.evaluate import InputOptions
    from graphkit.records.option_values import Bound

#: Stale questions that are named.
_NAMED = 3


@dataclass(frozen=True)
class WalkOptions:
    """The graph over which logged queries run."""

    cypher: str | None = option(
        "--cypher dataset|URI",
        "Run the Cypher of gold and of the runs over this graph first, as `graphkit cypher` does, and score its walks.",
    )

    def inputs(self, given: InputOptions) -> InputOptions:
        """Return the runs with the walks of their queries, in a folder of graphkit's own."""
        if self.cypher is None:
            return given
        from graphkit.cli.base import print_problems, say
        from graphkit.cli.progress import shown_progress
        from graphkit.database.settings import Settings
        from graphkit.files.assets import located
        from graphkit.files.dataset import Dataset, run_files
        from graphkit.files.problems import Problems
        from graphkit.plugins.cypher.found_causes import CauseFinder
        from graphkit.plugins.cypher.walked_dataset import GraphChoice, given_dataset, walk_dataset

        if given.format is not None:
            remedy = "Import it (`graphkit import`), and evaluate the run."
            raise InputError("--cypher reads runs, and no log of another tool", where="--format", remedy=remedy)
        files, problems = [*map(located, run_files(given.runs or ()))], Problems()
        source = Dataset(located(given.dataset)) if given.dataset is not None else Dataset.of_runs(files)
        place = hashlib.sha256(str(source.folder.resolve()).encode()).hexdigest()[:16]
        out = Settings.resolve().data / "walked" / place / source.name
        asked = given_dataset(source, files, out, problems=problems, replace_folder=True)
        with (
            GraphChoice(self.cypher).runner(source, shown_progress) as runner,
            shown_progress("running queries") as progress,
        ):
            walked = walk_dataset(asked, runner, cause=CauseFinder(runner), progress=progress)
        for sentence in runner.notes:
            say(f"note: {sentence}")
        print_problems(problems)
        for run in walked.runs:
            say(f"note: {run.sentence}")
            if run.other_rows is not None:
                say(f"note: {run.other_rows}")
        for name, reason in [*walked.stale.items()][:_NAMED]:
            say(f"note: {name} is stale: {shortened(reason, 200)}")
        if (more := len(walked.stale) - _NAMED) > 0:
            say(f"note: {counted(more, 'more question')} {'is' if more == 1 else 'are'} stale")
        return dataclasses.replace(given, runs=[*walked.run_files], dataset=None)

    def files(self) -> dict[Path, str]:
        """Return no file."""
        return {}

    def each(self) -> Sequence[Bound]:
        """Return no bound."""
        return ()
