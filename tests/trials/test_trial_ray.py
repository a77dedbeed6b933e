"""Trials on Ray come out as trials on this machine do, also when a node is lost on the way."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Thread

import pytest
from trying import TINY, Project, contents, is_gone

from netmend.repair.options import RepairOptions
from netmend.repair.session import repair
from netmend.store import read_trace
from netmend.trials.local import LocalExecutor
from netmend.trials.on_ray import RayExecutor
from netmend.trials.trial import FAILED, FINISHED, LOST, Limits, Outcome, Target, Trial
from netmend.trials.workspace import relocated
from netmend.verify.verify import verify

ray = pytest.importorskip("ray")

NOTICING = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 1000,
    "health_check_failure_threshold": 3,
}
# A rate that is far too low: told, mended, proven within a few short trainings.
SLOW = TINY.replace("lr=0.1", "lr=1e-6").replace("range(20)", "range(60)")


def assert_same(here: Outcome, there: Outcome) -> None:
    """All that must not depend on where a trial ran; which steps are recorded in full does, since it is a matter of time."""
    for name in ("status", "steps", "exit_code", "exception", "notes"):
        assert getattr(there, name) == getattr(here, name), name
    assert there.output.replace(there.root, "ROOT") == here.output.replace(here.root, "ROOT")
    assert printed(there) == printed(here)
    losses, others = (dict(one.series.get("training:loss", ())) for one in (here, there))
    both = losses.keys() & others.keys()  # which steps are recorded depends on how busy the machine is
    assert (len(both) > 0) == bool(losses or others)
    assert {step: losses[step] for step in both} == {step: others[step] for step in both}


def printed(outcome: Outcome) -> dict[str, list[list[float]]]:
    return {name: points for name, points in outcome.series.items() if name.startswith("printed:")}


def test_same_results(project: Project, tmp_path: Path) -> None:
    project.write("train.py", TINY + "print('data', len(open('data.bin', 'rb').read()))\n")
    (project.folder / "data.bin").write_bytes(b"x" * 1000)
    before = contents(project.folder)
    failing = (("train.py", TINY + "open('no such file')\n"),)
    writing = (("train.py", f"open({str(project.folder / 'new.txt')!r}, 'w')\n"),)
    target = project.runner().target
    trials = [Trial(target), Trial(target, seed=1), Trial(target, failing), Trial(target, writing)]
    local = project.runner().run(trials)
    executor = RayExecutor("local", 2)
    try:
        runner = Project(project.folder, executor).runner(trials=tmp_path / "ray")
        remote = runner.run(trials)
        assert [outcome.status for outcome in remote] == [FINISHED, FINISHED, FAILED, FAILED]
        for here, there in zip(local, remote, strict=True):
            assert_same(here, there)
        check_record(remote[0], runner.place(trials[0]))
        check_stopping(project, executor, tmp_path)
    finally:
        executor.close()
    assert not ray.is_initialized()
    assert contents(project.folder) == before


def check_record(outcome: Outcome, folder: Path) -> None:
    """The record lies in the trial's folder and leads to the sources there."""
    assert Path(outcome.run).is_relative_to(folder)
    assert outcome.root == str(folder / "program")
    recorded = read_trace(Path(outcome.run))
    assert recorded.run.working_directory != outcome.root
    trace = relocated(recorded, outcome)
    assert trace.run.working_directory == outcome.root
    assert recorded.run.working_directory not in repr(trace)
    assert (Path(outcome.root) / trace.run.script).is_file()


def check_stopping(project: Project, executor: RayExecutor, tmp_path: Path) -> None:
    marker = tmp_path / "process"
    text = f"import os, time\nopen({str(marker)!r}, 'w').write(f'{{os.getpid()}}.')\ntime.sleep(1000)\n"
    trial = Trial(project.runner().target, (("train.py", text),), limits=Limits(seconds=500))

    def stopping() -> bool:
        return marker.exists() and marker.read_text().endswith(".")

    outcome = executor.run(tmp_path / "stopped", trial, (), stopping)
    assert (outcome.status, outcome.exception) == (LOST, "interrupted")
    assert is_gone(int(marker.read_text().rstrip(".")))


def test_lost_node(project: Project, tmp_path: Path) -> None:
    """Two nodes on this machine; one is killed while a trial runs on each of them."""
    from ray.cluster_utils import Cluster

    marks, killed = tmp_path / "marks", tmp_path / "killed"
    waiting = f"""\
import os, time
if os.path.isdir({str(marks)!r}):
    open(os.path.join({str(marks)!r}, str(time.time_ns())), "w")
    while not os.path.exists({str(killed)!r}):
        time.sleep(0.05)
"""
    project.write("train.py", waiting + TINY)
    trials = [Trial(project.runner().target, seed=seed) for seed in range(3)]
    local = project.runner().run(trials)
    marks.mkdir()
    head = {"num_cpus": 1, "include_dashboard": False, "_system_config": NOTICING}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        node = cluster.add_node(num_cpus=1)

        def kill() -> None:
            while len(list(marks.iterdir())) < 2:
                time.sleep(0.1)
            cluster.remove_node(node, allow_graceful=False)
            killed.touch()

        executor = RayExecutor(cluster.address, None)
        assert executor.jobs == 2
        killer = Thread(target=kill)
        killer.start()
        remote = Project(project.folder, executor).runner(trials=tmp_path / "ray").run(trials)
        killer.join()
        executor.close()
        assert cluster.head_node.any_processes_alive()  # not ours to stop
    finally:
        if ray.is_initialized():
            ray.shutdown()
        cluster.shutdown()
    for here, there in zip(local, remote, strict=True):
        assert_same(here, there)
    assert len(list(marks.iterdir())) > len(trials)  # one was begun twice


def test_same_repair_with_a_lost_node(project: Project, tmp_path: Path) -> None:
    """A whole search and its proof on two nodes, of which one is killed in the middle: the same verdict and patch as here."""
    from ray.cluster_utils import Cluster

    project.write("train.py", SLOW)
    target = Target("train.py", (), False, str(project.folder))
    here = repair(target, RepairOptions(directory=tmp_path / "here"), verify, executor=LocalExecutor(2))
    head = {"num_cpus": 1, "include_dashboard": False, "_system_config": NOTICING}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        node = cluster.add_node(num_cpus=1)
        done: list[str] = []

        def told(doing: str, problem: object, outcome: Outcome | None) -> None:
            done.append(doing)
            if done.count("proving") == 4 and node.any_processes_alive():
                cluster.remove_node(node, allow_graceful=False)

        executor = RayExecutor(cluster.address, None)
        options = RepairOptions(executor="ray", directory=tmp_path / "there")
        there = repair(target, options, verify, told, executor)
        assert not node.any_processes_alive()
    finally:
        if ray.is_initialized():
            ray.shutdown()
        cluster.shutdown()
    assert (there.verdict, there.patch) == (here.verdict, here.patch)
    assert there.verdict == "proven"
    assert there.verification is not None and here.verification is not None
    assert there.verification.before == here.verification.before
    assert there.verification.after == here.verification.after
