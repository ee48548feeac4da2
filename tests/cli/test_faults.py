"""Runs killed before every single call that changes a file, and disks that fail at every one of them."""

import errno
import json
import os
import pathlib
import random
import signal
import subprocess
import sys

import pytest

from conftest import BAD_DATA, BINARY, CANNOT_WRITE, OK, hqmm

SHIM = pathlib.Path(os.environ.get("HQMM_FAULTS", pathlib.Path(BINARY).parent / "tests" / "hqmm_faults.so"))
pytestmark = [
    pytest.mark.skipif(bool(os.environ.get("HQMM_SANITIZE")), reason="skipped: a sanitizer and faults cannot both be preloaded"),
    pytest.mark.skipif(not SHIM.exists(), reason=f"skipped: no {SHIM.name} to preload (HQMM_FAULTS says where it is)")]

HQMM = ["-n", 2, "-w", 1]
EM = ["--learner", "em", "-n", 2, "--tolerance", 0, "--restarts", 1]
CONFIGURATIONS = {
    "ns-ris": HQMM,
    "momentum": [*HQMM, "--momentum", 0.5, "--schedule", "geometric"],
    "literal": [*HQMM, "--retraction", "literal"],
    "cosm": [*HQMM, "--learner", "cosm"],
    "givens": [*HQMM, "--learner", "givens"],
    "em": EM,
    "edges": [*EM, "--emission", "edge"],
    "restarts": ["-n", 1, "-w", 1, "--restarts", 2],
    "halving": ["-n", 1, "-w", 1, "--restarts", 3, "--halving"],
    "structured": [*HQMM, "--field", "real", "--emission", "state"],
    "warm": ["-n", 2, "--warm-start", "em"],
    "bound": [*HQMM, "--stationarity"],
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two files with something to learn in them."""
    folder = tmp_path_factory.mktemp("data")
    for name, rows in (("train", 4), ("validation", 2)):
        (folder / f"{name}.txt").write_text("0 1 1 0 1 1 0 1 1 0 1 1\n" * rows + "1 0 0 1 0 1 1 0 1 1 1 0\n")
    return folder


class Case:
    """One configuration: what its unbroken run leaves behind, and runs that something happens to."""

    def __init__(self, folder, data, options):
        self.folder = folder
        self.args = ["train", data / "train.txt", "--validation", data / "validation.txt", *options, "--epochs", 2,
                     "--quiet", "--threads", 1]
        done, self.calls = self.start(self.run("whole"))
        assert done.returncode == OK, done.stderr
        self.whole = contents(self.run("whole"))

    def run(self, name):
        return self.folder / str(name)

    def start(self, run, mode="", at=0, error=0):
        """Begins the run, or goes on with it. How it ended, and its calls as (name, file)."""
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        args = ["train", "--resume", run, "--quiet"] if (run / "config.json").exists() else [*self.args, "--run", run]
        faults = {"LD_PRELOAD": SHIM, "HQMM_FAULT_FOLDER": run, "HQMM_FAULT_LOG": log, "HQMM_FAULT_MODE": mode,
                  "HQMM_FAULT_AT": at, "HQMM_FAULT_ERRNO": error}
        done = subprocess.run([BINARY, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, env={**os.environ, **{k: str(v) for k, v in faults.items()}})
        return done, [tuple(line.split(" ", 1)) for line in log.read_text().splitlines()]

    def killed(self, run, at):
        done, calls = self.start(run, "kill", at)
        assert done.returncode == -signal.SIGKILL and len(calls) == at, (at, done)

    def assert_same_after_a_resume(self, run, what):
        done, _ = self.start(run)
        assert done.returncode == OK, (what, done.stderr)
        assert contents(run) == self.whole, what


def harmless(call):
    """The files are there all the same, or it is the checkpoint before the last that is lost."""
    name, file = call
    return name in ("sync-folder", "remove") or file.endswith("checkpoint-before.h5")


class CellsCase(Case):
    """The same of a command whose run directory keeps finished cells; its result is told and may be a file."""

    def __init__(self, folder, data, command, result, options):
        self.folder, self.command, self.result = folder, command, result
        self.args = [*command, data, *options, "--quiet", "--threads", 1]
        done, self.calls = self.start(self.run("whole"))
        assert done.returncode == OK, done.stderr
        self.whole = self.contents(self.run("whole"), done)

    def contents(self, run, done):
        """What is told, without the time it took, and the bytes of the result."""
        told = json.loads(done.stdout)
        for one in [told, *told.get("models", [])]:
            one.pop("seconds", None)
            one.pop("model", None)
        return told, (run / self.result).read_bytes() if self.result else None

    def start(self, run, mode="", at=0, error=0):
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        args = [*self.command, "--resume", run, "--quiet", "--threads", 1] if (run / "config.json").exists() else \
            [*self.args, "--run", run]
        faults = {"LD_PRELOAD": SHIM, "HQMM_FAULT_FOLDER": run, "HQMM_FAULT_LOG": log, "HQMM_FAULT_MODE": mode,
                  "HQMM_FAULT_AT": at, "HQMM_FAULT_ERRNO": error}
        done = subprocess.run([BINARY, *map(str, args), "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env={**os.environ, **{k: str(v) for k, v in faults.items()}})
        return done, [tuple(line.split(" ", 1)) for line in log.read_text().splitlines()]

    def assert_same_after_a_resume(self, run, what):
        done, _ = self.start(run)
        assert done.returncode == OK, (what, done.stderr)
        assert self.contents(run, done) == self.whole, what


def contents(run):
    """What a run keeps, without the time it took."""
    found = {path.name: path.read_bytes() for path in run.iterdir()}
    found["history.jsonl"] = [{key: value for key, value in json.loads(line).items() if key != "seconds"}
                              for line in found["history.jsonl"].splitlines()]
    summary = json.loads(found["summary.json"])
    found["summary.json"] = {key: value for key, value in summary.items() if key not in ("seconds", "model")}
    for name in ("checkpoint.h5", "checkpoint-before.h5"):
        found.pop(name, None)  # has the seconds, too
    return found


CELLS = {
    "select": (["select"], "model.h5", ["-n", "1,2", "-w", 1, "--epochs", 2]),
    "fit": (["classify", "fit"], "classifier.h5", ["-n", 2, "-w", 1, "--epochs", 1, "--members", 2, "--inner-folds", 1]),
    "cross-validate": (["classify", "cross-validate"], None,
                       ["-n", 2, "-w", 1, "--epochs", 1, "--folds", 2, "--inner-folds", 1, "--grid", "dropout=0.3,0.5",
                        "--explain"]),
}


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    path = tmp_path_factory.mktemp("labelled") / "labelled.txt"
    rng = random.Random(1)
    rows = [f"{label}\t{''.join(rng.choice('ACGT') for _ in range(6))}{letter}\n" for label, letter in ("aA", "bC") * 8]
    path.write_text("".join(rows))
    return path


@pytest.fixture(params=CELLS)
def cells(tmp_path, data, labelled, request):
    command, result, options = CELLS[request.param]
    return CellsCase(tmp_path, data / "train.txt" if request.param == "select" else labelled, command, result, options)


@pytest.fixture
def case(tmp_path, data, request):
    return Case(tmp_path, data, CONFIGURATIONS[getattr(request, "param", "ns-ris")])


every_configuration = pytest.mark.parametrize("case", CONFIGURATIONS, indirect=True)


@every_configuration
def test_killed_before_every_call_and_resumed(case):
    assert {"create", "write", "sync", "rename", "remove"} <= {name for name, _ in case.calls}
    for at, call in enumerate(case.calls, 1):
        case.killed(case.run(at), at)
        case.assert_same_after_a_resume(case.run(at), call)


def test_cells_killed_before_every_call_and_resumed(cells):
    assert {"create", "write", "sync", "rename", "folder"} <= {name for name, _ in cells.calls}
    for at, call in enumerate(cells.calls, 1):
        cells.killed(cells.run(at), at)
        cells.assert_same_after_a_resume(cells.run(at), call)


def test_cells_on_a_full_disk(cells):
    for at, call in enumerate(cells.calls, 1):
        run = cells.run(at)
        done, _ = cells.start(run, "fail", at, errno.ENOSPC)
        if not harmless(call):
            assert done.returncode == CANNOT_WRITE and done.stderr.count("\n") == 1, (call, done)
        cells.assert_same_after_a_resume(run, call)


def test_damaged_cells_are_done_again(cells):
    """A flipped bit anywhere never changes a result."""
    run, chance = cells.run("whole"), random.Random(2)
    for path in sorted(path for path in (run / "cells").rglob("*") if path.suffix in (".json", ".h5") and path.name != "config.json"):
        whole = path.read_bytes()
        flipped = bytearray(whole)
        flipped[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        done, _ = cells.start(run)
        if done.returncode == BAD_DATA:  # both checkpoints of a model: the first had no epoch yet
            assert path.name in done.stderr and path.name.startswith("checkpoint")
            path.write_bytes(whole)
        else:
            assert cells.contents(run, done) == cells.whole, (path, done.stderr)


def test_runs_broken_in_every_way(tmp_path):
    """A little of what ./dev test faults does for long."""
    harness = pathlib.Path(__file__).parents[1] / "faults" / "run.py"
    done = subprocess.run([sys.executable, harness, BINARY, SHIM, "--trials", "14", "--seed", "7"], capture_output=True, text=True,
                          env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.returncode == OK, done.stdout + done.stderr


def test_killed_once_more_while_going_on(case):
    middle = len(case.calls) // 2
    case.killed(case.run("first"), middle)
    _, calls = case.start(case.run("first"))
    for at, call in enumerate(calls, 1):
        case.killed(case.run(at), middle)
        case.killed(case.run(at), at)
        case.assert_same_after_a_resume(case.run(at), call)


@every_configuration
@pytest.mark.parametrize("mode", ["short", "interrupt"])
def test_writes_cut_short_or_interrupted(case, mode):
    done, calls = case.start(case.run("run"), mode)
    assert done.returncode == OK, done.stderr
    assert len(calls) > len(case.calls), "what was not written was written again"
    assert contents(case.run("run")) == case.whole


@pytest.mark.parametrize("reason", ["ENOSPC", "EIO"])
def test_every_call_fails_once(case, reason):
    for at, call in enumerate(case.calls, 1):
        run = case.run(at)
        done, _ = case.start(run, "fail", at, getattr(errno, reason))
        if harmless(call):
            assert done.returncode == OK, (call, done.stderr)
        else:
            assert done.returncode == CANNOT_WRITE and done.stderr.count("\n") == 1, (call, done)
            assert os.strerror(getattr(errno, reason)) in done.stderr, (call, done.stderr)
            assert not list(run.glob(".hqmm-*")), call
            if (run / "history.jsonl").exists():
                assert (run / "history.jsonl").read_bytes().endswith(b"\n"), call
        case.assert_same_after_a_resume(run, call)


def test_every_file_is_on_the_disk_before_it_has_its_name(case):
    names = [name for name, _ in case.calls]
    for at, (name, file) in enumerate(case.calls):
        if name == "rename" and not file.endswith("checkpoint-before.h5"):
            assert names[at - 3: at + 2] == ["create", "write", "sync", "rename", "sync-folder"]


@pytest.mark.parametrize("command", ["convert", "generate"])
def test_a_kill_leaves_the_old_file_or_the_new_one(tmp_path, model, command):
    """Of other commands, too: and their next writes clear away what is left."""
    folder = tmp_path / "out"
    args = {"convert": ["convert", model, folder / "out.json"],
            "generate": ["generate", "synthetic-hmm", "-o", folder]}[command]
    folder.mkdir()
    assert hqmm(*args).returncode == OK
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    environment = {**os.environ, "LD_PRELOAD": str(SHIM), "HQMM_FAULT_FOLDER": str(folder), "HQMM_FAULT_MODE": "kill"}
    for at in range(1, 100):
        done = subprocess.run([BINARY, *map(str, args)], env={**environment, "HQMM_FAULT_AT": str(at)}, capture_output=True)
        if done.returncode == OK:
            break
        assert done.returncode == -signal.SIGKILL
        left = {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".hqmm-")}
        assert left == whole
        assert len(list(folder.glob(".hqmm-*"))) <= 1, "each clears away what the one before left"
    assert at > 4 and {path.name: path.read_bytes() for path in folder.iterdir()} == whole
