"""--memory: data larger than it give the same bytes, within it; and what is said when that cannot be."""

import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from conftest import BINARY, CANNOT_WRITE, NO_INPUT, OK, USAGE, fails, hqmm

LIMIT_MB = 80
without_sanitizer = pytest.mark.skipif(bool(os.environ.get("HQMM_SANITIZE")), reason="a sanitizer has memory of its own")

# A process of its own, because a limit and a peak are those of a process and what it has begun.
MEASURED = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
sys.exit(done.returncode)
"""


def peak_mb(*args):
    """Of hqmm, which must not fail."""
    done = subprocess.run([sys.executable, "-c", MEASURED, BINARY, *map(str, args)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=600)
    assert done.returncode == OK, done.stderr
    assert "of memory, more than" not in done.stderr
    return int(done.stdout.splitlines()[-1])


def lines_of(symbols, length, seed):
    """Text of single digits, 0 to 3, each a step from the last more often than not."""
    rng = random.Random(seed)
    out, last = bytearray(), 0
    for value in rng.randbytes(200_000):
        last = (last + 1) % 4 if value < 140 else value % 4
        out.append(48 + last)
    pool, lines = bytes(out), []
    for _ in range(symbols // length):
        at = rng.randrange(len(pool) - length)
        line = bytearray(b" " * (2 * length))
        line[0::2], line[-1:] = pool[at:at + length], b"\n"
        lines.append(bytes(line))
    return b"".join(lines)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Symbols of 36 megabytes in sequences of 400, of twice as much text; and a small file."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "large.txt").write_bytes(lines_of(36_000_000, 400, 1))
    (folder / "small.txt").write_bytes(lines_of(40_000, 400, 2))
    return folder


LEARNERS = {
    "ns-ris": ["-n", 2, "-w", 1, "--epochs", 1, "--batch-size", 256],
    "cosm": ["--learner", "cosm", "-n", 2, "-w", 1, "--epochs", 1, "--batch-size", 256],
    "em": ["--learner", "em", "-n", 2, "--epochs", 1, "--restarts", 1],
    "em on edges": ["--learner", "em", "--emission", "edge", "-n", 2, "--epochs", 1, "--restarts", 1],
}


@without_sanitizer
@pytest.mark.parametrize("name", LEARNERS)
def test_trained_within_it_to_the_same_bytes(name, data, tmp_path):
    args = ["train", data / "large.txt", *LEARNERS[name], "--quiet"]
    free = peak_mb(*args, "--threads", 1, "-o", tmp_path / "free.h5")
    assert free > LIMIT_MB  # or the test would show nothing
    for threads in 1, 2:
        out = tmp_path / f"{threads}.h5"
        assert peak_mb(*args, "--threads", threads, "--memory", f"{LIMIT_MB}M", "-o", out) <= LIMIT_MB
        assert out.read_bytes() == (tmp_path / "free.h5").read_bytes()


@without_sanitizer
def test_scored_within_it_to_the_same_figures(data, tmp_path):
    hqmm("train", data / "small.txt", "-n", 3, "--epochs", 1, "--quiet", "-o", tmp_path / "model.h5")
    args = ["score", tmp_path / "model.h5", data / "large.txt", data / "large.txt", "--json"]
    free, limited = tmp_path / "free.json", tmp_path / "limited.json"
    assert peak_mb(*args, "-o", free) > LIMIT_MB
    assert peak_mb(*args, "-o", limited, "--memory", f"{LIMIT_MB}M") <= LIMIT_MB
    assert free.read_bytes() == limited.read_bytes()


@without_sanitizer
def test_a_run_resumes_with_another_limit(data, tmp_path):
    """The run is cut short by its time limit, and goes on with memory of another size, or without a limit."""
    args = ["train", data / "small.txt", "-n", 2, "-w", 1, "--epochs", 3, "--quiet"]
    whole = tmp_path / "whole.h5"
    assert hqmm(*args, "-o", whole).returncode == OK
    for first, then in (("16K", []), ("0", ["--memory", "16M"]), ("16M", ["--memory", "0"])):
        run = tmp_path / f"from-{first}"
        if first == "16K":  # the program alone has more
            fails(USAGE, *args, "--run", run, "--memory", first, says=["--memory 1M is too little", "give at least"])
            assert not run.exists()
            continue
        done = hqmm(*args, "--run", run, "--memory", first, "--time-limit", "1e-9")
        assert done.returncode == OK, done.stderr
        assert "memory" not in (run / "config.json").read_text()
        assert hqmm("train", "--resume", run, *then, "--time-limit", 0, "--quiet").returncode == OK
        assert (run / "model.h5").read_bytes() == whole.read_bytes()


@without_sanitizer
def test_select_and_classify_give_the_same_bytes(data, tmp_path):
    """Under a limit that puts a few thousand symbols into a scratch file already."""
    limit = ["--memory", "40M"]
    grid = ["select", data / "small.txt", "-n", "1,2", "-w", "1", "--epochs", 1, "--quiet", "--json"]
    rows = [f"{'ab'[i % 2]}\t" + line for i, line in enumerate((data / "small.txt").read_text().splitlines())]
    (tmp_path / "labelled.txt").write_text("\n".join(rows) + "\n")
    fit = ["classify", "fit", tmp_path / "labelled.txt", "--positions", "stationary", "--epochs", 1, "--quiet"]
    for name, args in (("grid", grid), ("fit", fit)):
        for label, more in (("free", []), ("limited", limit)):
            done = hqmm(*args, *more, "-o", tmp_path / f"{name}-{label}.h5")
            assert done.returncode == OK, done.stderr
        assert (tmp_path / f"{name}-free.h5").read_bytes() == (tmp_path / f"{name}-limited.h5").read_bytes()


def run_limited(data, environment, limit=None):
    """A scoring that needs a scratch file."""
    def prepare():
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run([BINARY, "train", data / "large.txt", "-n", "2", "-w", "1", "--epochs", "1", "--memory", f"{LIMIT_MB}M",
                           "-o", "/dev/null"], env={**os.environ, **environment}, preexec_fn=prepare, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


def test_a_scratch_folder_without_room_is_one_clear_line(data, tmp_path):
    for environment, limit, why in (({}, 1_000_000, "File too large"),
                                    ({"TMPDIR": str(tmp_path / "missing")}, None, "No such file or directory")):
        done = run_limited(data, environment, limit)
        assert done.returncode == CANNOT_WRITE
        assert done.stderr.count("\n") == 1 and done.stderr.startswith("hqmm: error: ")
        for part in ("scratch file", "--memory", "TMPDIR", why):
            assert part in done.stderr


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is no folder in memory")
def test_a_scratch_folder_in_memory_is_refused(data):
    done = run_limited(data, {"TMPDIR": "/dev/shm"})
    assert done.returncode == USAGE and done.stderr.count("\n") == 1
    assert "/dev/shm" in done.stderr and "itself in memory" in done.stderr and "TMPDIR" in done.stderr


def test_nothing_stays_in_the_scratch_folder(data, tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    assert run_limited(data, {"TMPDIR": str(folder)}).returncode in (OK, CANNOT_WRITE, USAGE)
    assert not list(folder.iterdir())


def test_a_matrix_that_is_read_as_a_whole_must_fit(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((1000, 5000), dtype=np.int64))
    fails(USAGE, "train", tmp_path / "x.npy", "--memory", "64M", "-o", tmp_path / "m.h5",
          says=["x.npy", "npy", "--memory", "text"])


def test_a_file_that_changes_while_it_is_read(data, tmp_path):
    path = tmp_path / "growing.txt"
    path.write_bytes((data / "large.txt").read_bytes())
    done = threading.Event()

    def touch():
        while not done.is_set():
            os.utime(path)
            time.sleep(0.001)

    thread = threading.Thread(target=touch)
    thread.start()
    try:
        fails(NO_INPUT, "train", path, "-n", 1, "-w", 1, "--epochs", 0, "-o", tmp_path / "m.h5",
              says=["growing.txt", "has changed while it was read"])
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("size", ["1.5G", "512MB", "-1", "much"])
def test_other_sizes_are_refused(size, data, tmp_path):
    fails(USAGE, "train", data / "small.txt", f"--memory={size}", "-o", tmp_path / "m.h5", says=["--memory", "512M or 2G"])
