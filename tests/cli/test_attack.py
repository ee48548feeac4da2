"""Hostile files, one after another: a clean exit code, a line or two, little memory, at once. From the command line
and from Python."""

import os
import subprocess
import tempfile

import pytest

from conftest import BINARY, OK, SHARED, SOURCE, USAGE, BAD_DATA

MOST_BYTES = 500_000_000
MOST_SECONDS = 5  # of processor time, which does not depend on what else the machine does

FOLDERS = [SOURCE / "tests" / "formats" / "hostile", SOURCE / "tests" / "formats" / "terminal", SHARED / "attack"]
FILES = [path for folder in FOLDERS if folder.is_dir() for path in sorted(folder.iterdir())]
sanitized = pytest.mark.skipif(bool(os.environ.get("HQMM_SANITIZE")),
                               reason="skipped: a sanitizer takes memory and time of its own")

# Every way a file gets in: FILE is the hostile one, DATA and MODEL are sound.
COMMANDS = [["score", "FILE", "DATA"], ["score", "MODEL", "FILE"], ["inspect", "FILE"],
            ["classify", "predict", "FILE", "DATA"], ["convert", "FILE", "OUT.h5"]]
# What is tried on files that other readers than HDF5's and MATLAB's take.
MORE_COMMANDS = [["predict", "FILE", "DATA"], ["sample", "FILE", "--length", "3"], ["convert", "FILE", "OUT.json"],
                 ["baseline", "FILE", "FILE"], ["train", "DATA", "--warm-start", "FILE", "--epochs", "1", "-o", "OUT.h5"],
                 ["classify", "fit", "FILE", "--epochs", "1", "-n", "1", "-w", "1", "-o", "OUT.h5"]]


def measured(argv, **kwargs):
    """Exit code, stderr, and what it took: bytes and processor seconds, its children included."""
    with tempfile.TemporaryFile() as err:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err, **kwargs)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        return process.returncode, err.read(), usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@sanitized
def test_the_command_line_stands(tmp_path, model, data, path):
    places = {"FILE": path, "DATA": data, "MODEL": model, "OUT.json": tmp_path / "o.json", "OUT.h5": tmp_path / "o.h5"}
    for command in COMMANDS + (MORE_COMMANDS if path.suffix not in ('.h5', '.mat') else []):
        argv = [BINARY, *(str(places.get(word, word)) for word in command)]
        code, err, most, seconds = measured(argv)
        assert code in (OK, USAGE, BAD_DATA), (command, code, err)
        assert err.count(b"\n") <= 3 and len(err) < 3000, (command, err)
        assert most < MOST_BYTES and seconds < MOST_SECONDS, (command, most, seconds)
        # Nothing that a terminal would act on.
        assert not any(byte < 32 and byte != 10 or byte == 127 for byte in err), (command, err)
