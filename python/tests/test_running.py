"""Callbacks, progress, Ctrl-C, threads, leaks."""

import os
import pickle
import re
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


def test_progress_tells_total_best_and_time_left(rows, capfd):
    model = hqmm.HQMM(2, epochs=4, restarts=2, verbose=2, random_state=1).fit(rows)
    lines = capfd.readouterr().err.splitlines()
    best = max(record["validation"]["da"] for record in model.history_)
    line = r"restart [12]/2 epoch \d/4  validation DA (-?\d\.\d{4}|–)  best -?\d\.\d{4}  (\d+:\d\d|\?) left *"
    assert len(lines) == 10 and all(re.fullmatch(line, one) for one in lines), lines
    assert f"best {best:.4f}" in lines[-1] and "0:00 left" in lines[-1] and "? left" in lines[0]
    hqmm.HQMMClassifier(2, epochs=3, members=2, verbose=2, random_state=1).fit(rows, [0, 1] * 6)
    lines = capfd.readouterr().err.splitlines()
    line = r"member [12]/2  epoch [123]/3  objective -?\d+\.\d{4}  best -?\d+\.\d{4}  \d+:\d\d left *"
    assert len(lines) == 6 and all(re.fullmatch(line, one) for one in lines), lines
    hqmm.HQMMClassifier(2, epochs=2, objective="generative", positions="stationary", verbose=2,
                        random_state=1).fit(rows, [0, 1] * 6)
    assert capfd.readouterr().err.count("member 1/1  epoch 2/2") == 2  # a training for each class


LONG = np.random.default_rng(1).integers(4, size=(50, 200))


@pytest.mark.parametrize("make", [
    lambda: hqmm.HQMMClassifier(4, epochs=1000000).fit(LONG, [0, 1] * 25),
    lambda: hqmm.HQMMClassifier(4, epochs=1000000, grid="auto", n_jobs=2).fit(LONG, [0, 1] * 25),
], ids=["classifier", "selection in two threads"])
def test_ctrl_c(make):
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        make()


@pytest.mark.parametrize("make", [
    lambda callback: hqmm.HQMM(2, epochs=1000000, callback=callback),
    lambda callback: hqmm.HQMM(2, epochs=1000000, n_jobs=2, callback=callback),
    lambda callback: hqmm.HMM(2, epochs=1000000, tolerance=0.0, restarts=2, callback=callback),
], ids=["HQMM", "HQMM of two threads", "HMM"])
def test_ctrl_c_keeps_the_best_model(make):
    """A signal that comes while C++ is at work, once three epochs are over."""
    late = threading.Event()

    def callback(record):
        if record["epoch"] >= 3:
            late.set()

    def interrupt():
        late.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.warns(hqmm.InterruptedFitWarning, match="the best model so far is kept"):
        model = make(callback).fit(LONG)
    thread.join()
    assert model.status_ == "interrupted" and model.n_iter_ >= 3 and np.isfinite(model.score(LONG))


def test_what_ctrl_c_keeps_is_what_a_stop_keeps(rows):
    """A signal that comes while Python is at work: in the callback."""
    def fitted(end, **params):
        return hqmm.HQMM(2, epochs=50, random_state=1, callback=lambda r: r["epoch"] == 4 and end(), **params).fit(rows)

    stopped = fitted(lambda: True)
    with pytest.warns(hqmm.InterruptedFitWarning, match="Ctrl-C in epoch 5"):
        interrupted = fitted(lambda: signal.raise_signal(signal.SIGINT))
    assert (stopped.status_, interrupted.status_) == ("stopped", "interrupted")
    assert interrupted.model_.to_bytes() == stopped.model_.to_bytes() and len(interrupted.history_) == 5


def test_ctrl_c_before_the_first_epoch_raises(rows):
    def callback(record):
        signal.raise_signal(signal.SIGINT)

    model = hqmm.HQMM(2, epochs=5, callback=callback)
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows)
    assert not hasattr(model, "model_")
    with pytest.raises(KeyboardInterrupt):
        hqmm.HQMM(2, 2, epochs=5, warm_start="em", callback=callback).fit(rows)


def minutes_of_work():
    """Calls that would take minutes, so that whoever answers has been interrupted."""
    # Of a model this large a symbol takes about a millisecond.
    kraus = np.linalg.qr(np.random.default_rng(1).normal(size=(2 * 100, 100)))[0].reshape(2, 1, 100, 100)
    model = hqmm.HQMM.from_kraus(kraus)
    X = np.random.default_rng(2).integers(2, size=300000)
    yield "score", lambda: model.score(X)
    yield "evaluate", lambda: model.evaluate(X)
    yield "predict", lambda: model.predict(X)
    yield "sample", lambda: model.sample(1, 300000)
    yield "entropy_rate", lambda: model.entropy_rate(10**9)
    small = hqmm.HMM(200, epochs=0, restarts=1, alphabet=2, random_state=1).fit(X[:100])
    Y = np.resize(X, 2000000)
    yield "HMM.score", lambda: small.score(Y)
    yield "decode", lambda: small.decode(Y)
    long = np.resize(X, (2, 2000))
    classifier = hqmm.HQMMClassifier(40, 8, positions="stationary", objective="generative", epochs=0, random_state=1)
    classifier.fit(long, [0, 1])
    yield "classifier", lambda: classifier.predict(np.resize(X, (2, 3000000)))


WORK = dict(minutes_of_work())


@pytest.mark.parametrize("name", WORK)
def test_ctrl_c_ends_long_calls(name):
    """The handler of an interval timer runs inside of the call: there only it can raise so soon."""
    rung = []

    def ring(number, frame):
        rung.append(frame)
        if len(rung) == 3:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    began = time.process_time()
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
            WORK[name]()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.process_time() - began < 20


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
