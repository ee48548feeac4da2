"""Where models are written: memory disks, open files, and the rescue when their place cannot be written."""

import fcntl
import os
import pathlib
import resource
import signal
import stat
import subprocess
import tempfile

import pytest

from conftest import BINARY, CANNOT_WRITE, OK, fails, hqmm, hqmm_json

TINY = ["-n", 1, "-w", 1, "--epochs", 1, "--quiet"]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("0 1 1 0 1\n1 1 0 1 0\n" * 5)
    return path


@pytest.fixture
def labelled(tmp_path):
    path = tmp_path / "labelled.data"
    path.write_text("".join(f"{name}, {name}{i}, {text}\n" for name, text in (("EI", "ACGTACGT"), ("N", "TTGGTTGG"))
                            for i in range(6)))
    return path


@pytest.fixture
def memory():
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("skipped: no /dev/shm to write to")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield pathlib.Path(folder)


def test_models_below_dev_are_replaced(memory, data):
    for seed in (1, 2):
        assert hqmm("train", data, *TINY, "--seed", seed, "-o", memory / "m.h5").returncode == OK
    assert hqmm("train", data, *TINY, "--seed", 2, "-o", memory / "second.h5").returncode == OK
    assert (memory / "m.h5").read_bytes() == (memory / "second.h5").read_bytes()


def test_runs_below_dev_go_on(memory, data):
    assert hqmm("train", data, *TINY, "--run", memory / "run").returncode == OK
    model = (memory / "run" / "model.h5").read_bytes()
    for _ in range(2):
        assert hqmm("train", "--resume", memory / "run", "--quiet").returncode == OK
        assert (memory / "run" / "model.h5").read_bytes() == model
        assert hqmm_json("inspect", memory / "run")["status"] == "max-epochs"


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_an_open_file_keeps_what_is_in_it(tmp_path, model, name):
    if name == "link":
        (tmp_path / "link").symlink_to("/dev/stdout")
        name = tmp_path / "link"
    hqmm("convert", model, tmp_path / "model.json")
    with open(tmp_path / "out", "w+b") as out:
        out.write(b"before\n")
        out.flush()
        inode = os.fstat(out.fileno()).st_ino
        subprocess.run([BINARY, "sample", model, "--count", "2", "--length", "3", "-o", name], stdout=out, check=True)
    written = hqmm("sample", model, "--count", 2, "--length", 3).stdout
    assert (tmp_path / "out").read_text() == "before\n" + written
    assert (tmp_path / "out").stat().st_ino == inode


# What is left of a kill

def test_the_next_write_clears_away_what_a_kill_left(tmp_path, model):
    (tmp_path / ".hqmm-1-0.tmp").write_text("half")
    (tmp_path / ".hqmm-1-1.tmp").write_text("of a living writer")
    (tmp_path / ".hqmm-1-2.tmp").symlink_to(model)
    with open(tmp_path / ".hqmm-1-1.tmp") as living:
        fcntl.flock(living, fcntl.LOCK_EX)
        assert hqmm("convert", model, tmp_path / "out.json").returncode == OK
    assert {path.name for path in tmp_path.glob(".hqmm-*")} == {".hqmm-1-1.tmp", ".hqmm-1-2.tmp"}
    assert hqmm("convert", model, tmp_path / "out.json").returncode == OK
    assert {path.name for path in tmp_path.glob(".hqmm-*")} == {".hqmm-1-2.tmp"}


# Rescue

@pytest.fixture
def place(tmp_path, monkeypatch):
    """A model's place that turns out to be unwritable only at the end, and a temporary folder."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "place.h5").symlink_to("/dev/full")
    return tmp_path / "place.h5"


def rescued(folder, done):
    """The one new file there, which the error names."""
    path, = [path for path in folder.iterdir() if not path.is_symlink()]
    assert f"is in {path}" in done.stderr and "No space left" in done.stderr
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    return path


@pytest.mark.parametrize("command", ["train", "select", "classify"])
def test_a_model_without_a_place_is_rescued(tmp_path, data, labelled, place, command):
    args = {"train": ["train", data, *TINY], "select": ["select", data, "-n", 1, "-w", 1, "--epochs", 1, "--quiet"],
            "classify": ["classify", "fit", labelled, "--quiet", "--learner", "em", "-n", 1, "--epochs", 1]}[command]
    assert hqmm(*args, "-o", tmp_path / "good.h5").returncode == OK
    done = fails(CANNOT_WRITE, *args, "-o", place, says=f"{place}: cannot be written")
    found = rescued(tmp_path / "tmp", done)
    assert found.read_bytes() == (tmp_path / "good.h5").read_bytes()
    assert hqmm("inspect", found).returncode == OK


def test_planted_links_are_not_followed(tmp_path, data, place):
    """The names of rescue files could once be foreseen."""
    (tmp_path / "mine").write_text("precious")

    def plant():  # in the process that becomes hqmm, and so has its number
        (tmp_path / "tmp" / f"hqmm-{os.getpid()}.h5").symlink_to(tmp_path / "mine")

    done = subprocess.run([BINARY, *map(str, ["train", data, *TINY, "-o", place])], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, preexec_fn=plant)
    assert done.returncode == CANNOT_WRITE
    assert hqmm("inspect", rescued(tmp_path / "tmp", done)).returncode == OK
    assert (tmp_path / "mine").read_text() == "precious"


def test_without_any_room_the_first_failure_is_told(tmp_path, data, place, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    done = fails(CANNOT_WRITE, "train", data, *TINY, "-o", place, says=f"{place}: cannot be written: No space left")
    assert "is in" not in done.stderr


# Files that may not grow

def test_a_file_size_limit_ends_a_run_that_goes_on_without_it(tmp_path, data):
    args = ["train", data, "-n", 1, "-w", 1, "--epochs", 60, "--schedule", "constant", "--quiet"]
    assert hqmm(*args, "--run", tmp_path / "whole").returncode == OK
    history = (tmp_path / "whole" / "history.jsonl").stat().st_size
    assert history > 16_000 > (tmp_path / "whole" / "checkpoint.h5").stat().st_size

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (16_000, 16_000))

    done = subprocess.run([BINARY, *map(str, args), "--run", tmp_path / "run"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, preexec_fn=limit)
    assert done.returncode == CANNOT_WRITE, done
    assert "history.jsonl: cannot be written: File too large" in done.stderr and "--resume" in done.stderr
    assert (tmp_path / "run" / "history.jsonl").read_bytes().endswith(b"\n")
    assert hqmm("train", "--resume", tmp_path / "run", "--quiet").returncode == OK
    assert (tmp_path / "run" / "model.h5").read_bytes() == (tmp_path / "whole" / "model.h5").read_bytes()
