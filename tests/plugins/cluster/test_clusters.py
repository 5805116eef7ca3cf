"""Real clusters of Dask and Ray, and a real S3 server, in an environment of their own (``make test-cluster``)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.imports.importer import import_log
from graphkit.plugins.compare.score_file_pairs import compare_scores
from graphkit.plugins.judging.grading.grade_run import grade
from graphkit.plugins.systems.session import run_systems
from graphkit.shards.executors import opened_executor
from graphkit.shards.inputs import shard_lines, shards_of
from graphkit.shards.locations import Location
from graphkit.shards.work import ShardTask, finished_parts, in_order, key_of
from tests.helpers.absent import absent
from tests.helpers.cli import Graph
from tests.helpers.datasets import generate, write_jsonl
from tests.helpers.engines import free_port
from tests.helpers.sharded import but_for_files, emptied, in_six_shards, run_in
from tests.imports.test_import_workers import twelve_logs
from tests.plugins.compare.test_comparing_workers import scores
from tests.scoring.evaluated_everywhere import FILES, PARTS, everything, three_runs
from tests.scoring.shard_measures import KillsOnce
from tests.shards import working

pytestmark = pytest.mark.filterwarnings("default")

USER = "graphkit-tests"


def needed(package: str) -> None:
    """Skip without a package, or fail where it is required."""
    if find_spec(package) is None:
        absent("GRAPHKIT_REQUIRE_CLUSTER", f"{package} isn't installed; `make test-cluster` has it")


@pytest.mark.parametrize("place", ["dask=tcp://", "ray=ray://", "ray="])
def test_nobody_listens_there(place: str) -> None:
    """An address where no scheduler listens is an error that says what to check."""
    name = place.partition("=")[0]
    needed({"dask": "distributed"}.get(name, name))
    with pytest.raises(InputError, match=f"the {name} cluster can't be reached") as raised:
        opened_executor(f"{place}127.0.0.1:{free_port()}").__enter__()
    assert "Check the address" in str(raised.value)


@pytest.fixture(scope="module", params=["dask", "ray"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Executor]:
    """A local cluster of two workers, of Dask and of Ray in turn."""
    needed({"dask": "distributed"}.get(request.param, request.param))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")]))
        with opened_executor(f"{request.param}=2") as executor:
            yield executor


def test_a_cluster_works_in_order(cluster: Executor) -> None:
    """A cluster of two workers gives the results of one process, in the order of the tasks."""
    assert cluster.workers == 2  # type: ignore[attr-defined]
    tasks = [(f"shard {number}", number) for number in range(40)]
    assert list(in_order(cluster, working.doubled, tasks)) == [2 * number for number in range(40)]


def test_a_cluster_loses_a_worker(cluster: Executor, tmp_path: Path) -> None:
    """A worker that is killed with -9 costs only time, and that is said."""
    said: list[str] = []
    tasks = [(f"shard {number}", (number, tmp_path / "mark")) for number in range(12)]
    assert list(in_order(cluster, working.killed_once, tasks, say=said.append)) == list(range(12))
    assert any(sentence.startswith("shard 3: its worker was lost (") for sentence in said)


def test_a_lost_task_is_repeated_once(cluster: Executor, tmp_path: Path) -> None:
    """A task that has returned isn't done again when its worker dies later, even if it was a second attempt."""
    tasks = [(str(number), (number, tmp_path)) for number in range(100)]
    assert list(in_order(cluster, working.noted, tasks)) == list(range(100))
    counts = Counter((tmp_path / "noted").read_text().split())
    assert {number for number, count in counts.items() if count > 1} >= {"5", "30", "55", "80"}
    assert max(counts.values()) == 2


def test_workers_that_are_gone_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A local cluster of Dask starts workers anew for those that their nannies gave up; tasks don't wait for ever."""
    needed("distributed")
    monkeypatch.setattr("graphkit.plugins.cluster.dask_cluster.BACK_WITHIN", 1)
    with opened_executor("dask=2") as executor:
        local = executor._client.cluster  # type: ignore[attr-defined]
        for nanny in [*local.workers.values()]:
            local.sync(nanny.close)
        assert executor.submit(abs, -2).result(timeout=120) == 2


def test_an_error_in_a_cluster(cluster: Executor) -> None:
    """An error that a task raises is the one of one process, and isn't repeated."""
    said: list[str] = []
    with pytest.raises(InputError) as raised:
        list(in_order(cluster, working.refusing, [(str(number), number) for number in range(9)], say=said.append))
    assert str(raised.value) == "numbers:2: two is refused\n  Leave it out."
    assert said == []


def test_output_is_for_results(tmp_path: Path) -> None:
    """A cluster prints nothing to standard output, also when a worker dies, and sends no statistics."""
    for package in ("distributed", "ray"):
        needed(package)
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from graphkit.shards.executors import opened_executor\n"
        "from graphkit.shards.work import in_order\n"
        "from tests.shards import working\n"
        "if __name__ == '__main__':\n"
        "    with opened_executor(sys.argv[1]) as executor:\n"
        "        tasks = [('', (number, Path(sys.argv[2]))) for number in range(5)]\n"
        "        assert list(in_order(executor, working.killed_once, tasks)) == [*range(5)]\n"
        "    assert os.environ.get('RAY_USAGE_STATS_ENABLED', '0') == '0'\n"
    )
    script = tmp_path / "program.py"
    script.write_text(program)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])}
    for engine in ("dask=1", "ray=1"):
        done = subprocess.run(
            [sys.executable, str(script), engine, str(tmp_path / engine)],
            capture_output=True,
            text=True,
            env=environment,
            timeout=200,
        )
        assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_what_no_worker_offers(engine: str) -> None:
    """Resources that no worker declares are refused, since a task that asks for them would wait forever."""
    needed({"dask": "distributed"}.get(engine, engine))
    with pytest.raises(InputError, match=f"no worker of the {engine} cluster offers quanta=2"):
        opened_executor(f"{engine}=1", resources={"quanta": 2}).__enter__()


def test_dask_reserves_resources(tmp_path: Path) -> None:
    """Tasks that need a resource run only where workers declare it, on a cluster reached by its address."""
    needed("distributed")
    from distributed import LocalCluster

    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=2,
            host="127.0.0.1",
            resources={"gpu": 1},
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        opened_executor(f"dask={cluster.scheduler_address}", resources={"gpu": 1}) as executor,
    ):
        # The worker has two threads and one such resource: no two tasks are inside at the same time.
        assert list(in_order(executor, working.alone, [("", tmp_path / "inside")] * 8)) == [True] * 8


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated dataset with a run."""
    return generate(tmp_path_factory.mktemp("source"), 5, questions=60)


def scored(run: str | Path, dataset: str | Path, out: str | Path | None, mark: Path, **more: Any) -> None:
    """Score a run in shards by measures of which one kills a worker, unless there is a mark."""
    measures = ["EdgeRecall", "nDCG@10", KillsOnce("gen5-030", str(mark))]
    graphkit.evaluate(run, dataset, measures=measures, outcomes=True, out=out, **more)


def contents(folder: Location) -> dict[str, bytes]:
    """Return the files of a folder."""
    found = {}
    for file in folder.files():
        with file.opened() as stream:
            found[file.name] = stream.read()
    return found


def test_a_cluster_scores_a_run(cluster: Executor, source: Path, tmp_path: Path) -> None:
    """A cluster of which a worker is killed writes the results of one process, to the last byte."""
    dataset, mark = in_six_shards(source, tmp_path), tmp_path / "mark"
    scored(run_in(dataset), dataset, tmp_path / "spread", mark, executor=cluster)
    assert mark.exists()
    scored(run_in(dataset), dataset, tmp_path / "alone", mark)
    assert contents(Location.of(tmp_path / "spread")) == contents(Location.of(tmp_path / "alone"))


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_a_cluster_writes_everything(tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three runs read as logs, with scores and clusters: a cluster writes the bytes of this process, of each kind."""
    needed({"dask": "distributed"}.get(engine, engine))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")]))
    dataset = three_runs(tmp_path)
    alone = everything(dataset, tmp_path / "alone")
    assert len(alone) == len(FILES) + 3 * len(PARTS)
    assert everything(dataset, tmp_path / "spread", "--on", f"{engine}=2") == alone


def test_what_a_cluster_scored_is_stored(cluster: Executor, graph: Graph, source: Path, tmp_path: Path) -> None:
    """A cluster that loses a worker, and has no results folder, stores the same graph as one process."""
    dataset, mark = in_six_shards(source, tmp_path), tmp_path / "mark"
    store = emptied(graph.store)
    scored(run_in(dataset), dataset, None, mark, executor=cluster, store=store, keep="failures")
    assert mark.exists()
    found = but_for_files(store)
    scored(run_in(dataset), dataset, tmp_path / "alone", mark, store=emptied(store), keep="failures")
    assert but_for_files(store) == found


# S3 -----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """The URL of a bucket of an S3 server on loopback that checks signatures; the environment holds a right key."""
    for package in ("moto", "s3fs"):
        needed(package)
    import boto3

    port = free_port()
    address = f"http://127.0.0.1:{port}"
    # What makes the user, his key and his policy are the three calls that nobody signs.
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        env={**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": "3"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        answering(address)
        given: dict[str, Any] = {"endpoint_url": address, "region_name": "us-east-1"}
        iam = boto3.client("iam", aws_access_key_id="nobody", aws_secret_access_key="nothing", **given)
        iam.create_user(UserName=USER)
        key = iam.create_access_key(UserName=USER)["AccessKey"]
        everything = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
        iam.put_user_policy(UserName=USER, PolicyName="all", PolicyDocument=json.dumps(everything))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_ENDPOINT_URL", address)
            patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
            patch.setenv("AWS_ACCESS_KEY_ID", key["AccessKeyId"])
            patch.setenv("AWS_SECRET_ACCESS_KEY", key["SecretAccessKey"])
            boto3.client("s3", endpoint_url=address).create_bucket(Bucket="shards")
            yield "s3://shards"
    finally:
        server.kill()
        server.wait()


def answering(address: str) -> None:
    """Wait until a server answers."""
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{address}/moto-api/data.json", timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the S3 server didn't start")


def test_shards_in_a_bucket(bucket: str, tmp_path: Path) -> None:
    """Shards of S3 are worked on by processes, one of them killed; parts lie in S3, and are reused and repaired."""
    for number in (1, 2, 10):
        file = tmp_path / f"part-{number}.jsonl"
        file.write_text("".join(f'{{"id":"{number}-{line}"}}\n' for line in range(3)))
        with Location.of(f"{bucket}/questions").staging() as staging:
            copy = staging / file.name
            copy.write_bytes(file.read_bytes())
            Location.of(f"{bucket}/questions").put(copy, file.name)
    shards = shards_of(f"{bucket}/questions/part-*.jsonl")
    assert [shard.location.name for shard in shards] == ["part-1.jsonl", "part-2.jsonl", "part-10.jsonl"]
    assert shards == shards_of(f"{bucket}/questions")
    assert [line for _, line in shard_lines(shards[2])] == [b'{"id":"10-0"}', b'{"id":"10-1"}', b'{"id":"10-2"}']
    marks = tmp_path / "marks"
    marks.mkdir()
    tasks = [ShardTask(key_of(shard.key), (shard, marks), shard.name) for shard in shards]
    folder = Location.of(f"{bucket}/results/parts")
    expected = ["1-0 1-1 1-2", "2-0 2-1 2-2", "10-0 10-1 10-2"]
    said: list[str] = []

    def contents(executor: Executor) -> list[str]:
        return [path.read_text() for path in finished_parts(executor, working.names, tasks, folder, say=said.append)]

    with opened_executor("processes=2") as executor:
        assert contents(executor) == expected
        assert [sentence.partition(" (")[0] for sentence in said] == [
            f"{bucket}/questions/part-2.jsonl: its worker was lost"
        ]
        said.clear()
        assert contents(executor) == expected
        assert said == []
        damaged = next(file for file in folder.files() if file.name.startswith(tasks[0].key))
        with folder.staging() as staging:
            (staging / "x").write_text("nonsense")
            folder.put(staging / "x", damaged.name)
        assert contents(executor) == expected
        assert said == [f"{damaged}: the part is damaged; it is made again"]
    assert {mark.name: mark.read_text() for mark in marks.iterdir()} == {
        "part-1.jsonl": "xx",
        "part-2.jsonl": "xx",
        "part-10.jsonl": "x",
    }


@pytest.mark.parametrize("wrong", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_a_wrong_key(bucket: str, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    """A wrong key is refused with what to check, and the key isn't in the message."""
    from s3fs import S3FileSystem

    monkeypatch.setenv(wrong, "NOTTHERIGHTKEY123456")
    S3FileSystem.clear_instance_cache()
    try:
        with pytest.raises(InputError, match=f"^{bucket}/questions.*: access is refused: ") as raised:
            shards_of(f"{bucket}/questions/part-1.jsonl")
        assert "Check the credentials" in str(raised.value)
        assert "NOTTHERIGHTKEY123456" not in str(raised.value)
    finally:
        S3FileSystem.clear_instance_cache()


def test_no_such_bucket(bucket: str) -> None:
    """A bucket that isn't there is an error that names it."""
    with pytest.raises(InputError, match=r"s3://nowhere/a\.jsonl: there is no such file"):
        shards_of("s3://nowhere/a.jsonl")


def test_a_run_in_a_bucket_is_scored(bucket: str, graph: Graph, source: Path, tmp_path: Path) -> None:
    """Shards of S3, with a killed worker and results in S3, give the bytes and the graph of the same shards on this
    machine.
    """
    dataset, mark = in_six_shards(source, tmp_path), tmp_path / "mark"
    for file in sorted(dataset.rglob("*.*")):
        folder = Location.of(f"{bucket}/{file.parent.relative_to(tmp_path)}")
        with folder.staging() as staging:
            (staging / file.name).write_bytes(file.read_bytes())
            folder.put(staging / file.name, file.name)
    run = f"{bucket}/{run_in(dataset).relative_to(tmp_path)}"
    kept: dict[str, Any] = {"store": emptied(graph.store), "keep": "failures"}
    scored(run, f"{bucket}/data", f"{bucket}/scored", mark, executor="processes=2", **kept)
    assert mark.exists()
    stored = but_for_files(graph.store)
    emptied(graph.store)
    scored(run_in(dataset), dataset, tmp_path / "alone", mark, **kept)
    assert but_for_files(graph.store) == stored
    assert contents(Location.of(f"{bucket}/scored")) == contents(Location.of(tmp_path / "alone"))
    assert Location.of(f"{bucket}/scored.parts").files() == []
    assert graphkit.read_results(f"{bucket}/scored").manifest["questions"] == 60


def test_a_cluster_runs_and_grades(cluster: Executor, tmp_path: Path) -> None:
    """A cluster answers and judges with a worker killed on the way, and the files are those of one process."""
    names = [f"q{number}" for number in range(24)]
    questions = [{"id": name, "question": f"What of {name}?", "gold_answer": "It calls Billing."} for name in names]
    data = tmp_path / "data"
    write_jsonl(data / "questions.jsonl", questions)
    (tmp_path / "mark").touch()
    calm = partial(working.answering, tmp_path / "mark")
    shaken = partial(working.answering, tmp_path / "other")
    [one] = run_systems(data, {"r": calm}, out=tmp_path / "one")
    [two] = run_systems(data, {"r": shaken}, out=tmp_path / "two", executor=cluster)
    assert (tmp_path / "other").exists()
    assert one.file.read_bytes() == two.file.read_bytes()
    first = grade(one.file, data)
    assert first == grade(two.file, data, executor=cluster)
    assert len(first.verdicts) > 0


def test_a_cluster_imports_logs(cluster: Executor, tmp_path: Path) -> None:
    """A cluster reads a folder of logs with a worker killed on the way: run and report are those of one process."""
    folder = twelve_logs(tmp_path)
    one, two = folder / "one" / "r.jsonl", folder / "two" / "r.jsonl"
    alone = import_log(folder / "logs", "graphkit", folder / "data", out=one)
    shaken = working.KillsOnce(cluster, tmp_path / "mark")
    spread = import_log(folder / "logs", "graphkit", folder / "data", out=two, executor=shaken)
    assert (tmp_path / "mark").exists()
    assert two.read_bytes() == one.read_bytes()
    assert len(one.read_text().splitlines()) == 2
    assert (spread.summary, spread.answers) == (alone.summary, alone.answers)


def test_a_cluster_compares(cluster: Executor, tmp_path: Path) -> None:
    """A cluster draws the resamples of a comparison with a worker killed on the way: the figures stay the same."""
    file = scores(tmp_path)

    def compared(executor: Executor | None) -> Any:
        found = compare_scores([file], "a", "b", by="category", resamples=500, problems=Problems(), executor=executor)
        return found.as_json()

    spread = compared(working.KillsOnce(cluster, tmp_path / "mark"))
    assert (tmp_path / "mark").exists()
    assert spread == compared(None)
