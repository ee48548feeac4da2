"""hqmm export: models as circuits, run by QuTiP and by simulators of OpenQASM that others wrote.

The simulators take minutes: only `./dev test circuits` installs and runs them (HQMM_SIMULATORS is their folder).
"""

import itertools
import json
import os
import runpy
import subprocess
import sys

import numpy as np
import pytest

from conftest import BAD_DATA, OK, SOURCE, USAGE, fails, hqmm, hqmm_json
from test_structured import KINDS, random_arrays, write_model

SIMULATORS = os.environ.get("HQMM_SIMULATORS")
SHAPES = [(2, 1, 2), (3, 1, 2), (4, 1, 2), (2, 2, 2), (2, 1, 3)]  # s, w, n


def model_of(tmp_path, field, emission, shape=(3, 2, 2), seed=0):
    return write_model(tmp_path / "model.h5", field, emission, random_arrays(field, emission, *shape, seed=seed))


def probabilities(model, tmp_path, s, length):
    """Of all sequences, by hqmm score."""
    sequences = list(itertools.product(range(s), repeat=length))
    data = tmp_path / "all.txt"
    data.write_text("\n".join(" ".join(map(str, sequence)) for sequence in sequences) + "\n")
    scored = hqmm_json("score", model, data, "--per-sequence")["per_sequence"]
    return {sequence: np.exp(one["log_likelihood"]) for sequence, one in zip(sequences, scored)}


def exported(model, path, *options):
    return hqmm_json("export", model, "-o", path, *options)


@pytest.mark.parametrize("field, emission", KINDS)
def test_the_arrays_have_the_isometry_in_their_first_columns(tmp_path, field, emission):
    arrays = random_arrays(field, emission, 3, 2, 2)
    model = write_model(tmp_path / "model.h5", field, emission, arrays)
    report = exported(model, tmp_path / "m.npz", "--format", "npz")
    with np.load(tmp_path / "m.npz") as circuit:
        stack = np.asarray(arrays["kraus" if emission == "edge" else "transition"]).reshape(-1, 2)
        unitary = circuit["evolve_0_unitary"]
        assert np.abs(unitary[:len(stack), :2] - stack).max() < 1e-10
        assert np.abs(unitary @ unitary.conj().T - np.eye(len(unitary))).max() < 1e-10
        assert circuit["order"].tolist() == [0] * 10
        cnots = int((circuit["evolve_0_qubits"][:, 1] >= 0).sum())
        assert cnots == report["steps"][0]["evolve"]["cnots"]
        assert len(circuit["evolve_0_angles"]) == len(circuit["evolve_0_qubits"])
    assert ("emit" in report["steps"][0]) == (emission == "state")


def test_the_text_says_which_bits_are_which_symbol(tmp_path):
    model = model_of(tmp_path, "complex", "edge")
    for version in ("3", "2"):
        done = hqmm("export", model, "--format", f"openqasm{version}", "--steps", 4)
        assert done.returncode == OK
        assert done.stdout.startswith(f"OPENQASM {version}.0;\n")
        assert "//   outcomes 2 to 3: symbol '1'" in done.stdout
        assert "//   outcomes from 6 on do not occur" in done.stdout
        assert "4 qubits: 1 for the latent state, 3 of environment; 4 symbols" in done.stderr
        assert "a step: " in done.stderr and "depth" in done.stderr
        assert done.stdout.count("= measure q") == (3 if version == "3" else 0)
        assert done.stdout.count("-> outcome_") == (0 if version == "3" else 12)
        # nothing is reset that was not measured right before
        unseen = [k for k in (1, 2, 3) if f"measure q[{k}] -> discarded[{k - 1}];\nreset q[{k}];\n" in done.stdout]
        assert unseen == ([] if version == "3" else [1, 2, 3])
        assert hqmm("export", model, "--format", f"openqasm{version}", "--steps", 4).stdout == done.stdout


def test_what_is_refused(tmp_path):
    model = model_of(tmp_path, "complex", "edge")
    fails(USAGE, "export", model, "--initial", "pure", says=("--initial pure", "mixed"))
    fails(USAGE, "export", model, "--format", "npz", says=("-o",))
    fails(USAGE, "export", model, "--steps", "0", says=("--steps",))
    fails(USAGE, "export", model, "-o", model, says=("-o",))
    arrays = random_arrays("complex", "edge", 3, 2, 2)
    infeasible = write_model(tmp_path / "bad.h5", "complex", "edge", {**arrays, "kraus": 1.1 * arrays["kraus"]})
    fails(BAD_DATA, "export", infeasible, says=("bad.h5", "trace preserving"))


@pytest.mark.parametrize("field, emission", KINDS)
def test_qutip_computes_the_same_probabilities(tmp_path, field, emission):
    pytest.importorskip("qutip")
    model = model_of(tmp_path, field, emission)
    script = tmp_path / "circuit.py"
    exported(model, script, "--format", "qutip", "--steps", 2)
    expected = probabilities(model, tmp_path, 3, 2)
    program = ("import json, runpy, sys; it = runpy.run_path(sys.argv[1]); "
               "print(json.dumps([it['probability'](s) for s in json.loads(sys.argv[2])]))")
    done = subprocess.run([sys.executable, "-c", program, script, json.dumps(list(expected))],
                          stdout=subprocess.PIPE, check=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert np.abs(np.array(found) - np.array(list(expected.values()))).max() < 1e-10


@pytest.mark.skipif(not SIMULATORS, reason="./dev test circuits works out a hundred models")
@pytest.mark.parametrize("field, emission", KINDS)
@pytest.mark.parametrize("n", [2, 3, 4, 8])
def test_qutip_computes_the_same_probabilities_of_a_hundred_models(tmp_path, n, field, emission):
    pytest.importorskip("qutip")
    rng = np.random.default_rng(n)
    for k in range(7):
        s, w = 2 + k % 5, 1 + k % 2
        model = model_of(tmp_path, field, emission, (s, w, n), seed=k)
        exported(model, tmp_path / "circuit.py", "--format", "qutip", "--steps", 3)
        probability = runpy.run_path(str(tmp_path / "circuit.py"))["probability"]
        words = rng.integers(s, size=(4, 3))
        data = tmp_path / "words.txt"
        data.write_text("".join(" ".join(map(str, word)) + "\n" for word in words))
        scored = hqmm_json("score", model, data, "--per-sequence")["per_sequence"]
        for word, one in zip(words, scored):
            assert abs(probability(word.tolist()) - np.exp(one["log_likelihood"])) < 1e-10, (k, word)


def z_of_chi_squared(observed, expected):
    """Wilson and Hilferty's: about standard normal; 3.719 is p = 10⁻⁴. Rare sequences are counted together."""
    order = np.argsort(expected)
    observed, expected = observed[order], expected[order]
    few = max(int(np.searchsorted(np.cumsum(expected), 5.0)) + 1, 1)
    observed = np.append(observed[few:], observed[:few].sum())
    expected = np.append(expected[few:], expected[:few].sum())
    chi2, k = ((observed - expected) ** 2 / expected).sum(), len(expected) - 1
    return ((chi2 / k) ** (1 / 3) - (1 - 2 / (9 * k))) / np.sqrt(2 / (9 * k))


@pytest.mark.skipif(not SIMULATORS, reason="./dev test circuits installs and runs the simulators")
@pytest.mark.parametrize("version", [3, 2])
@pytest.mark.parametrize("number", range(10))
def test_simulators_draw_what_the_model_says(tmp_path, version, number):
    field, emission = KINDS[number % 4]
    s, w, n = SHAPES[number % 5]
    model = model_of(tmp_path, field, emission, (s, w, n), seed=number)
    program = tmp_path / "model.qasm"
    report = exported(model, program, "--format", f"openqasm{version}", "--steps", 3)
    counts = json.loads(subprocess.run(
        ["node", SOURCE / "tests/cli/simulators/run.mjs", SIMULATORS, program, "4000", str(number + 1)],
        stdout=subprocess.PIPE, check=True, text=True).stdout)
    m, per_symbol = report["measured_qubits"], report["outcomes_per_symbol"]
    expected = probabilities(model, tmp_path, s, 3)
    found = dict.fromkeys(expected, 0)
    for bits, count in counts.items():
        assert len(bits) == 3 * m
        outcomes = [int(bits[t * m:(t + 1) * m][::-1], 2) for t in range(3)]
        found[tuple(outcome // per_symbol for outcome in outcomes)] += count
    assert sum(found.values()) == 4000
    z = z_of_chi_squared(np.array(list(found.values()), float), 4000 * np.array(list(expected.values())))
    assert z < 3.719, f"z = {z:.2f}"
