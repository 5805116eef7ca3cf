"""Random questions over several versions, and a count of what is right that follows the definition edge by edge."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

#: Two commits of each of two repositories by name and sha, and one that no gold path has; ``c`` is never pinned.
NAMES = {"v1": "1" * 40, "v2": "2" * 40, "v9": "9" * 40, "w1": "3" * 40, "w2": "4" * 40}
OF_REPO = {"a": ("v1", "v2", "v9"), "b": ("w1", "w2")}
NODES = ("a:x", "a:y", "b:x", "b:y", "c:x")
COMMITS = [
    {"repo": repo, "sha": NAMES[name], "tags": [name], "branch": f"{repo}{name}"}
    for repo, names in OF_REPO.items()
    for name in names
]
COMPATIBILITY = [{"id": "first", "compatible": True, "commits": {"a": "v1", "b": "w1"}}]

Step = tuple[str, str | None, str]
Side = tuple[tuple[str, str], ...]


def world(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a question, of which at least one path has commits, and a record.

    From seed 1,000 on, some traversed edges have no direction: theirs is that of gold.
    """
    chance = random.Random(seed)

    def commit(node: str) -> str | None:
        names = OF_REPO.get(node[0], ())
        return chance.choice(names) if names and chance.random() < 0.6 else None

    def edge() -> Step:
        relation = chance.choice(["R", "S", "R", None]) if chance.random() < 0.2 else "R"
        return chance.choice(NODES), relation, chance.choice(NODES)

    edges = [edge() for _ in range(4)]
    paths = []
    for number in range(chance.randint(1, 4)):
        steps = [
            {"source": s, "relation": r, "target": t, "optional": chance.random() < 0.2}
            for s, r, t in chance.choices(edges, k=chance.randint(1, 3))
        ]
        commits = {}
        if number == 0 or chance.random() < 0.8:
            commits = {"a": chance.choice(["v1", "v2", NAMES["v2"]])}
            if chance.random() < 0.5:
                commits["b"] = chance.choice(["w1", "w2"])
        group = chance.choice(["g", None, None])
        path = {"steps": steps, "commits": commits, "group": group, "ordered": chance.random() < 0.8}
        paths.append({name: value for name, value in path.items() if value not in (None, {})})
    question: dict[str, Any] = {"id": f"q{seed}", "question": "?", "paths": paths}
    if chance.random() < 0.3:
        question["commits"] = {"b": "w1"}
    walked = []
    for number in range(chance.randint(0, 3)):
        for position in range(chance.randint(1, 4)):
            source, relation, target = chance.choice(edges) if chance.random() < 0.8 else edge()
            step = {"source": source, "relation": relation, "target": target, "path": number, "position": position}
            step |= {"source_commit": commit(source), "target_commit": commit(target)}
            if seed >= 1000 and chance.random() < 0.15:
                step["directed"] = False
            walked.append({name: value for name, value in step.items() if value is not None})
    chunks = [{"id": node, "commit": commit(node)} for node in chance.choices(NODES, k=chance.randint(0, 5))]
    record = {"run": "r", "question_id": question["id"], "traversal": walked, "answer": "."}
    record |= {"retrieved": [{name: value for name, value in one.items() if value} for one in chunks]}
    return question, record | ({"ordered": False} if chance.random() < 0.1 else {})


def side_of(question: dict[str, Any], path: dict[str, Any]) -> Side:
    """Return the commits of a gold path, by sha."""
    named = {**question.get("commits", {}), **path.get("commits", {})}
    return tuple(sorted((repo, NAMES.get(name, name)) for repo, name in named.items()))


def fits(step: dict[str, Any], side: Side) -> bool:
    """Return whether each end that names a commit names that of the side for its repository."""
    commits = dict(side)
    for end in ("source", "target"):
        name, repo = step.get(f"{end}_commit"), step[end][0]
        if name and commits.get(repo, NAMES[name]) != NAMES[name]:
            return False
    return True


def without_version(question: dict[str, Any], record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the traversed edges that don't show which version was read.

    Some end is of a repository with a version; and no such end names one, or an end that names none has several
    versions among the sides that the edge fits.
    """
    found = []
    for step in record["traversal"]:
        sides = [dict(side_of(question, path)) for path in question["paths"]]
        ends = {end: step[end][0] for end in ("source", "target") if any(step[end][0] in side for side in sides)}
        fitting = [side for side in sides if fits(step, tuple(side.items()))]
        open_ = [repo for end, repo in ends.items() if f"{end}_commit" not in step]
        if ends and (len(open_) == len(ends) or any(len({one.get(repo) for one in fitting}) > 1 for repo in open_)):
            found.append(step)
    return found


def edge_of(step: dict[str, Any]) -> Step:
    """Return an edge without its commits."""
    return step["source"], step.get("relation"), step["target"]


def same(gold: Step, walked: Step) -> bool:
    """Return whether two edges match: a relation that one of them lacks isn't compared."""
    return gold[::2] == walked[::2] and (gold[1] is None or walked[1] is None or gold[1] == walked[1])


def recall(question: dict[str, Any], record: dict[str, Any]) -> tuple[int, int] | None:
    """Return how many required (edge, side) the record walked, and how many there are; None without any.

    Of alternatives several may have the largest share; then the numbers may be those of any of them, and the sum isn't
    decided by the definition alone: the first of the order of texts counts, with sides in their names.
    """
    required: set[tuple[Step, Side]] = set()
    found: set[tuple[Step, Side]] = set()
    for unit in units(question):
        options = []
        for path in unit:
            side = side_of(question, path)
            wanted = {(edge_of(one), side) for one in path["steps"] if not one.get("optional")}
            there = {
                (edge, side)
                for edge, side in wanted
                if any(same(edge, edge_of(step)) and fits(step, side) for step in record["traversal"])
            }
            if wanted:
                options.append((len(there) / len(wanted), wanted, there))
        best = max((share for share, _, _ in options), default=None)
        if best is None:
            continue
        leading = [one for one in options if one[0] == best]
        if len(leading) > 1:
            return None
        required |= leading[0][1]
        found |= leading[0][2]
    return (len(found), len(required)) if required else None


def units(question: dict[str, Any]) -> Iterable[list[dict[str, Any]]]:
    """Return what has to be found: each path alone, and those of a group as alternatives."""
    found: dict[object, list[dict[str, Any]]] = {}
    for number, path in enumerate(question["paths"]):
        found.setdefault(path.get("group", number), []).append(path)
    return found.values()


def precision(question: dict[str, Any], record: dict[str, Any]) -> tuple[int, int]:
    """Return how many traversed edges are gold, and how many there are.

    One stands for each side that it fits and whose gold joins its two nodes, else for itself: on the first side by its
    commits that it fits, or on none.
    """
    gold: dict[Side, set[Step]] = {}
    for path in question["paths"]:
        gold.setdefault(side_of(question, path), set()).update(map(edge_of, path["steps"]))
    every: set[tuple[Step, Side | None]] = set()
    for step in record["traversal"]:
        edge, fitting = edge_of(step), [side for side in sorted(gold) if fits(step, side)]
        own = [side for side in fitting if any({*edge[::2]} == {*one[::2]} for one in gold[side])]
        every |= {(edge, side) for side in own or fitting[:1]} or {(edge, None)}
    right = {(edge, side) for edge, side in every if side is not None and any(same(one, edge) for one in gold[side])}
    return len(right), len(every)


def off_pin(question: dict[str, Any], record: dict[str, Any]) -> bool:
    """Return whether a commit was read that fits no side: each pins its repository to another one."""
    sides = [dict(side_of(question, path)) for path in question["paths"]]
    read = {(one["id"][0], NAMES[one["commit"]]) for one in record["retrieved"] if "commit" in one}
    for step in record["traversal"]:
        read |= {(step[end][0], NAMES[name]) for end in ("source", "target") if (name := step.get(f"{end}_commit"))}
    return any(all(side.get(repo, sha) != sha for side in sides) for repo, sha in read)


def shared_pairs(question: dict[str, Any], record: dict[str, Any]) -> int:
    """Return how many pairs of different chunks, or of one at different commits, share a side."""
    sides = {side_of(question, path) for path in question["paths"]}
    chunks = sorted({(one["id"], NAMES.get(one.get("commit", ""), "")) for one in record["retrieved"]})

    def on(chunk: tuple[str, str], side: Side) -> bool:
        node, sha = chunk
        return not sha or dict(side).get(node[0], sha) == sha

    pairs = [(one, two) for place, one in enumerate(chunks) for two in chunks[:place]]
    return sum(any(on(one, side) and on(two, side) for side in sides) for one, two in pairs)
