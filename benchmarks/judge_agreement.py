"""The agreement of a judge with people: which of two answers is better, on RAGChecker's labels.

Run ``python -m benchmarks.judge_agreement LABELS --model llamacpp:NAME``. LABELS is the folder ``data/meta_evaluation``
of github.com/amazon-science/RAGChecker, in which two people label each of 280 pairs of answers from -2 (the first is
much better) to 2.

The judge grades each answer by itself against the gold answer, by the grader ``scale``; of two answers it prefers the
one with the higher grade. Beside it stand the rules of ``lexical``, TokenF1, RAGChecker's own scores, and the other
person. Pairs come in a random order, whose first ones ``--pairs`` takes, and are judged one after the other. Ctrl-C
keeps the replies: the same command continues, and with ``--pairs`` of those that are judged it asks nothing more.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import graphkit
from graphkit.analysis.estimates import Estimate
from graphkit.cli.progress import shown_progress
from graphkit.plugins.judging.trust.correlation import pearson
from graphkit.plugins.judging.trust.inflation import mean_difference
from graphkit.plugins.judging.trust.sample_estimates import bounded

#: What the people compared, in RAGChecker's words; both its labels and its scores are called so.
OVERALL = "overall_label"
LABELS = ("correctness_label", "completeness_label", OVERALL)

#: How much better the second answer of each pair is.
Preferences = dict[str, float]

#: The grader that asks for a whole number from 0 to 10, its measure, and a measure without a judge.
GRADER, GRADE, WORDS = "scale", "ScaleGrade", "TokenF1"

#: The columns: the share of preferences that are a person's, that of pairs of which both people prefer one answer, how
#: much more that is than by TokenF1, the correlation with the mean label, and the number of pairs without a preference.
HEAD = ("rater", "as a person", "where both people agree", f"more than {WORDS}", "Pearson", "ties")


@dataclass(frozen=True)
class Pair:
    """Two answers to a question, the labels of both people, and how much better RAGChecker scores the second answer."""

    id: str
    question: str
    gold: str
    answers: tuple[str, str]
    labels: Mapping[str, tuple[int, int]]
    ragchecker: Mapping[str, float]


def read_pairs(folder: Path) -> list[Pair]:
    """Return the labelled pairs of RAGChecker's folder ``data/meta_evaluation``."""
    people = json.loads((folder / "human_labeled_data.json").read_text(encoding="utf-8"))
    scored = json.loads((folder / "baseline_ragchecker.json").read_text(encoding="utf-8"))
    pairs = []
    for first, second, scores in zip(people[::2], people[1::2], scored, strict=True):
        if first["instance_id"] != second["instance_id"]:
            raise SystemExit(f"pair {first['instance_id']}: the next row isn't the other person's")
        better = [scores[model]["ragchecker"] for model in ("model1", "model2")]
        pairs.append(
            Pair(
                f"pair-{first['instance_id']}",
                first["query"],
                first["gt_answer"],
                (first["model1"]["response"], first["model2"]["response"]),
                {name: (first[name], second[name]) for name in LABELS},
                {name: better[1][name] - better[0][name] for name in LABELS},
            )
        )
    return pairs


def write_run(pairs: Iterable[Pair], folder: Path) -> Path:
    """Write the pairs as a dataset with one run, and return the run: each answer is that to a question of its own."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    run = folder / "runs" / "pairs.jsonl"
    with (folder / "questions.jsonl").open("w") as questions, run.open("w") as answers:
        for pair in pairs:
            for number, text in enumerate(pair.answers, 1):
                name = f"{pair.id}-{number}"
                asked = {"id": name, "question": pair.question, "gold_answer": pair.gold}
                print(json.dumps(asked), file=questions)
                print(json.dumps({"run": "pairs", "question_id": name, "answer": text}), file=answers)
    return run


def preferences(pairs: Sequence[Pair], values: Mapping[str, float | None]) -> Preferences:
    """Return how much higher the second answer's value is than the first's, for pairs with both."""
    found = {}
    for pair in pairs:
        first, second = (values.get(f"{pair.id}-{number}") for number in (1, 2))
        if first is not None and second is not None:
            found[pair.id] = second - first
    return found


def credit(preferred: float, label: int) -> float:
    """Return 1 if a preference has the sign of a label other than 0, 0 if it has the other sign, and 0.5 for none."""
    return 0.5 if preferred == 0 else float((preferred > 0) == (label > 0))


def credits_of(preferred: Sequence[float], labels: Sequence[tuple[int, ...]]) -> list[float]:
    """Return the mean credit of each preference by the labels other than 0, without pairs that have none."""
    return [
        statistics.fmean(credit(one, label) for label in given if label)
        for one, given in zip(preferred, labels, strict=True)
        if any(given)
    ]


def mean_of(some: Sequence[float]) -> Estimate:
    """Return the mean of credits with its interval; a coin has 0.5."""
    if len(some) < 2:
        return Estimate(None, reason="fewer than two pairs have a preference", size=len(some))
    variance = statistics.variance(some) / len(some)
    return bounded(statistics.fmean(some), variance, len(some), freedom=len(some) - 1)


def agreed(pair: Pair, name: str) -> bool:
    """Return whether both people prefer the same answer of a pair."""
    first, second = pair.labels[name]
    return first * second > 0


def rows_of(pairs: Sequence[Pair], raters: Mapping[str, Mapping[str, Preferences]], name: str) -> list[list[str]]:
    """Return a row of figures for each rater, and one for the people, who are compared with each other."""
    labels = [pair.labels[name] for pair in pairs]
    means = [statistics.fmean(label) for label in labels]
    clear = [pair for pair in pairs if agreed(pair, name)]

    def clearly(rater: str) -> list[float]:
        return credits_of([raters[rater][name][pair.id] for pair in clear], [pair.labels[name] for pair in clear])

    rows = []
    for rater, preferred in raters.items():
        values = [preferred[name][pair.id] for pair in pairs]
        right = clearly(rater)
        beyond = "" if rater == WORDS else shown(mean_difference(clearly(WORDS), right, 1.0))
        figures = (
            shown(mean_of(credits_of(values, labels))),
            shown(mean_of(right)),
            beyond,
            shown(pearson(values, means)),
        )
        rows.append([rater, *figures, str(values.count(0))])
    each_other = []
    for first, second in labels:  # each person's preference, where the other has one
        given = [credit(one, other) for one, other in ((first, second), (second, first)) if other]
        each_other += [statistics.fmean(given)] if given else []
    ones, others = ([float(label[person]) for label in labels] for person in (0, 1))
    ties = f"{ones.count(0)}, {others.count(0)}"
    return [*rows, ["one person by the other", shown(mean_of(each_other)), "", "", shown(pearson(ones, others)), ties]]


def shown(estimate: Estimate) -> str:
    """Return an estimate with its interval and size."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return f"none: {estimate.reason}"
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}] of {estimate.size}"


def main() -> None:
    """Grade, and print a table for each question that the people were asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judge_agreement", description=__doc__.split("\n")[0])
    parser.add_argument("labels", type=Path, metavar="LABELS", help="RAGChecker's folder data/meta_evaluation")
    parser.add_argument("--model", required=True, metavar="PROVIDER:NAME", help="the model that judges")
    parser.add_argument("--base-url", metavar="URL", help="the address of the model's server")
    parser.add_argument("--pairs", type=int, default=280, help="judge so many, drawn at random (default: all)")
    parser.add_argument(
        "--clear", action="store_true", help="only pairs of which both people prefer one answer overall"
    )
    parser.add_argument("--seed", type=int, default=0, help="the seed of the order")
    parser.add_argument("--files", type=Path, default=Path(".bench/judge_agreement"), help="where replies are kept")
    given = parser.parse_args()
    pairs = [pair for pair in read_pairs(given.labels) if not given.clear or agreed(pair, OVERALL)]
    random.Random(given.seed).shuffle(pairs)
    pairs = pairs[: given.pairs]
    run = write_run(pairs, given.files)
    judge = graphkit.JudgeOptions(
        model=given.model,
        base_url=given.base_url,
        concurrency=1,  # so that pairs are judged in their order
        cache=given.files / "replies.sqlite",
    )
    with shown_progress("judging") as progress:
        progress.repeats = True
        graded = graphkit.grade(run, judge=judge, graders=[GRADER], progress=progress, notify=print)
    rules = graphkit.grade(run, graders=[GRADER])
    values = {name: {score.question: score.number for score in some.scores if score.measure == GRADE}
              for name, some in ((given.model, graded), ("lexical", rules))}  # fmt: skip
    words = graphkit.evaluate(run, measures=[WORDS]).records()
    values[WORDS] = {score.question: score.number for score in words if score.measure == WORDS}
    print(json.dumps(graded.as_json()["failures"]))
    differences = {name: preferences(pairs, some) for name, some in values.items()}
    judged = [pair for pair in pairs if pair.id in differences[given.model]]
    print(f"{len(judged)} of {len(pairs)} pairs are judged")
    raters = {name: dict.fromkeys(LABELS, some) for name, some in differences.items()}
    raters["RAGChecker's score"] = {name: {pair.id: pair.ragchecker[name] for pair in judged} for name in LABELS}
    for name in LABELS:
        print(f"\n{name}\n")
        print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
        for row in rows_of(judged, raters, name):
            print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
