import json
import os
import subprocess

import numpy as np
import pytest

from conftest import BAD_DATA, BINARY, OK, USAGE, fails, hqmm, random_kraus, write_hqmm


def filtered(kraus, symbols, steps):
    """Distribution of the symbol `steps` ahead after every prefix, by the definition."""
    n = kraus.shape[-1]
    rho = np.eye(n) / n
    total = lambda r: sum(k @ r @ k.conj().T for k in kraus.reshape(-1, n, n))
    for y in symbols:
        rho = sum(k @ rho @ k.conj().T for k in kraus[y])
        rho = rho / np.trace(rho)
        ahead = rho
        for _ in range(steps - 1):
            ahead = total(ahead)
        yield [sum(np.trace(k @ ahead @ k.conj().T) for k in ks).real for ks in kraus]


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_one_line_per_symbol_with_the_right_distribution(tmp_path, steps):
    kraus = random_kraus(3, 2, 2, seed=1)
    model = write_hqmm(tmp_path / "m.h5", kraus)
    symbols = [0, 2, 1, 1, 0]
    done = hqmm("predict", model, "-", "--steps", steps, stdin=" ".join(map(str, symbols)))
    got = [[float(p) for p in line.split()] for line in done.stdout.splitlines()]
    np.testing.assert_allclose(got, list(filtered(kraus, symbols, steps)), atol=1e-12)


def test_newline_starts_afresh_and_file_equals_stream(model, tmp_path):
    text = "0 1\n0 1\n"
    (tmp_path / "d.txt").write_text(text)
    stream = hqmm("predict", model, stdin=text).stdout
    lines = stream.splitlines()
    assert lines[:2] == lines[2:]
    assert hqmm("predict", model, tmp_path / "d.txt").stdout == stream


def test_answers_before_the_stream_ends(model):
    process = subprocess.Popen([BINARY, "predict", str(model)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        for symbol in (b"0 ", b"2 ", b"1 "):
            process.stdin.write(symbol)
            process.stdin.flush()
            line = process.stdout.readline()  # blocks for ever if the output is not flushed
            assert sum(map(float, line.split())) == pytest.approx(1.0, abs=1e-12)
    finally:
        process.stdin.close()
        assert process.wait(timeout=20) == OK


def test_json_is_one_document(model):
    done = hqmm("predict", model, "--json", stdin="0 1 2")
    document = json.loads(done.stdout)
    assert len(document["predictions"]) == 3 and document["alphabet"] == ["0", "1", "2"]


def test_bad_symbol_names_its_place_and_keeps_what_came_before(model):
    done = fails(BAD_DATA, "predict", model, stdin="0 1\n2 7 0", says=["stdin:2:3", "symbol 7", "0..2"])
    assert len(done.stdout.splitlines()) == 3


def test_steps_must_be_positive(model):
    fails(USAGE, "predict", model, "--steps", 0, stdin="0")


def test_infeasible_model_predicts_normalised(tmp_path):
    model = write_hqmm(tmp_path / "m.h5", 1.3 * random_kraus(3, 1, 2))
    done = hqmm("predict", model, stdin="0 1")
    assert "not trace preserving" in done.stderr
    for line in done.stdout.splitlines():
        assert sum(map(float, line.split())) == pytest.approx(1.0, abs=1e-12)
