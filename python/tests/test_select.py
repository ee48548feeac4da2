"""select() and baseline(): what `hqmm select` and `hqmm baseline` do."""

import doctest
import json

import numpy as np
import pytest

import hqmm
from conftest import write_text


@pytest.mark.parametrize("options, flags", [
    ({"n_states": [2, 3], "n_kraus": [1, 2]}, ["-n", "2,3", "-w", "1,2"]),
    ({"n_states": 2, "n_kraus": 2, "field": ["complex", "real"], "emission": ["edge", "state"]},
     ["-n", 2, "-w", 2, "--field", "complex,real", "--emission", "edge,state"]),
    ({"learner": "em", "n_states": [2, 3], "restarts": 2}, ["--learner", "em", "-n", "2,3", "--restarts", 2]),
    ({"learner": "cosm", "n_states": [2], "n_kraus": [1]}, ["--learner", "cosm", "-n", 2, "-w", 1]),
])
def test_select_is_that_of_the_command_line(tmp_path, cli, rows, options, flags):
    data = write_text(tmp_path / "data.txt", rows)
    printed = json.loads(cli("select", data, "-o", tmp_path / "best.h5", "--models", tmp_path / "all", "--epochs", 3,
                             "--seed", 7, "--json", *flags))
    table, models = found = hqmm.select(rows, epochs=3, random_state=7, n_jobs=2, **options)
    assert found.best is models[0]
    assert found.best.model_.to_bytes() == (tmp_path / "best.h5").read_bytes()
    assert len(table) == len(printed["models"]) == len(list((tmp_path / "all").iterdir()))
    for row, expected, model in zip(table, printed["models"], models):
        assert model.model_.to_bytes() == open(expected.pop("model"), "rb").read()
        assert {**row, "seconds": 0} == {**expected, "seconds": 0}
        assert row["parameters"] == model.n_parameters_


def test_select_with_validation_of_its_own(rows):
    seen = []
    found = hqmm.select(rows[:9], validation=rows[9:], n_states=(2,), n_kraus=(1, 2), epochs=2, random_state=1,
                        callback=seen.append)
    assert sorted(seen) == ["n2-w1", "n2-w2"]
    bits = [row["validation_bits_per_symbol"] for row in found.table]
    assert bits == sorted(bits)
    evaluated = found.best.evaluate(rows[9:])
    assert evaluated["bits_per_symbol"] == pytest.approx(bits[0])


@pytest.mark.parametrize("options, says", [
    ({"n_states": []}, "n_states"), ({"n_states": [0]}, "at least 1"), ({"n_kraus": [1.5]}, "whole number"),
    ({"learner": "em", "field": "real"}, "HMMs"), ({"field": ["odd"]}, "odd"), ({"warm_start": "em"}, "warm_start"),
    ({"learner": "odd"}, "odd")])
def test_wrong_grids(rows, options, says):
    with pytest.raises(ValueError, match=says):
        hqmm.select(rows, epochs=1, **options)


def test_callbacks_that_raise(rows):
    def callback(name):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        hqmm.select(rows, n_states=[2], n_kraus=[1], epochs=1, callback=callback)


def test_baseline_is_that_of_the_command_line(tmp_path, cli, rows):
    train, test, validation = (write_text(tmp_path / f"{i}.txt", part)
                               for i, part in enumerate((rows[:6], rows[6:9], rows[9:])))
    printed = json.loads(cli("baseline", train, test, "--order", "0,2", "--burn-in", 1, "--pseudo-count", 0.5,
                             "--per-sequence", "--json"))
    assert hqmm.baseline(rows[:6], rows[6:9], order=[0, 2], burn_in=1, pseudo_count=0.5,
                         per_sequence=True) == printed["chains"]
    printed = json.loads(cli("baseline", train, test, "--validation", validation, "--json"))
    assert hqmm.baseline(rows[:6], rows[6:9], validation=rows[9:]) == printed["chains"]
    lengths = [30] * 3
    assert hqmm.baseline(rows[:6], rows[6:9].ravel(), test_lengths=lengths, order=1) == \
        hqmm.baseline(rows[:6], rows[6:9], order=[1])


def test_wrong_baselines(rows):
    for options in ({"order": []}, {"order": [31]}, {"order": [-1]}, {"pseudo_count": -1}, {"burn_in": -1}):
        with pytest.raises(ValueError):
            hqmm.baseline(rows, rows, **options)
    with pytest.raises(ValueError, match="beyond the alphabet"):
        hqmm.baseline([[0, 1]], [[0, 2]])


def test_examples_in_the_documentation():
    import hqmm._select

    assert doctest.testmod(hqmm._select, extraglobs={"np": np}).failed == 0
