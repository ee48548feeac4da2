"""Ranks under mpirun: the same bytes whatever their number, one voice, and nothing lost when one is killed."""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import BAD_DATA, BINARY, OK, SOURCE, USAGE, hqmm

sys.path.insert(0, str(SOURCE / "tests" / "faults"))
import ranks as faults  # noqa: E402

MODULE = pathlib.Path(BINARY).parent / "hqmm_mpi.so"
needs_mpi = pytest.mark.skipif(not MODULE.exists() or shutil.which("mpirun") is None, reason="there is no Open MPI")


def on_ranks(count, *args, quiet=True):
    """hqmm by mpirun, which is told not to speak itself."""
    done = subprocess.run(faults.mpirun(count, quiet) + [BINARY, *map(str, args)], env=faults.environment(),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, text=True)
    return done


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Sequences of several lengths; of three classes that differ in their symbols."""
    folder = tmp_path_factory.mktemp("data")
    rng = random.Random(5)
    for name, rows in (("train", 90), ("validation", 12)):
        lines = [" ".join(str(rng.choice((0, 0, 1, 2))) for _ in range(rng.randrange(20, 60))) for _ in range(rows)]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    rows = []
    for i in range(36):
        weights = [(4, 1, 1, 1), (1, 4, 1, 1), (1, 1, 3, 3)][i % 3]
        rows.append(f">r{i} class={i % 3}\n" + "".join(rng.choices("ACGT", weights, k=14)))
        (folder / f"{'abc'[i % 3]}.fa").open("a").write(f">r{i}\n" + "".join(rng.choices("ACGT", weights, k=14)) + "\n")
    return folder


TRAININGS = {
    "ns-ris": ["-n", 3, "-w", 2, "--epochs", 2, "--batch-size", 64],
    "em": ["--learner", "em", "-n", 3, "--epochs", 4],
    "em on edges": ["--learner", "em", "--emission", "edge", "-n", 2, "--epochs", 2],
    "restarts": ["-n", 2, "-w", 2, "--epochs", 4, "--restarts", 5, "--halving"],
    "warm start": ["--warm-start", "em", "-n", 2, "--epochs", 1, "--restarts", 2],
}


@needs_mpi
@pytest.mark.parametrize("name", TRAININGS)
def test_trained_models_are_the_same_bytes(name, data, tmp_path):
    args = ["train", data / "train.txt", "--validation", data / "validation.txt", *TRAININGS[name], "--threads", 1, "--quiet"]
    assert hqmm(*args, "-o", tmp_path / "alone.h5").returncode == OK
    for count in (1, 2, 3, 4) if name in ("ns-ris", "em") else (3,):
        done = on_ranks(count, *args, "-o", tmp_path / f"{count}.h5")
        assert done.returncode == OK and done.stderr == "", done.stderr
        assert (tmp_path / f"{count}.h5").read_bytes() == (tmp_path / "alone.h5").read_bytes(), count


@needs_mpi
def test_selected_models_are_the_same_bytes(data, tmp_path):
    args = ["select", data / "train.txt", "--validation", data / "validation.txt", "-n", "1,2", "-w", "1,2", "--epochs", 2,
            "--threads", 1, "--quiet", "--json"]

    def selected(run, name):
        done = run(*args, "-o", tmp_path / f"{name}.h5", "--run", tmp_path / f"{name}.run")
        assert done.returncode == OK, done.stderr
        models = json.loads(done.stdout)["models"]
        for model in models:
            del model["seconds"]
        # what is kept of every model goes on as if it had been trained here
        again = hqmm("select", "--resume", tmp_path / f"{name}.run", "-o", tmp_path / f"{name}-again.h5", "--quiet")
        assert again.returncode == OK, again.stderr
        assert (tmp_path / f"{name}-again.h5").read_bytes() == (tmp_path / f"{name}.h5").read_bytes()
        return models, (tmp_path / f"{name}.h5").read_bytes()

    alone = selected(hqmm, "alone")
    for count in (1, 2, 3, 4):
        assert selected(lambda *a: on_ranks(count, *a), str(count)) == alone, count


@needs_mpi
def test_cross_validation_says_the_same(data, tmp_path):
    classes = [word for name in "abc" for word in ("--class", f"{name}={data / name}.fa")]
    args = ["classify", "cross-validate", *classes, "--grid", "latent-dim=1,2", "--epochs", 1, "--folds", 3, "--threads", 1,
            "--json", "--quiet"]

    def validated(run, name):
        done = run(*args, "--predictions", tmp_path / f"{name}.tsv")
        assert done.returncode == OK, done.stderr
        found = json.loads(done.stdout)
        return {k: v for k, v in found.items() if k != "seconds"}, (tmp_path / f"{name}.tsv").read_bytes()

    alone = validated(hqmm, "alone")
    for count in (1, 2, 3, 4):
        assert validated(lambda *a: on_ranks(count, *a), str(count)) == alone, count


@needs_mpi
def test_scores_are_the_same(data, tmp_path):
    for learner in (["-n", 2, "-w", 2], ["--learner", "em", "-n", 2]):
        model = tmp_path / "model.h5"
        assert hqmm("train", data / "train.txt", *learner, "--epochs", 1, "-o", model, "--quiet").returncode == OK
        args = ["score", model, data / "train.txt", "--json", "--per-sequence", "--threads", 1]
        assert on_ranks(3, *args).stdout == hqmm(*args).stdout


@needs_mpi
def test_errors_are_said_once(data, tmp_path):
    (tmp_path / "bad.txt").write_text("0 1 2\n0 x 1\n")
    for args, code in ((["train", tmp_path / "bad.txt", "-n", 2, "-o", tmp_path / "m.h5"], BAD_DATA),
                       (["train", data / "train.txt", "-n", 0, "-o", tmp_path / "m.h5"], USAGE),
                       (["train", data / "train.txt", "--unknown"], USAGE),
                       (["score", tmp_path / "none.h5", data / "train.txt"], 66)):
        done = on_ranks(3, *args)
        alone = hqmm(*args)
        assert (done.returncode, done.stderr) == (alone.returncode, alone.stderr) and done.returncode == code
        assert done.stderr.count("hqmm: error:") == 1


@needs_mpi
def test_stdin_is_not_shared(data, tmp_path):
    for args in (["train", "-", "-n", 2, "-o", tmp_path / "m.h5"], ["score", "-", data / "train.txt"]):
        done = on_ranks(2, *args)
        assert done.returncode == USAGE
        assert done.stderr == "hqmm: error: ranks cannot share stdin: give a file that all of them can read\n"


@needs_mpi
def test_what_cannot_be_shared_is_done_once(data):
    assert on_ranks(3, "data", "--help").stdout == hqmm("data", "--help").stdout


@needs_mpi
def test_a_reproduction_has_the_same_results(tmp_path):
    def reproduced(run, name):
        done = run("reproduce", "synthetic-hqmm", "--quick", "--data", tmp_path, "-o", tmp_path / name, "--threads", 1, "--quiet")
        assert done.returncode == OK, done.stderr
        return (tmp_path / name / "results.csv").read_bytes()

    assert hqmm("generate", "synthetic-hqmm", "-o", tmp_path / "synthetic-hqmm", "--quiet").returncode == OK
    for part in ("train", "validation", "test"):
        path = tmp_path / "synthetic-hqmm" / f"{part}.txt"
        lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
        path.write_text("".join(" ".join(line.split()[:1100]) + "\n" for line in lines[:3]))
    alone = reproduced(hqmm, "alone")
    for count in (1, 2, 3, 4):
        assert reproduced(lambda *a: on_ranks(count, *a), str(count)) == alone, count


@needs_mpi
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_job_says_how_to_go_on(data, tmp_path, how):
    """What a scheduler sends at the end of the time: to mpirun, which hands it to all ranks."""
    run = tmp_path / "run"
    args = ["train", data / "train.txt", "-n", 3, "-w", 2, "--epochs", 1000000, "--batch-size", 64, "--threads", 1, "--quiet"]
    job = subprocess.Popen(faults.mpirun(3) + [BINARY, *map(str, args), "--run", run], env=faults.environment(),
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while job.poll() is None and not (run / "checkpoint.h5").exists():
        time.sleep(0.01)
    job.send_signal(how)
    said = job.communicate(timeout=60)[1]
    assert said == f"hqmm: error: interrupted; resume with 'hqmm train --resume {run}'\n"
    assert hqmm("train", "--resume", run, "--time-limit", 1e-9, "--quiet").returncode == OK


@needs_mpi
def test_killed_and_late_ranks_cost_nothing(tmp_path):
    """A little of what ./dev test faults does for long."""
    assert faults.Harness(BINARY, tmp_path, seed=1, names=("ns-ris", "select")).run(kills=2) == []


def test_without_mpi_one_line_says_so(data, tmp_path):
    lonely = tmp_path / "hqmm"
    shutil.copy(BINARY, lonely)
    job = {**os.environ, "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}
    args = [lonely, "train", data / "train.txt", "-n", "2", "-o", tmp_path / "m.h5"]
    done = subprocess.run(args, env=job, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == USAGE
    assert done.stderr == ("hqmm: error: this hqmm was built without Open MPI and cannot share work among 2 ranks: "
                           "start it without mpirun\n")
    job["OMPI_COMM_WORLD_SIZE"] = "1"
    assert subprocess.run([*args, "--epochs", "1", "--quiet"], env=job, stdout=subprocess.DEVNULL).returncode == OK


@needs_mpi
@pytest.mark.parametrize("name", ["ns-ris", "em"])
def test_ranks_with_scratch_files_give_the_same_bytes(name, tmp_path):
    """Twelve megabytes of symbols, under a limit that leaves ten in memory."""
    rng = random.Random(7)
    digits = bytes(48 + value % 3 for value in range(256))
    lines = (b" ".join(bytes([c]) for c in rng.randbytes(2000).translate(digits)) for _ in range(100))
    (tmp_path / "large.txt").write_bytes((b"\n".join(lines) + b"\n") * 60)
    options = [1 if before == "--epochs" else now for before, now in zip([None] + TRAININGS[name], TRAININGS[name])]
    args = ["train", tmp_path / "large.txt", *options, "--threads", 1, "--quiet"]
    assert hqmm(*args, "-o", tmp_path / "alone.h5").returncode == OK
    done = on_ranks(2, *args, "--memory", "40M", "-o", tmp_path / "two.h5")
    assert done.returncode == OK, done.stderr
    assert (tmp_path / "two.h5").read_bytes() == (tmp_path / "alone.h5").read_bytes()
