"""The commands of docs/published.md: on small files made by hand, and on the public files wherever these are."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import ROOT
from tests.helpers.absent import absent
from tests.helpers.readme import Shell

#: By title, the repository of each section, its commands, and lines of what they print.
TABLES: dict[str, tuple[str, str, str]] = {
    title: (repository, commands, lines)
    for title, repository, commands, lines in re.findall(
        r"^## ([^\n]+)\n\n\[[\w-]+/([\w-]+)\](?:(?!^## ).)*?^```bash\n(.*?)^```\n\n```text\n(.*?)^```$",
        (ROOT / "docs" / "published.md").read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
}


def test_each_section_is_a_table() -> None:
    """No section lacks its commands or their output."""
    titles = re.findall(r"^## (.+)$", (ROOT / "docs" / "published.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert list(TABLES) == titles


def _run(title: str, published: Path, folder: Path) -> set[str]:
    """Run the commands of a section in an empty folder; return the lines that they print without intervals.

    Each blank is there once.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = Shell(folder, os.environ | {"PATH": path, "GRAPHKIT_PUBLISHED": str(published)})
    lines = (re.sub(r" \[[0-9., -]+\]", "", line) for line in shell(TABLES[title][1]).splitlines())
    return {" ".join(line.split()) for line in lines}


def _write(path: Path, *rows: Any, text: str | None = None) -> None:
    """Write a text, else rows as JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) if text is None else text)


def _locagent(root: Path) -> None:
    """Two issues that edit a function, and one that is left out. The first is found at rank 1, the second at 2."""

    def output(name: str, found: list[str]) -> dict[str, Any]:
        change = {"file": "m.py", "changes": {"edited_entities": ["m.py:S.f"]}}
        meta = {"repo": "o/r", "base_commit": "c", "problem_statement": "?", "gt_file_changes": [change]}
        files, modules = [f"{one}.py" for one in found], [f"{one}.py:S" for one in found]
        entities = [f"{one}:S.f" for one in files]
        return {
            "instance_id": name,
            "found_files": files,
            "found_modules": modules,
            "found_entities": entities,
            "meta_data": meta,
        }

    _write(root / "eval_metric.py", text="filtered_instances=['o__r-3',\n 'o__r-4',\n ]\n\ndef f(): return [1]\n")
    rows = [output("o__r-1", ["m", "n"]), output("o__r-2", ["n", "m"]), output("o__r-3", ["n"])]
    _write(root / "loc_output" / "locagent" / "claude_3-5" / "loc_outputs.jsonl", *rows)


def _gnn_rag(root: Path) -> None:
    """Two questions: of one both answers are found in one of two lines, of the other none."""
    rows = [
        {"id": "q1", "prediction": ["none", "Ann, Bob"], "ground_truth": ["Ann", "Bob"]},
        {"id": "q2", "prediction": ["none"], "ground_truth": ["Ann"]},
    ]
    for folder in ("KGQA-GNN-RAG", "KGQA-GNN-RAG-RA"):
        for data in ("webqsp", "cwq"):
            place = root / folder / "rearev-sbert" / f"RoG-{data}" / "RoG" / "test" / "x" / "False"
            _write(place / "detailed_eval_result.jsonl", *rows)


def _ragchecker(root: Path) -> None:
    """Four pairs, whose two labels rise as the differences of the scores do."""
    names = ("correctness_label", "completeness_label", "overall_label")
    people, pairs = [], []
    for number in range(4):
        texts = {"model1": {"response": "a"}, "model2": {"response": "b"}, "query": "?", "gt_answer": "c"}
        people += [{"instance_id": number, **texts, **dict.fromkeys(names, number - 1)}] * 2
        scores = {model: {"ragchecker": dict.fromkeys(names, value)} for model, value in
                  (("model1", 0.0), ("model2", number / 10))}  # fmt: skip
        pairs.append(scores)
    _write(root / "human_labeled_data.json", text=json.dumps(people))
    _write(root / "baseline_ragchecker.json", text=json.dumps(pairs))


def _ragchecker_metrics(root: Path) -> None:
    """One answer of two claims over two chunks: one is right and rests on the first chunk, one rests on the second.

    The gold answer has two claims: the first chunk supports the first one, which is stated, and nothing the second.
    """
    yes, no, other = "Entailment", "Neutral", "Contradiction"
    row = {
        "query_id": "0",
        "query": "Which?",
        "gt_answer": "a b. c d.",
        "response": "a b. e f.",
        "retrieved_context": [{"doc_id": "0", "text": "a b"}, {"doc_id": "1", "text": "e f"}],
        "response_claims": [["a", "is", "b"], ["e", "is", "f"]],
        "gt_answer_claims": [["a", "is", "b"], ["c", "is", "d"]],
        "answer2response": [yes, other],
        "response2answer": [yes, no],
        "retrieved2response": [[yes, no], [no, yes]],
        "retrieved2answer": [[yes, no], [no, no]],
    }
    _write(root / "checking_outputs.json", text=json.dumps({"results": [row]}))


def _entailment_bank(root: Path) -> None:
    """One id twice: both predictions are compared with the second proof, whose leaves are sent1 and sent3."""
    rows: list[dict[str, Any]] = [
        {"id": "q", "question": "?", "answer": "a", "proof": proof, "meta": {}}
        for proof in ("sent1 & sent2 -> hypothesis; ", "sent1 & sent3 -> hypothesis; ")
    ]
    proofs = "".join(f"$proof$ = sent1 & {leaf} -> hypothesis;\n" for leaf in ("sent2", "sent3"))
    for task, models in {1: {"T5_11B": 16, "T5_large": 48}, 2: {"T5_11B": 32, "T5_large": 32}}.items():
        gold = root / "public_dataset" / "entailment_trees_emnlp2021_data_v2" / "dataset" / f"task_{task}"
        _write(gold / "test.jsonl", *rows)
        for model, steps in models.items():
            place = root / "processed_data" / "predictions" / "emnlp_2021" / f"task{task}" / model
            _write(place / f"test.{steps}K_steps.predictions.tsv", text=proofs)


def _code_graph_rag(root: Path) -> None:
    """A file that calls f and g, both of its own: f is missed, and a call of h is too much."""
    _write(root / "codebase_rag" / "m.py", text="def f[T](): ...\ndef g(): f(); print(g())\ndef h(): ...\n")
    differing = {"missing": ["CALLS m.py:0 -> f"], "extra": ["CALLS m.py:0 -> h"]}
    differences = {f"retrieval:{run}": differing for run in ("graph", "grep_name", "grep_call")}
    _write(root / "evals" / "results" / "retrieval_diff.json", text=json.dumps(differences))


#: By title: the folder of the files in the repository, the function that writes small ones, and lines by hand.
SMALL: dict[str, tuple[str, Callable[[Path], None], list[str]]] = {
    "LocAgent": (
        "LocAgent/evaluation",
        _locagent,
        ["Acc(level='file')@1 0.5000 2/2", "Acc(level='file')@3 1.0000 2/2", "Acc(level='symbol')@5 1.0000 2/2"],
    ),
    "GNN-RAG": (
        "GNN-RAG/llm/results",
        _gnn_rag,
        # Precision 2/2 and recall 2/2 of one of two questions; the first line has no answer.
        [
            "AnswerHit(words=False) 0.5000 2/2 0.5000 2/2",
            "AnswerHit(first=True, words=False) 0.0000 2/2 0.0000 2/2",
            "AnswerF1(joined=True, words=False) 0.5000 2/2 0.5000 2/2",
        ],
    ),
    "RAGChecker": ("RAGChecker/data/meta_evaluation", _ragchecker, ["ragchecker on pairs by overall: 8 of 8 checked"]),
    "RAGChecker's metrics": (
        "RAGChecker/examples",
        _ragchecker_metrics,
        # Of the two claims one is false, by the irrelevant chunk; the claim of gold that a chunk supports is stated.
        [
            *(f"{name} 0.5000 1/1" for name in ("ClaimPrecision", "ClaimRecall", "ClaimF1", "ContextRecall")),
            *(f"{name} 0.5000 1/1" for name in ("NoiseSensitivity(chunks='irrelevant')", "ChunkPrecision")),
            *(f"{name} 1.0000 1/1" for name in ("ContextUtilization", "Faithfulness")),
            *(f"{name} 0.0000 1/1" for name in ("NoiseSensitivity", "Fabrication", "SelfKnowledge")),
        ],
    ),
    "EntailmentBank": (
        "entailment_bank/data",
        _entailment_bank,
        # One of two leaves, and two of two.
        ["RetrievedF1 0.7500 2/2 0.7500 2/2", "RetrievedF1(exact=True) 0.5000 2/2 0.5000 2/2"],
    ),
    "code-graph-rag": (
        "code-graph-rag",
        _code_graph_rag,
        ["EdgePrecision 0.5000 1/1 0.5000 1/1 0.5000 1/1", "EdgeRecall 0.5000 1/1 0.5000 1/1 0.5000 1/1"],
    ),
}


@pytest.mark.slow("commands of a page, each a process")
@pytest.mark.parametrize("title", TABLES)
def test_commands_run_on_small_files(title: str, tmp_path: Path) -> None:
    """Files of the published form, made by hand, give the values worked out by hand."""
    folder, write, lines = SMALL[title]
    write(tmp_path / "published" / folder)
    empty = tmp_path / "empty"
    empty.mkdir()
    printed = _run(title, tmp_path / "published", empty)
    assert [line for line in lines if line not in printed] == []


@pytest.mark.slow("commands over the public files")
@pytest.mark.parametrize("title", TABLES)
def test_table_is_reproduced(title: str, published: Path, tmp_path: Path) -> None:
    """The commands print each line that the page shows, as they stand in an empty folder."""
    repository, _, lines = TABLES[title]
    if not (published / repository).is_dir():
        absent("GRAPHKIT_REQUIRE_PUBLISHED", f"the published files of {repository}")
    printed = _run(title, published, tmp_path)
    assert [line for line in lines.splitlines() if " ".join(line.split()) not in printed] == []
