"""Random questions with principals and alternatives, and what each is worth by a count of its own.

Nothing here uses graphkit: patterns are those of fnmatch, and sets are counted as the definitions say.
"""

from __future__ import annotations

import fnmatch
import random
from pathlib import Path
from typing import Any

from tests.helpers.cli import Row, write_lines

REPOSITORIES = ("web", "api", "hr", "db")
RELATIONS = ("CALLS", "READS", "WRITES")
Step = list[Any]


def made(folder: Path, worlds: int, seed: int = 1) -> tuple[Path, Path, dict[str, Row]]:
    """Write a dataset of so many questions, each asked by a principal of its own, and a run.

    Returns the dataset, the run, and the expected values of each question by the names of the measures; None where a
    question has no value.
    """
    draw = random.Random(seed)
    rules, questions, answers, expected = [], [], [], {}
    for number in range(worlds):
        name = f"q{number:04d}"
        rule, question = _rule(draw, number), _question(draw, name, number)
        answer = _answer(draw, name, question)
        if draw.random() < 0.9:
            rules.append(rule)
        else:
            rule = {"allow": [], "deny": []}
        if draw.random() < 0.1:
            del question["principal"]
        questions.append(question)
        answers.append(answer)
        expected[name] = _expected(question, answer, rule)
    write_lines(folder / "questions.jsonl", questions)
    write_lines(folder / "access.jsonl", rules)
    write_lines(folder / "runs" / "r.jsonl", answers)
    return folder, folder / "runs" / "r.jsonl", expected


def _node(draw: random.Random) -> str:
    return f"{draw.choice(REPOSITORIES)}:{draw.choice('abc')}.py"


def _walk(draw: random.Random, most: int = 3) -> list[Step]:
    nodes = [_node(draw) for _ in range(draw.randint(2, most + 1))]
    return [[one, draw.choice(RELATIONS), two] for one, two in zip(nodes, nodes[1:], strict=False)]


def _rule(draw: random.Random, number: int) -> Row:
    def patterns(most: int) -> list[Any]:
        ids = [f"{draw.choice((*REPOSITORIES, '*'))}:{draw.choice(('*', 'a*', '?.py', 'b.py'))}" for _ in range(most)]
        more: list[Any] = [{"repository": draw.choice((*REPOSITORIES, "*b", "a?i"))}] if draw.random() < 0.3 else []
        return ids + more + ([{"relation": draw.choice((*RELATIONS, "*S"))}] if draw.random() < 0.15 else [])

    return {"principal": f"p{number}", "allow": patterns(draw.randint(1, 4)), "deny": patterns(draw.choice((0, 0, 1)))}


def _question(draw: random.Random, name: str, number: int) -> Row:
    paths: list[Row] = []
    for _ in range(draw.randint(1, 4)):
        group = draw.choice((None, "g", "h"))
        steps = [[*step] for step in _walk(draw)]
        rows = [{"source": a, "relation": r, "target": b, "optional": draw.random() < 0.15} for a, r, b in steps]
        paths.append({"steps": rows} | ({"group": group} if group else {}))
    return {"id": name, "question": f"What of {name}?", "principal": f"p{number}", "paths": paths}


def _answer(draw: random.Random, name: str, question: Row) -> Row:
    answer: Row = {"run": "r", "question_id": name, "answer": "It is."}
    if draw.random() < 0.9:
        walk = _walk(draw, 4) if draw.random() < 0.6 else []
        for path in question["paths"]:
            if draw.random() < 0.6:
                walk += [[one["source"], one["relation"], one["target"]] for one in path["steps"]]
        answer["traversal"] = walk
    if draw.random() < 0.9:
        answer["retrieved"] = list(dict.fromkeys(_node(draw) for _ in range(draw.randint(0, 3))))
    return answer


def _reads(rule: Row, node: str) -> bool:
    def holds(patterns: list[Any]) -> bool:
        ids = [one for one in patterns if isinstance(one, str)]
        repositories = [one["repository"] for one in patterns if isinstance(one, dict) and "repository" in one]
        return any(fnmatch.fnmatchcase(node, one) for one in ids) or any(
            fnmatch.fnmatchcase(node.split(":")[0], one) for one in repositories
        )

    return holds(rule["allow"]) and not holds(rule["deny"])


def _follows(rule: Row, step: Step) -> bool:
    allowed, denied = (
        [one["relation"] for one in rule[kind] if isinstance(one, dict) and "relation" in one]
        for kind in ("allow", "deny")
    )
    used = not allowed or any(fnmatch.fnmatchcase(step[1], one) for one in allowed)
    used = used and not any(fnmatch.fnmatchcase(step[1], one) for one in denied)
    return used and _reads(rule, step[0]) and _reads(rule, step[2])


def _expected(question: Row, answer: Row, rule: Row) -> Row:
    walked = {tuple(step) for step in answer.get("traversal", ())}
    asks = "principal" in question
    units: dict[Any, list[list[Any]]] = {}
    for number, path in enumerate(question["paths"]):
        required = {(one["source"], one["relation"], one["target"]) for one in path["steps"] if not one["optional"]}
        every = [(one["source"], one["relation"], one["target"], one["optional"]) for one in path["steps"]]
        options = units.setdefault(path.get("group", number), [])
        if not asks or all(_follows(rule, [*edge]) for edge in required):
            kept = [one for one in every if not asks or not one[3] or _follows(rule, [*one[:3]])]
            options.append([required, kept])
    recall = None
    if all(units.values()) and "traversal" in answer:
        needed: set[Any] = set()
        for options in units.values():
            # Of alternatives the best one for the run, of equals the shortest, then the first by its texts; one without
            # a required edge asks nothing.
            some = [one for one in options if one[0]]
            if some:
                best = min(
                    some,
                    key=lambda one: (
                        -len(one[0] & walked) / len(one[0]),
                        len(one[0]),
                        [edge[:3] for edge in one[1]],
                        [edge[3] for edge in one[1]],
                    ),
                )
                needed |= best[0]
        recall = len(needed & walked) / len(needed) if needed else None
    values: Row = {"EdgeRecall": recall, "WalkViolation": None, "ContextViolation": None}
    if asks and "traversal" in answer:
        values["WalkViolation"] = float(any(not _follows(rule, [*step]) for step in walked))
    if asks and "retrieved" in answer:
        values["ContextViolation"] = float(any(not _reads(rule, one) for one in answer["retrieved"]))
    return values
