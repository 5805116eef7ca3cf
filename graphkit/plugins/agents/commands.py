"""``graphkit mcp``."""

from __future__ import annotations

from pathlib import Path

from graphkit.cli.base import command, open_graph, settings
from graphkit.errors import InputError


@command(graph=True)
def mcp() -> None:
    """Serve runs and failures to a coding agent.

    Runs, comparisons, failures and explanations are served by MCP over standard input and output.
    """
    try:
        from graphkit.plugins.agents.mcp_server import mcp_server
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("mcp"):
            raise
        what = "the SDK of the Model Context Protocol isn't installed"
        raise InputError(what, remedy="Install it: pip install 'graphkit-eval[mcp]'.") from None
    from graphkit import __version__
    from graphkit.plugins.agents.workspace import Workspace

    chosen = settings()
    there = chosen.uri is not None or chosen.data.is_dir()
    opened = (lambda: open_graph(read_only=True, silent=True)) if there else None
    mcp_server(Workspace(Path.cwd().resolve(), opened), __version__).run("stdio")
