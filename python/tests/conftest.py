import os
import pathlib
import subprocess

import numpy as np
import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def cli():
    """Runs the hqmm command; skipped where it is not built."""
    binary = os.environ.get("HQMM_BINARY")
    if not binary or not pathlib.Path(binary).exists():
        pytest.skip("skipped: $HQMM_BINARY does not name the hqmm command")

    def run(*args):
        done = subprocess.run([binary, *map(str, args), "--quiet"], capture_output=True, text=True,
                              timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def splice():
    """The path of UCI's splice.data; skipped where it is not kept beside the project."""
    path = pathlib.Path(os.environ.get("HQMM_SHARED", SOURCE.parent / "shared")) / "data/splice/splice.data"
    if not path.exists():
        pytest.skip("skipped: reference file data/splice/splice.data not found")
    return path


@pytest.fixture(scope="session")
def rows():
    """12 sequences of 30 symbols with structure: mostly 0 1 2 0 1 2, sometimes a slip."""
    rng = np.random.default_rng(5)
    steps = np.where(rng.random((12, 30)) < 0.1, 2, 1)
    return (np.cumsum(steps, axis=1) + rng.integers(3, size=(12, 1))) % 3


def write_text(path, sequences):
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in sequences))
    return path
