"""``graphkit sandbox`` with its command ``check``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from graphkit.cli.base import command, group, option, present, print_line
from graphkit.cli.tables import print_table
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.plugins.sandbox.proof import AttemptResult

sandbox = group("Look at what isolates the code of answers.")


@sandbox.command()
@command()
def check(
    mechanism: Literal["bubblewrap", "landlock", "none"] | None = option(
        "--mechanism", "Try this mechanism; none shows what gets out without a sandbox. [default: the chosen one]"
    ),
) -> None:
    """Show which sandbox works here, and prove it: code in it tries every way out that we know.

    Answers in Python and JavaScript also try to pass tests that they don't solve, and to use too much memory.

    Exit codes: 0 if nothing got out, 1 if something did, 2 if no sandbox works here.
    """
    from graphkit.plugins.sandbox.proof import prove, prove_results, require_held
    from graphkit.plugins.sandbox.sandbox import open_sandbox
    from graphkit.plugins.sandbox.walls import WALLS

    walls = WALLS if mechanism is None else [wall for wall in WALLS if wall.name == mechanism]
    with open_sandbox(jobs=1, unsafe=mechanism == "none", walls=walls) as opened:
        wall, description = opened.wall, opened.description
        passed_over = {one.wall.name: one.failure for one in opened.trials if one.failure}
    results = [*prove(wall), *prove_results(wall)]
    escaped = sum(one.escaped for one in results)
    facts = {"mechanism": wall.name, "passed_over": passed_over, "attempts": [one.as_json() for one in results]}
    present(lambda: _show(description, results, escaped), {**facts, "escaped": escaped})
    require_held(results, wall)


def _show(description: str, results: list[AttemptResult], escaped: int) -> None:
    print_line(description)

    rows = [
        [one.name, "GOT OUT" if one.escaped else "held", _shortened(one.signs), f"{one.seconds:.2f} s"]
        for one in results
    ]
    print_table(None, ["attempt", "", "what happened", "took"], rows)
    print_line(f"{counted(len(results), 'attempt')}, {escaped} got out")


def _shortened(said: tuple[str, ...], most: int = 6) -> str:
    """Return the first messages and the last one, which comes from the witness."""
    if len(said) <= most:
        return "; ".join(said)
    return "; ".join([*said[: most - 2], f"{len(said) - most + 1} more", said[-1]])
