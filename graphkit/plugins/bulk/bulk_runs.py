"""The nodes and relationships of a run, from the rows that an ordinary load writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.problems import Problem, Problems, of_no_question
from graphkit.files.run_files import records_of
from graphkit.graph import rows as to_rows
from graphkit.graph import schema_version
from graphkit.graph.commit_names import CommitNames
from graphkit.graph.digests import content_digest, run_digest
from graphkit.graph.runs import RECORDS, RunLoad
from graphkit.graph.writing import batched
from graphkit.measures.case import Case
from graphkit.plugins.bulk.bulk_datasets import DatasetElements
from graphkit.records.progress import expect
from graphkit.records.structs import AnswerStruct, QuestionStruct

Row = dict[str, Any]


class RunElements:
    """Adds the runs of a dataset that was added before."""

    def __init__(self, dataset: DatasetElements) -> None:
        self.dataset = dataset
        self.elements = dataset.elements
        self.questions = set(dataset.checked.ids)
        self.runs: set[str] = set()
        checked = dataset.checked
        graphs = list(checked.graphs)
        self.names = CommitNames(
            checked.dataset.name, graphs, dataset.graphs_at, checked.commits, checked.compatibility
        )

    def add(self, run_file: Path, problems: Problems) -> RunLoad:
        """Add the run in a file.

        Raise InputError if a record is unusable and not skipped, or the file doesn't hold exactly one run.
        """
        content = content_digest(run_file)
        expect(self.dataset.progress, "answers", len(self.questions))
        name = self.dataset.dataset.name
        seen: set[str] = set()
        run, failed, is_open, directionless, answers = None, 0, False, False, range(0)
        for batch in batched(self._usable(run_file, seen, problems), RECORDS):
            run = self._one_run(run_file, run, batch)
            fresh = [self._row(answer) for answer in batch]
            failed += sum(answer.error is not None for answer in batch)
            is_open = is_open or any(row["open"] for row in fresh)
            directionless = directionless or any(map(to_rows.has_directionless, batch))
            numbers = self._add_answers(fresh)
            answers = range(answers.start if len(answers) else numbers[0], numbers[-1] + 1)
            self.dataset.progress("answers", len(fresh))
            self.elements.send()
        problems.raise_if_refused(usable=len(seen))
        self._link_chunks()
        if run is None:
            raise InputError("the file holds no record", where=str(run_file), remedy="Give the log of a run.")
        self.runs.add(run)
        file, digest = str(run_file.resolve()), run_digest(content, self.questions)
        properties = {
            "id": run,
            "dataset": name,
            "digest": digest,
            "content": content,
            "file": file,
            "origin": file,
            "open": True if is_open else None,
            "directionless": True if directionless else None,
            "complete": True,
            "questions": len(seen),
            "failed": failed,
            "schema": schema_version.SCHEMA_VERSION,
            "schema_digest": digest,
            "loaded_at": datetime.now(UTC).isoformat(),
        }
        number = self.elements.node("Run", properties)
        self.elements.relate(("OVER", "Run", "Dataset"), number, self.dataset.number)
        self._produce(number, answers)
        return RunLoad(run, len(seen), 0)

    def _row(self, answer: AnswerStruct) -> dict[str, Any]:
        name, places = self.dataset.dataset.name, self.dataset.places
        row = to_rows.answer_row(answer, name, places, self._gold(answer))
        if (question := self._sided.get(answer.question_id)) is not None:
            self.names.commits.places = places
            walks = to_rows.sided_walks(Case(question, answer, self.names.commits), name)
            for path, lists in zip(row["paths"], walks, strict=True):
                path["properties"] |= lists
        return row

    @cached_property
    def _sided(self) -> dict[str, QuestionStruct]:
        """The questions with gold paths that have commits of their own."""
        if not self.dataset.dataset.has_sides:
            return {}
        return {name: one for name, one in self._questions.items() if any(path.commits for path in one.paths)}

    def _gold(self, answer: AnswerStruct) -> QuestionStruct | None:
        """Return the question of an answer whose log has lost the direction of an edge."""
        return self._questions.get(answer.question_id) if to_rows.has_directionless(answer) else None

    @cached_property
    def _questions(self) -> dict[str, QuestionStruct]:
        return {question.id: question for question in self.dataset.checked.dataset.every_question()}

    def _produce(self, run: int, answers: range) -> None:
        for answer in answers:
            self.elements.relate(("PRODUCED", "Run", "Answer"), run, answer)
            self.elements.send()

    def _one_run(self, run_file: Path, run: str | None, batch: Sequence[AnswerStruct]) -> str:
        """Return the name of the run; raise InputError for a second one, or one that another file holds."""
        names = sorted({answer.run for answer in batch} | ({run} if run is not None else set()))
        if len(names) > 1:
            what = f"the file holds records of {len(names)} runs: {', '.join(names[:5])}"
        elif names[0] in self.runs:
            what = f"another file holds the run {names[0]!r}, too"
        else:
            return names[0]
        raise InputError(what, where=str(run_file), remedy="Write each run into a file of its own.")

    def _usable(self, run_file: Path, seen: set[str], problems: Problems) -> Iterator[AnswerStruct]:
        """Yield the first record of each question."""
        gold = self.dataset.dataset.questions_file
        refused = problems.refused(gold)
        for line, answer in records_of(run_file, problems, questions=gold):
            question, where = answer.question_id, f"{run_file}:{line}"
            if question not in self.questions:
                problems.add(of_no_question(where, question, refused, "Give the dataset of the run."))
            elif question in seen:
                problems.add(Problem(where, "the question already has a record", record=question))
            else:
                seen.add(question)
                yield answer

    def _add_answers(self, rows: list[Row]) -> list[int]:
        """Add answers with their parts, and return their numbers."""
        elements = self.elements
        named = {node for row in rows for step in row["steps"] for node in (step["source"], step["target"])}
        named.update(node for row in rows for call in row["calls"] for node in call["seen"])
        named.update(seed["seed"] for row in rows for seed in row["seeds"])
        artifacts, _ = elements.name_artifacts(named, self.dataset.dataset.name, self.dataset.places)
        questions = elements.numbers.find("Question", (row["question"] for row in rows))
        self._resolve(rows)
        chunks = self._add_chunks(rows)
        answers = []
        for row in rows:
            answer = elements.node("Answer", row["properties"])
            answers.append(answer)
            elements.relate(("ANSWERS", "Answer", "Question"), answer, questions[row["question"]])
            for path in row["paths"]:
                number = elements.node("RetrievedPath", path["properties"])
                elements.relate(("WALKED", "Answer", "RetrievedPath"), answer, number)
            for step in row["steps"]:
                ends = artifacts[step["source"]], artifacts[step["target"]]
                elements.relate(("TRAVERSED", "Artifact", "Artifact"), *ends, step["properties"])
            for one in row["retrieved"]:
                own = {name: value for name, value in one.items() if name not in ("question", "chunk")}
                elements.relate(("RETRIEVED", "Answer", "Chunk"), answer, chunks[one["chunk"]], own)
            for seed in row["seeds"]:
                own = {name: seed[name] for name in ("rank", "score", "mention")}
                elements.relate(("SEEDED", "Answer", "Artifact"), answer, artifacts[seed["seed"]], own)
            for call in row["calls"]:
                number = elements.node("ToolCall", call["properties"])
                elements.relate(("CALLED", "Answer", "ToolCall"), answer, number)
                for place, node in enumerate(call["seen"]):
                    elements.relate(("SAW", "ToolCall", "Artifact"), number, artifacts[node], {"place": place})
        return answers

    def _add_chunks(self, rows: list[Row]) -> dict[str, int]:
        """Add the chunks that are new, and return the numbers of all; they wait for their artifacts."""
        elements = self.elements
        chunks = {chunk["digest"]: chunk for row in rows for chunk in row["chunks"]}
        found: dict[str, int] = elements.numbers.find("Chunk", chunks)
        fresh: dict[str, int] = {}
        for key, chunk in chunks.items():
            if key not in found:
                fresh[key] = number = elements.node("Chunk", chunk["properties"])
                commit = self.dataset.nodes.get(chunk["properties"].get("commit_key"))
                if commit is not None:
                    elements.relate(("AT", "Chunk", "Commit"), number, commit)
        elements.numbers.set("Chunk", fresh)
        elements.numbers.wait("Artifact", {number: chunks[key]["id"] for key, number in fresh.items()})
        elements.numbers.ask(found.values())
        return found | fresh

    def _link_chunks(self) -> None:
        """Link the chunks of a run to their artifacts, which are all there at its end."""
        for chunk, artifact in self.elements.numbers.links():
            self.elements.relate(("OF", "Chunk", "Artifact"), chunk, artifact)
            self.elements.send()

    def _resolve(self, rows: list[Row]) -> None:
        """Add the commits of chunks and paths that don't name them by their shas."""
        some = [row for row in rows if row["open"]]
        if not some:
            return
        numbers = self.elements.numbers
        pins = numbers.find_records("pins", (row["question"] for row in some))
        self.names.know(
            (
                {"question": name, "stack": stack, "repositories": repositories, "shas": shas}
                for name, (stack, repositories, shas) in pins.items()
            ),
        )
        for row in some:
            chunks: list[Row] = []
            for one, chunk in zip(row["retrieved"], row["chunks"], strict=True):
                own = chunk["properties"]
                if own.get("named") or (self.names.unnamed and own.get("commit") is None):
                    known = {"repo": own.get("repo"), "commit": own.get("commit"), "id": chunk["id"]}
                    former = {"rank": one["rank"], "commit_key": one["commit_key"], "ambiguous": None}
                    chunks.append({"question": row["question"], **known, **former})
            self.names.read_at(
                {
                    name: {graph: (repo, sha) for graph, (repo, sha) in at.items()}
                    for name, at in numbers.find_records("read at", {chunk["id"] for chunk in chunks}).items()
                }
            )
            for found in self.names.chunks(chunks):
                one = row["retrieved"][found["rank"] - 1]
                one |= {"commit": found["sha"], "commit_key": found["commit_key"], "ambiguous": found["ambiguous"]}
            paths = [
                {"question": row["question"], **path["properties"]}
                for path in row["paths"]
                if path["properties"]["named"]
            ]
            meant = {path["index"]: path["commits"] for path in self.names.paths(paths)}
            for path in row["paths"]:
                path["properties"]["commits"] = meant.get(path["properties"]["index"], path["properties"]["commits"])
