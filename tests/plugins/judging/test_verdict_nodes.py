"""Verdicts in the graph: stored beside answers, replaced as a whole, deleted with their run, and queried."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.analysis.explain import sentence
from graphkit.analysis.file_failures import RunOnFiles, file_failures
from graphkit.database.store import Store
from graphkit.errors import DatabaseError, InputError
from graphkit.files.grades_beside import grades_folder
from graphkit.graph import runs
from graphkit.graph.reservations import unfinished_loads
from graphkit.graph.score_nodes import load_scores
from graphkit.plugins.judging import verdict_nodes
from graphkit.plugins.judging.grading.grade_run import GradingOptions, grade
from graphkit.plugins.judging.grading.judge_setup import JudgeOptions
from graphkit.plugins.judging.verdict_files import write_verdicts
from graphkit.plugins.judging.verdict_nodes import Judging, judgings, keep_verdicts, load_verdicts
from graphkit.plugins.judging.verdicts import Citation, GoldClaim, GoldEdge, Verdict
from graphkit.plugins.upkeep.renaming import rename_run
from graphkit.plugins.upkeep.schema_migration import migrate
from graphkit.records.scores import Score, answer_hash
from tests.helpers.datasets import STOREFRONT, without_graph, write_jsonl
from tests.helpers.made import made
from tests.helpers.verdicts import claim, plausible, verdict

Record = dict[str, Any]


def step(source: str, target: str, relation: str | None = "R", **commits: str) -> Record:
    """Return a step between two nodes."""
    return {"source": source, "relation": relation, "target": target, **commits}


def world(folder: Path) -> Path:
    """Write a world of two questions, and return its run's file.

    q1 asks for a -> b -> c in x and y; the run walked a -> b and then b -> d. q2's path was walked whole.
    """
    write_jsonl(
        folder / "questions.jsonl",
        [
            {
                "id": "q1",
                "question": "?",
                "commits": {"y": "pinned"},
                "paths": [{"id": "p", "steps": [step("x:a", "y:b"), step("y:b", "y:c")]}],
            },
            {"id": "q2", "question": "?", "paths": [{"id": "p", "steps": [step("x:a", "y:b")]}]},
        ],
    )
    chunks = [{"id": "x:a", "commit": "1"}, {"id": "y:b", "commit": "2"}, {"id": "x:a", "commit": "1"}, {"id": "y:d"}]
    walked = [step("x:a", "y:b", source_commit="1", target_commit="2"), step("y:b", "y:d", source_commit="2")]
    return write_jsonl(
        folder / "runs" / "r.jsonl",
        [
            {"run": "r", "question_id": "q1", "retrieved": chunks, "traversal": walked, "answer": "x"},
            {"run": "r", "question_id": "q2", "retrieved": chunks, "traversal": walked[:1], "answer": "x"},
        ],
    )


CLAIMS = [
    claim("a calls b", evidence=[("x:a", "b()")], edge=("x:a", "R", "y:b"), in_gold=True, sentence=1, cited=[0]),
    claim("b calls d", support="INFERRED", edge=("y:b", "R", "y:d"), in_gold=False, sentence=2, cited=[1]),
    claim(
        "b calls z",
        support="UNSUPPORTED",
        evidence=[("y:b", "z()", False), ("y:nowhere", "z", False)],
        gold="CONTRADICTED",
        mismatch="the quote doesn't occur",
        sentence=3,
        cited=[1, 2],
    ),
]
CITATIONS = [
    Citation(text="[x:a]", target="x:a", chunks=("x:a",), correct=True, needed=True),
    Citation(text="[y:b]", target="y:b", chunks=("y:b",), correct=False, reason="claim not supported"),
    Citation(text="[w:w]", target="w:w", correct=False, reason="not in the retrieved context"),
]


def claims_verdict(question: str = "q1", **fields: Any) -> Verdict:
    """Return the verdict of the tests below."""
    return verdict(question, claims=CLAIMS, citations=CITATIONS, **fields)


def held(store: Store) -> dict[str, int]:
    """Return the numbers of nodes and relationships of verdicts."""
    kinds = ("Verdict", "Claim", "Citation", "Judging")
    rows = store.read("MATCH (n) RETURN labels(n)[0] AS kind, count(*) AS n")
    found = {str(row["kind"]): int(str(row["n"])) for row in rows if row["kind"] in kinds}
    links = ("JUDGED", "JUDGED_BY", "CLAIMS", "CITES", "SUPPORTED_BY", "POINTS_TO")
    rows = store.read("MATCH ()-[r]->() RETURN type(r) AS kind, count(*) AS n")
    return found | {str(row["kind"]): int(str(row["n"])) for row in rows if row["kind"] in links}


def test_verdicts_lie_beside_their_answers(empty_store: Store, tmp_path: Path) -> None:
    """Claims, citations and verdicts are linked to answer, chunks and each other once, however often loaded.

    Of 3 pieces of evidence one names a chunk that wasn't retrieved; x:a was retrieved twice and is linked once. The
    claims cite 1 + 1 + 2 times, and the answer 3 times. Of the citations two mean a chunk each.
    """
    graphkit.evaluate(world(tmp_path), store=empty_store)
    verdicts = [claims_verdict(), verdict("q1", grader="rubric", grade="wrong", cost=0.5), verdict("q2")]
    expected = {
        **{"Verdict": 3, "Claim": 3, "Citation": 3, "Judging": 1, "JUDGED": 3, "JUDGED_BY": 1, "CLAIMS": 3},
        **{"CITES": 3 + 4, "SUPPORTED_BY": 2, "POINTS_TO": 2},
    }
    for _ in range(2):
        assert load_verdicts(empty_store, verdicts) == {"r": 3}
        assert held(empty_store) == expected
    assert judgings(empty_store, "r") == {"lexical": Judging("lexical", 3)}
    (row,) = empty_store.read(
        "MATCH (a:Answer)-[:CLAIMS]->(c:Claim)-[s:SUPPORTED_BY]->(k:Chunk) WHERE NOT s.occurs "
        "MATCH (a)-[:JUDGED]->(v:Verdict {grader: 'rubric'}) "
        "RETURN a.question AS question, c.position AS position, c.mismatch AS mismatch, s.quote AS quote, "
        "k.commit AS commit, v.grade AS grade, v.cost AS cost, v.model AS model"
    )
    assert row == {
        **{"question": "q1", "position": 2, "mismatch": "the quote doesn't occur", "quote": "z()", "commit": "2"},
        **{"grade": "wrong", "cost": 0.5, "model": None},
    }


def test_each_judge_is_replaced_alone(empty_store: Store, tmp_path: Path) -> None:
    """New verdicts of a judge replace all of its own, by any grader, and none of another judge."""
    graphkit.evaluate(world(tmp_path), store=empty_store)
    load_verdicts(empty_store, [claims_verdict(), claims_verdict(judge="other"), verdict("q2", grader="rubric")])
    keep_verdicts(empty_store, "r", "lexical", [verdict("q1", failure="refused", reason="no")])
    rows = empty_store.read("MATCH (v:Verdict) RETURN v.judge AS judge, v.grader AS grader ORDER BY judge")
    assert rows == [{"judge": "lexical", "grader": "claims"}, {"judge": "other", "grader": "claims"}]
    assert empty_store.read("MATCH (c:Claim) RETURN DISTINCT c.judge AS judge") == [{"judge": "other"}]
    assert {name: one.verdicts for name, one in judgings(empty_store, "r").items()} == {"lexical": 1, "other": 1}


def test_two_models_of_a_judge_have_nodes_of_their_own(empty_store: Store, tmp_path: Path) -> None:
    """Claims, citations and their links belong to the verdict of one model, also after the run is renamed.

    Of each model: 3 claims with 2 pieces of evidence there, 3 citations of which 2 mean a chunk, and 4 links from
    claims to citations. Model n says less: its claim 0 rests on a wrong edge and contradicts gold.
    """
    graphkit.evaluate(world(tmp_path), store=empty_store)
    wrong = claim("b calls d", edge=("y:b", "R", "y:d"), in_gold=False, gold="CONTRADICTED", sentence=1)
    given = [claims_verdict(model="m"), verdict("q1", claims=[wrong], model="n")]
    assert load_verdicts(empty_store, given) == {"r": 2}
    expected = {
        **{"Verdict": 2, "Claim": 4, "Citation": 3, "Judging": 1, "JUDGED": 2, "JUDGED_BY": 1, "CLAIMS": 4},
        **{"CITES": 3 + 4, "SUPPORTED_BY": 2, "POINTS_TO": 2},
    }
    assert held(empty_store) == expected
    assert asked(empty_store, "unsupported-claims", "model", "claim") == [("m", "b calls z")]
    assert asked(empty_store, "bad-citations", "model", "citation") == [("m", "[y:b]"), ("m", "[w:w]")]
    assert asked(empty_store, "claims-off-gold", "model", "claim") == [("m", "b calls d"), ("n", "b calls d")]
    # Only n's claim is contradicted and rests on an edge: it isn't counted for m as well.
    assert asked(empty_store, "claims-by-relation", "judge", "model", "wrong") == [("lexical", "n", 1)]
    by_file = RunOnFiles(
        *("r", tmp_path / "runs" / "r.jsonl", (found := RunOnFiles.read(tmp_path / "runs" / "r.jsonl")).dataset),
        *(found.cases, {}, {"verdicts": {"q1": given}}),
    )
    kinds = ("unsupported-claims", "false-claims", "missing-claims", "claims-by-relation", "claims-by-boundary")
    of_files = [[*by_file.failures(kind)] for kind in kinds]
    assert of_files == [[*graphkit.failures(empty_store, "r", kind)] for kind in kinds]
    # A former version held one verdict by a grader, and its claims named no model; a migration takes it from there.
    load_verdicts(empty_store, given[:1])
    empty_store.write("MATCH (c:Claim|Citation) REMOVE c.model")
    assert [row["model"] for row in graphkit.failures(empty_store, "r", "unsupported-claims")] == [None]
    empty_store.write("MATCH (r:Run) SET r.schema = '18', r.digest = 'of that form'")
    assert migrate(empty_store).runs == ["r"]
    assert [row["model"] for row in graphkit.failures(empty_store, "r", "unsupported-claims")] == ["m"]
    assert {row["model"] for row in graphkit.failures(empty_store, "r", "bad-citations")} == {"m"}
    load_verdicts(empty_store, given)
    rename_run(empty_store, "r", "s")
    assert held(empty_store) == expected
    assert len({row["key"] for row in empty_store.read("MATCH (c:Claim {run: 's'}) RETURN c.key AS key")}) == 4


def gives_up(prompt: str, schema: Record) -> Record:
    """Judge nothing."""
    raise RuntimeError("no verdict today")


def test_broken_criteria(empty_store: Store, tmp_path: Path) -> None:
    """Files and graph name each criterion that a run broke, with what broke it, graded by the rules without a call.

    q1's run walked x:a -> y:b -> y:d and retrieved x:a, y:b and y:d; q2's the first edge only. Both answer "x".
    """
    file = world(tmp_path)
    questions = [json.loads(line) for line in (tmp_path / "questions.jsonl").read_text().splitlines()]
    questions[0]["criteria"] = [
        {"must": {"id": "y:b"}},
        {"must": {"repository": "z"}, "weight": 2},
        {"must_not": {"id": "y:d"}},
        {"must_not": {"repository": "x"}, "weight": 3},
    ]
    questions[1]["criteria"] = [{"must": "mentions `settlement`"}, {"must_not": {"id": "y:d"}}]
    write_jsonl(tmp_path / "questions.jsonl", questions)
    graphkit.evaluate(file, store=empty_store)
    grade(
        file, None, GradingOptions(graders=("criteria",), keep=True), judge=JudgeOptions("lexical"), store=empty_store
    )
    rows = [*graphkit.failures(empty_store, "r", "broken-criteria")]
    assert rows == [*file_failures(file, "broken-criteria")]
    assert [[row[name] for name in ("question", "rule", "about", "criterion", "weight", "repo")] for row in rows] == [
        ["q1", "must", "repository", "z", 2, None],
        ["q1", "must_not", "id", "y:d", 1, "y"],
        ["q1", "must_not", "repository", "x", 3, "x"],
        ["q2", "must", "text", "mentions `settlement`", 1, None],
        ["q2", "must_not", "id", "y:d", 1, "y"],
    ]
    assert [sentence("broken-criteria", row) for row in rows[:3]] == [
        "the answer lacks what it must have, repository z (weight 2): found nowhere",
        "the answer has what it must not, id y:d: it traversed y:b -R-> y:d",
        "the answer has what it must not, repository x (weight 3): it traversed x:a -R-> y:b",
    ]
    assert sentence("broken-criteria", rows[4]) == "the answer has what it must not, id y:d: it retrieved y:d"
    # A judge that fails decides no text, here that of q2; what the record alone breaks is broken nonetheless.
    judge = JudgeOptions(f"{__name__}:gives_up")
    grade(file, None, GradingOptions(graders=("criteria",), keep=True), judge=judge, store=empty_store)
    mine = [row for row in graphkit.failures(empty_store, "r", "broken-criteria") if row["judge"] == judge.judge]
    assert mine == [{**row, "judge": judge.judge} for row in rows if row["about"] != "text"]
    failed = [row for row in file_failures(file, "broken-criteria") if row["judge"] == judge.judge]
    assert failed == mine


def test_verdicts_go_with_the_answers(empty_store: Store, tmp_path: Path) -> None:
    """A run that is loaded from another file loses its verdicts, which were on other answers."""
    file = world(tmp_path)
    graphkit.evaluate(file, store=empty_store)
    load_verdicts(empty_store, [claims_verdict(), claims_verdict(judge="other")])
    file.write_text(file.read_text().replace('"answer": "x"', '"answer": "y"'))
    graphkit.evaluate(file, store=empty_store)
    assert held(empty_store) == {}
    assert judgings(empty_store, "r") == {}
    assert empty_store.read("MATCH (k:Chunk) RETURN count(k) AS n") == [{"n": 3}]


def test_a_killed_replacement_takes_the_rest_along(
    empty_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run whose replacement died while its verdicts and scores went isn't that run any more: the rest goes, too."""
    file = world(tmp_path)
    former = file.read_text()
    graphkit.evaluate(file, store=empty_store)
    load_verdicts(empty_store, [claims_verdict(), claims_verdict("q2")])
    load_scores(empty_store, [Score(run="r", question="q1", measure="PersonGrade", value=1.0, grader="person")])

    def dying(*_: object) -> None:
        empty_store.write("MATCH (g:Grading|Judging) DETACH DELETE g")  # as each marks what it deletes before
        raise DatabaseError("the server went away")

    file.write_text(former.replace('"answer": "x"', '"answer": "y"'))
    with monkeypatch.context() as patched:
        patched.setattr(runs, "clear_scores", dying)
        with pytest.raises(DatabaseError):
            graphkit.evaluate(file, store=empty_store)
    file.write_text(former)
    graphkit.evaluate(file, store=empty_store)
    assert held(empty_store) == {}
    assert empty_store.read("MATCH (s:Score {measure: 'PersonGrade'}) RETURN count(s) AS n") == [{"n": 0}]


def test_nothing_is_written_where_something_is_unknown(empty_store: Store, tmp_path: Path) -> None:
    """An unknown run or question refuses all given verdicts."""
    graphkit.evaluate(world(tmp_path), store=empty_store)
    with pytest.raises(InputError, match="no run is called 's'"):
        load_verdicts(empty_store, [verdict("q1"), verdict("q1", run="s")])
    with pytest.raises(InputError, match=r"1 verdict on r are of questions that .* such as 'q9'"):
        load_verdicts(empty_store, [verdict("q1"), verdict("q9")])
    assert held(empty_store) == {}


def test_verdicts_on_other_answers_are_refused(empty_store: Store, tmp_path: Path) -> None:
    """A verdict on a different answer, by its hash, refuses all given verdicts."""
    graphkit.evaluate(world(tmp_path), store=empty_store)
    on_x = claims_verdict(answer_hash=answer_hash("x"))
    with pytest.raises(InputError, match=r"1 verdict of lexical on r is on another answer .*'q2'"):
        load_verdicts(empty_store, [on_x, verdict("q2", answer_hash=answer_hash("y"))])
    assert held(empty_store) == {}
    assert load_verdicts(empty_store, [on_x, verdict("q2")]) == {"r": 2}


def test_an_interrupted_load_says_so(empty_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A load that dies between two batches is incomplete and reported, and the next one replaces it."""
    graphkit.evaluate(world(tmp_path), store=empty_store)
    load_verdicts(empty_store, [claims_verdict(), claims_verdict("q2")])
    monkeypatch.setattr(verdict_nodes, "QUESTIONS", 1)
    written = verdict_nodes._write

    def dying(store: Store, run: str, rows: list[Record]) -> None:
        if rows[0]["question"] == "q2":
            raise DatabaseError("the server went away")
        written(store, run, rows)

    monkeypatch.setattr(verdict_nodes, "_write", dying)
    with pytest.raises(DatabaseError):
        load_verdicts(empty_store, [claims_verdict(), claims_verdict("q2")])
    assert not judgings(empty_store, "r")["lexical"].complete
    assert [str(load) for load in unfinished_loads(empty_store)] == [
        "the load of verdicts of lexical on r was interrupted: run it again to repair it"
    ]
    assert held(empty_store)["Claim"] == 3
    monkeypatch.setattr(verdict_nodes, "_write", written)
    load_verdicts(empty_store, [claims_verdict(), claims_verdict("q2")])
    assert (held(empty_store)["Claim"], unfinished_loads(empty_store)) == (6, [])


# Failure queries ---------------------------------------------------------------------------------------------------


def asked(store: Store, kind: str, *columns: str, **given: Any) -> list[tuple[object, ...]]:
    """Return some columns of a failure query."""
    return [tuple(row[name] for name in columns) for row in graphkit.failures(store, "r", kind, **given)]


def test_claims_are_asked_by_name(empty_store: Store, tmp_path: Path) -> None:
    """Each kind of failure lists its claims with chunk, commit and edge, as derived in the world above."""
    graphkit.evaluate(world(tmp_path), store=empty_store)
    failed = verdict("q2", failure="truncated", reason="no room", model="m", attempts=2)
    load_verdicts(empty_store, [claims_verdict(), failed])
    assert graphkit.failures(empty_store, "r", "unsupported-claims") == [
        {
            **{
                "question": "q1",
                "judge": "lexical",
                "model": None,
                "sentence": 3,
                "claim": "b calls z",
                "gold": "CONTRADICTED",
            },
            **{"mismatch": "the quote doesn't occur", "named": ["y:b at 2"], "edge": None, "cited": ["[y:b]", "[w:w]"]},
        }
    ]
    assert graphkit.failures(empty_store, "r", "bad-citations") == [
        {
            **{"question": "q1", "judge": "lexical", "model": None, "citation": "[y:b]", "target": "y:b"},
            **{"reason": "claim not supported", "chunks": ["y:b at 2"], "claims": ["b calls d", "b calls z"]},
        },
        {
            **{"question": "q1", "judge": "lexical", "model": None, "citation": "[w:w]", "target": "w:w"},
            **{"reason": "not in the retrieved context", "chunks": [], "claims": ["b calls z"]},
        },
    ]
    assert graphkit.failures(empty_store, "r", "claims-off-gold") == [
        {
            **{
                "question": "q1",
                "judge": "lexical",
                "model": None,
                "sentence": 2,
                "claim": "b calls d",
                "support": "INFERRED",
            },
            **{"gold": None, "source": "y:b", "relation": "R", "target": "y:d", "source_commit": "2"},
            "target_commit": None,
        }
    ]
    assert graphkit.failures(empty_store, "r", "failed-verdicts") == [
        {
            **{"question": "q2", "judge": "lexical", "grader": "claims", "model": "m", "failure": "truncated"},
            **{"reason": "no room", "attempts": 2},
        }
    ]
    reported = {
        "unsupported-claims": "nothing retrieved supports the claim in sentence 3: b calls z "
        "(the quote doesn't occur), although lexical named y:b at 2",
        "bad-citations": "the citation [y:b] is wrong: claim not supported, at the claim: b calls d",
        "claims-off-gold": "the claim in sentence 2 rests on an edge outside gold, y:b -R-> y:d: b calls d",
        "failed-verdicts": "lexical gave no verdict by claims after 2 tries: truncated, no room",
    }
    for kind, text in reported.items():
        assert sentence(kind, graphkit.failures(empty_store, "r", kind)[0]) == text
    for kind in ("unsupported-claims", "bad-citations", "claims-off-gold"):
        assert asked(empty_store, kind, "question", question="q2") == []
        assert len(asked(empty_store, kind, "question", limit=1)) == 1


def gold_claim(text: str, *edges: tuple[str, str | None, str], **fields: Any) -> GoldClaim:
    """Return a claim of the gold answer that goes with these edges, which its text names."""
    listed = [GoldEdge(source=source, relation=relation, target=target) for source, relation, target in edges]
    return made(GoldClaim, {"text": text, "stated": False, "edges": listed, **fields})


def test_claims_against_gold(empty_store: Store, tmp_path: Path) -> None:
    """Missing claims name their gold edges and whether the run traversed them, false ones their edge outside gold.

    Of the gold claims the first is stated. The second goes with a -> b, which was walked, b -> c, which wasn't, and an
    edge that gold doesn't hold any more. The run's edge b -> d is outside gold; a -> b is in it.
    """
    file = world(tmp_path)
    graphkit.evaluate(file, store=empty_store)
    gold = [
        gold_claim("a calls b", ("x:a", "R", "y:b"), stated=True, named_in="claim"),
        gold_claim(
            *("b calls c", ("x:a", "R", "y:b"), ("y:b", "R", "y:c"), ("y:b", "R", "y:gone")),
            named_in="chunk",
            chunks=["y:b", "x:a"],
        ),
        gold_claim("c is last", ("y:b", "R", "y:gone"), named_in="claim"),
    ]
    claims = [
        claim("b calls d", edge=("y:b", "R", "y:d"), in_gold=False, sentence=2, gold="CONTRADICTED"),
        claim("a calls b late", edge=("x:a", "R", "y:b"), in_gold=True, gold="CONTRADICTED"),
        claim("b calls z", support="UNSUPPORTED", gold="NOT_MENTIONED", sentence=3),
        claim("b is fast", evidence=[("y:b", "b()")], gold="NOT_MENTIONED"),
        claim("b is there", support="UNSUPPORTED", gold="SUPPORTED"),
        claim("b is red", support="UNSUPPORTED"),
    ]
    kept = [
        verdict("q1", claims=claims, gold_claims=gold),
        verdict("q2", gold_claims=[gold_claim("a"), gold_claim("b")]),
    ]
    load_verdicts(empty_store, kept)
    by = {"question": "q1", "judge": "lexical", "model": None}
    missing = graphkit.failures(empty_store, "r", "missing-claims")
    nothing = {"source": None, "relation": None, "target": None, "named_in": None, "missed": None}
    second = {**by, "claim": "b calls c", "chunks": ["y:b", "x:a"], "relation": "R", "named_in": "chunk"}
    assert missing == [
        {**second, "source": "x:a", "target": "y:b", "missed": False},
        {**second, "source": "y:b", "target": "y:c", "missed": True},
        {**by, "claim": "c is last", "chunks": [], **nothing},
        {**by, "question": "q2", "claim": "a", "chunks": [], **nothing},
        {**by, "question": "q2", "claim": "b", "chunks": [], **nothing},
    ]
    false = graphkit.failures(empty_store, "r", "false-claims")
    edgeless = {**by, "source": None, "relation": None, "target": None}
    assert false == [
        {
            **{**by, "sentence": 2, "claim": "b calls d", "gold": "CONTRADICTED", "support": "DIRECT"},
            **{"source": "y:b", "relation": "R", "target": "y:d"},
        },
        {**edgeless, "sentence": None, "claim": "a calls b late", "gold": "CONTRADICTED", "support": "DIRECT"},
        {**edgeless, "sentence": 3, "claim": "b calls z", "gold": "NOT_MENTIONED", "support": "UNSUPPORTED"},
    ]
    assert [sentence("missing-claims", row) for row in missing[:3]] == [
        "the answer lacks a claim of the gold answer: b calls c; it goes with x:a -R-> y:b, which was traversed",
        "the answer lacks a claim of the gold answer: b calls c; it goes with y:b -R-> y:c, which was not traversed",
        "the answer lacks a claim of the gold answer: c is last",
    ]
    assert [sentence("false-claims", row) for row in (false[0], false[2])] == [
        "the gold answer contradicts the claim in sentence 2: b calls d; it rests on an edge outside gold, "
        "y:b -R-> y:d",
        "neither the gold answer nor anything retrieved supports the claim in sentence 3: b calls z",
    ]
    # The files say the same.
    folder = grades_folder(file)
    folder.mkdir()
    write_verdicts(folder / "lexical.verdicts.jsonl", kept)
    for kind, rows in (("missing-claims", missing), ("false-claims", false)):
        assert file_failures(file, kind) == rows
        assert file_failures(file, kind, question="q1", limit=1) == rows[:1]
        assert asked(empty_store, kind, "question", limit=1) == [("q1",)]


def test_claims_are_counted_by_boundary_and_relation(empty_store: Store, tmp_path: Path) -> None:
    """A claim counts once a boundary and a relation, however many of its edges are there.

    Of the boundary x to y, q1 lacks one of two claims, whose edge was walked, and q2 one of one; of y to z, q1 lacks
    one, whose edge was missed. Of R, q1 lacks two of three claims, one with a missed edge, and q2 one. Two contradicted
    claims rest on wrong edges, y -> x by S and within y by R.
    """
    steps = [step("x:a", "y:b"), step("x:a", "y:c"), step("y:b", "z:d")]
    walk = [step("x:a", "y:b"), step("x:a", "y:c"), step("y:b", "x:a", "S"), step("y:b", "y:e")]
    asked_of = [{"id": name, "question": "?", "paths": [{"steps": steps}]} for name in ("q1", "q2")]
    write_jsonl(tmp_path / "questions.jsonl", asked_of)
    given = {"run": "r", "retrieved": [], "traversal": walk, "answer": "x"}
    file = write_jsonl(tmp_path / "runs" / "r.jsonl", [{**given, "question_id": name} for name in ("q1", "q2")])
    graphkit.evaluate(file, store=empty_store)
    first, second, far = (("x:a", "R", "y:b"), ("x:a", "R", "y:c"), ("y:b", "R", "z:d"))
    gold = [gold_claim("1", first, second), gold_claim("2", first, stated=True), gold_claim("3", far), gold_claim("4")]
    claims = [
        claim("5", edge=("y:b", "S", "x:a"), gold="CONTRADICTED"),
        claim("6", edge=("y:b", "R", "y:e"), gold="CONTRADICTED"),
        claim("7", edge=("y:b", "S", "x:a"), gold="NOT_MENTIONED"),
        claim("8", edge=first, gold="CONTRADICTED"),
    ]
    kept = [verdict("q1", claims=claims, gold_claims=gold), verdict("q2", gold_claims=gold[:1])]
    load_verdicts(empty_store, kept)
    columns = ("missed", "required", "share", "unwalked", "wrong", "questions")
    assert asked(empty_store, "claims-by-boundary", "judge", "from_repo", "to_repo", *columns) == [
        ("lexical", "x", "y", 2, 3, 0.67, 0, 0, 2),
        ("lexical", "y", "z", 1, 1, 1.0, 1, 0, 1),
        ("lexical", "y", "x", 0, 0, None, 0, 1, 1),
    ]
    assert asked(empty_store, "claims-by-relation", "judge", "relation", *columns) == [
        ("lexical", "R", 3, 4, 0.75, 1, 1, 2),
        ("lexical", "S", 0, 0, None, 0, 1, 1),
    ]
    folder = grades_folder(file)
    folder.mkdir()
    write_verdicts(folder / "lexical.verdicts.jsonl", kept)
    for kind in ("claims-by-boundary", "claims-by-relation"):
        rows = graphkit.failures(empty_store, "r", kind)
        assert file_failures(file, kind) == rows
        assert file_failures(file, kind, question="q2") == graphkit.failures(empty_store, "r", kind, question="q2")
        assert file_failures(file, kind, limit=1) == rows[:1]
    assert [sentence("claims-by-relation", row) for row in rows] == [
        "the answers lack 3 of 4 claims that go with an edge of R (1 with one that was not traversed), and "
        "1 contradicted claim on a wrong edge of R, in 2 questions",
        "1 contradicted claim on a wrong edge of S, in 1 question",
    ]


def test_an_unlogged_walk_misses_nothing(empty_store: Store, tmp_path: Path) -> None:
    """Whether an edge was traversed isn't known then; an edge without a relation matches one with any."""
    file = world(tmp_path)
    lines = [line.replace('"relation": "R"', '"relation": null') for line in file.read_text().splitlines()]
    record = json.loads(lines[0])
    kept = [
        verdict(name, gold_claims=[gold_claim("a calls b", ("x:a", "R", "y:b"), named_in="claim")])
        for name in ("q1", "q2")
    ]
    del record["traversal"]
    file.write_text("\n".join([json.dumps(record), *lines[1:]]) + "\n")
    graphkit.evaluate(file, store=empty_store)
    load_verdicts(empty_store, kept)
    assert asked(empty_store, "missing-claims", "question", "source", "missed") == [
        ("q1", "x:a", None),
        ("q2", "x:a", False),
    ]
    folder = grades_folder(file)
    folder.mkdir()
    write_verdicts(folder / "lexical.verdicts.jsonl", kept)
    rows = file_failures(file, "missing-claims")
    assert rows == graphkit.failures(empty_store, "r", "missing-claims")
    assert sentence("missing-claims", rows[0]).endswith("it goes with x:a -R-> y:b")


def test_verdicts_without_gold_claims(empty_store: Store, tmp_path: Path) -> None:
    """A node that an earlier version stored has no lists of gold claims: it has no missing claim."""
    graphkit.evaluate(world(tmp_path), store=empty_store)
    load_verdicts(empty_store, [verdict("q1", gold_claims=[gold_claim("a")]), verdict("q2")])
    empty_store.write("MATCH (v:Verdict) SET v.gold_claims = null, v.gold_stated = null, v.gold_edge_claims = null")
    assert asked(empty_store, "missing-claims", "question") == []


def test_an_edge_without_a_relation_is_in_gold(empty_store: Store, tmp_path: Path) -> None:
    """A relation is compared if both have one: a claim by an untyped edge between gold nodes isn't off gold."""
    graphkit.evaluate(world(tmp_path), store=empty_store)
    claims = [claim("a to b", edge=("x:a", None, "y:b")), claim("b to a", edge=("y:b", None, "x:a"))]
    load_verdicts(empty_store, [verdict("q1", claims=claims)])
    assert asked(empty_store, "claims-off-gold", "claim", "relation") == [("b to a", None)]


def score(value: float | None, measure: str = "RubricGrade", question: str = "q1") -> Score:
    """Return a judge's score of an answer."""
    reason = "refused" if value is None else None
    return Score(run="r", question=question, measure=measure, value=value, reason=reason, grader="j")


@pytest.mark.parametrize(
    ("scores", "verdicts", "judged"),
    [
        ([score(1.0), score(1.0, question="q2")], [], "RubricGrade by j"),
        ([score(1.0), score(1.0, "Correct")], [], "Correct by j and RubricGrade by j"),
        ([score(0.5)], [], None),
        ([score(1.0), score(0.0, "Correct")], [], None),
        ([score(None)], [], None),
        # How faithful an answer is to its context doesn't say that it is right.
        ([score(1.0, "Faithful")], [], None),
        ([], [], None),
        ([], [verdict("q1", grader="rubric", grade="fully_correct")], "RubricGrade by lexical"),
        ([score(1.0, "PersonGrade")], [], "PersonGrade by j"),
        # Of a judge and a person, or of two judges, one says less.
        ([score(0.0, "PersonGrade"), score(1.0)], [], None),
        ([score(1.0)], [verdict("q1", grader="rubric", grade="partially_correct")], None),
        ([], [verdict("q1", grader="mine", grade="fully_correct")], None),
    ],
)
def test_a_right_answer_by_a_wrong_path(
    empty_store: Store, tmp_path: Path, scores: list[Score], verdicts: list[Verdict], judged: str | None
) -> None:
    """An answer that every judge calls right, and whose path misses y:b -> y:c; q2's path misses nothing.

    The walk read y:b at commit 2, whatever the question pins, and went on to y:d.
    """
    graphkit.evaluate(world(tmp_path), store=empty_store, measures=["EdgeRecall"])
    if scores:
        load_scores(empty_store, scores)
    load_verdicts(empty_store, verdicts)
    expected = {
        **{"question": "q1", "judged": judged, "path": "p", "position": 1, "source": "y:b", "relation": "R"},
        **{"target": "y:c", "repo": "y", "commit": "2", "went_to": ["y:d"]},
    }
    found = graphkit.failures(empty_store, "r", "right-answer-wrong-path")
    assert found == ([expected] if judged else [])
    assert [sentence("right-answer-wrong-path", row) for row in found] == (
        ["was judged right, but step 2 was not traversed (y at 2): y:b -R-> y:c; from there it went to y:d"]
        if judged
        else []
    )


def test_the_commit_of_a_step_that_was_never_read(empty_store: Store, tmp_path: Path) -> None:
    """If a step has no commit, the pin of its repository stands for it, as the question writes it."""
    # The pins "p@q" of "y" and "c" of "y@b" have the keys "y@p%40q" and "y@b@c": both begin with "y@".
    pins = {"y": "p@q", "y@b": "c"}
    question = {"id": "q1", "question": "?", "commits": pins, "paths": [{"id": "p", "steps": [step("y:b", "y:c")]}]}
    write_jsonl(tmp_path / "questions.jsonl", [question])
    walked = [step("x:a", "x:b")]
    run = [{"run": "r", "question_id": "q1", "traversal": walked, "answer": "x"}]
    graphkit.evaluate(write_jsonl(tmp_path / "runs" / "r.jsonl", run), store=empty_store, measures=["EdgeRecall"])
    load_scores(empty_store, [score(1.0)])
    assert asked(empty_store, "right-answer-wrong-path", "source", "commit") == [("y:b", "p@q")]


def test_plausible_verdicts_on_storefront(empty_store: Store, tmp_path: Path) -> None:
    """On a run of the fixture, each kind of failure has as many rows as the verdicts have."""
    run = "storefront-graph"
    file = without_graph(STOREFRONT, tmp_path) / "runs" / f"{run}.jsonl"
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    verdicts = list(plausible(file))
    load_verdicts(empty_store, verdicts)
    many: dict[str, Any] = {"limit": 100_000}
    unsupported = sum(one.support == "UNSUPPORTED" for each in verdicts for one in each.claims)
    wrong = sum(one.correct is False for each in verdicts for one in each.citations)
    failed = sum(each.failure is not None for each in verdicts)
    assert unsupported > 10 < wrong
    assert failed > 3
    assert len(graphkit.failures(empty_store, run, "unsupported-claims", **many)) == unsupported
    assert len(graphkit.failures(empty_store, run, "bad-citations", **many)) == wrong
    assert len(graphkit.failures(empty_store, run, "failed-verdicts", **many)) == failed
    right = {each.question for each in verdicts if each.grade == "fully_correct"}
    missed = graphkit.failures(empty_store, run, "missed-edges", **many)
    lucky = graphkit.failures(empty_store, run, "right-answer-wrong-path", **many)
    assert [(row["question"], row["source"]) for row in lucky] == [
        (row["question"], row["source"]) for row in missed if row["question"] in right
    ]
