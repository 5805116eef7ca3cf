"""The storefront fixture is what its README says: built from its sources, checked against its files, byte for byte.

Plain Python and git on purpose: what checks the fixture must not be what the fixture is there to check.
"""

import ast
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.datasets import STOREFRONT
from tests.helpers.suites import one_fast

STACKS = ("stack-1", "stack-2")
RUNS = ("storefront-bm25", "storefront-graph", "storefront-graph-v2")
Row = dict[str, Any]
Edge = tuple[str, str, str]
#: An edge at a stack, or at none.
Sided = tuple[Edge, str | None]


def read(name: str) -> list[Row]:
    """Rows of a committed JSONL file."""
    return [json.loads(line) for line in (STOREFRONT / name).read_text(encoding="utf-8").splitlines()]


def script(name: str, *arguments: Path) -> None:
    """Run a script of the fixture."""
    command = [sys.executable, "-B", str(STOREFRONT / name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def git(folder: Path, *arguments: str) -> str:
    """Output of a git command."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(["git", *arguments], cwd=folder, env=env, capture_output=True, check=True)
    return done.stdout.decode()


def edge_of(step: Row) -> Edge:
    """Source, relation and target of a step."""
    return step["source"], step["relation"], step["target"]


@pytest.fixture(scope="module")
def repos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repositories, built once from the history."""
    target = tmp_path_factory.mktemp("storefront")
    script("build_repos.py", target)
    return target


QUESTIONS = read("questions.jsonl")
COMPATIBILITY = read("compatibility.jsonl")
COMMITS = {row["sha"]: row for row in read("commits.jsonl")}
ARTIFACTS = {stack: {row["id"]: row for row in read(f"artifacts-{stack}.jsonl")} for stack in STACKS}
EDGES = {stack: {edge_of(row) for row in read(f"edges-{stack}.jsonl")} for stack in STACKS}
RULES = {row["principal"]: row for row in read("access.jsonl")}
#: The 30 questions with one version, an answer, and nobody who asks; and those with limits.
PLAIN, LIMITED = QUESTIONS[:30], QUESTIONS[30:]
ANSWERS = {run: {row["question_id"]: row for row in read(f"runs/{run}.jsonl")} for run in RUNS}


# --- what is built ----------------------------------------------------------------------------------------------------


@pytest.mark.slow("the repositories are built")
def test_build_gives_the_committed_ids(repos: Path) -> None:
    """Every commit that a branch reaches in the built repositories is in commits.jsonl, and no other."""
    built = {
        (folder.name, sha)
        for folder in repos.iterdir()
        for sha in git(folder, "rev-list", "--branches", "--tags").split()
    }
    assert built == {(row["repo"], row["sha"]) for row in COMMITS.values()}


@pytest.mark.slow("the repositories are built")
def test_build_leaves_an_abandoned_commit(repos: Path) -> None:
    """The work-in-progress commit of api exists in the repository and is unknown to commits.jsonl."""
    sha = git(repos / "api", "rev-parse", "refs/stale/coupons").strip()
    assert sha not in COMMITS


@pytest.mark.slow("the repositories are built")
def test_extraction_is_reproduced(repos: Path, tmp_path: Path) -> None:
    """extract.py writes commits, artifacts and edges again, byte for byte."""
    script("extract.py", repos, tmp_path)
    for name in ("commits", *(f"{kind}-{stack}" for kind in ("artifacts", "edges") for stack in STACKS)):
        assert (tmp_path / f"{name}.jsonl").read_bytes() == (STOREFRONT / f"{name}.jsonl").read_bytes()


def test_questions_are_reproduced(tmp_path: Path) -> None:
    """questions.py writes questions, rules and compatibility again, byte for byte."""
    (tmp_path / "commits.jsonl").write_bytes((STOREFRONT / "commits.jsonl").read_bytes())
    script("questions.py", tmp_path)
    for name in ("questions.jsonl", "access.jsonl", "compatibility.jsonl"):
        assert (tmp_path / name).read_bytes() == (STOREFRONT / name).read_bytes()


@pytest.mark.slow("the repositories are built")
def test_runs_are_reproduced(repos: Path, tmp_path: Path) -> None:
    """retrieve.py writes the runs again, byte for byte: nobody has edited them."""
    for name in ("questions.jsonl", "access.jsonl"):
        (tmp_path / name).write_bytes((STOREFRONT / name).read_bytes())
    script("retrieve.py", repos, tmp_path)
    for run in RUNS:
        assert (tmp_path / "runs" / f"{run}.jsonl").read_bytes() == (STOREFRONT / "runs" / f"{run}.jsonl").read_bytes()


# --- gold against the files -------------------------------------------------------------------------------------------


def text_of(repos: Path, stack: str, node: str) -> str:
    """Source text of a node at its pinned commit; fails if the graph of the stack does not have it."""
    row = ARTIFACTS[stack][node]
    text = git(repos / row["repo"], "show", f"{row['commit']}:{row['path']}")
    return "\n".join(text.splitlines()[row["line"] - 1 : row["end_line"]])


def last_name(node: str) -> str:
    """The last part of a node's name: `total` of `schema:tables/orders.sql#orders.total`."""
    return re.split(r"[#./]", node.removesuffix(".py").removesuffix(".ts"))[-1]


def fault(repos: Path, stack: str, step: Row) -> str | None:
    """Return why a gold step does not hold in the files, or None; the text decides, not only the extractor."""
    source, relation, target = edge_of(step)
    for node in (source, target):
        if node not in ARTIFACTS[stack]:
            return f"no node {node}"
        if last_name(node) not in f"{text_of(repos, stack, node)} {node.partition('#')[0]}":
            return f"{node} is not named in its lines"
    if step.get("evidence") != "manual" and (source, relation, target) not in EDGES[stack]:
        return "no such edge in the graph"
    here, there = text_of(repos, stack, source), text_of(repos, stack, target)
    if relation == "SPECIFIES":
        return None if routed(repos, stack, here, target) else "no route with this path and handler"
    if relation == "REQUESTS":
        operations = [node for node, row in ARTIFACTS[stack].items() if row["kind"] == "operation"]
        paths = {re.search(r"/\S*(?=:)", text_of(repos, stack, node))[0] for node in operations}  # type: ignore[index]
        asked = re.search(r'"(?:GET|POST)", f?["`](/[^"`]*)', here)
        shape = re.sub(r"\$?\{.*?\}", "{}", asked[1]) if asked else ""
        return None if shape in {re.sub(r"\{.*?\}", "{}", path) for path in paths} else "no such path is requested"
    if relation in ("CONFIGURES", "OVERRIDES"):
        return None if last_name(source) in there else "the setting is not named at the target"
    return None if re.search(rf"\b{last_name(target)}\b", here) else "the target is not named at the source"


def routed(repos: Path, stack: str, operation: str, handler: str) -> bool:
    """Whether one row of the service's route table names both the path of the operation and the handler."""
    path = re.search(r"/\S*(?=:)", operation)
    table = text_of(repos, stack, f"{handler.split(':')[0]}:{handler.split(':')[1].split('/')[0]}/routes.py")
    return any(path and f'"{path[0]}"' in line and last_name(handler) in line for line in table.splitlines())


def stack_of(question: Row, path: Row) -> str:
    """The stack of a path: that of its own tags, else that of its question."""
    tags = {repo: COMMITS[sha]["tag"] for row in COMPATIBILITY[:1] for repo, sha in row["commits"].items()}
    if "commits" not in path:
        return str(question["stack"])
    return str(COMPATIBILITY[0 if path["commits"] == tags else 1]["id"])


@one_fast("question", QUESTIONS, "files of each question are read", 0, ids=lambda question: question["id"])
def test_gold_edges_hold_in_the_files(repos: Path, question: Row) -> None:
    """Every gold step has both ends and its evidence in the files at the pinned commits."""
    for path in question["paths"]:
        for step in path["steps"]:
            assert fault(repos, stack_of(question, path), step) is None, step
    for edge in question.get("absent", []):
        assert tuple(edge) not in EDGES[question["stack"]], edge


@pytest.mark.parametrize(
    ("source", "relation", "target"),
    [
        ("api:api/auth.py#login", "CALLS", "api:api/orders_client.py#send"),
        ("api:api/auth.py#login", "CALLS", "api:api/auth.py#logout"),
        ("contracts:storefront.yaml#login", "SPECIFIES", "api:api/catalog.py#get_product"),
        ("schema:tables/orders.sql#orders", "REFERENCES", "schema:tables/stock.sql#stock"),
        ("infra:compose.yaml#api.ORDERS_URL", "CONFIGURES", "api:api/settings.py#session_minutes"),
    ],
)
@pytest.mark.parametrize("mark", [{}, {"evidence": "manual"}], ids=["static", "manual"])
def test_an_invented_edge_is_refused(repos: Path, source: str, relation: str, target: str, mark: Row) -> None:
    """The check of gold steps fails for edges that do not exist, also where a step claims manual evidence."""
    assert fault(repos, "stack-2", {"source": source, "relation": relation, "target": target} | mark) is not None


# --- the questions ----------------------------------------------------------------------------------------------------


def test_spread_of_the_questions() -> None:
    """Of the plain ones 40% are easy, 40% medium, 20% hard, and every construct of the format occurs often enough."""
    count = len(PLAIN)
    spread = Counter(question["difficulty"] for question in PLAIN)
    assert count >= 25
    assert {name: number / count for name, number in spread.items()} == {"easy": 0.4, "medium": 0.4, "hard": 0.2}
    groups = [Counter(path.get("group") for path in question["paths"]) for question in PLAIN]
    assert sum(any(name and number > 1 for name, number in group.items()) for group in groups) >= 4
    assert sum(group[None] > 1 for group in groups) >= 3
    optional = [any(step["optional"] for path in q["paths"] for step in path["steps"]) for q in PLAIN]
    assert sum(optional) >= 5
    assert sum(question["category"] == "version" for question in PLAIN) >= 4
    assert sum(bool(question.get("conflicts")) for question in PLAIN) >= 3
    assert sum("expected_output" in question for question in PLAIN) >= 8
    assert sum("k" in question for question in PLAIN) in (2, 3)
    assert sum(len(question["commits"]) > 1 for question in PLAIN) > count * 2 / 3
    assert all(question["facts"] for question in PLAIN)


def test_questions_with_limits() -> None:
    """Three have no answer, three are about two versions, and three are asked by somebody."""
    assert Counter(question["category"] for question in LIMITED) == {"no answer": 3, "two versions": 3, "access": 3}
    assert Counter(question["difficulty"] for question in LIMITED) == {"easy": 3, "medium": 4, "hard": 2}
    none, sided, asked = (LIMITED[start : start + 3] for start in (0, 3, 6))
    assert [one["why_not"] for one in none] == ["no path", "false premise", "other version"]
    assert not any(one["paths"] or one["answerable"] for one in none)
    for one in none:
        assert one["absent"]
    for one in sided:
        assert [stack_of(one, path) for path in one["paths"]] == list(STACKS)
    # Of the alternatives of sf-37 one is left to on-call, of sf-38 everything to bookkeeping, of sf-39 nothing.
    left = [[path["id"] for path in one["paths"] if not barred(one, path)] for one in asked]
    assert left == [["direct"], ["a"], []]


def may_read(principal: str, node: str) -> bool:
    """Whether the rules let a principal read a node: an allowed pattern matches, and no denied one."""
    rule = RULES[principal]
    return any(fnmatchcase(node, one) for one in rule["allow"]) and not any(
        fnmatchcase(node, one) for one in rule.get("deny", [])
    )


def barred(question: Row, path: Row) -> bool:
    """Whether a required step of a path has an end that its question's principal may not read."""
    required = (edge_of(step) for step in path["steps"] if not step["optional"])
    return any(not may_read(question["principal"], node) for edge in required for node in (edge[0], edge[2]))


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_expectations_exist(repos: Path, question: Row) -> None:
    """Expected files, symbols, relevant nodes and the expected output are really there at the pinned commits."""
    stacks = {stack_of(question, path) for path in question["paths"]} or {question["stack"]}
    nodes = {node: row for stack in stacks for node, row in ARTIFACTS[stack].items()}
    for stack in {question.get("stack")} - {None}:
        pinned = next(row["commits"] for row in COMPATIBILITY if row["id"] == stack)
        assert pinned.items() >= question["commits"].items()
    if not question["paths"]:
        return
    assert {f"{row['repo']}/{row['path']}" for row in nodes.values()} >= set(question["expected_files"])
    assert {row["symbol"] for row in nodes.values()} >= set(question["expected_symbols"])
    assert set(question["relevant"]) <= set(nodes)
    assert set(question["relevant"].values()) <= {1, 2, 3}
    assert {fact["repo"] for fact in question["facts"]} <= {row["repo"] for row in nodes.values()}
    if "expected_output" in question:
        texts = [text_of(repos, question["stack"], node) for node in question["relevant"]]
        assert any(question["expected_output"] in text for text in texts)
    for conflict in question.get("conflicts", []):
        for side in conflict["between"]:
            assert side in nodes or side.partition("@")[2] in COMMITS


# --- compatibility ----------------------------------------------------------------------------------------------------


def refused_statements(repos: Path, code: dict[str, str], schema: str) -> set[str]:
    """SQL statements of Python repositories that do not prepare on the schema, with SQLite's reason."""
    database = sqlite3.connect(":memory:")
    place = repos / "schema"
    paths = sorted(git(place, "ls-tree", "-r", "--name-only", schema).split())
    for path in paths:
        database.executescript(git(place, "show", f"{schema}:{path}"))
    reasons = set()
    for repo, commit in code.items():
        for path in git(repos / repo, "ls-tree", "-r", "--name-only", commit).split():
            for node in ast.walk(ast.parse(git(repos / repo, "show", f"{commit}:{path}"))):
                if isinstance(node, ast.Constant) and re.match(r"(SELECT|INSERT|UPDATE|DELETE) ", str(node.value)):
                    statement = str(node.value)
                    try:
                        database.execute(f"EXPLAIN {statement}", [None] * statement.count("?"))
                    except sqlite3.Error as error:
                        reasons.add(str(error))
    database.close()
    return reasons


def refused_requests(repos: Path, caller: tuple[str, str], callee: tuple[str, str]) -> set[str]:
    """Requests that one repository sends and for which the other has no route."""
    place = repos / callee[0]
    table = git(place, "show", f"{callee[1]}:{callee[0]}/routes.py")
    routes = {(method, re.sub(r"\{.*?\}", "{}", path)) for method, path in re.findall(r'\("(\w+)", "(.+?)"', table)}
    reasons = set()
    for path in git(repos / caller[0], "ls-tree", "-r", "--name-only", caller[1]).split():
        text = git(repos / caller[0], "show", f"{caller[1]}:{path}")
        for method, asked in re.findall(r'send(?:<.+>)?\("(\w+)", f?["`](.+?)["`]', text):
            if (method, re.sub(r"\$?\{.*?\}", "{}", asked)) not in routes:
                reasons.add(f"{method} {asked}")
    return reasons


@pytest.mark.parametrize("row", COMPATIBILITY, ids=lambda row: row["id"])
def test_compatibility_is_observed(repos: Path, row: Row) -> None:
    """Rows that fit have no statement and no request without an answer; rows that do not fit have one at least."""
    commits = row["commits"]
    reasons: set[str] = set()
    if "schema" in commits:
        code = {repo: sha for repo, sha in commits.items() if repo in ("api", "orders")}
        reasons |= refused_statements(repos, code, commits["schema"])
    for caller, callee in (("web", "api"), ("api", "orders")):
        if caller in commits and callee in commits:
            reasons |= refused_requests(repos, (caller, commits[caller]), (callee, commits[callee]))
    assert bool(reasons) != row["compatible"], reasons


def test_compatibility_has_every_kind_of_row() -> None:
    """There are compatible sets, incompatible pairs and deployments, and every commit in them is known."""
    plain = [row for row in COMPATIBILITY if "environment" not in row]
    assert sum(row["compatible"] for row in plain) >= 2
    assert sum(not row["compatible"] for row in plain) >= 2
    assert len(COMPATIBILITY) - len(plain) >= 2
    assert all(COMMITS[sha]["repo"] == repo for row in COMPATIBILITY for repo, sha in row["commits"].items())


# --- the runs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", RUNS)
def test_runs_are_whole(run: str) -> None:
    """Each run has one line per question; ranks and positions have no gaps; an error comes with empty results."""
    assert list(ANSWERS[run]) == [question["id"] for question in QUESTIONS]
    for row in ANSWERS[run].values():
        assert ("abstained" in row) != ("error" in row)
        assert [chunk["rank"] for chunk in row["retrieved"]] == list(range(1, len(row["retrieved"]) + 1))
        assert len(row["retrieved"]) <= 10
        paths: dict[int, list[int]] = {}
        for step in row["traversal"]:
            paths.setdefault(step["path"], []).append(step["position"])
        assert list(paths) == list(range(len(paths)))
        assert all(positions == list(range(len(positions))) for positions in paths.values())
        if "error" in row:
            assert not any(row[name] for name in ("retrieved", "traversal", "answer", "citations"))
        else:
            assert row["retrieved"]
            assert row["answer"]


def required(question: Row, walked: set[Sided]) -> set[Sided]:
    """Required gold edges that the asker may walk, each at its side, with the best alternative of each group."""
    choices: dict[str, list[set[Sided]]] = {}
    for path in question["paths"]:
        side = stack_of(question, path) if "commits" in path else None
        edges = {(edge_of(step), side) for step in path["steps"] if not step["optional"]}
        if "principal" not in question or not barred(question, path):
            choices.setdefault(path.get("group") or path["id"], []).append(edges)
    return {edge for paths in choices.values() for edge in max(paths, key=lambda item: len(item & walked) / len(item))}


def fits(first: str, second: str) -> bool | None:
    """Whether two commits fit, None where one is unknown: the rules of the measure Coherence, in their order."""
    if first == second:
        return True
    if first not in COMMITS or second not in COMMITS:
        return None
    rows = [row["compatible"] for row in COMPATIBILITY if {first, second} <= set(row["commits"].values())]
    if rows:
        return all(rows)
    a, b = COMMITS[first], COMMITS[second]
    if a["repo"] == b["repo"] and a["branch"] == b["branch"]:
        return True
    apart = abs(datetime.fromisoformat(a["committed_at"]) - datetime.fromisoformat(b["committed_at"]))
    return a["branch"] == b["branch"] == "main" and apart < timedelta(hours=24)


def failures(question: Row, row: Row) -> set[str]:
    """The kinds of failure that one line of a run shows; `perfect` where every required edge was walked."""
    if "error" in row:
        return {"error"}
    walked = {edge_of(step) for step in row["traversal"]}
    gold = {edge_of(step) for path in question["paths"] for step in path["steps"]}
    missed = {edge for edge, _ in required(question, {(edge, None) for edge in walked})} - walked
    left = {source for source, _, _ in walked - gold}
    files = {f"{chunk['repo']}/{chunk['path']}" for chunk in row["retrieved"]}
    commits = {chunk["commit"] for chunk in row["retrieved"]}
    pairs = [(pair, fits(*pair)) for pair in combinations(sorted(commits), 2)]
    named = [set(entry["commits"].values()) for entry in COMPATIBILITY if not entry["compatible"]]
    found = {
        "missed edge": bool(missed),
        "wrong turn": any(source in left for source, _, _ in missed),
        "extra edges": bool(walked - gold),
        "missed boundary": any(source.split(":")[0] != target.split(":")[0] for source, _, target in missed),
        "wrong repository": bool(
            {c["repo"] for c in row["retrieved"]} - {n.split(":")[0] for n in question["relevant"]}
        ),
        "incompatible pair": any(set(pair) >= entry for pair, _ in pairs for entry in named),
        "unrelated pair": any(fit is False and not any(set(pair) >= entry for entry in named) for pair, fit in pairs),
        "unknown commit": bool(commits - set(COMMITS)),
        "right files, wrong path": bool(missed and walked) and files >= set(question["expected_files"]),
        "perfect": not missed,
    }
    return {name for name, holds in found.items() if holds}


def table() -> list[str]:
    """For each kind the questions that show it, by run, as the README has it."""
    kinds: dict[str, dict[str, list[str]]] = {}
    for run in RUNS:
        for question in PLAIN:
            for kind in failures(question, ANSWERS[run][question["id"]]):
                kinds.setdefault(kind, {}).setdefault(run, []).append(question["id"].removeprefix("sf-"))
    first, second = ({q["id"]: required(q, w) & w for q in PLAIN for w in [walk(run, q)]} for run in RUNS[1:])
    for run, mine, other in ((RUNS[1], first, second), (RUNS[2], second, first)):
        lost = [name.removeprefix("sf-") for name in mine if other[name] - mine[name]]
        kinds.setdefault("edge lost that the other graph run has", {})[run] = lost
    return [row_of(kind, kinds[kind], len(PLAIN)) for kind in sorted(kinds)]


def row_of(kind: str, found: dict[str, list[str]], count: int) -> str:
    """A row of the README: the questions that show a kind, by run."""
    cells = [found.get(run, []) for run in RUNS]
    return f"| {kind} | " + " | ".join("all" if len(c) == count else " ".join(c) or "none" for c in cells) + " |"


def sides_at(step: Row) -> set[str]:
    """The stacks at whose commits a step read both its ends."""
    ends = [(step[end].split(":")[0], step[f"{end}_commit"]) for end in ("source", "target")]
    pins = {row["id"]: row["commits"] for row in COMPATIBILITY}
    return {stack for stack in STACKS if all(pins[stack][repo] == sha for repo, sha in ends)}


def walk(run: str, question: Row) -> set[Sided]:
    """The edges that a run walked for a question, at no stack and at each at which it read both ends."""
    steps = ANSWERS[run][question["id"]]["traversal"]
    return {(edge_of(step), side) for step in steps for side in (None, *sides_at(step))}


def limits(run: str, question: Row) -> set[str]:
    """What one record shows of the limits of its question."""
    row, walked = ANSWERS[run][question["id"]], walk(run, question)
    wanted = required(question, walked)
    steps, commits = row["traversal"], {chunk["commit"] for chunk in row["retrieved"]}
    absent = {tuple(edge) for edge in question.get("absent", [])} & {edge for edge, _ in walked}
    pins = [set(one["commits"].values()) for one in COMPATIBILITY[:2]]
    ends = [{step["source_commit"], step["target_commit"]} for step in steps]
    read = {side for _, side in walked} - {None}
    found = {
        "answered, without an answer": not wanted and not row["abstained"],
        "declined, without an answer": not wanted and row["abstained"],
        "declined, though the path was walked": wanted and row["abstained"] and wanted <= walked,
        "false premise taken": absent and question.get("why_not") == "false premise" and not row["abstained"],
        "absent edge walked": absent,
        "walked whole": wanted and wanted <= walked,
    }
    if question["category"] == "two versions":
        found["one side read"] = len(read) == 1
        found["mixed edge"] = any(one <= pins[0] | pins[1] and not any(one <= pin for pin in pins) for one in ends)
        found["chunk of no side"] = commits - pins[0] - pins[1]
    if principal := question.get("principal"):
        paths: dict[int, list[Row]] = {}
        for step in steps:
            paths.setdefault(step["path"], []).append(step)
        ends_of = ((one[end] for one in path for end in ("source", "target")) for path in paths.values())
        nodes = [[may_read(principal, node) for node in path] for path in ends_of]
        found["forbidden node walked"] = any(not all(path) for path in nodes)
        found["forbidden middle, allowed ends"] = any(path[0] and path[-1] and not all(path) for path in nodes)
        found["forbidden chunk retrieved"] = any(not may_read(principal, chunk["id"]) for chunk in row["retrieved"])
        found["forbidden node cited"] = any(not may_read(principal, node) for node in row["citations"])
    return {name for name, holds in found.items() if holds}


def edge_recall(run: str) -> tuple[float, int]:
    """Mean EdgeRecall over the scored questions, and their number; neither errors nor lack of gold are scored."""
    shares = []
    for question in QUESTIONS:
        if "error" not in ANSWERS[run][question["id"]]:
            walked = walk(run, question)
            wanted = required(question, walked)
            shares += [len(wanted & walked) / len(wanted)] if wanted else []
    return sum(shares) / len(shares), len(shares)


@pytest.mark.parametrize(
    "kind",
    [
        "edge lost that the other graph run has",
        "error",
        "extra edges",
        "incompatible pair",
        "missed boundary",
        "missed edge",
        "perfect",
        "right files, wrong path",
        "unknown commit",
        "unrelated pair",
        "wrong repository",
        "wrong turn",
    ],
)
def test_every_kind_of_failure_occurs(kind: str) -> None:
    """Each failure that graphkit must find occurs in the graph run, and the README names the questions that show it."""
    line = next(line for line in table() if line.startswith(f"| {kind} |"))
    assert line.split(" | ")[2] != "none"
    assert line in (STOREFRONT / "README.md").read_text(encoding="utf-8").splitlines()


def test_every_way_to_fail_at_a_limit_occurs() -> None:
    """Each is shown by a run, as the README says, and each limit is kept by one, too."""
    kinds: dict[str, dict[str, list[str]]] = {}
    for run in RUNS:
        for question in LIMITED:
            for kind in limits(run, question):
                kinds.setdefault(kind, {}).setdefault(run, []).append(question["id"].removeprefix("sf-"))
    text = (STOREFRONT / "README.md").read_text(encoding="utf-8").splitlines()
    rows = [row_of(kind, found, len(LIMITED)) for kind, found in sorted(kinds.items())]
    assert len(rows) == 13
    assert set(rows) <= set(text)


def test_edge_recall_of_the_runs() -> None:
    """The flat run walks nothing, the graph runs are neither hopeless nor perfect, and the README states the means."""
    text = (STOREFRONT / "README.md").read_text(encoding="utf-8")
    means = {}
    for run in RUNS:
        means[run], scored = edge_recall(run)
        assert f"| {run} | {means[run]:.4f} | {scored} / {len(QUESTIONS)} |" in text
    assert means.pop("storefront-bm25") == 0
    assert all(0.35 <= mean <= 0.75 for mean in means.values())
