"""One self-contained HTML page about runs: their scores, and each question with its gold path and traversal."""

from graphkit.report.data import PageOptions
from graphkit.report.page import write_described, write_report

__all__ = [
    "PageOptions",
    "board_view",
    "contents",
    "data",
    "escaping",
    "page",
    "page_inputs",
    "rendering",
    "spine",
    "spine_view",
    "spine_words",
    "tradeoffs",
    "write_described",
    "write_report",
]
