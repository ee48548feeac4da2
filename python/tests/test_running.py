"""Callbacks, progress, Ctrl-C, threads, leaks."""

import os
import pickle
import resource
import signal
import threading
import time

import numpy as np
import pytest

import hqmm


def test_callback_sees_every_epoch_and_stops(rows):
    seen = []
    model = hqmm.HQMM(2, epochs=50, random_state=1,
                      callback=lambda r: seen.append(r["epoch"]) or r["epoch"] >= 3).fit(rows)
    assert seen == [0, 1, 2, 3] and model.status_ == "stopped" and len(model.history_) == 4
    assert np.isfinite(model.score(rows))


def test_callback_that_raises(rows):
    def callback(record):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        hqmm.HQMM(2, epochs=5, callback=callback).fit(rows)
    with pytest.raises(KeyError, match="mine"):
        hqmm.HQMMClassifier(2, epochs=5, callback=callback).fit(rows, [0, 1] * 6)


def test_progress(rows, capfd):
    hqmm.HQMM(2, epochs=2, verbose=2, random_state=1).fit(rows)
    assert capfd.readouterr().err.count("\n") == 3
    hqmm.HQMM(2, epochs=2, verbose=1, random_state=1).fit(rows)
    assert capfd.readouterr().err.count("\n") == 1
    hqmm.HQMM(2, epochs=2, random_state=1).fit(rows)
    out = capfd.readouterr()
    assert out.err == "" and out.out == ""


LONG = np.random.default_rng(1).integers(4, size=(50, 200))


@pytest.mark.parametrize("make", [
    lambda: hqmm.HQMM(6, 2, epochs=1000000).fit(LONG),
    lambda: hqmm.HQMM(6, 2, epochs=1000000, n_jobs=2).fit(LONG),
    lambda: hqmm.HMM(6, epochs=1000000, tolerance=0.0).fit(LONG),
    lambda: hqmm.HQMMClassifier(4, epochs=1000000).fit(LONG, [0, 1] * 25),
    lambda: hqmm.HQMMClassifier(4, epochs=1000000, grid="auto", n_jobs=2).fit(LONG, [0, 1] * 25),
], ids=["HQMM", "HQMM of two threads", "HMM", "classifier", "selection in two threads"])
def test_ctrl_c(make):
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        make()
    assert time.monotonic() - start < 20


def test_other_threads_run_during_fit(rows):
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    hqmm.HQMM(6, 2, epochs=1000000, time_limit=0.5, random_state=1).fit(np.tile(rows, (20, 4)))
    done.set()
    thread.join()
    assert len(ticks) > 20


def test_fits_in_two_threads_are_those_of_one(rows):
    alone = hqmm.HQMM(3, epochs=5, random_state=1).fit(rows).model_.to_bytes()
    found = [None, None]

    def fit(i):
        found[i] = hqmm.HQMM(3, epochs=5, random_state=1).fit(rows).model_.to_bytes()

    threads = [threading.Thread(target=fit, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone, alone]


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_a_thousand_fits_leak_nothing(rows):
    small = rows[:4, :8]

    def fits(count):
        for seed in range(count):
            model = hqmm.HQMM(2, epochs=1, random_state=seed, callback=lambda record: False).fit(small)
            model.score(small), model.kraus_, model.predict_next_proba([0]), pickle.dumps(model.model_)
            hqmm.HMM(2, emission="edge", epochs=1, restarts=1, random_state=seed).fit(small).edges_
            hqmm.HQMMClassifier(2, epochs=1, random_state=seed).fit(small, [0, 1, 0, 1]).predict(small)
            with pytest.raises(ValueError):
                model.score([0, 99])

    fits(200)  # allocators and caches settle
    before = resident()
    fits(1000)
    assert resident() - before < 2 * 2**20
