"""Hostile files raise exceptions; the interpreter lives on, with little memory, at once."""

import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

import hqmm

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("HQMM_SHARED", SOURCE.parent / "shared"))
FILES = [path for folder in (SOURCE / "tests/formats/hostile", SOURCE / "tests/formats/terminal", SHARED / "attack") if folder.is_dir()
         for path in sorted(folder.iterdir())]

# One interpreter reads all files in every way; it writes a line per file that it has survived.
READ_ALL = """
import resource, sys
import hqmm
for path in sys.argv[1:]:
    for load in (hqmm.load, hqmm.HQMMClassifier.load):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        try:
            load(path)
        except (ValueError, OSError) as error:
            assert len(str(error).splitlines()) <= 3, error
        after = resource.getrusage(resource.RUSAGE_SELF).ru_utime + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        assert after - before < 5, (path, after - before)
    print(path, flush=True)
for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
    assert resource.getrusage(who).ru_maxrss * 1024 < 500_000_000, resource.getrusage(who).ru_maxrss
"""


def test_hostile_files_are_exceptions():
    if not FILES:
        pytest.skip("skipped: no hostile files found")
    done = subprocess.run([sys.executable, "-c", READ_ALL, *map(str, FILES)], capture_output=True, text=True)
    survived = done.stdout.splitlines()
    assert survived == list(map(str, FILES)), (FILES[len(survived)], done.stderr)
    assert done.returncode == 0, done.stderr


def test_reading_works_beside_h5py(tmp_path, rows):
    """Both use one HDF5 library; ours reads in a process of its own."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "m.h5"
    hqmm.HQMM(2, 1, epochs=1, random_state=1).fit(rows).save(path)
    with h5py.File(path) as file:
        kraus = file["kraus"][...]
        assert (hqmm.load(path).kraus_ == kraus).all()
        assert (file["kraus"][...] == kraus).all()
