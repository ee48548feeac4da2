"""hqmm train --run: runs that survive kills, other processes and full disks."""

import fcntl
import json
import random
import signal
import subprocess
import time

import pytest

from conftest import BINARY, CANNOT_WRITE, OK, USAGE, fails, hqmm, hqmm_json
from run_directories import epochs, history, wait_for_epochs
from test_train import INTERRUPTED, SMALL, assert_sound, benchmark, data, train  # noqa: F401

KILLS = 6


class Unbroken:
    """A run that nothing disturbs, and how long it takes."""

    def __init__(self, folder, benchmark):
        self.args = ["train", benchmark / "train.txt", "--validation", benchmark / "validation.txt",
                     "-n", 3, "--restarts", 2, "--epochs", 40, "--initial-state", "learned", "--quiet", "--threads", 1]
        start = time.monotonic()
        assert hqmm(*self.args, "--run", folder / "run").returncode == OK
        self.seconds = time.monotonic() - start
        self.model = (folder / "run" / "model.h5").read_bytes()
        self.epochs = epochs(folder / "run")

    def start(self, *args):
        return subprocess.Popen([BINARY, *map(str, args)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def assert_same(self, run):
        assert (run / "model.h5").read_bytes() == self.model
        assert epochs(run) == self.epochs
        assert not list(run.glob(".hqmm-*")), "half-written files are cleared away"


@pytest.fixture(scope="session")
def unbroken(tmp_path_factory, benchmark):
    return Unbroken(tmp_path_factory.mktemp("unbroken"), benchmark)


# Kills

@pytest.mark.parametrize("moment", range(KILLS))
def test_killed_at_a_random_moment_and_resumed(tmp_path, unbroken, moment):
    delay = (moment + random.Random(moment).random()) / KILLS * unbroken.seconds
    process = unbroken.start(*unbroken.args, "--run", tmp_path / "run")
    time.sleep(delay)
    process.kill()
    process.communicate()
    if not (tmp_path / "run" / "config.json").exists():  # killed before it began
        assert hqmm(*unbroken.args, "--run", tmp_path / "run").returncode == OK
    else:
        done = hqmm("train", "--resume", tmp_path / "run")
        assert done.returncode == OK, done.stderr
    unbroken.assert_same(tmp_path / "run")


def test_killed_again_and_again(tmp_path, unbroken):
    run = tmp_path / "run"
    args = [*unbroken.args, "--run", run]
    chance = random.Random(5)
    whole = len(unbroken.epochs)
    for part in range(1, 9):  # each is killed in its own eighth of the history
        process = unbroken.start(*args)
        wait_for_epochs(process, run, whole * (part - 1) // 8 + chance.randrange(1, whole // 8))
        process.kill()
        process.communicate()
        args = ["train", "--resume", run]
    assert hqmm(*args).returncode == OK
    unbroken.assert_same(run)


@pytest.mark.parametrize("args", [["--learner", "cosm"], ["--learner", "givens"], ["--learner", "em", "--tolerance", 0],
                                  ["--retraction", "literal"]], ids=lambda args: args[1])
def test_other_learners_killed_and_resumed(tmp_path, data, args):
    args = ["train", data, "-n", 2, "-w", 1, "--epochs", 20, "--restarts", 2, "--quiet", *args]
    assert hqmm(*args, "--run", tmp_path / "whole").returncode == OK
    process = subprocess.Popen([BINARY, *map(str, args), "--run", tmp_path / "run"])
    wait_for_epochs(process, tmp_path / "run", 27)  # in the second restart
    process.kill()
    process.wait()
    assert hqmm("train", "--resume", tmp_path / "run").returncode == OK
    assert (tmp_path / "run" / "model.h5").read_bytes() == (tmp_path / "whole" / "model.h5").read_bytes()
    assert epochs(tmp_path / "run") == epochs(tmp_path / "whole")


def test_interrupted_during_the_warm_start(tmp_path, data):
    args = ["train", data, "-n", 4, "--epochs", 1, "--warm-start", "em", "--quiet"]
    process = subprocess.Popen([BINARY, *map(str, args), "--run", tmp_path / "run"], stderr=subprocess.PIPE)
    while process.poll() is None and not (tmp_path / "run" / "config.json").exists():
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    assert b"--resume" in process.communicate()[1] and process.returncode == INTERRUPTED
    assert hqmm("train", "--resume", tmp_path / "run").returncode == OK
    assert hqmm(*args, "-o", tmp_path / "m.h5").returncode == OK
    assert (tmp_path / "run" / "model.h5").read_bytes() == (tmp_path / "m.h5").read_bytes()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_and_resumed(tmp_path, unbroken, how):
    run = tmp_path / "run"
    process = unbroken.start(*unbroken.args, "--run", run)
    wait_for_epochs(process, run, 20)
    process.send_signal(how)
    stderr = process.communicate(timeout=60)[1].decode()
    assert process.returncode == INTERRUPTED
    assert stderr.count("\n") == 1 and f"--resume {run}" in stderr
    assert_sound(run / "model.h5")
    assert hqmm_json("inspect", run)["status"] == "interrupted"
    assert hqmm("train", "--resume", run).returncode == OK
    unbroken.assert_same(run)


def test_one_process_per_run(tmp_path, data):
    run = tmp_path / "run"
    process = subprocess.Popen([BINARY, "train", data, "--epochs", "1000000", "--run", run, "--quiet"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_epochs(process, run, 3)
        fails(USAGE, "train", "--resume", run, says="another hqmm")
        assert hqmm_json("inspect", run)["status"] is None
        assert "training now" in hqmm("inspect", run).stdout
    finally:
        process.kill()
        process.wait()


def test_started_at_once_on_one_folder(tmp_path, data):
    """One of them trains, and the others say why they do not."""
    args = ["train", data, "-n", 1, "-w", 1, "--epochs", 1, "--quiet", "--threads", 1]
    assert hqmm(*args, "--run", tmp_path / "alone").returncode == OK
    model, names = (tmp_path / "alone" / "model.h5").read_bytes(), {p.name for p in (tmp_path / "alone").iterdir()}
    for attempt in range(30):
        run = tmp_path / f"run{attempt}"
        # The seed tells whose folder it is.
        started = [subprocess.Popen([BINARY, *map(str, args), "--run", run, "--seed", str(seed)], text=True,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for seed in (1, 2, 3)]
        said = [process.communicate()[1] for process in started]
        codes = [process.returncode for process in started]
        assert sorted(codes) == [OK, USAGE, USAGE], (codes, said)
        for code, text in zip(codes, said):
            if code == USAGE:
                assert text.count("\n") == 1 and ("another hqmm" in text or "holds a run already" in text), text
        assert {p.name for p in run.iterdir()} == names
        assert json.loads((run / "config.json").read_text())["options"]["seed"] == 1 + codes.index(OK)
        assert len(history(run)) == 2
        if codes[0] == OK:
            assert (run / "model.h5").read_bytes() == model
        # The checkpoint is of the same run, or this would be refused.
        if attempt % 10 == 0:
            whole = (run / "model.h5").read_bytes()
            resumed = [subprocess.Popen([BINARY, "train", "--resume", run, "--quiet"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL) for _ in range(3)]
            assert OK in {process.wait() for process in resumed} <= {OK, USAGE}
            assert (run / "model.h5").read_bytes() == whole


def test_the_loser_changes_nothing(tmp_path, data):
    run = tmp_path / "run"
    run.mkdir()
    with open(run / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fails(USAGE, "train", data, *SMALL, "--run", run, "--quiet", says=["another hqmm", str(run)])
        assert {p.name for p in run.iterdir()} == {".lock"}
    assert hqmm("train", data, *SMALL, "--run", run).returncode == OK
    before = {p.name: p.read_bytes() for p in run.iterdir()}
    with open(run / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fails(USAGE, "train", "--resume", run, says=["another hqmm", str(run)])
        assert hqmm_json("inspect", run)["status"] == "max-epochs"
    (run / ".lock").unlink()
    assert {p.name: p.read_bytes() for p in run.iterdir()} == before


# Full disks

@pytest.fixture
def disk(tmp_path):
    """A disk of 64 kB, and a way to enlarge it."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("skipped: mounting a small tmpfs needs root")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_full_disk_under_a_run(tmp_path, data, disk):
    args = ["train", data, "-n", 2, "-w", 1, "--epochs", 300, "--schedule", "constant", "--quiet"]
    fails(CANNOT_WRITE, *args, "--run", disk / "run", says=[str(disk), "--resume"])
    assert not list((disk / "run").glob(".hqmm-*"))
    subprocess.run(["mount", "-o", "remount,size=4m", disk], check=True)
    assert hqmm("train", "--resume", disk / "run").returncode == OK
    assert hqmm(*args, "-o", tmp_path / "m.h5").returncode == OK
    assert (disk / "run" / "model.h5").read_bytes() == (tmp_path / "m.h5").read_bytes()
    assert [r["epoch"] for r in history(disk / "run")] == list(range(301))


def test_full_disk_under_the_model(tmp_path, data, disk, monkeypatch):
    model = disk / "m.h5"
    model.write_text("the previous one")
    (disk / "filler").write_bytes(b"0" * 56 * 1024)
    args = ["train", data, *SMALL, "--quiet", "-o", model]
    fails(CANNOT_WRITE, *args, "--run", tmp_path / "run", says=["m.h5", "No space left", "--resume"])
    assert hqmm("train", "--resume", tmp_path / "run", "-o", tmp_path / "m.h5").returncode == OK
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    fails(CANNOT_WRITE, *args, says=["m.h5", "No space left", f"the model is in {tmp_path}"])
    rescued, = tmp_path.glob("hqmm-*.h5")
    assert rescued.read_bytes() == (tmp_path / "m.h5").read_bytes()
    assert model.read_text() == "the previous one" and {p.name for p in disk.iterdir()} == {"m.h5", "filler"}
