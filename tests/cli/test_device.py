"""--device: who may ask for a GPU, and what is said where there is none. These tests run on machines without one; with one
the suite `cuda` looks at the numbers."""

import json
import os
import pathlib
import re

import pytest

from conftest import OK, hqmm

USAGE, BAD_DATA = 2, 65

WITHOUT_GPU = not any(pathlib.Path("/dev").glob("nvidia[0-9]*"))
without_gpu = pytest.mark.skipif(not WITHOUT_GPU, reason="this machine has a GPU")


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("0 1 0 1 1 0 1 0 0 1\n" * 12)
    return path


@pytest.fixture
def model(tmp_path, data):
    path = tmp_path / "model.h5"
    assert hqmm("train", data, "-n", "2", "-w", "1", "--epochs", "1", "-o", path).returncode == OK
    return path


def two_classes(folder):
    out = []
    for name, line in (("X", "0 0 1 1"), ("Y", "0 1 0 1")):
        (folder / f"{name}.txt").write_text(f"{line}\n" * 8)
        out += ["--class", f"{name}={folder / name}.txt"]
    return out


def files_in(folder):
    return {path: path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}


def refused(folder, *args, code=USAGE):
    """One line, the exit code, and nothing on the disk has changed. The line."""
    before = files_in(folder)
    done = hqmm(*args)
    assert (done.returncode, done.stdout) == (code, "")
    assert re.fullmatch(r"hqmm: error: [^\n]+\n", done.stderr)
    assert files_in(folder) == before
    return done.stderr


@without_gpu
def test_without_a_gpu_nothing_begins(tmp_path, data, model):
    out, classes = ("-o", tmp_path / "new.h5"), two_classes(tmp_path)
    for args in (("train", data, *out), ("train", data, "--run", tmp_path / "run"), ("select", data, "--models", tmp_path / "all"),
                 ("score", model, data), ("classify", "fit", *classes, *out), ("classify", "cross-validate", *classes)):
        text = refused(tmp_path, *args, "--device", "cuda")
        assert "GPU" in text or "NVIDIA" in text
    assert not (tmp_path / "run").exists() and not (tmp_path / "all").exists()


@without_gpu
def test_a_classifier_is_not_asked_without_a_gpu(tmp_path):
    fit = hqmm("classify", "fit", *two_classes(tmp_path), "--epochs", "1", "-n", "2", "-w", "1", "-o", tmp_path / "clf.h5")
    assert fit.returncode == OK, fit.stderr
    refused(tmp_path, "classify", "predict", tmp_path / "clf.h5", tmp_path / "X.txt", "--device", "cuda")


def test_other_words_are_refused_with_those_that_are_known(tmp_path, data):
    text = refused(tmp_path, "train", data, "--device", "gpu", "-o", tmp_path / "new.h5")
    assert "--device" in text and "cpu" in text and "cuda" in text


@pytest.mark.parametrize("args, why", [
    (("--learner", "em"), "em runs on the CPU"),
    (("--learner", "givens"), "givens runs on the CPU"),
    (("--retraction", "literal"), "--retraction literal runs on the CPU"),
    (("--engine", "kraus"), "--engine chooses among the engines of the CPU"),
])
def test_what_the_gpu_engine_is_not_for(tmp_path, data, args, why):
    assert why in refused(tmp_path, "train", data, "--device", "cuda", *args, "-o", tmp_path / "new.h5")


def test_the_cpu_is_the_default_and_is_recorded(tmp_path, data):
    for run, device in (("a", ()), ("b", ("--device", "cpu"))):
        done = hqmm("train", data, "-n", "2", "-w", "1", "--epochs", "1", "--run", tmp_path / run, *device)
        assert done.returncode == OK, done.stderr
        config = json.loads((tmp_path / run / "config.json").read_text())
        assert config["options"]["device"] == "cpu" and "device" not in config
    assert (tmp_path / "a" / "model.h5").read_bytes() == (tmp_path / "b" / "model.h5").read_bytes()


def began_on_a_gpu(run):
    """Makes a run of the CPU one that began on a GPU, at the same place."""
    config = json.loads((run / "config.json").read_text())
    config["options"]["device"] = "cuda"
    config["device"] = "a GPU"
    (run / "config.json").write_text(json.dumps(config))
    for checkpoint in run.glob("checkpoint*.h5"):  # they know the config.json that they belong to
        checkpoint.unlink()


@pytest.fixture
def run_of_a_gpu(tmp_path, data):
    run = tmp_path / "run"
    done = hqmm("train", data, "-n", "2", "-w", "1", "--epochs", "2", "--run", run)
    assert done.returncode == OK, done.stderr
    began_on_a_gpu(run)
    return run


@without_gpu
def test_a_run_of_a_gpu_is_left_alone_without_one(tmp_path, run_of_a_gpu):
    refused(tmp_path, "train", "--resume", run_of_a_gpu)


def test_a_run_of_a_gpu_goes_on_on_the_cpu(run_of_a_gpu):
    before = (run_of_a_gpu / "model.h5").read_bytes()
    done = hqmm("train", "--resume", run_of_a_gpu, "--device", "cpu")
    assert done.returncode == OK, done.stderr
    assert "the run began on a GPU and continues on the CPU" in done.stderr
    assert (run_of_a_gpu / "model.h5").read_bytes() == before


def test_a_run_of_before_there_was_a_choice_goes_on(tmp_path, data):
    run = tmp_path / "run"
    assert hqmm("train", data, "-n", "2", "-w", "1", "--epochs", "2", "--run", run).returncode == OK
    config = json.loads((run / "config.json").read_text())
    del config["options"]["device"]
    (run / "config.json").write_text(json.dumps(config))
    for checkpoint in run.glob("checkpoint*.h5"):
        checkpoint.unlink()
    done = hqmm("train", "--resume", run)
    assert done.returncode == OK, done.stderr


def test_the_version_tells_of_the_engine():
    assert re.search(r"^GPU engine: (not built|with CUDA \d+\.\d+)$", hqmm("--version").stdout, re.MULTILINE)


def test_no_library_of_cuda_is_needed():
    import shutil
    import subprocess

    from conftest import BINARY
    if shutil.which("readelf") is None:
        pytest.skip("readelf is not installed (binutils)")
    needed = subprocess.run(["readelf", "-dW", os.fspath(BINARY)], text=True, stdout=subprocess.PIPE, check=True).stdout
    assert not re.search(r"NEEDED.*(cuda|cublas|nv)", needed)
