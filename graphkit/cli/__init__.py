"""The command line: it composes the parts and holds no logic. Heavy imports wait until a command needs them."""

from graphkit.cli.app import main

__all__ = ["main"]
