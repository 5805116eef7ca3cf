"""``graphkit completion``."""

from __future__ import annotations

import sys
from typing import Literal

from graphkit.cli.base import argument, as_json, command, print_json


@command()
def completion(
    *,
    shell: Literal["bash", "zsh", "fish"] = argument("bash|zsh|fish", "Complete in this shell."),
) -> None:
    """Print a script that completes words in a shell.

    It completes commands, options and values, and says where to save it.
    """
    import typer

    from graphkit.cli.app import app
    from graphkit.plugins.completion.shell_scripts import commands_of, script

    text = script(shell, commands_of(typer.main.get_command(app)))
    if as_json():
        print_json({"shell": shell, "script": text})
    else:
        sys.stdout.write(text)
