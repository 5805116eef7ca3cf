"""Logs of forms that nobody named: their fields are found by their values, shown with evidence, and never guessed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.imports.importer import import_log
from graphkit.plugins.mapping.proposed_fields import ProposedMap, propose
from graphkit.readers.logged import UnreadableLogError
from tests.helpers.cli import inside
from tests.helpers.datasets import read_jsonl, write_jsonl
from tests.helpers.random_logs import random_log, world
from tests.helpers.suites import one_fast
from tests.helpers.workbooks import write_workbook

A, B, C, D = "web:a.ts#a", "api:b.py#b", "api:c.py#c", "db:d.sql"
TEXTS = {"q1": "How does a reach c?", "q2": "What does c read?"}
GOLD = {"q1": [(A, "CALLS", B), (B, "CALLS", C)], "q2": [(C, "READS", D)]}
#: Of q1 the first gold edge and one that is none; of q2 nothing.
WALKS: dict[str, list[tuple[str, str, str]]] = {"q1": [(A, "CALLS", B), (B, "IMPORTS", D)], "q2": []}


def named(source: str, relation: str, target: str) -> dict[str, str]:
    """Return an edge as an object."""
    return {"source": source, "relation": relation, "target": target}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two questions over a graph of four nodes."""
    folder = tmp_path / "data"
    write_jsonl(
        folder / "questions.jsonl",
        [
            {"id": one, "question": TEXTS[one], "paths": [{"steps": [named(*edge) for edge in GOLD[one]]}]}
            for one in TEXTS
        ],
    )
    write_jsonl(folder / "artifacts.jsonl", [{"id": one} for one in (A, B, C, D)])
    edges = [(A, "CALLS", B), (B, "CALLS", C), (C, "READS", D), (B, "IMPORTS", D)]
    write_jsonl(folder / "edges.jsonl", [named(*edge) for edge in edges])
    return folder


def proposed(data: Path, rows: Sequence[Any], name: str = "log.jsonl") -> ProposedMap:
    """Return the mapping for rows of JSON."""
    return propose(write_jsonl(data.parent / name, rows), data)


def walks_by(data: Path, proposal: ProposedMap) -> dict[str, list[tuple[str, str | None, str]]]:
    """Return the walks that the mapping reads, by question."""
    assert proposal.doubts == []
    made = import_log(proposal.path, "auto", data, map=proposal.assignments)
    return {
        one["question_id"]: [(step["source"], step.get("relation"), step["target"]) for step in one["traversal"]]
        for one in made.records
    }


@pytest.mark.slow("a thousand tables")
def test_a_thousand_forms_are_read_rightly_or_asked(tmp_path: Path) -> None:
    """Logs of random forms (names of no meaning, nesting, gold and other things beside the walk, ids of nowhere).

    No walk is read wrongly, and nearly all are proposed: 950 of 1,000, here 190 of 200 forms. A log with what was seen
    beside what was walked must be asked.
    """
    known = world()
    known.write(tmp_path / "data")
    right, asked = 0, []
    for seed in range(200):
        log = random_log(seed, known)
        path = tmp_path / f"log{seed}{log.ending}"
        path.write_text(log.text, "utf-8")
        proposal = propose(path, tmp_path / "data")
        if proposal.doubts:
            asked.append((seed, log.form))
            continue
        assert not log.refusable, log.form
        made = import_log(path, "auto", tmp_path / "data", map=proposal.assignments)
        assert {one["question_id"] for one in made.records} == set(log.walks), (seed, log.form)
        for record in made.records:
            steps, walk = record["traversal"], log.walks[record["question_id"]]
            assert len(steps) == len(walk), (seed, log.form)
            for step, (source, relation, target) in zip(steps, walk, strict=True):
                assert step.get("relation") == (relation if log.typed else None), (seed, log.form)
                ends = (step["source"], step["target"])
                assert ends == (source, target) or (not step["directed"] and ends == (target, source))
        right += 1
    assert right >= 190, asked


def test_the_evidence_is_counted_and_shown(data: Path) -> None:
    """Each field says what was counted: two texts of questions, four ends, two edges along the graph and none against.

    What isn't read is named, and the first record is shown as it is read.
    """
    rows = [
        {"q": TEXTS[one], "visited": [{"from": s, "type": r, "to": t} for s, r, t in WALKS[one]], "ms": 3}
        for one in TEXTS
    ]
    proposal = proposed(data, rows)
    assert proposal.assignments == ["question=q", "traversal=visited[].{source: from, relation: type, target: to}"]
    assert proposal.lines() == [
        "`q`: the text of a question in 2 of 2 rows",
        "`visited[].from` source, `visited[].to` target, `visited[].type` relation: 4 of 4 ends are known, 2 of 2 "
        "edges stand in the graph this way and 0 the other way",
        "not read: `ms`",
        f"the first record with a walk, as it is read: question q1, {A} -CALLS-> {B} -IMPORTS-> {D}",
    ]
    assert walks_by(data, proposal) == WALKS


def test_what_was_retrieved_is_read_by_its_name_beside_a_walk(data: Path) -> None:
    """Three of four values are nodes, and q2 logs none; what no name says, or two names say, isn't read."""

    def proposal_of(*names: str) -> ProposedMap:
        rows = [{"q": one, "down": [list(edge) for edge in WALKS[one]]} for one in TEXTS]
        return proposed(data, [{**rows[0], **{name: [D, "nowhere", A, B] for name in names}}, rows[1]])

    proposal = proposal_of("retrieved_ids", "shown")
    assert "`retrieved_ids[]`: what was retrieved, by its name; 3 of 4 values are known" in proposal.evidence
    assert proposal.unread == ["shown[]"]
    assert walks_by(data, proposal) == WALKS
    one, two = import_log(proposal.path, "auto", data, map=proposal.assignments).records
    assert [chunk["id"] for chunk in one["retrieved"]] == [D, "nowhere", A, B]
    assert "retrieved" not in two
    for names in (("shown",), ("hits", "ranking")):
        assert not any(line.startswith("retrieved=") for line in proposal_of(*names).assignments)


def test_a_hostile_name_adds_no_line_to_a_mapping(data: Path) -> None:
    """A field's name with a line break of Unicode would be an assignment of its own in the file: none is written."""
    hostile = "x\u2028answer = secret #"
    rows = [{"q": one, hostile: [{"a": s, "b": t} for s, _, t in WALKS[one]]} for one in TEXTS]
    proposal = proposed(data, rows)
    assert walks_by(data, proposal)["q1"] == [(A, None, B), (B, None, D)]
    assert "isn't kept" in proposal.write()
    assert not proposal.file().exists()


def test_a_long_log_says_how_much_of_it_was_counted(data: Path) -> None:
    """A sentence claims no more than was counted: of 501 rows the first 500."""
    row = {"q": "q1", "hops": [{"from": A, "to": B, "type": "CALLS"}]}
    first = "counted over the first 500 rows, and the log has more"
    assert proposed(data, [row] * 501).evidence[0] == first
    assert first not in proposed(data, [row] * 500).evidence


def test_a_field_that_is_the_gold_is_not_the_walk(data: Path) -> None:
    """Beside the walk it is left out; alone it may be a perfect run, which a person must say."""

    def row(name: str, **more: Any) -> dict[str, Any]:
        return {"case": name, "up": [list(edge) for edge in GOLD[name]], **more}

    both = proposed(data, [row(one, down=[list(edge) for edge in WALKS[one]]) for one in TEXTS])
    assert walks_by(data, both) == WALKS
    assert (
        "`up[][]` [source, relation, target]: equals the gold of each row's question, so not the walk" in both.evidence
    )
    alone = proposed(data, [row(one) for one in TEXTS])
    assert alone.doubts == [
        "the field with edges equals the gold of each row's question: it is the gold, or a very good run"
    ]
    assert not any(one.startswith("traversal") for one in alone.assignments)


def test_what_was_seen_beside_what_was_chosen_is_asked(data: Path) -> None:
    """Two lists of edges, or a field of edges that says which were taken: which is the walk isn't ours to say."""
    seen = [(A, "CALLS", B), (B, "CALLS", C), (B, "IMPORTS", D)]

    def row(name: str) -> dict[str, Any]:
        edges = seen if name == "q1" else []
        return {"case": name, "x": [list(edge) for edge in edges], "y": [list(edge) for edge in WALKS[name]]}

    two = proposed(data, [row(one) for one in TEXTS])
    assert two.doubts == ["several fields may hold the walk"]
    assert [choice.partition("[")[0] for choice, _ in two.choices] == ["traversal=x", "traversal=y"]
    rows = [
        {"case": name, "x": [{"f": s, "r": r, "t": t, "k": (s, r, t) in WALKS["q1"]} for s, r, t in edges]}
        for name, edges in (("q1", seen), ("q2", seen[1:]))
    ]
    [doubt] = proposed(data, rows).doubts
    assert doubt.startswith("`x[].k` may say which steps were only seen")
    assert "traversal=x[?k==`true`].{source: f, relation: r, target: t}" in doubt


def test_a_direction_that_the_graph_does_not_decide_is_asked(data: Path) -> None:
    """One edge along the graph and one against it: both readings are shown, and neither is taken.

    The direction of edges that are all against the graph is that of the graph: the fields change their roles.
    """
    mixed = [{"case": "q1", "x": [{"f": A, "t": B}, {"f": D, "t": B}]}, {"case": "q2", "x": []}]
    proposal = proposed(data, mixed)
    assert proposal.doubts == ["which of both fields is the source isn't known"]
    assert [choice for choice, _ in proposal.choices] == [
        "traversal=x[].{source: f, target: t}",
        "traversal=x[].{source: t, target: f}",
    ]
    back = [{"case": "q1", "x": [{"f": B, "t": A}, {"f": D, "t": B}]}, {"case": "q2", "x": []}]
    assert proposed(data, back).assignments[-1] == "traversal=x[].{source: t, target: f}"


@pytest.mark.parametrize("as_lists", [True, False])
def test_a_walk_in_its_order_has_the_directions_of_the_graph(as_lists: bool, data: Path) -> None:
    """Each step begins where the one before it ended, some against the graph: no field is the source of them all.

    From d over c and b to a, all three against the edges, and on over b to c; and from a to b and d along them, of
    which the last step has no end.
    """
    walks = {
        "q1": [(D, "READS", C), (C, "CALLS", B), (B, "CALLS", A), (A, "CALLS", B), (B, "CALLS", C)],
        "q2": [(A, "CALLS", B), (B, "IMPORTS", D)],
    }
    steps: dict[str, list[Any]] = {
        one: [list(step) if as_lists else dict(zip("frt", step, strict=True)) for step in its]
        for one, its in walks.items()
    }
    if not as_lists:
        steps["q2"].append({"f": D, "n": 0})
    proposal = proposed(data, [{"case": one, "x": its} for one, its in steps.items()])
    assert any("4 along and 3 against, in the order in which they were walked" in one for one in proposal.evidence)
    assert walks_by(data, proposal) == {
        "q1": [(C, "READS", D), (B, "CALLS", C), (A, "CALLS", B), (A, "CALLS", B), (B, "CALLS", C)],
        "q2": walks["q2"],
    }
    made = import_log(proposal.path, "auto", data, map=proposal.assignments)
    assert made.figures["turned"] == 3


def test_unknown_names_are_named_with_the_nearest(data: Path) -> None:
    """The question is known and no name: the error says which field, an example and the nearest id."""
    rows = [{"q": TEXTS[one], "visited": [{"from": "a.js#a", "to": "b.js#b"}]} for one in TEXTS]
    proposal = proposed(data, rows)
    assert proposal.doubts == ["no walk was found in it"]
    assert any(
        "of 2 values of `visited[].from` none is a node of the dataset: `a.js#a`, nearest" in one
        for one in proposal.evidence
    )
    with pytest.raises(
        UnreadableLogError, match=r"no field names the questions of the dataset(.|\n)*docs/importing\.md"
    ):
        proposed(data, [{"q": "What else?", "visited": [A, B]}])


def test_lines_of_several_questions_at_once_belong_to_their_session(data: Path) -> None:
    """Lines of two questions that overlap are told apart by what the lines of each have in common.

    Without that they can't be, and a person must say.
    """
    lines = [
        f"req=7 asked '{TEXTS['q1']}'",
        f"req=8 asked '{TEXTS['q2']}'",
        f"req=7 step {A} -[CALLS]-> {B}",
        f"req=8 step {C} -[READS]-> {D}",
        f"req=7 step {B} -[IMPORTS]-> {D}",
        "req=8 answer: yes",
        "req=7 answer: no",
    ]
    path = data.parent / "retriever.log"
    path.write_text("\n".join(lines), "utf-8")
    expected = {"q1": WALKS["q1"], "q2": [(C, "READS", D)]}
    assert walks_by(data, propose(path, data)) == expected
    path.write_text("\n".join(line.partition(" ")[2] for line in lines), "utf-8")
    assert (
        "questions overlap in it, and nothing says which line belongs to which question" in propose(path, data).doubts
    )


def test_a_mapping_is_kept_beside_the_log_and_read_from_then_on(data: Path) -> None:
    """Without --yes nothing is imported, and the mapping lies beside the log; by it, or with --yes, the log is read.

    A mapping that somebody edited is used as it is.
    """
    rows = [{"q": TEXTS[one], "visited": [{"from": s, "to": t} for s, _, t in WALKS[one]]} for one in TEXTS]
    write_jsonl(data.parent / "log.jsonl", rows)
    shared = ("import", "auto", "log.jsonl", "--dataset", "data")
    done = inside(*shared, "-o", "run.jsonl", cwd=data.parent, code=2)
    assert "2 of 2 edges stand in the graph this way" in done.err
    assert "graphkit import auto log.jsonl --map log.jsonl.map --dataset data -o RUN.jsonl" in " ".join(
        done.err.split()
    )
    assert not (data.parent / "run.jsonl").exists()
    inside(*shared, "--map", "log.jsonl.map", "-o", "one.jsonl", cwd=data.parent, code=0)
    inside(*shared, "--yes", "-o", "two.jsonl", cwd=data.parent, code=0)
    one, two = (read_jsonl(data.parent / name) for name in ("one.jsonl", "two.jsonl"))
    assert [record["traversal"] for record in one] == [record["traversal"] for record in two]
    mapping = data.parent / "log.jsonl.map"
    mapping.write_text("question=q\ntraversal=visited[:1].{source: from, target: to}\n", "utf-8")
    inside(*shared, "--yes", "-o", "three.jsonl", cwd=data.parent, code=0)
    assert [len(record["traversal"]) for record in read_jsonl(data.parent / "three.jsonl")] == [1, 0]


def test_an_open_choice_is_completed_in_the_mapping(data: Path) -> None:
    """The mapping of a perfect run names the choice, and has a line to be completed: as it stands it is refused."""
    write_jsonl(data.parent / "log.jsonl", [{"case": one, "w": [list(edge) for edge in GOLD[one]]} for one in TEXTS])
    shared = ("import", "auto", "log.jsonl", "--dataset", "data", "-o", "run.jsonl")
    done = inside(*shared, "--yes", cwd=data.parent, code=2)
    assert "it is the gold, or a very good run" in done.err
    mapping = data.parent / "log.jsonl.map"
    inside(*shared, "--map", mapping, cwd=data.parent, code=2)
    chosen = "traversal = w[*].{source: [0], relation: [1], target: [2]}"
    mapping.write_text(mapping.read_text("utf-8").replace("traversal =", chosen), "utf-8")
    inside(*shared, "--map", mapping, cwd=data.parent, code=0)


E1, E2, E3, E4 = (A, "CALLS", B), (B, "CALLS", C), (B, "IMPORTS", D), (C, "READS", D)


def edge(one: tuple[str, str, str], **more: Any) -> dict[str, Any]:
    """Return an edge under names of no meaning."""
    return {"f": one[0], "r": one[1], "t": one[2], **more}


def a_hop(*hops: tuple[str, dict[str, Any]]) -> list[Any]:
    """Return a row a hop."""
    return [{"q": name, **row} for name, row in hops]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        # Each step has one chosen edge, and lists what it could choose from.
        (
            [
                {"q": "q1", "steps": [{"y": list(E1), "n": [list(E1)]}, {"y": list(E3), "n": [list(E2), list(E3)]}]},
                {"q": "q2", "steps": [{"y": list(E4), "n": [list(E4)]}]},
            ],
            "several fields",
        ),
        ([{"q": "q1", "steps": [{"pick": 1, "n": [list(E2), list(E3)]}]}, {"q": "q2", "steps": []}], "choose from"),
        # A field of steps says which were only seen: words, a reason or nothing, present or not.
        (
            [
                {"q": "q1", "s": [edge(E1, k="kept"), edge(E2, k="pruned"), edge(E3, k="deferred")]},
                {"q": "q2", "s": [edge(E4, k="kept")]},
            ],
            "only seen",
        ),
        ([{"q": "q1", "s": [edge(E1), edge(E2, rejectedFor="score")]}, {"q": "q2", "s": []}], "only seen"),
        ([{"q": "q1", "s": [edge(E1, pruned=True), edge(E2)]}, {"q": "q2", "s": []}], "only seen"),
        (a_hop(("q1", edge(E1, kept=True)), ("q1", edge(E3, kept=False)), ("q2", edge(E4, kept=True))), "only seen"),
        # The gold or a perfect run, a row a hop; as its sorted ids; and by its name, where it is out of date.
        (a_hop(("q1", edge(E1)), ("q1", edge(E2)), ("q2", edge(E4))), "it is the gold"),
        ([{"q": "q1", "support": [B, A, C]}, {"q": "q2", "support": [C, D]}], "it is the gold"),
        ([{"q": "q1", "expected": [list(E1)]}, {"q": "q2", "expected": [list(E4)]}], "it is the gold"),
        # A ranking: by its falling scores, by its name, by neighbours that no edge joins.
        ([{"q": "q1", "z": [{"d": B, "w": 0.9}, {"d": D, "w": 0.2}]}, {"q": "q2", "z": []}], "a ranking"),
        ([{"q": "q1", "context": [B, D]}, {"q": "q2", "context": []}], "a ranking"),
        ([{"q": "q1", "z": [A, B, C, A, D]}, {"q": "q2", "z": []}], "a ranking"),
        # Two systems, by the name of the field or since each answers each question.
        (a_hop(*((q, edge(e, system=n)) for n in "xy" for q, e in (("q1", E1), ("q1", E3), ("q2", E4)))), "systems"),
        # Numbers of steps in another order than the log's.
        ([{"q": "q1", "s": [edge(E3, n=2), edge(E1, n=1)]}, {"q": "q2", "s": []}], "another order"),
        (a_hop(("q1", edge(E3, n="1")), ("q1", edge(E1, n="0")), ("q2", edge(E4, n="0"))), "another order"),
        # Texts with several steps whose form isn't known.
        ([{"q": "q1", "x": f"{A}|CALLS|{B}, {B}|IMPORTS|{D}"}, {"q": "q2", "x": ""}], "form that isn't known"),
        ([{"q": "q1", "x": f"({A}, CALLS, {B}); ({B}, IMPORTS, {D})"}, {"q": "q2", "x": ""}], "form that isn't known"),
        ([{"q": "q1", "x": json.dumps([list(E1), list(E3)])}, {"q": "q2", "x": ""}], "form that isn't known"),
        # Nothing but questions.
        ([{"q": "q1", "n": 3}, {"q": "q2", "n": 4}], "nothing is found in it but questions"),
        # Rows without a question.
        ([{"q": "q1", **edge(E1)}, edge(E3), {"q": "q2", **edge(E4)}], "name no question"),
    ],
)
def test_what_a_person_must_decide(data: Path, rows: list[Any], words: str) -> None:
    """Each is asked with its reason, and no walk is read."""
    proposal = proposed(data, rows)
    assert any(words in doubt for doubt in proposal.doubts), proposal.text()
    assert not any(one.startswith(("traversal", "step")) for one in proposal.assignments)


@pytest.mark.parametrize(
    "lines",
    [
        [f"asked '{TEXTS['q1']}'", f"visited {A} --CALLS--> {B}", f"not visited {B} --CALLS--> {C}"],
        [f"asked '{TEXTS['q1']}'", f"edge {A} --CALLS--> {B} accepted", f"edge {B} --CALLS--> {C} rejected"],
        [f"asked '{TEXTS['q1']}'", f"INFO edge {A} --CALLS--> {B}", f"SKIP edge {B} --CALLS--> {C}"],
        [f"asked '{TEXTS['q1']}'", f"asked '{TEXTS['q2']}'", f"edge {A} --CALLS--> {B}", f"edge {C} --READS--> {D}"],
    ],
)
def test_lines_of_several_forms_are_asked(data: Path, lines: list[str]) -> None:
    """Lines of which some may be of steps that were only seen, and questions that come before all steps."""
    path = data.parent / "retriever.log"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    assert propose(path, data).doubts


def test_lines_in_brackets_are_text(data: Path) -> None:
    """A line that begins with a level or a time in brackets is no JSON; the words of a question are no step."""
    text = f"[INFO] asked: {TEXTS['q1']}\n[INFO] hop {A} CALLS {B}\n[INFO] hop {B} IMPORTS {D}\n"
    text += f"[INFO] done\n[INFO] asked: {TEXTS['q2']}\n[INFO] done\n"
    path = data.parent / "retriever.log"
    for begin in ("[INFO]", "[2026-11-20 10:00:00]", "[17]"):
        path.write_text(text.replace("[INFO]", begin), "utf-8")
        assert walks_by(data, propose(path, data)) == WALKS


@one_fast("ending", ["csv", "tsv", "xlsx", "parquet"], "each kind of table", 0)
def test_tables_are_runs(data: Path, ending: str) -> None:
    """A table with the columns of a record is a run, also for evaluate: a path a question, or a hop a row.

    By hand: of q1, one of two gold edges is walked (EdgeRecall 0.5) and one of two walked edges is gold.
    """
    paths = [["run", "question_id", "answer", "path"]]
    paths += [["mine", one, "It does.", " ; ".join(f"{s} -{r}-> {t}" for s, r, t in WALKS[one])] for one in TEXTS]
    hops = [["question_id", "source", "relation", "target"], *(["q1", *edge] for edge in WALKS["q1"])]
    for name, rows in (("paths", paths), ("hops", hops)):
        file = _table(data.parent / f"{name}.{ending}", rows)
        done = inside(
            "evaluate", file, "--dataset", data, "--measure", "EdgeRecall", "--no-store", "--json", cwd=data.parent
        )
        assert done.code in (0, 1), done.err
        run = import_log(file, "auto", data)
        walked = {one["question_id"]: one["traversal"] for one in run.records}
        assert [(step["source"], step["relation"], step["target"]) for step in walked["q1"]] == WALKS["q1"]
        assert walked.get("q2") == ([] if name == "paths" else None)


def _table(path: Path, rows: list[list[str]]) -> Path:
    if path.suffix == ".xlsx":
        write_workbook(path, {"Sheet1": rows})
    elif path.suffix == ".parquet":
        columns = {name: [row[place] for row in rows[1:]] for place, name in enumerate(rows[0])}
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pytest.importorskip("pyarrow").table(columns), path)
    else:
        sign = "," if path.suffix == ".csv" else "\t"
        path.write_text("".join(sign.join(row) + "\n" for row in rows), "utf-8")
    return path


def test_one_document_is_said_to_evaluate(data: Path) -> None:
    """A file of one JSON document isn't called 24 lines that are no JSON."""
    file = data.parent / "log.json"
    file.write_text(
        json.dumps({one: {"hops": [list(edge) for edge in WALKS[one]]} for one in TEXTS}, indent=1), "utf-8"
    )
    done = inside("evaluate", file, "--dataset", data, cwd=data.parent, code=2)
    assert "one JSON document" in done.err
    assert "graphkit import auto" in done.err
    assert len(done.err.splitlines()) < 5


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["line=("], "isn't a regular expression"),
        (["line=a"], "has no named group"),
        (["line=(?P<sauce>a)"], "a group 'sauce', which no record has"),
        (["rows=items('a')", "question_id=key"], "can't be applied"),
        (["question_id=q", "step={source: s, target: t}"], "names no question"),
    ],
)
def test_mistakes_in_a_mapping(data: Path, given: list[str], words: str) -> None:
    """Each is refused by its place."""
    log = write_jsonl(data.parent / "log.jsonl", [{"s": A, "t": B}])
    with pytest.raises(InputError, match=words):
        import_log(log, "auto", data, map=given)
