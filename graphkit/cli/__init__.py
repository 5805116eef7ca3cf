"""The command line: it composes the parts and has no logic. Heavy imports wait until a command needs them."""

import signal

#: The function of the program, and the modules that plug-ins may import.
__all__ = [
    "app",
    "asking",
    "base",
    "briefs",
    "evaluate",
    "load",
    "main",
    "options",
    "progress",
    "report",
    "scorecards",
    "tables",
    "terminal",
]


def main() -> None:
    """Run the command line."""
    # While the parts are imported, Ctrl-C just ends the process; from then on the command itself handles it. A job of a
    # script, which is started with interrupts ignored, goes on ignoring them.
    handler = signal.getsignal(signal.SIGINT)
    if handler is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from graphkit.cli import app

    signal.signal(signal.SIGINT, handler)
    app.main()
