"""graphkit: graph-native evaluation of GraphRAG traversals over many repositories.

From a dataset and a run to results:

>>> import graphkit
>>> dataset = graphkit.storefront_folder()
>>> result = graphkit.evaluate(dataset / "runs" / "storefront-graph.jsonl", measures=["EdgeRecall", "nDCG@10"])
>>> sorted(result.measures)
['EdgeRecall', 'nDCG@10']

With ``store=graphkit.open_store()`` the run is also kept in the graph, where ``graphkit.failures`` and
``store.query_readonly`` ask it why. Names are imported when they are first used, so that ``import graphkit`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphkit.analysis.config import load_config
    from graphkit.analysis.explanations import Explanation
    from graphkit.analysis.file_failures import file_failures
    from graphkit.analysis.layers import Scorecard, score_layers
    from graphkit.errors import DatabaseError, GateError, GraphkitError, InputError, MeasureError
    from graphkit.files.assets import storefront_code_folder, storefront_folder
    from graphkit.files.dataset import Dataset
    from graphkit.files.score_files import read_scores
    from graphkit.graph.datasets import load
    from graphkit.graph.failures import failures
    from graphkit.graph.opening import open_store
    from graphkit.graph.score_nodes import load_scores
    from graphkit.imports.importer import ImportedLog, import_log
    from graphkit.measures.base import CutMeasure, Measure, Unscored
    from graphkit.measures.case import Case
    from graphkit.measures.outcome import two_by_two
    from graphkit.measures.paths import Divergence, first_divergences
    from graphkit.measures.registry import MEASURES, parse_measure, register
    from graphkit.plugins.compare.compare_runs import compare_runs
    from graphkit.plugins.compare.run_comparisons import RunComparison
    from graphkit.plugins.compare.score_file_pairs import compare_scores
    from graphkit.plugins.compare.summaries import ScoreSummary, summarize
    from graphkit.plugins.gold.datasets.dataset_checks import check_dataset
    from graphkit.plugins.graphs.graph_importer import ImportedGraph, import_graph
    from graphkit.plugins.judging.grading.grade_run import GradingOptions, grade
    from graphkit.plugins.judging.grading.judge_setup import JudgeOptions
    from graphkit.plugins.judging.verdict_files import read_verdicts
    from graphkit.plugins.judging.verdict_nodes import load_verdicts
    from graphkit.plugins.judging.verdicts import Verdict
    from graphkit.plugins.logs.neo4j_graphrag_searches import answering, neo4j_graphrag_formatter, record_searches
    from graphkit.plugins.notebook.fragments import QuestionSpine, RunBoard, board, spine, why
    from graphkit.plugins.notebook.networks import comparison_graph, gold_graph, score_graphs, walked_graph
    from graphkit.plugins.sandbox.execution_files import read_executions
    from graphkit.plugins.sandbox.execution_nodes import load_executions
    from graphkit.plugins.sandbox.executions import Execution
    from graphkit.plugins.systems.context import Context
    from graphkit.plugins.systems.runner import Limits
    from graphkit.plugins.systems.session import RunSummary, run_systems
    from graphkit.records.models import (
        Answer,
        Artifact,
        Chunk,
        Commit,
        Compatibility,
        Edge,
        ExpectedToolCall,
        GoldPath,
        Question,
        Step,
        ToolCall,
        TraversalStep,
        WalkStep,
    )
    from graphkit.records.scores import Score
    from graphkit.records.usage import Prices
    from graphkit.report.data import PageOptions
    from graphkit.report.page import write_report
    from graphkit.scoring.evaluate import evaluate
    from graphkit.scoring.measure_summaries import Summary
    from graphkit.scoring.options import EvaluationOptions
    from graphkit.scoring.results import Evaluation
    from graphkit.scoring.results_folder import ResultsFolder, read_results

__version__ = "0.1.0"

_HOMES = {
    "graphkit.imports.importer": ("ImportedLog", "import_log"),
    "graphkit.plugins.graphs.graph_importer": ("ImportedGraph", "import_graph"),
    "graphkit.plugins.logs.neo4j_graphrag_searches": ("answering", "neo4j_graphrag_formatter", "record_searches"),
    "graphkit.files.assets": ("storefront_code_folder", "storefront_folder"),
    "graphkit.measures.outcome": ("two_by_two",),
    "graphkit.plugins.gold.datasets.dataset_checks": ("check_dataset",),
    "graphkit.analysis.explanations": ("Explanation",),
    "graphkit.analysis.file_failures": ("file_failures",),
    "graphkit.plugins.compare.run_comparisons": ("RunComparison",),
    "graphkit.plugins.compare.score_file_pairs": ("compare_scores",),
    "graphkit.plugins.compare.compare_runs": ("compare_runs",),
    "graphkit.records.usage": ("Prices",),
    "graphkit.errors": ("DatabaseError", "GateError", "GraphkitError", "InputError", "MeasureError"),
    "graphkit.measures.base": ("CutMeasure", "Measure", "Unscored"),
    "graphkit.measures.case": ("Case",),
    "graphkit.measures.paths": ("Divergence", "first_divergences"),
    "graphkit.measures.registry": ("MEASURES", "parse_measure", "register"),
    "graphkit.records.models": (
        "Answer",
        "Artifact",
        "Chunk",
        "Commit",
        "Compatibility",
        "Edge",
        "ExpectedToolCall",
        "GoldPath",
        "Question",
        "Step",
        "ToolCall",
        "TraversalStep",
        "WalkStep",
    ),
    "graphkit.records.scores": ("Score",),
    "graphkit.plugins.notebook.networks": ("comparison_graph", "gold_graph", "score_graphs", "walked_graph"),
    "graphkit.scoring.measure_summaries": ("Summary",),
    "graphkit.scoring.results": ("Evaluation",),
    "graphkit.scoring.results_folder": ("ResultsFolder", "read_results"),
    "graphkit.analysis.config": ("load_config",),
    "graphkit.analysis.layers": ("Scorecard", "score_layers"),
    "graphkit.files.dataset": ("Dataset",),
    "graphkit.plugins.compare.summaries": ("ScoreSummary", "summarize"),
    "graphkit.plugins.systems.context": ("Context",),
    "graphkit.plugins.systems.runner": ("Limits",),
    "graphkit.plugins.systems.session": ("RunSummary", "run_systems"),
    "graphkit.graph.datasets": ("load",),
    "graphkit.graph.failures": ("failures",),
    "graphkit.graph.opening": ("open_store",),
    "graphkit.graph.score_nodes": ("load_scores",),
    "graphkit.files.score_files": ("read_scores",),
    "graphkit.plugins.judging.verdict_files": ("read_verdicts",),
    "graphkit.plugins.sandbox.execution_files": ("read_executions",),
    "graphkit.plugins.sandbox.execution_nodes": ("load_executions",),
    "graphkit.plugins.sandbox.executions": ("Execution",),
    "graphkit.plugins.judging.verdict_nodes": ("load_verdicts",),
    "graphkit.plugins.judging.verdicts": ("Verdict",),
    "graphkit.report.data": ("PageOptions",),
    "graphkit.plugins.notebook.fragments": ("QuestionSpine", "RunBoard", "board", "spine", "why"),
    "graphkit.report.page": ("write_report",),
    "graphkit.scoring.evaluate": ("evaluate",),
    "graphkit.plugins.judging.grading.grade_run": ("GradingOptions", "grade"),
    "graphkit.plugins.judging.grading.judge_setup": ("JudgeOptions",),
    "graphkit.scoring.options": ("EvaluationOptions",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "MEASURES",
    "Answer",
    "Artifact",
    "Case",
    "Chunk",
    "Commit",
    "Compatibility",
    "Context",
    "CutMeasure",
    "DatabaseError",
    "Dataset",
    "Divergence",
    "Edge",
    "Evaluation",
    "EvaluationOptions",
    "Execution",
    "ExpectedToolCall",
    "Explanation",
    "GateError",
    "GoldPath",
    "GradingOptions",
    "GraphkitError",
    "ImportedGraph",
    "ImportedLog",
    "InputError",
    "JudgeOptions",
    "Limits",
    "Measure",
    "MeasureError",
    "PageOptions",
    "Prices",
    "Question",
    "QuestionSpine",
    "ResultsFolder",
    "RunBoard",
    "RunComparison",
    "RunSummary",
    "Score",
    "ScoreSummary",
    "Scorecard",
    "Step",
    "Summary",
    "ToolCall",
    "TraversalStep",
    "Unscored",
    "Verdict",
    "WalkStep",
    "answering",
    "board",
    "check_dataset",
    "compare_runs",
    "compare_scores",
    "comparison_graph",
    "evaluate",
    "failures",
    "file_failures",
    "first_divergences",
    "gold_graph",
    "grade",
    "import_graph",
    "import_log",
    "load",
    "load_config",
    "load_executions",
    "load_scores",
    "load_verdicts",
    "neo4j_graphrag_formatter",
    "open_store",
    "parse_measure",
    "read_executions",
    "read_results",
    "read_scores",
    "read_verdicts",
    "record_searches",
    "register",
    "run_systems",
    "score_graphs",
    "score_layers",
    "spine",
    "storefront_code_folder",
    "storefront_folder",
    "summarize",
    "two_by_two",
    "walked_graph",
    "why",
    "write_report",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'graphkit' has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(home), name)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("graphkit.plugins"):
            raise
        plugin = str(error.name).split(".")[2]
        what = f"graphkit.{name} needs the plug-in {plugin}, which isn't there: install graphkit-eval again"
        raise ImportError(what) from None


def __dir__() -> list[str]:
    return sorted(__all__)
