"""What a run directory holds, for the tests of --run."""

import json
import time

import pytest

from test_train import SMALL, train


def history(run):
    return [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]


def epochs(run):
    """The history without what differs from one unbroken run to the next."""
    return [{key: value for key, value in record.items() if key != "seconds"} for record in history(run)]


def wait_for_epochs(process, run, count):
    """Until the run's history has that many lines, or the process is gone."""
    path = run / "history.jsonl"
    while process.poll() is None and not (path.exists() and path.read_bytes().count(b"\n") >= count):
        time.sleep(0.001)


@pytest.fixture
def run(tmp_path, data):
    """A finished run with a model beside it."""
    train(data, tmp_path / "m.h5", *SMALL, "--run", tmp_path / "run")
    return tmp_path / "run"
