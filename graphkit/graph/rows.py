"""Convert records to the rows of the load queries: all data that the Cypher engine reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import combinations
from typing import Any

import msgspec

from graphkit.graph import schema_version
from graphkit.measures.case import Case, Gold
from graphkit.measures.sided_case import SidedCase, at_sides
from graphkit.measures.sides import Side
from graphkit.measures.text import last_component
from graphkit.records.access_rules import AccessRules
from graphkit.records.commits import CommitGraph, is_whole
from graphkit.records.gold import gold_hash
from graphkit.records.ids import Places
from graphkit.records.models import AccessRule, Commit, Compatibility
from graphkit.records.structs import (
    AnswerStruct,
    ArtifactStruct,
    ComparedResultStruct,
    QuestionStruct,
    TraversalStepStruct,
)
from graphkit.records.usage import FIGURES
from graphkit.records.words import shortened

Rows = list[dict[str, Any]]

#: Characters of a tool call's result that the graph keeps, since agents read whole files many times.
RESULT = 500

#: The beginnings of a pattern of access that is kept as JSON; any other is itself.
JSON = ("{", '"')


def digest(value: Any) -> str:
    """Return a digest of a row."""
    return blake2b(msgspec.json.encode(value), digest_size=16).hexdigest()


def fields_of(record: object, names: Iterable[str]) -> dict[str, Any]:
    """Return some fields of a record."""
    return {name: getattr(record, name) for name in names}


def commit_key(repo: str | None, sha: str | None) -> str | None:
    """Return the key of a commit node; None if the repository or the sha is missing.

    The last ``@`` of the key separates them: names of repositories may hold one, and in the sha it is escaped.
    """
    return f"{repo}@{sha.replace('%', '%25').replace('@', '%40')}" if repo and sha else None


def commit_row(commit: Commit) -> dict[str, Any]:
    """Return the row of a commit."""
    at = commit.committed_at
    return {
        "key": commit_key(commit.repo, commit.sha),
        **fields_of(commit, ("repo", "sha", "branch", "tag")),
        "tags": list(commit.all_tags),
        "parents": list(commit.parents),
        "parent_keys": [commit_key(commit.repo, parent) for parent in commit.parents],
        "committed_at": at.isoformat() if at else None,
        "committed_ms": round(at.timestamp() * 1000) if at else None,
    }


def stack_row(row: Compatibility, dataset: str, commits: CommitGraph) -> dict[str, Any]:
    """Return the row of a set of commits that work together, or that don't, with the names it uses."""
    return {
        "key": f"{dataset}/{row.id}",
        **fields_of(row, ("id", "compatible", "source", "environment")),
        "at": row.at.isoformat() if row.at else None,
        "repositories": sorted(row.commits),
        "names": [name for _, name in sorted(row.commits.items())],
        "members": [commit_key(repo, sha) for repo, sha in sorted(commits.stacks[row.id].items())],
    }


def meant_by_rows(compatibility: Iterable[Compatibility], commits: CommitGraph) -> str:
    """Return a digest of the commits in compatibility rows that differ from their names; empty if none does."""
    meant = [[row.id, commits.stacks[row.id]] for row in compatibility if commits.stacks[row.id] != row.commits]
    return digest(meant) if meant else ""


def pair_rows(row: Compatibility, commits: CommitGraph) -> Rows:
    """Return a row for each pair of commits in a compatibility row."""
    keys = [commit_key(repo, sha) for repo, sha in sorted(commits.stacks[row.id].items())]
    return [
        {"first": first, "second": second, "stack": row.id, "source": row.source}
        for first, second in combinations(keys, 2)
    ]


def member_rows(members: Iterable[tuple[str, str]]) -> Rows:
    """Return a row for each distinct (repository, sha)."""
    return [{"key": commit_key(repo, sha), "repo": repo, "sha": sha} for repo, sha in sorted(set(members))]


def artifact_row(artifact: ArtifactStruct, commits: CommitGraph) -> dict[str, Any]:
    """Return the row of an artifact; its id gives what its record lacks."""
    repo = artifact.repo or commits.places.repo(artifact.id)
    sha = commits.meant(repo, artifact.commit).sha if repo and artifact.commit else None
    return {
        **node_row(artifact.id, commits.places),
        **{name: value for name in ("repo", "path", "symbol") if (value := getattr(artifact, name)) is not None},
        "kind": artifact.kind,
        "aliases": artifact.aliases or None,
        "commit_repo": repo,
        "sha": sha,
        "commit_key": commit_key(repo, sha),
        "line": artifact.line,
        "end_line": artifact.end_line,
    }


def node_row(node: str, places: Places) -> dict[str, Any]:
    """Return the row of a node of which only the id is known."""
    path, symbol = places.split(node)
    return {"id": node, "repo": places.repo(node), "path": path, "symbol": symbol}


def repository_rules_row(places: Places) -> dict[str, Any]:
    """Return the rules for the repositories of a dataset, with a digest of them."""
    rules = places.repositories
    row = {
        "prefixes": None if rules.prefixes is None else sorted(rules.prefixes),
        "kinds": sorted(rules.kinds),
        "pattern": rules.pattern,
        "stated": bool(rules.stated),
    }
    return {**row, "digest": digest([row, sorted(rules.stated.items())])}


def principal_row(rule: AccessRule, access: AccessRules) -> dict[str, Any]:
    """Return the row of a principal; patterns of repositories and relations are JSON, and so are ids that look so."""
    rights = access.of(rule.principal)
    allow, deny = (
        [
            one if isinstance(one, str) and not one.startswith(JSON) else json.dumps(one, ensure_ascii=False)
            for one in some
        ]
        for some in (rule.allow, rule.deny)
    )
    return {
        "name": rule.principal,
        "properties": {
            "allow": allow,
            "deny": deny,
            "ids": rights.allowed.get("id"),
            "repositories": rights.allowed.get("repository"),
            "relations": rights.allowed.get("relation"),
            "denied_ids": rights.denied.get("id"),
            "denied_repositories": rights.denied.get("repository"),
            "denied_relations": rights.denied.get("relation"),
        },
    }


def question_row(
    question: QuestionStruct, dataset: str, commits: CommitGraph, invalid: str | None = None
) -> dict[str, Any]:
    """Return the row of a question with its gold paths and their steps; ``invalid`` is the reason for stale gold."""
    case = Case(question, None, commits)
    sided = at_sides(case)
    pins = sorted(case.own_pins.items())
    gains = {node: float(gain) for node, gain in question.relevant.items() if gain > 0}
    relevant = sorted(gains, key=lambda node: (-gains[node], node))
    paths, steps = _gold_rows(case, dataset, sided)
    properties = {
        "id": question.id,
        "dataset": dataset,
        **fields_of(question, ("question", "category", "difficulty", "group", "split", "session", "turn")),
        **fields_of(question, ("gold_answer", "expected_output")),
        "facts": [fact.text for fact in question.facts],
        "conflicts": [conflict.resolution or "" for conflict in question.conflicts],
        "min_sources": question.min_sources,
        "k": question.k,
        "principal": question.principal,
        "judged": bool(question.relevant),
        "relevant_ids": relevant,
        "gains": [gains[node] for node in relevant],
        "relevant_repositories": sorted(case.relevant_repositories),
        "expected_files": sorted(case.expected_files),
        "expected_symbols": sorted(set(question.expected_symbols)),
        "symbol_match": question.symbol_match,
        "stack": question.stack,
        "stack_key": f"{dataset}/{question.stack}" if question.stack else None,
        "pins": [commit_key(repo, sha) for repo, sha in pins],
        "pinned_repositories": [repo for repo, _ in pins],
        "pinned_shas": [sha for _, sha in pins],
        "expected_tools": [call.name for call in question.expected_tool_calls],
        "expected_arguments": [_json(call.arguments) for call in question.expected_tool_calls],
        **fields_of(question, ("answerable", "why_not")),
        "seeds": list(dict.fromkeys(question.seeds)) or None,
        "gold_cypher": list(question.gold_cypher) or None,
        "absent_sources": [step.source for step in question.absent] or None,
        "absent_relations": [step.relation or "" for step in question.absent] or None,
        "absent_targets": [step.target for step in question.absent] or None,
        "sided": True if sided is not None else None,
        "invalid": invalid or "",
        "gold_hash": gold_hash(question),
    }
    row = {"id": question.id, "properties": properties, "paths": paths, "steps": steps}
    properties["digest"] = digest([schema_version.SCHEMA_VERSION, row])
    return row


def _gold_rows(case: Case, dataset: str, sided: SidedCase | None) -> tuple[Rows, Rows]:
    """Return the rows of the gold paths, and those of their steps; ``sided`` if paths have commits of their own."""
    paths: Rows = []
    steps: Rows = []
    named = case.gold if sided is None else sided.gold
    order = {id(gold): rank for rank, gold in enumerate(sorted(named, key=Gold.sort_key))}
    for index, gold in enumerate(case.gold):
        nodes = [node for source, _, target in gold.edges for node in (source, target)]
        paths.append(
            {
                "dataset": dataset,
                "question": case.question.id,
                "index": index,
                "rank": order[id(named[index])],
                "id": gold.id,
                "group": gold.group,
                "from_turn": gold.from_turn,
                "start": gold.start,
                "unit": f"path {index}" if gold.group is None else f"group {gold.group}",
                **_steps(gold.edges, case.places),
                "ordered": None if gold.ordered else False,
                "optional": gold.optional,
                "manual": gold.manual,
                "absent": None
                if case.absent_gold is None
                else [(index, edge) in case.absent_gold for edge in gold.edges],
                "repositories": sorted(case.places.named(nodes)),
                **({} if sided is None else _side_lists(sided.path_sides[index], named[index], dataset)),
            }
        )
        for position, ((source, relation, target), optional) in enumerate(zip(gold.edges, gold.optional, strict=True)):
            properties: dict[str, Any] = {
                "dataset": dataset,
                "question": case.question.id,
                "path": gold.id if gold.id is not None else str(index),
                "group": gold.group,
                "position": position,
                "relation": relation,
                "optional": optional,
                "required": not optional,
                "side": None if sided is None else sided.path_sides[index].label,
            }
            steps.append({"source": source, "target": target, "properties": _without_null(properties)})
    return paths, steps


def _side_lists(side: Side, gold: Gold, dataset: str) -> dict[str, Any]:
    """Return the commits of a gold path as parallel lists, and its nodes as they are named on that side."""
    commits = sorted(side.commits.items())
    return {
        "sided_in": dataset,
        "side": side.label,
        "side_repos": [repo for repo, _ in commits],
        "side_names": [side.names[repo] for repo, _ in commits],
        "side_shas": [sha for _, sha in commits],
        "side_keys": [commit_key(repo, sha) for repo, sha in commits],
        "at_sources": [source for source, _, _ in gold.edges],
        "at_targets": [target for _, _, target in gold.edges],
    }


def sided_walks(case: Case, dataset: str) -> list[dict[str, Any]]:
    """Return how each retrieved path is compared with gold paths that have commits of their own, as parallel lists.

    Its steps stand there once for each side on which it is compared, one comparison behind the other from ``at_starts``
    on. At a gate the names are those of ``gate_sources`` and ``gate_targets``, if they differ.
    """
    sided = at_sides(case)
    if sided is None:
        return []
    rows: list[dict[str, Any]] = [{"at_starts": [], "steps": []} for _ in case.walks]
    for index, edges in zip(sided.of_walk, sided.walked_paths, strict=True):
        rows[index]["at_starts"].append(len(rows[index]["steps"]))
        rows[index]["steps"] += edges
    for row, walk in zip(rows, case.walks, strict=True):
        edges, bare = row.pop("steps"), [sided.is_bare(step) for step in walk]
        plain = [(step.source, step.target) for step in walk] * len(row["at_starts"])
        at_gates = [
            ends if unstated else (edge[0], edge[2])
            for ends, edge, unstated in zip(plain, edges, bare * len(row["at_starts"]), strict=True)
        ]
        mixed = [sided.is_mixed(step) for step in walk]
        lists = _steps(edges, sided.places)
        row |= {
            "sided_in": dataset,
            **{f"at_{name}": lists[name] for name in ("sources", "relations", "targets", "crosses")},
            "at_twice": [edge in sided.twice for edge in edges],
            "gate_sources": [source for source, _ in at_gates] if any(bare) else None,
            "gate_targets": [target for _, target in at_gates] if any(bare) else None,
            "bare": bare if any(bare) else None,
            "mixed": mixed if any(mixed) else None,
        }
    return rows


def _steps(edges: list[tuple[str, str | None, str]], places: Places) -> dict[str, Any]:
    """Return edges as parallel lists; an empty text stands for no relation or repository.

    A list property can't hold null.
    """
    return {
        "sources": [source for source, _, _ in edges],
        "relations": [relation or "" for _, relation, _ in edges],
        "targets": [target for _, _, target in edges],
        "source_repos": [places.repo(source) or "" for source, _, _ in edges],
        "target_repos": [places.repo(target) or "" for _, _, target in edges],
        "crosses": [places.crosses(source, target) for source, _, target in edges],
    }


def _json(arguments: dict[str, Any] | None) -> str:
    """Return arguments as JSON, since a property can't hold an object; empty for None."""
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def _without_null(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if value is not None}


def has_directionless(answer: AnswerStruct) -> bool:
    """Return whether the log of an answer has lost the direction of an edge."""
    return any(not step.directed for step in (*(answer.traversal or ()), *(answer.walked_before or ())))


def answer_row(
    answer: AnswerStruct, dataset: str, places: Places, question: QuestionStruct | None = None
) -> dict[str, Any]:
    """Return the row of an answer to a question of a dataset; ``places`` tell where its nodes lie.

    Retrieved paths hold edges without a direction in that of the question's gold; without the question, as logged.
    """
    case = Case(_NO_GOLD, answer, CommitGraph(places=places))
    mark = {"run": answer.run, "question": answer.question_id}
    aligned = case if question is None else Case(question, answer, CommitGraph(places=places))
    paths, steps = _walk_rows(case, mark, aligned)
    chunks, retrieved = _chunk_rows(case, dataset, answer.question_id)
    properties = {
        **mark,
        **fields_of(answer, ("answer", "error", "error_type", "trace_id", "span_id", "response_id")),
        **fields_of(answer, ("abstained", "confidence")),
        "declined": case.declined,
        "citations": list(answer.citations),
        "evidence_files": None if answer.evidence_files is None else sorted(case.files),
        "chunks_logged": case.chunks_logged,
        "walk_logged": case.walk_logged,
        "calls_logged": answer.tool_calls is not None,
        "seeds_logged": answer.seeds is not None,
        **_before(aligned),
        "ordered": case.ordered,
        "ordered_logged": case.ordered,
        "ranking": [chunk.id for chunk in case.chunks],
        "ranked": case.ranked,
        "ranked_repos": [places.repo(node) or "" for node in case.ranked],
        **fields_of(answer, FIGURES),
        "queries": None if answer.queries is None else [query.cypher for query in answer.queries],
        **_compared(answer.compared_result),
    }
    return {
        "question": answer.question_id,
        "properties": properties,
        "paths": paths,
        "steps": steps,
        "chunks": chunks,
        "retrieved": retrieved,
        "calls": [
            {
                "question": answer.question_id,
                "properties": {
                    **mark,
                    "position": position,
                    "name": call.name,
                    "arguments": _json(call.arguments),
                    "result": call.result and shortened(call.result, RESULT),
                    "failed": call.failed,
                    "shown": call.seen is not None,
                },
                "seen": call.seen or [],
            }
            for position, call in enumerate(answer.tool_calls or ())
        ],
        "seeds": [
            {"question": answer.question_id, "seed": seed.id, "rank": rank, **fields_of(seed, ("score", "mention"))}
            for rank, seed in enumerate(answer.seeds or (), 1)
        ],
        "open": any(path["properties"]["named"] for path in paths)
        or any(not chunk.commit or is_name(chunk.commit) for chunk in case.chunks),
    }


def _compared(compared: ComparedResultStruct | None) -> dict[str, Any]:
    """Return the properties of an answer whose queries were run."""
    if compared is None:
        return {}
    return {
        "query_ran": compared.executable,
        "query_share": compared.ran,
        "same_result": compared.same,
        "query_nodes": None if compared.nodes is None else list(dict.fromkeys(compared.nodes)),
        "gold_query_nodes": None if compared.gold_nodes is None else list(dict.fromkeys(compared.gold_nodes)),
        "query_reason": compared.reason,
        "query_cause": compared.cause,
    }


def _walk_rows(case: Case, mark: Mapping[str, str], aligned: Case) -> tuple[Rows, Rows]:
    """Return the rows of the retrieved paths, and those of their steps."""
    paths: Rows = []
    steps: Rows = []
    walks = zip(case.walks, aligned.walks, aligned.walked_paths, strict=True)
    for index, (logged, walk, edges) in enumerate(walks):
        commits = [
            (
                commit_key(case.places.repo(step.source), step.source_commit),
                commit_key(case.places.repo(step.target), step.target_commit),
            )
            for step in walk
        ]
        nodes = [node for source, _, target in edges for node in (source, target)]
        paths.append(
            {
                "question": mark["question"],
                "properties": {
                    **mark,
                    "index": index,
                    **_steps(edges, case.places),
                    "source_commits": [step.source_commit or "" for step in walk],
                    "target_commits": [step.target_commit or "" for step in walk],
                    "commits": sorted({key for pair in commits for key in pair if key is not None}),
                    "named": any(is_name(name) for step in walk for name in (step.source_commit, step.target_commit)),
                    "repositories": sorted(case.places.named(nodes)),
                    **_directions(logged),
                },
            }
        )
        for position, step in enumerate(walk):
            properties: dict[str, Any] = {
                **mark,
                "path": step.path,
                "position": position if step.position is None else step.position,
                "relation": step.relation,
                "source_commit": step.source_commit,
                "target_commit": step.target_commit,
                "directed": None if step.directed else False,
            }
            steps.append({"source": step.source, "target": step.target, "properties": _without_null(properties)})
    return paths, steps


def _before(case: Case) -> dict[str, Any]:
    """Return the edges that earlier turns walked as parallel lists; nothing if they are unknown."""
    if case.walked_before is None:
        return {}
    edges = [(source, relation or "", target, turn) for (source, relation, target), turn in case.walked_before.items()]
    names = enumerate(("before_sources", "before_relations", "before_targets", "before_turns"))
    return {name: [edge[place] for edge in edges] for place, name in names}


def _directions(walk: list[TraversalStepStruct]) -> dict[str, Any]:
    """Return which edges of a path have no direction, and their sources as logged; nothing if all have one."""
    undirected = [not step.directed for step in walk]
    return {"undirected": undirected, "logged_sources": [step.source for step in walk]} if any(undirected) else {}


def is_name(commit: str | None) -> bool:
    """Return whether a commit is given by a name that isn't a whole sha, such as a tag or a prefix."""
    return bool(commit) and not is_whole(commit)  # type: ignore[arg-type]


def _chunk_rows(case: Case, dataset: str, question: str) -> tuple[Rows, Rows]:
    chunks: Rows = []
    retrieved: Rows = []
    seen: set[str] = set()
    for rank, chunk in enumerate(case.chunks, 1):
        node = node_row(chunk.id, case.places)
        repo, path = chunk.repo or node["repo"], chunk.path or node["path"]
        own = node["repo"] if node["repo"] != repo else None
        properties = {
            "dataset": dataset,
            "id": chunk.id,
            "repo": repo,
            "own_repo": own,
            "path": path,
            "file": (f"{repo}/{path}" if repo else path) if path else None,
            "symbol": chunk.symbol or node["symbol"],
            "last_symbol": last_component(chunk.symbol or node["symbol"] or "") or None,
            "commit": chunk.commit or None,
            "commit_key": commit_key(repo, chunk.commit),
            "named": is_name(chunk.commit) or None,
            "branch": chunk.branch or None,
            "text": chunk.text,
        }
        # Runs of a dataset that read the same chunk share a node, whose identity is the digest.
        content = digest(properties)
        chunks.append(
            {"digest": content, "id": chunk.id, "properties": {**_without_null(properties), "digest": content}}
        )
        # The commit that was read; a name or a gap is resolved later, by what the dataset knows.
        read = {"commit_key": properties["commit_key"]}
        place = {"rank": rank, "score": chunk.score, "repeat": chunk.id in seen}
        retrieved.append({"question": question, "chunk": content, **place, **read})
        seen.add(chunk.id)
    return chunks, retrieved


#: A question without annotation, for the parts of a case that depend only on the run.
_NO_GOLD = QuestionStruct(id="", question="")
