"""hqmm inspect: Choi ranks, unitality, irreducible blocks and cycles of a model's channel."""

import json
import subprocess
import sys

import numpy as np
import pytest

from conftest import SOURCE, hqmm, hqmm_json, random_kraus, write_hqmm

QUICK = ("--entropy-symbols", 64)


def turning(period=3, seed=None):
    """Operators (2, 1, period, period) that visit the basis states in turn, in a random basis if there is a seed."""
    shift = np.roll(np.eye(period), 1, axis=0)
    kraus = np.stack([np.sqrt(p) * shift for p in (0.3, 0.7)])[:, None].astype(complex)
    if seed is None:
        return kraus
    rng = np.random.default_rng(seed)
    unitary = np.linalg.qr(rng.normal(size=(period, period)) + 1j * rng.normal(size=(period, period)))[0]
    return unitary @ (kraus * np.exp(2j * np.pi * rng.random(period))) @ unitary.conj().T


def dephased(kraus):
    """Each operator followed by a measurement nobody looks at, so that no coherence lasts."""
    n = kraus.shape[-1]
    return np.concatenate([np.diag(np.eye(n)[i]) @ kraus for i in range(n)], axis=1)


def test_period_three_is_a_cycle_of_parts(tmp_path):
    model = write_hqmm(tmp_path / "m.h5", dephased(turning()))
    found = hqmm_json("inspect", model, *QUICK)
    assert found["unital"] is True and found["unitality_residual"] < 1e-12
    assert found["choi_ranks"] == {"symbols": [3, 3], "channel": 3}
    structure = found["structure"]
    assert structure["transient_dimension"] == 0 and structure["unique"] and structure["lasting_coherences"] == 0
    (block,) = structure["blocks"]
    assert (block["dimension"], block["period"], len(block["cycle"])) == (3, 3, 3)
    assert block["share"] == pytest.approx(1)
    for k, part in enumerate(block["cycle"]):
        assert part["dimension"] == 1
        projection = np.array(part["projection"]) @ [1, 1j]
        np.testing.assert_allclose(projection, np.diag(np.eye(3)[k]), atol=1e-7)
    text = hqmm("inspect", model, *QUICK).stdout
    assert ("dimension 3, 1.0000 of the time, period 3: P0 (dimension 1: 0) → P1 (dimension 1: 1) → "
            "P2 (dimension 1: 2) → P0\n") in text
    assert "Choi rank               3 of every symbol, 3 of the channel\n" in text
    assert "unital                  yes" in text


def test_a_random_model_is_one_block(tmp_path):
    model = write_hqmm(tmp_path / "m.h5", random_kraus(2, 2, 3))
    found = hqmm_json("inspect", model, *QUICK)
    assert found["unital"] is False
    assert [(b["dimension"], b["period"]) for b in found["structure"]["blocks"]] == [(3, 1)]
    text = hqmm("inspect", model, *QUICK).stdout
    assert "irreducible blocks      1\n    0  dimension 3, 1.0000 of the time, no period\n" in text


def test_a_large_model_is_said_to_be_too_large(tmp_path):
    model = write_hqmm(tmp_path / "m.h5", random_kraus(2, 1, 17))
    assert hqmm_json("inspect", model, *QUICK)["structure"] is None
    assert "not worked out: beyond 16 states" in hqmm("inspect", model, *QUICK).stdout


def test_classes_of_an_hmm(tmp_path):
    transition = np.zeros((4, 4))  # 0 → 1 → 0, 2 stays, 3 leads to either
    transition[1, 0] = transition[0, 1] = transition[2, 2] = 1
    transition[[0, 2], 3] = 0.5
    document = {"format": "hqmm-model", "version": 1, "kind": "hmm", "alphabet": ["a", "b"],
                "transition": transition.tolist(), "emission": [[0.5] * 4] * 2, "initial": [0.25] * 4}
    path = tmp_path / "hmm.json"
    path.write_text(json.dumps(document))
    found = hqmm_json("inspect", path, *QUICK)
    assert "choi_ranks" not in found and found["unital"] is False
    assert found["structure"]["transient_states"] == [3]
    assert [(c["states"], c["period"], c["cycle"]) for c in found["structure"]["classes"]] == [
        ([0, 1], 2, [[0], [1]]), ([2], 1, [[2]])]
    assert sum(c["share"] for c in found["structure"]["classes"]) == pytest.approx(1)
    text = hqmm("inspect", path, *QUICK).stdout
    assert "irreducible blocks      2, and 1 states that are left for good: 3\n" in text
    assert "period 2: P0 (0) → P1 (1) → P0\n" in text


@pytest.mark.parametrize("kraus", [turning(3, seed=1), dephased(turning(4)), random_kraus(3, 2, 2)],
                         ids=["turned", "cycle", "random"])
def test_the_lines_for_qutip_agree(tmp_path, kraus):
    pytest.importorskip("qutip")
    page = (SOURCE / "docs/quantum.md").read_text(encoding="utf-8")
    program = page.split("```python\n")[1].split("```")[0]
    assert "qutip.to_choi" in program
    write_hqmm(tmp_path / "model.h5", kraus)
    (tmp_path / "model.json").write_text(json.dumps(hqmm_json("inspect", tmp_path / "model.h5", *QUICK)))
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_no_zero_has_a_sign(tmp_path):
    """The fixed point of a unital channel is a multiple of 1: rounding leaves a minus where nothing is."""
    for name, kraus in {"cycle": dephased(turning()), "phases": turning(seed=1), "random": random_kraus(3, 2, 2)}.items():
        text = hqmm("inspect", write_hqmm(tmp_path / f"{name}.h5", kraus), *QUICK).stdout
        assert "fixed point" in text and "-0.0000i" not in text and "-0.0000 " not in text and "-0.000000" not in text
