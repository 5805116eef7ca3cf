"""The composite action: its steps run on a repository with two branches, and a server answers as GitHub does."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from graphkit.plugins.ci.comparison_comment import LINES, MARKER
from tests.helpers import ROOT
from tests.helpers.checkouts import QUESTIONS, git, run_of
from tests.helpers.cli import environment, inside, write_lines
from tests.helpers.suites import one_fast

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
TOKEN, AUTHOR = "ghs_0123456789abcdefABCDEF0123456789abcd", "github-actions[bot]"


@dataclass
class Github:
    """The comments of one pull request, and the requests that changed them."""

    comments: list[dict[str, Any]] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    refuses: bool = False
    url: str = ""

    def add(self, body: str, login: str) -> dict[str, Any]:
        """Add a comment as GitHub stores it."""
        self.comments.append({"id": 1000 + len(self.comments), "user": {"login": login}, "body": body})
        return self.comments[-1]

    def of_action(self) -> list[str]:
        """Return the comments that the action wrote."""
        return [one["body"] for one in self.comments if one["user"]["login"] == AUTHOR]


@pytest.fixture
def github() -> Iterator[Github]:
    """A server with the three requests of the interface that the action makes."""
    state = Github()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            address = urlsplit(self.path)
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length))["body"] if length else ""
            found: Any = None
            if self.headers["Authorization"] != f"Bearer {TOKEN}" or (state.refuses and self.command != "GET"):
                status = 403
            elif (self.command, address.path) == ("GET", "/repos/me/shop/issues/7/comments"):
                asked = parse_qs(address.query)
                size, page = int(asked["per_page"][0]), int(asked["page"][0])
                status, found = 200, state.comments[size * (page - 1) : size * page]
            elif (self.command, address.path) == ("POST", "/repos/me/shop/issues/7/comments"):
                status, found = 201, state.add(body, AUTHOR)
                state.changes.append("POST")
            elif self.command == "PATCH" and (
                one := re.fullmatch(r"/repos/me/shop/issues/comments/(\d+)", address.path)
            ):
                [found] = [comment for comment in state.comments if comment["id"] == int(one[1])]
                status, found["body"] = 200, body
                state.changes.append(f"PATCH {one[1]}")
            else:
                status = 404
            text = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = answer

        def log_message(self, *arguments: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield state
        server.shutdown()
        thread.join()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone on the branch of a pull request; the baseline of main walks each path to its end."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    write_lines(origin / "data" / "questions.jsonl", QUESTIONS)
    write_lines(origin / "data" / "runs" / "mine.jsonl", run_of(2))
    git(origin, "init", "-q")
    git(origin, "add", ".")
    git(origin, "commit", "-q", "-m", "Begin")
    inside("baseline", "save", "data/runs/mine.jsonl", cwd=origin, code=0)
    git(origin, "checkout", "-q", "-b", "change")
    write_lines(origin / "data" / "runs" / "mine.jsonl", run_of(1))
    git(origin, "commit", "-q", "-a", "-m", "Walk less")
    git(tmp_path, "clone", "-q", "--depth", "1", "--branch", "change", f"file://{origin}", "clone")
    return clone


@dataclass
class Job:
    """The exit code, the log and the summary of a job."""

    code: int
    log: str
    summary: str


#: Stands for the installed program: it notes what the step gives it.
NOTING = """#!/bin/sh
printf '%s\\0' "$@" > "$RUNNER_TEMP/given"
"""


def job(checkout: Path, github: Github, number: str = "7", **given: str) -> Job:
    """Run the steps of the action with some inputs, and graphkit within this process."""
    return steps_done(checkout, github, number, given)


def steps_done(checkout: Path, github: Github, number: str, given: dict[str, str], installed: bool = False) -> Job:
    """Run the steps of the action as a runner does, each in bash, but for the installation.

    What bash gives to graphkit is called within this process, and by the program itself if that is ``installed``.
    """
    temp = checkout.parent / "temp"
    program = temp / "graphkit" / "bin" / "graphkit"
    if installed:
        temp.mkdir(exist_ok=True)
        if not (temp / "graphkit").exists():
            (temp / "graphkit").symlink_to(sys.prefix)
    elif not program.exists():
        program.parent.mkdir(parents=True)
        program.write_text(NOTING)
        program.chmod(0o755)
    (temp / "event.json").write_text(json.dumps({"pull_request": {"number": int(number)}} if number else {}))
    context = {"github.token": TOKEN}
    for name, about in ACTION["inputs"].items():
        context[f"inputs.{name}"] = given.get(name.replace("-", "_"), filled(about.get("default", ""), context))
    summary, log = temp / "summary.md", ""
    summary.write_text("")
    for step in ACTION["runs"]["steps"]:
        if step["id"] == "install":
            continue
        out = temp / "output"
        out.write_text("")
        env = environment({name: filled(value, context) for name, value in step.get("env", {}).items()})
        env |= {"RUNNER_TEMP": str(temp), "GITHUB_OUTPUT": str(out), "GITHUB_STEP_SUMMARY": str(summary)}
        env |= {"GITHUB_API_URL": github.url, "GITHUB_REPOSITORY": "me/shop", "GITHUB_ACTION_PATH": str(ROOT)}
        env |= {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": str(temp / "event.json")}
        bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(bash, cwd=checkout, env=env, capture_output=True, text=True, timeout=120, check=False)
        code, said = done.returncode, done.stdout + done.stderr
        if not installed:
            assert (code, said) == (0, "")
            called = inside(*(temp / "given").read_text().split("\0")[:-1], cwd=checkout, env=env)
            code, said = called.code, called.out + called.err
        log += said
        if code:
            return Job(code, log, summary.read_text())
        for line in out.read_text().splitlines():
            key, _, value = line.partition("=")
            context[f"steps.{step['id']}.outputs.{key}"] = value
    return Job(0, log, summary.read_text())


def filled(text: str, context: dict[str, str]) -> str:
    """Return a text with its expressions replaced, of which the action has only names."""
    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: context[found[1]], text)


USUAL = {"run": "data/runs/mine.jsonl", "compare": "-m EdgeRecall --fail-on-regression"}


def test_a_pull_request(checkout: Path, github: Github) -> None:
    """A regression fails the job, and one comment reports it; a job after the repair replaces the comment."""
    # 120 comments of others lie on two pages, and one of them looks like the action's.
    for number in range(120):
        github.add(f"{MARKER}\nforged" if number == 110 else "me too", "somebody")
    before = [dict(one) for one in github.comments]
    failed = steps_done(checkout, github, "7", USUAL, installed=True)
    assert failed.code == 1, failed.log
    [body] = github.of_action()
    assert github.changes == ["POST"]
    assert body.startswith(f"{MARKER}\n### graphkit: `mine` compared with `mine (baseline)` on 8 questions\n")
    # Of two gold edges each question is walked by one: EdgeRecall falls from 1 to 0.5, at the second edge.
    assert "- `fail-on-regression EdgeRecall (p < 0.05)`: `mine`: EdgeRecall -0.5000" in body
    assert "- `q0`: `EdgeRecall` 1.00 to 0.50; broke at step 2: " in body
    assert "graphkit why data/runs/mine.jsonl q0" in body
    assert len(body.splitlines()) <= LINES
    assert failed.summary.startswith(body)
    assert "\n### The run of this branch\n\n| measure | mine |" in failed.summary
    write_lines(checkout / "data" / "runs" / "mine.jsonl", run_of(2))
    passed = steps_done(checkout, github, "7", USUAL, installed=True)
    assert passed.code == 0, passed.log
    [body] = github.of_action()
    assert github.changes == ["POST", "PATCH 1120"]
    assert "All gates passed: `fail-on-regression EdgeRecall" in body
    assert github.comments[:120] == before
    assert TOKEN not in failed.log + passed.log + failed.summary + passed.summary + body


def test_gates_of_the_evaluation(checkout: Path, github: Github) -> None:
    """A gate of the run itself fails the job after summary and comment are written, also if the comparison passes."""
    options = {"compare": "-m EdgeRecall", "evaluate": "-m EdgeRecall --fail-under EdgeRecall=0.8"}
    done = job(checkout, github, run=USUAL["run"], **options)
    assert done.code == 1
    assert "gate fail-under EdgeRecall=0.8 **failed**" in done.summary
    # One list of gates: the comment names those of the evaluation, too.
    assert "- `fail-under EdgeRecall=0.8`: `mine`: EdgeRecall is 0.5000, under 0.8" in github.of_action()[0]


@one_fast(
    ("evaluate", "gates"),
    [
        ("--fail-under EdgeF1=0.1\n--fail-under EdgeRecall=0.9", 2),
        ("\n\n--fail-under 'EdgeRecall=0.9'\n# --fail-under EdgeF1=0.9\n  --max-failed 0  # none\n", 2),
        ('--fail-under "EdgeRecall(relation=False)=0.9" --fail-under EdgeRecall=0.9\n\n--fail-over Incoherent=1', 3),
    ],
    "two jobs in a clone for each",
    1,
)
def test_every_line_of_the_options_is_held(checkout: Path, github: Github, evaluate: str, gates: int) -> None:
    """Lines, quotes, comments and empty lines are read as a shell reads them, and all gates are printed."""
    done = job(checkout, github, run=USUAL["run"], evaluate=evaluate, compare="-m EdgeRecall")
    assert done.code == 1, done.log
    assert re.search(rf"\b[1-9] of {gates} gates failed; ", done.log)
    assert "fail-under EdgeRecall=0.9" in done.log
    assert "- `fail-under EdgeRecall=0.9`" in github.of_action()[0]
    compare = "-m EdgeRecall\n# a comment\n--fail-on-drop 0.9\n--fail-on-drop 'EdgeRecall=0.4'\n"
    done = job(checkout, github, run=USUAL["run"], compare=compare)
    assert done.code == 1, done.log
    assert "fail-on-drop EdgeRecall=0.4" in done.log


@one_fast(
    ("options", "said"),
    [
        ({"evaluate": "--fail-under 'EdgeF1=0.7"}, "no closing quotation"),
        ({"evaluate": "--fail-undr EdgeF1=0.7"}, "--fail-undr"),
        ({"compare": "--fail-on-regression --format github"}, "the job takes no --format"),
        ({"compare": "other.jsonl"}, "the job takes no argument C of `graphkit compare`"),
        ({"evaluate": "other.jsonl --max-failed 0"}, "the job takes no"),
        ({"evaluate": "--out elsewhere.json"}, "the job takes no --out"),
        ({"evaluate": "--max-failed 0\n--max-failed=5"}, "--max-failed of `graphkit evaluate` stands twice"),
        ({"missing_baseline": "perhaps"}, "perhaps"),
    ],
    "a clone and a job for each",
    0,
    5,
)
def test_options_that_cannot_be_held_are_refused(
    checkout: Path, github: Github, options: dict[str, str], said: str
) -> None:
    """Nothing is dropped: the job fails before anything is scored."""
    done = job(checkout, github, **{"run": USUAL["run"], **options})
    assert done.code == 2, done.log
    assert said in done.log
    assert not re.search("gates? (passed|failed);", done.log)


def test_gold_that_changed(checkout: Path, github: Github) -> None:
    """The pull request removes the edges that its run misses from gold: the job fails, unless that is meant."""
    weak = [one | {"paths": [one["paths"][0][:1]]} for one in QUESTIONS]
    write_lines(checkout / "data" / "questions.jsonl", weak)
    done = job(checkout, github, **USUAL)
    assert done.code == 1, done.log
    [body] = github.of_action()
    assert "8 questions with other gold" in body.replace("`", "")
    assert "- `gold`" in body
    assert "- `q0`: `EdgeRecall` 1.00 to 0.50; missed, and removed from gold: `a:m -CALLS-> a:z`" in body
    meant = job(checkout, github, run=USUAL["run"], compare=f"{USUAL['compare']} --gold-changed")
    assert meant.code == 0, meant.log


def test_a_partial_baseline(checkout: Path, github: Github) -> None:
    """A baseline of six of eight questions is refused, and may be accepted."""
    origin = checkout.parent / "origin"
    write_lines(origin / "data" / "runs" / "mine.jsonl", run_of(2)[:6])
    inside("baseline", "save", "data/runs/mine.jsonl", "--partial-baseline", cwd=origin, code=0)
    write_lines(checkout / "data" / "runs" / "mine.jsonl", run_of(2))
    done = job(checkout, github, **USUAL)
    assert done.code == 1, done.log
    assert "the baseline answered 6 of 8" in github.of_action()[0].replace("`", "")
    allowed = job(checkout, github, run=USUAL["run"], compare=f"{USUAL['compare']} --partial-baseline")
    assert allowed.code == 0, allowed.log


def test_the_run_of_main_becomes_the_baseline(checkout: Path, github: Github) -> None:
    """Only if all gates pass; a whole clone stays whole."""
    git(checkout, "fetch", "-q", "--unshallow")
    before = len(git(checkout, "rev-list", "HEAD").splitlines())
    options = USUAL | {"save": "true"}
    failed = job(checkout, github, number="", **options)
    assert failed.code == 1
    tips = [git(checkout.parent / "origin", "rev-parse", "graphkit-baseline")]
    write_lines(checkout / "data" / "runs" / "mine.jsonl", run_of(2))
    passed = job(checkout, github, number="", **options)
    assert passed.code == 0, passed.log
    assert "saved mine (8 of 8 questions answered) as main" in passed.log
    tips.append(git(checkout.parent / "origin", "rev-parse", "graphkit-baseline"))
    assert tips[0] != tips[1]
    assert len(git(checkout, "rev-list", "HEAD").splitlines()) == before
    assert git(checkout, "rev-parse", "--is-shallow-repository") == "false"
    assert github.comments == []


def test_repetitions_by_a_pattern(checkout: Path, github: Github) -> None:
    """Three runs are one system: one of them walks half of each path, so the mean is (1 + 1 + .5) / 3 = .8333."""
    for number, edges in ((1, 2), (2, 2), (3, 1)):
        records = [{**one, "run": f"mine@{number}"} for one in run_of(edges)]
        write_lines(checkout / "data" / "runs" / f"mine@{number}.jsonl", records)
    options = {"run": "data/runs/mine@*.jsonl", "evaluate": "-m EdgeRecall --fail-under EdgeRecall=0.8"}
    done = job(checkout, github, **options, compare="-m EdgeRecall --fail-on-drop 0.2")
    assert done.code == 0, done.log
    [body] = github.of_action()
    assert "`mine` compared with `mine (baseline)` on 8 questions" in body
    assert "mine is the mean of 3 repetitions (EdgeRecall 0.5000 to 1.0000)" in body.replace("`", "")
    assert "- `fail-under EdgeRecall=0.8`: 0.8333, 0.0333 above; could be 0.83" in body
    done = job(checkout, github, **options, compare="-m EdgeRecall --fail-on-drop 0.1")
    assert done.code == 1, done.log
    assert "graphkit why data/runs/mine@3.jsonl q0" in github.of_action()[0]
    done = job(checkout, github, **options | {"evaluate": "--fail-under EdgeRecall=0.8 --per-repetition"})
    assert done.code == 1, done.log
    assert "mine@3: EdgeRecall is 0.5000, under 0.8" in done.log


def test_a_lost_measure(checkout: Path, github: Github) -> None:
    """A run that stops logging relations, or its order, fails the job, and the comment names the measure."""
    bare = [
        one | {"traversal": [{"source": source, "target": target} for source, _, target in one["traversal"]]}
        for one in run_of(2)
    ]
    unordered = [one | {"ordered": False} for one in run_of(2)]
    for records, measure, why in (
        (bare, "EdgeRecall", "mine never logged relations, and mine (baseline) did"),
        (unordered, "PathPrefix", "its order isn't known"),
    ):
        write_lines(checkout / "data" / "runs" / "mine.jsonl", records)
        options = {"run": USUAL["run"], "compare": f"-m EdgeRecall -m {measure} --fail-on-regression"}
        done = job(checkout, github, **options)
        assert done.code == 1, done.log
        [body] = github.of_action()
        [line] = [line for line in body.splitlines() if line.startswith(f"- `fail-on-regression {measure}`")]
        assert f"{measure} is lost: " in line
        assert why in line
        allowed = job(checkout, github, **options | {"compare": f"{options['compare']} --allow-lost {measure}"})
        assert allowed.code == 0, allowed.log


def _half_silent(checkout: Path) -> tuple[str, str, str, str]:
    """Six of eight walks are not logged: EdgeRecall is 1 over the others, and .25 with them as 0."""
    half = [one | ({"traversal": None} if number < 6 else {}) for number, one in enumerate(run_of(2))]
    write_lines(checkout / "data" / "runs" / "mine.jsonl", half)
    said = "EdgeRecall is 0.2500 with 6 not logged as 0"
    return "-m EdgeRecall --fail-under EdgeRecall=0.9", "-m EdgeRecall --fail-on-regression", said, "EdgeRecall -0.7500"


def _half_priced(checkout: Path) -> tuple[str, str, str, str]:
    """The baseline states a cost for each of eight questions, the run for four of them: fewer than four fifths."""
    priced = [one | {"cost": 0.01} for one in run_of(2)]
    half = [one | ({"cost": None} if number < 4 else {}) for number, one in enumerate(priced)]
    write_lines(checkout / "data" / "runs" / "mine.jsonl", half)
    return "", "-m EdgeRecall --cost --fail-on-regression", "", "mine states none for 4 of 8 questions"


def _half_cited(checkout: Path) -> tuple[str, str, str, str]:
    """Four of eight answers cite nothing: Attribution has a value on 50%, fewer than the four fifths of a bound."""
    write_lines(checkout / "data" / "runs" / "mine.jsonl", run_of(2))
    about = {"run": "mine", "measure": "Attribution", "grader": "judge"}
    cited = [
        about | {"question": f"q{number}"} | ({"value": 1} if number < 4 else {"value": None, "reason": "no citations"})
        for number in range(8)
    ]
    write_lines(checkout / "scores.jsonl", cited)
    said = "Attribution has a value on 4 of 8 questions that it could score (50%), fewer than 80%"
    return "--scores scores.jsonl -m EdgeRecall --fail-under Attribution=0.9", "-m EdgeRecall", said, ""


def _stale(checkout: Path) -> tuple[str, str, str, str]:
    """The graph lost an edge of one question of eight: its gold is stale, and both gates fail by it."""
    edges = [edge for one in QUESTIONS[1:] for edge in one["paths"][0]]
    write_lines(
        checkout / "data" / "edges.jsonl",
        [{"source": source, "relation": relation, "target": target} for source, relation, target in edges],
    )
    write_lines(checkout / "data" / "runs" / "mine.jsonl", run_of(2))
    said = "1 of 8 questions left out, since their gold is stale: q0"
    return "-m EdgeRecall --fail-under EdgeRecall=0.4", "-m EdgeRecall --fail-on-regression", said, said


@pytest.mark.parametrize("write", [_half_silent, _half_priced, _half_cited, _stale])
def test_what_is_left_out_passes_no_gate(write: Any, checkout: Path, github: Github) -> None:
    """Each way to keep silent fails the job, and the summary and the comment say what was left out."""
    evaluate, compare, in_summary, in_comment = write(checkout)
    if write is _half_priced:  # the baseline states no cost: one that does
        origin = checkout.parent / "origin"
        write_lines(origin / "data" / "runs" / "mine.jsonl", [one | {"cost": 0.01} for one in run_of(2)])
        inside("baseline", "save", "data/runs/mine.jsonl", cwd=origin, code=0)
    done = job(checkout, github, run=USUAL["run"], evaluate=evaluate, compare=compare)
    assert done.code == 1, done.log
    assert in_summary in done.summary
    assert in_comment in github.of_action()[0].replace("`", "")


@pytest.mark.parametrize(("missing", "code"), [("fail", 1), ("pass", 0)])
def test_without_a_baseline(checkout: Path, github: Github, missing: str, code: int) -> None:
    """If there is no baseline, the comment says so, and the job fails unless that is permitted."""
    done = job(checkout, github, **USUAL, name="none", missing_baseline=missing)
    assert done.code == code
    [body] = github.of_action()
    assert body.startswith(f"{MARKER}\n### graphkit: there is no run to compare with\n")


def test_a_run_that_cannot_be_read(checkout: Path, github: Github) -> None:
    """A broken run is an error, not a failed gate, and the comment of an earlier job doesn't stay."""
    job(checkout, github, **USUAL)
    (checkout / "data" / "runs" / "mine.jsonl").write_text("{")
    done = job(checkout, github, **USUAL)
    assert done.code == 2
    [body] = github.of_action()
    assert body.startswith(f"{MARKER}\n### graphkit: the run could not be evaluated\n")
    assert "mine.jsonl:1" in done.log


def test_without_the_right_to_comment(checkout: Path, github: Github) -> None:
    """A token that may not write, as of a fork, is a warning; without a pull request there is nothing to write to."""
    github.refuses = True
    done = job(checkout, github, **USUAL)
    assert done.code == 1
    assert "::warning::the comment couldn't be written (403)" in done.log
    assert TOKEN not in done.log
    assert "#### Regressions: 8 questions" in done.summary
    github.refuses = False
    done = job(checkout, github, number="", **USUAL)
    assert (done.code, github.comments) == (1, [])


def test_names_are_no_commands(checkout: Path, github: Github) -> None:
    """Inputs reach the scripts as variables: neither a quote nor a command in a path is run."""
    name = "data/runs/$(touch forged) `touch forged` '\".jsonl"
    (checkout / "data" / "runs" / "mine.jsonl").rename(checkout / name)
    done = job(checkout, github, **{**USUAL, "run": name})
    assert done.code == 1
    assert "#### Regressions: 8 questions" in github.of_action()[0]
    assert not [*checkout.rglob("forged"), *checkout.parent.glob("temp/**/forged")]
    scripts = [step["run"] for step in ACTION["runs"]["steps"]]
    assert not any("${{" in script for script in scripts)


def documented(first: str) -> dict[str, Any]:
    """Return the example of the documentation whose first line is a comment with the name of its file."""
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    [block] = [one for one in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if one.startswith(f"# {first}\n")]
    found: dict[str, Any] = yaml.safe_load(block)
    return found


def test_documented_workflow() -> None:
    """The workflow of the documentation pins what it uses, and gives known inputs; it lists each of them."""
    workflow = documented(".github/workflows/graphkit.yml")
    steps = workflow["jobs"]["compare"]["steps"]
    assert [re.sub("@[0-9a-f]{40}$", "@HASH", step["uses"]) for step in steps] == [
        "actions/checkout@HASH",
        "OWNER/graphkit@COMMIT",
    ]
    assert steps[1]["with"].keys() <= ACTION["inputs"].keys()
    assert len(steps[1]["with"]["evaluate"].splitlines()) == 2
    assert workflow["permissions"] == {"contents": "write", "pull-requests": "write"}
    listed = re.findall(r"^\| `(\w[\w-]*)`(?:, `(\w[\w-]*)`)? \|", (ROOT / "docs" / "ci.md").read_text(), re.MULTILINE)
    assert {name for names in listed for name in names if name} == {*ACTION["inputs"]}


def shell(script: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run lines as a job does, with graphkit on the path."""
    path = f"{Path(sys.prefix) / 'bin'}:{environment()['PATH']}"
    bash = ["bash", "-eo", "pipefail", "-c", script]
    env = environment({"PATH": path, **more})
    return subprocess.run(bash, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.slow("each documented line runs")
def test_documented_lines(checkout: Path) -> None:
    """The lines of the page in its order: save a baseline, set gates, red by both; GitLab's job and a plain shell."""
    (checkout / "data").rename(checkout / "my-eval")
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    [settings] = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (checkout / "graphkit.toml").write_text(settings)
    write_lines(checkout / "my-eval" / "runs" / "mine.jsonl", run_of(2))
    save, dry, *_ = re.findall(r"^    (graphkit .*)$", text, re.MULTILINE)
    inside(*shlex.split(save)[1:], cwd=checkout, code=0)
    inside(*shlex.split(dry)[1:], cwd=checkout, code=0)
    write_lines(checkout / "my-eval" / "runs" / "mine.jsonl", run_of(1))
    red = inside(*shlex.split(dry)[1:], cwd=checkout, code=1)
    # Of two edges one is walked, and no other: EdgeF1 is 2/3.
    assert "EdgeF1 is 0.6667, under 0.7" in red.err
    assert "EdgeRecall -0.5000" in red.err
    install, *script = documented(".gitlab-ci.yml")["graphkit"]["script"]
    assert install.startswith("pip install --require-hashes -r ")
    done = shell("\n".join(script), checkout, GITLAB_CI="true", CI_MERGE_REQUEST_IID="7")
    assert done.returncode == 1, done.stderr
    job_of = documented(".gitlab-ci.yml")["graphkit"]
    [kept] = job_of["artifacts"]["paths"]
    assert (checkout / job_of["artifacts"]["reports"]["junit"]).is_file()
    assert (checkout / kept / "comment.md").read_text().startswith(f"{MARKER}\n### graphkit: `mine` compared with")
    [lines] = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    inside("baseline", "get", "--out", "got", cwd=checkout, code=0)
    inside(
        "baseline", "save", "got/run/mine.jsonl", "--dataset", "my-eval", "--folder", "baselines", cwd=checkout, code=0
    )
    done = shell(lines, checkout)
    assert done.returncode == 1, done.stderr
    assert "EdgeRecall -0.5000" in done.stderr


def test_documented_hook(checkout: Path) -> None:
    """The hook for pre-commit passes on the dataset, and refuses one whose questions can't be read."""
    (checkout / "data").rename(checkout / "my-eval")
    [hook] = documented(".pre-commit-config.yaml")["repos"][0]["hooks"]
    program, *arguments = hook["entry"].split()
    assert (program, hook["language"], hook["pass_filenames"]) == ("graphkit", "system", False)
    assert re.match(hook["files"], "my-eval/questions.jsonl")
    inside(*arguments, cwd=checkout, code=0)
    (checkout / "my-eval" / "questions.jsonl").write_text("{")
    inside(*arguments, cwd=checkout, code=1)


def test_what_is_installed_is_pinned() -> None:
    """The action uses no other action, and installs only packages whose hashes are in the requirements."""
    steps = ACTION["runs"]["steps"]
    assert not any("uses" in step for step in steps)
    [install] = [step["run"] for step in steps if step["id"] == "install"]
    lines = [line for line in install.splitlines() if " install " in line]
    assert [("--require-hashes" in line, "--no-deps --no-build-isolation" in line) for line in lines] == [
        (True, False),
        (False, True),
    ]
    locked = (ROOT / "requirements" / "run.txt").read_text()
    packages = re.split(r"\n(?=[a-z0-9])", locked[locked.index("\n") :])[1:]
    assert packages
    assert all("--hash=sha256:" in one for one in packages)
