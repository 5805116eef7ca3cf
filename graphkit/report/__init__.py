"""One self-contained page over runs: what was scored, and for each question the gold path with the walk over it."""

from graphkit.report.data import PageOptions
from graphkit.report.page import write_report

__all__ = ["PageOptions", "write_report"]
