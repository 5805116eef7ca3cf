"""The datasets that tests run on: the storefront fixture, the pallets data, and generated ones full of odd cases."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphkit.files.assets import storefront_folder
from tests.helpers import ROOT
from tests.helpers.engines import ENVIRONMENT

STOREFRONT = storefront_folder()

#: How many questions the storefront asks; each of its runs has a record of each.
SHOP_QUESTIONS = len((STOREFRONT / "questions.jsonl").read_text(encoding="utf-8").splitlines())

#: Returns the JSON values of a real log, one per line, by its path below the folder of the logs.
SharedLog = Callable[[str], list[Any]]

#: The files that scoring reads: without the knowledge graph, which takes long to load.
SCORED = ("questions.jsonl", "access.jsonl", "commits.jsonl", "compatibility.jsonl", "runs")


def find_data(name: str) -> Path | None:
    """Return a folder of the team's data (pallets, logs, text, ...), or None if it is absent.

    ``GRAPHKIT_DATA`` names the folder around them, ``../shared/data`` by default.
    """
    folder = Path(ENVIRONMENT.get("GRAPHKIT_DATA") or ROOT.parent / "shared" / "data") / name
    return folder if folder.is_dir() else None


def without_graph(dataset: Path, folder: Path) -> Path:
    """Return a dataset of the same name in a folder, with links to the files that scoring reads."""
    copy = folder / dataset.name
    copy.mkdir(parents=True)
    for name in SCORED:
        if (dataset / name).exists():
            (copy / name).symlink_to(dataset / name)
    return copy


def scored_copy(dataset: Path, folder: Path) -> Path:
    """Copy the files that scoring reads into a folder: an agent's tools follow no links out of theirs."""
    copy = folder / dataset.name
    copy.mkdir()
    for name in SCORED:
        if (dataset / name).is_dir():
            shutil.copytree(dataset / name, copy / name)
        elif (dataset / name).exists():
            shutil.copy(dataset / name, copy / name)
    return copy


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file as plain JSON."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def write_jsonl(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    """Write records, one a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")
    return path


#: Node ids that are easy to get wrong in a query, a key or an escape.
NODES = (
    "web:src/a.ts#f",
    "web:src/a.ts#g",
    "web:src/a.ts",
    "api:b.py#C.m",
    "api:b.py",
    "db:c.sql",
    "db:c.sql#users",
    "päth:ünï/cöde.py#größe",
    "emoji:🦀/crab🦀.rs#🦀",
    "quo'te:it's \"quoted\".py#q'\"q",
    "back\\slash:C:\\dir\\new.py#\\n",
    "dollar:$run.py#{q}",
    "bare-name",
    "another bare name",
    ":no-repo",
    "no-path:",
    "no-path:#only",
    "ｆull:ｗidth.py",
)
RELATIONS = ("CALLS", "IMPORTS", "it's \\ odd 🦀")
TOOLS = ("read", "search", "it's \\ odd 🦀")
BRANCHES = ("main", "master", "2.x", None)


@dataclass
class _Generator:
    """Draws records from a seed, biased towards what two engines may see differently."""

    random: random.Random
    name: str

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def node(self) -> str:
        return self.random.choice(NODES)

    def edge(self) -> tuple[str, str | None, str]:
        source = self.node()
        target = source if self.chance(0.1) else self.node()
        return source, None if self.chance(0.15) else self.random.choice(RELATIONS), target

    def sha(self, known: list[dict[str, Any]], repo: str | None) -> str | None:
        """Draw a commit: mostly a known one of the repository, else an unknown one, none or an empty text."""
        shas = [commit["sha"] for commit in known if commit["repo"] == repo]
        if shas and self.chance(0.75):
            return str(self.random.choice(shas))
        return self.random.choice((f"{self.name}-unknown", None, None, ""))

    def commits(self) -> list[dict[str, Any]]:
        records = []
        repos = sorted({node.partition(":")[0] for node in NODES if ":" in node} - {""})
        for repo in repos:
            for number in range(self.random.randint(1, 3)):
                hour = self.random.choice((0, 1, 12, 23, 24, 25, 47, 48))
                record: dict[str, Any] = {
                    "repo": repo,
                    "sha": f"{self.name}-{number}",
                    "branch": self.random.choice(BRANCHES),
                    "committed_at": f"2025-01-0{1 + hour // 24}T{hour % 24:02d}:00:00+00:00",
                    "parents": [f"{self.name}-{number - 1}"] if number else [],
                }
                if self.chance(0.15):
                    record["committed_at"] = None
                records.append(record)
        return records

    def compatibility(self, commits: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rows = []
        for number in range(10):
            chosen = self.random.sample(commits, min(len(commits), self.random.choice((2, 3, 6, len(commits)))))
            row: dict[str, Any] = {
                "id": f"{self.name}-stack-{number}",
                "commits": {one["repo"]: one["sha"] for one in chosen},
                "compatible": self.chance(0.75),
            }
            if row["compatible"] and self.chance(0.4):
                row["environment"] = "prod"
            rows.append(row)
        return rows

    def gold(self) -> list[dict[str, Any]]:
        paths: list[dict[str, Any]] = []
        for number in range(self.random.choice((0, 1, 1, 2, 3, 4))):
            steps: list[dict[str, Any]] = []
            for _ in range(self.random.choice((0, 1, 2, 3, 4, 6))):
                source, relation, target = self.edge()
                if steps and self.chance(0.6):
                    source = steps[-1]["target"]
                step: dict[str, Any] = {"source": source, "target": target, "optional": self.chance(0.2)}
                if relation is not None:
                    step["relation"] = relation
                if self.chance(0.2):
                    step["evidence"] = ("manual", "trace")[number % 2]
                steps.append(dict(self.random.choice(steps)) if steps and self.chance(0.15) else step)
            paths.append({"id": self.random.choice((None, f"p-{number}")), "steps": steps})
            if self.chance(0.5):
                paths[-1]["group"] = self.random.choice(("g", "h"))
            if number == 1:
                paths[-1]["ordered"] = False
        return paths

    def question(self, number: int, commits: list[dict[str, Any]]) -> dict[str, Any]:
        relevant: dict[str, float] = {}
        for _ in range(self.random.choice((0, 1, 3, 5))):
            relevant[self.node()] = self.random.choice((-1, 0, 1, 1, 2, 3, 0.5))
        record: dict[str, Any] = {
            "id": f"{self.name}-{number:03d}",
            "question": "?",
            "paths": self.gold(),
            "relevant": relevant,
            "expected_files": self.random.sample(("web/src/a.ts", "api:b.py#C.m", "db:c.sql", "x/y.py"), k=2)
            if self.chance(0.7)
            else [],
            "expected_symbols": self.random.sample(("f", "größe", "🦀", "\\n", "users"), k=2)
            if self.chance(0.7)
            else [],
        }
        if self.chance(0.3):
            record["k"] = self.random.randint(1, 4)
        if self.chance(0.6):
            record["stack"] = f"{self.name}-stack-{self.random.randrange(11)}"  # one more than there are
        if self.chance(0.5):
            record["commits"] = {one["repo"]: one["sha"] for one in self.random.sample(commits, 3)}
        return record

    def walks(self, question: dict[str, Any], commits: list[dict[str, Any]]) -> list[dict[str, Any]]:
        gold = [
            (step["source"], step.get("relation"), step["target"])
            for path in question["paths"]
            for step in path["steps"]
        ]
        steps: list[dict[str, Any]] = []
        for path in self.random.sample((0, 1, 2, 7), k=self.random.choice((0, 1, 2, 3))):
            chosen: list[tuple[str, str | None, str]] = []
            if gold and self.chance(0.7):
                start = self.random.randrange(len(gold))
                chosen = [edge for edge in gold[start:] + gold[:start] if self.chance(0.8)]
            chosen += [self.edge() for _ in range(self.random.randint(0, 3))]
            if chosen and self.chance(0.3):
                chosen.append(self.random.choice(chosen))
            if self.chance(0.2):
                self.random.shuffle(chosen)
            numbering = self.random.choice(("none", "regular", "regular", "gaps", "backwards"))
            for position, (source, relation, target) in enumerate(chosen):
                step: dict[str, Any] = {"source": source, "target": target, "path": path}
                if path and position % 2:  # a log that has lost the direction, whatever it was
                    step |= {"source": target, "target": source, "directed": False}
                if relation is not None and self.chance(0.9):
                    step["relation"] = relation
                elif self.chance(0.3):
                    step["relation"] = self.random.choice(RELATIONS)
                if numbering != "none":
                    places = {"regular": position, "gaps": 2 * position, "backwards": 99 - position}
                    step["position"] = places[numbering]
                if self.chance(0.6):
                    step["source_commit"] = self.sha(commits, source.partition(":")[0])
                    step["target_commit"] = self.sha(commits, target.partition(":")[0])
                steps.append(step)
        if self.chance(0.1):
            self.random.shuffle(steps)
        return steps

    def chunks(self, commits: list[dict[str, Any]]) -> list[dict[str, Any]]:
        chunks: list[dict[str, Any]] = []
        versioned = self.chance(0.8)
        for _ in range(self.random.choice((0, 1, 2, 6, 9))):
            node = self.node()
            chunk: dict[str, Any] = {"id": node}
            if self.chance(0.3):
                chunk["repo"] = self.random.choice(("web", "api", "emoji"))
            if self.chance(0.2):
                chunk["path"] = self.random.choice(("src/a.ts", "b.py"))
            if self.chance(0.2):
                chunk["symbol"] = self.random.choice(("f", "users"))
            if versioned:
                chunk["commit"] = self.sha(commits, chunk.get("repo", node.partition(":")[0]))
            if self.chance(0.2):
                chunk["branch"] = self.random.choice(("main", "2.x", ""))
            chunks.append(chunk)
        if self.chance(0.3):
            for rank, chunk in enumerate(self.random.sample(chunks, len(chunks)), 1):
                chunk["rank"] = rank
        return chunks

    def answer(self, run: str, question: dict[str, Any], commits: list[dict[str, Any]]) -> dict[str, Any]:
        record: dict[str, Any] = {"run": run, "question_id": question["id"]}
        if self.chance(0.08):
            errors = ("it's broken", {"type": "Timeout", "message": 'after "9" s'})
            return {**record, "error": self.random.choice(errors)}
        record["retrieved"] = self.chunks(commits)
        record["traversal"] = self.walks(question, commits)
        if self.chance(0.3):
            files = ("web/src/a.ts", "api:b.py", "z/z.py")
            record["evidence_files"] = self.random.sample(files, self.random.randrange(4))
        for part in ("retrieved", "traversal"):
            if self.chance(0.12):
                del record[part]
        if self.chance(0.25):
            record["ordered"] = False
        return record | usage(f"{run} {question['id']}")

    def calls(self) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = []
        for _ in range(self.random.choice((0, 1, 3, 6))):
            call: dict[str, Any] = {"name": self.random.choice(TOOLS)}
            if self.chance(0.6):
                call["arguments"] = {
                    self.random.choice(("path", "größe", "'")): self.random.choice((self.node(), 1, 1.5))
                }
            if self.chance(0.5):
                call["result"] = self.random.choice(("", "🦀" * 600, 'it\'s \\ "odd"'))
            if self.chance(0.2):
                call["failed"] = True
            if self.chance(0.8):
                call["seen"] = [self.node() for _ in range(self.random.choice((0, 1, 3)))]
            calls.append(call)
        return calls

    def walked_before(self, question: dict[str, Any], walked: list[dict[str, Any]]) -> list[dict[str, Any]]:
        steps = [step for path in question["paths"] for step in path["steps"]] + walked
        kept = ("source", "relation", "target", "directed")
        found = [{name: step[name] for name in kept if name in step} for step in steps if self.chance(0.4)]
        for step in found:
            step["path"] = self.random.randrange(1, question["turn"])
            if self.chance(0.2):
                step.pop("relation", None)
        return found

    def seeds(self, question: dict[str, Any]) -> list[dict[str, Any]]:
        starts = [path["steps"][0]["source"] for path in question["paths"] if path["steps"]]
        found: list[dict[str, Any]] = []
        for _ in range(self.random.choice((0, 1, 2, 5))):
            found.append({"id": self.random.choice(starts) if starts and self.chance(0.3) else self.node()})
            if self.chance(0.5):
                found[-1] |= {"score": self.random.choice((0, 1, 0.5)), "mention": "it's \\ 🦀"}
        return found

    def expected_calls(self) -> list[dict[str, Any]]:
        calls = self.calls()
        return [{name: one for name, one in call.items() if name in {"name", "arguments"}} for call in calls]


def usage(seed: str) -> dict[str, float]:
    """Return some of what a record may state of its usage, drawn from a seed."""
    drawn = random.Random(seed)
    stated = {"latency_ms": drawn.uniform(0, 5000), "cost": drawn.random(), "prompt_tokens": drawn.randrange(9000)}
    stated |= {"output_tokens": drawn.randrange(500), "model_calls": drawn.randrange(5)}
    return {name: value for name, value in stated.items() if drawn.random() < 0.8}


def generate(folder: Path, seed: int, questions: int = 60) -> Path:
    """Write a dataset with two runs that is drawn from a seed, and return its folder.

    It holds what the data of the real ones lack: repeats, edges without relation, alternatives, optional and manual
    steps, self-loops, parallel edges, odd characters, empty paths, ids without a repository, chunks without a commit,
    unknown commits, failures, questions without a record, and questions with a cut-off of their own, and records that
    don't say what was retrieved, what was traversed or what was called, or whose traversal is a set.
    """
    name = f"gen{seed}"
    draw = _Generator(random.Random(seed), name)
    dataset = folder / name
    commits = draw.commits()
    asked = [draw.question(number, commits) for number in range(questions)]
    # Drawn by themselves, so that all else stays as it was drawn before there were any.
    tools = _Generator(random.Random(f"tools of {name}"), name)
    for one in asked:
        one["expected_tool_calls"] = tools.expected_calls()
    linking = _Generator(random.Random(f"seeds of {name}"), name)
    for one in asked:
        if linking.chance(0.2):
            one["seeds"] = [linking.node() for _ in range(linking.random.randint(1, 3))]
    sessions = _Generator(random.Random(f"sessions of {name}"), name)
    for number, one in enumerate(asked):
        if number % 5:
            one |= {"session": f"s{number // 5}", "turn": number % 5}
            for path in one["paths"] if number % 5 > 1 else ():
                path["from_turn"] = sessions.random.choice((None, *range(1, number % 5)))
    write_jsonl(dataset / "questions.jsonl", asked)
    write_jsonl(dataset / "commits.jsonl", commits)
    write_jsonl(dataset / "compatibility.jsonl", draw.compatibility(commits))
    for run in (f"{name}-a", f"{name}-b"):
        by_id = {one["id"]: one for one in asked}
        answers = [draw.answer(run, one, commits) for one in asked if not draw.chance(0.06)]
        for answer in answers:
            if "error" not in answer and tools.chance(0.8):
                answer["tool_calls"] = tools.calls()
            if "error" not in answer and linking.chance(0.8):
                answer["seeds"] = linking.seeds(by_id[answer["question_id"]])
        for answer in answers:
            one = by_id[answer["question_id"]]
            if one.get("turn", 1) > 1 and sessions.chance(0.8):
                answer["walked_before"] = sessions.walked_before(one, answer.get("traversal") or [])
        draw.random.shuffle(answers)
        write_jsonl(dataset / "runs" / f"{run}.jsonl", answers)
    return dataset
