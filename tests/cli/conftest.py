"""The command line, driven as a user drives it: a process, its output and its exit code."""

import fcntl
import json
import os
import pathlib
import pty
import struct
import subprocess
import termios
import time

import h5py
import numpy as np
import pytest

BINARY = os.environ["HQMM_BINARY"]
SOURCE = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("HQMM_SHARED", SOURCE.parent / "shared"))

OK, USAGE, BAD_DATA, NO_INPUT, CANNOT_WRITE = 0, 2, 65, 66, 73


def hqmm(*args, stdin=None, cwd=None, timeout=600):
    """Runs hqmm; stdin may be text or bytes. Output comes back as text."""
    if isinstance(stdin, str):
        stdin = stdin.encode()
    done = subprocess.run(
        [BINARY, *map(str, args)], input=stdin, cwd=cwd, timeout=timeout,
        stdin=subprocess.DEVNULL if stdin is None else None,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    done.stdout = done.stdout.decode()
    done.stderr = done.stderr.decode()
    return done


def on_terminal(*args, cwd=None, columns=0, **environment):
    """Runs hqmm with stderr on a terminal; its exit code and what the terminal got."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
    process = subprocess.Popen([BINARY, *map(str, args)], cwd=cwd, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=slave, env={**os.environ, **environment})
    os.close(slave)
    seen = b""
    try:
        while block := os.read(master, 4096):
            seen += block
    except OSError:  # the other end is closed
        pass
    os.close(master)
    return process.wait(), seen.decode()


def wait_until_caught(process, how):
    """Until the process handles this signal: before, it would just die of it."""
    while process.poll() is None:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
        if int(caught, 16) & 1 << (how - 1):
            return
        time.sleep(0.001)


def wait_until_busy(process, seconds=0.5):
    """Until the process has used that much processor time: far more than reading its input takes."""
    ticks = seconds * os.sysconf("SC_CLK_TCK")
    while process.poll() is None:
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        if int(fields[11]) + int(fields[12]) >= ticks:
            return
        time.sleep(0.001)


def hqmm_json(*args, **kwargs):
    done = hqmm(*args, "--json", **kwargs)
    assert done.returncode == OK, done.stderr
    return json.loads(done.stdout)


def fails(code, *args, says=(), **kwargs):
    """Runs hqmm and checks that it fails with this code and one clear line holding each of `says`."""
    done = hqmm(*args, **kwargs)
    assert done.returncode == code, (done.returncode, done.stderr)
    assert done.stderr.startswith("hqmm: error: ") and done.stderr.count("\n") == 1, done.stderr
    for text in [says] if isinstance(says, str) else says:
        assert text in done.stderr, done.stderr
    return done


def shared(relative):
    path = SHARED / relative
    if not path.exists():
        pytest.skip(f"skipped: reference file {relative} not found")
    return path


def write_hqmm(path, kraus, initial_state=None, **attributes):
    """A model file the way a user of h5py writes one."""
    kraus = np.asarray(kraus, dtype=complex)
    n = kraus.shape[-1]
    with h5py.File(path, "w") as f:
        f.attrs.update({"format": "hqmm-model", "version": 1, "kind": "hqmm", **attributes})
        f["kraus"] = kraus
        f["initial_state"] = np.eye(n, dtype=complex) / n if initial_state is None else initial_state
    return path


def random_kraus(s, w, n, seed=0):
    rng = np.random.default_rng(seed)
    gamma = rng.normal(size=(s * w * n, n)) + 1j * rng.normal(size=(s * w * n, n))
    return np.linalg.qr(gamma)[0].reshape(s, w, n, n)


@pytest.fixture
def model(tmp_path):
    return write_hqmm(tmp_path / "model.h5", random_kraus(3, 2, 2))


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("0 1 2 2 1\n1 1 ? 0\n")
    return path
