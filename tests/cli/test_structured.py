"""Structured models on the command line: real ones and those that emit on their states."""

import shutil

import h5py
import numpy as np
import pytest

from conftest import BAD_DATA, OK, USAGE, fails, hqmm, hqmm_json

KINDS = [("complex", "edge"), ("complex", "state"), ("real", "edge"), ("real", "state")]
FORMATS = ("h5", "json", "mat")


def random_arrays(field, emission, s=3, w=2, n=3, seed=0):
    """The arrays of a feasible model."""
    rng = np.random.default_rng(seed)

    def gaussian(rows):
        real = rng.normal(size=(rows, n))
        return real if field == "real" else real + 1j * rng.normal(size=(rows, n))

    if emission == "edge":
        arrays = {"kraus": np.linalg.qr(gaussian(s * w * n))[0].reshape(s, w, n, n)}
    else:
        c = rng.normal(size=(s, n))
        arrays = {"transition": np.linalg.qr(gaussian(w * n))[0].reshape(w, n, n),
                  "emission": c / np.linalg.norm(c, axis=0)}
    root = gaussian(n)
    state = root @ root.conj().T
    return {**arrays, "initial_state": state / np.trace(state)}


def write_model(path, field, emission, arrays=None, **attributes):
    """A file the way a user of h5py writes one."""
    with h5py.File(path, "w") as f:
        f.attrs.update({"format": "hqmm-model", "version": 2, "kind": "hqmm", "field": field, **attributes})
        f.update(arrays or random_arrays(field, emission))
    return path


def kraus_of(arrays):
    if "kraus" in arrays:
        return np.asarray(arrays["kraus"])
    return arrays["emission"][:, None, :, None] * arrays["transition"][None]


def log_likelihood_by_hand(arrays, sequence):
    kraus, rho, total = kraus_of(arrays), arrays["initial_state"], 0.0
    for y in sequence:
        rho = sum(k @ rho @ k.conj().T for k in kraus[y])
        total, rho = total + np.log(np.trace(rho).real), rho / np.trace(rho)
    return total


@pytest.mark.parametrize("field, emission", KINDS)
def test_scores_are_those_of_the_definition(tmp_path, field, emission):
    arrays = random_arrays(field, emission)
    model = write_model(tmp_path / "m.h5", field, emission, arrays)
    data = tmp_path / "data.txt"
    data.write_text("0 1 2 2 1 0 1\n")
    expected = log_likelihood_by_hand(arrays, [0, 1, 2, 2, 1, 0, 1])
    assert hqmm_json("score", model, data)["log_likelihood"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("field, emission", KINDS)
def test_training_writes_plain_arrays(tmp_path, data, field, emission):
    model = tmp_path / "m.h5"
    args = ("train", data, "-n", 3, "--field", field, "--emission", emission, "--epochs", 2, "--quiet", "-o", model)
    assert hqmm(*args).returncode == OK
    first = model.read_bytes()
    assert hqmm(*args).returncode == OK
    assert model.read_bytes() == first
    with h5py.File(model) as f:
        assert f.attrs["version"] == (1 if (field, emission) == KINDS[0] else 2)
        assert f.attrs.get("field", "complex") == field
        number = np.float64 if field == "real" else np.complex128
        assert f["initial_state"].dtype == number
        if emission == "edge":
            assert f["kraus"].shape == (3, 2, 3, 3) and f["kraus"].dtype == number
        else:
            assert f["transition"].shape == (2, 3, 3) and f["transition"].dtype == number
            assert f["emission"].shape == (3, 3) and f["emission"].dtype == np.float64


@pytest.mark.parametrize("field, emission", KINDS)
def test_formats_go_round(tmp_path, field, emission):
    source = write_model(tmp_path / "source.h5", field, emission)
    written = tmp_path / "0.h5"
    assert hqmm("convert", source, written).returncode == OK
    for k, suffix in enumerate((*FORMATS, "h5"), 1):
        after = tmp_path / f"{k}.{suffix}"
        assert hqmm("convert", written, after).returncode == OK
        written = after
    assert written.read_bytes() == (tmp_path / "0.h5").read_bytes()


@pytest.mark.parametrize("field, emission", KINDS)
@pytest.mark.parametrize("sets", [1, 2])
def test_expansion_is_the_same_process(tmp_path, data, field, emission, sets):
    arrays = random_arrays(field, emission)
    if sets == 2:
        other = random_arrays(field, emission, seed=1)
        arrays = {name: array if name == "initial_state" else np.stack([array, other[name]])
                  for name, array in arrays.items()}
    source = write_model(tmp_path / "source.h5", field, emission, arrays)
    plain = tmp_path / "plain.h5"
    done = hqmm("convert", source, plain, "--expand")
    assert done.returncode == OK, done.stderr
    with h5py.File(plain) as f:
        assert f.attrs["version"] == 1 and "field" not in f.attrs
        assert f["kraus"].dtype == np.complex128 and "transition" not in f
    a, b = (hqmm_json("score", model, data) for model in (source, plain))
    assert a["log_likelihood"] == pytest.approx(b["log_likelihood"], abs=1e-12)
    again = tmp_path / "again.h5"
    assert hqmm("convert", plain, again, "--expand").returncode == OK
    assert again.read_bytes() == plain.read_bytes()
    drawn = {hqmm("sample", model, "--count", 3, "--length", 9).stdout for model in (source, plain)}
    assert len(drawn) == 1
    rows = [np.loadtxt(hqmm("predict", model, data).stdout.splitlines()) for model in (source, plain)]
    assert np.allclose(*rows, atol=1e-12, rtol=0)


def test_expansion_leaves_other_models_alone(tmp_path, data):
    hmm = tmp_path / "hmm.h5"
    assert hqmm("train", data, "--learner", "em", "-n", 2, "--restarts", 1, "--epochs", 2, "-o", hmm).returncode == OK
    same = tmp_path / "same.h5"
    assert hqmm("convert", hmm, same, "--expand").returncode == OK
    assert same.read_bytes() == hmm.read_bytes()
    fails(USAGE, "convert", data, tmp_path / "out.txt", "--expand", says="--expand makes a model")


def test_hmms_embed_on_states(tmp_path, data):
    hmm = tmp_path / "hmm.h5"
    train = ("train", data, "--learner", "em", "-n", 2, "--restarts", 1, "--epochs", 2)
    assert hqmm(*train, "-o", hmm).returncode == OK
    expected = hqmm_json("score", hmm, data)["log_likelihood"]
    for how in ("rank-one", "cyclic"):
        for field in ("complex", "real"):
            out = tmp_path / "out.h5"
            done = hqmm("convert", hmm, out, "--embed", how, "--emission", "state", "--field", field)
            assert done.returncode == OK, done.stderr
            found = hqmm_json("inspect", out, "--entropy-symbols", 64)
            assert (found["field"], found["emission"], found["kraus_rank"]) == (field, "state", 2)
            assert hqmm_json("score", out, data)["log_likelihood"] == pytest.approx(expected, abs=1e-12)
    fails(USAGE, "convert", hmm, out, "--emission", "state", says="--embed")
    edge = tmp_path / "edge.h5"
    assert hqmm(*train, "--emission", "edge", "-o", edge).returncode == OK
    fails(USAGE, "convert", edge, out, "--embed", "cyclic", "--emission", "state", says="emits on its edges")


PARAMETERS = {  # s = 3, w = 2, n = 3, and an initial state that is neither mixed nor pure
    ("complex", "edge"): 3 * (2 * 2 * 9 - 4) - 9 - 8 + 8,
    ("complex", "state"): 2 * 2 * 9 - 9 + 2 * 3 - 2 - 4 + 8,
    ("real", "edge"): 3 * 2 * 9 - 6 - 3 - 3 + 5,
    ("real", "state"): 2 * 9 - 6 + 2 * 3 - 1 + 5}


@pytest.mark.parametrize("field, emission", KINDS)
def test_inspect_is_right(tmp_path, field, emission):
    arrays = random_arrays(field, emission)
    model = write_model(tmp_path / "m.h5", field, emission, arrays)
    found = hqmm_json("inspect", model, "--entropy-symbols", 4096, "--eigenvalues", 20)
    assert (found["field"], found["emission"], found["kraus_rank"]) == (field, emission, 2)
    assert found["parameters"] == PARAMETERS[field, emission]
    assert found["feasible"] and found["feasibility_residual"] < 1e-13
    operators = kraus_of(arrays).reshape(-1, 3, 3)
    # the fixed point, from the definition
    pairs = np.array(found["fixed_point"])
    state = pairs[..., 0] + 1j * pairs[..., 1]
    assert np.allclose(sum(k @ state @ k.conj().T for k in operators), state, atol=1e-12)
    assert field == "complex" or not state.imag.any()
    # the spectrum: the channel on Hermitian, or symmetric, matrices
    channel = sum(np.kron(k, k.conj()) for k in operators)
    if field == "real":
        swap = np.eye(9).reshape(3, 3, 3, 3).swapaxes(0, 1).reshape(9, 9)
        values, basis = np.linalg.eigh((np.eye(9) + swap) / 2)
        symmetric = basis[:, values > 0.5]
        channel = symmetric.T @ channel @ symmetric
    moduli = sorted(np.abs(np.linalg.eigvals(channel)), reverse=True)
    assert np.allclose([value["modulus"] for value in found["eigenvalues"]], moduli, atol=1e-9)
    assert found["mixing_rate"] == pytest.approx(moduli[1], abs=1e-9)
    plain = tmp_path / "plain.h5"
    assert hqmm("convert", model, plain, "--expand").returncode == OK
    expanded = hqmm_json("inspect", plain, "--entropy-symbols", 4096)
    assert found["entropy_rate"]["bits"] == pytest.approx(expanded["entropy_rate"]["bits"], abs=1e-6)
    assert ("emission_probabilities" in found) == (emission == "state")
    if emission == "state":
        assert np.allclose(found["emission_probabilities"], arrays["emission"] ** 2)
    text = hqmm("inspect", model, "--entropy-symbols", 64).stdout
    assert f"field                   {field}" in text
    assert text.split("fixed point\n")[1].splitlines()[0].endswith("i") == (field == "complex")
    assert ("what they emit" in text) == (emission == "state")


def test_inspect_shows_states(tmp_path):
    arrays = {"transition": np.array([[[0.0, 1.0], [1.0, 0.0]]]), "emission": np.array([[1.0, 0.6], [0.0, 0.8]]),
              "initial_state": np.eye(2) / 2}
    text = hqmm("inspect", write_model(tmp_path / "m.h5", "real", "state", arrays), "--entropy-symbols", 64).stdout
    assert "real HQMM emitting on its states, n = 2, s = 2, w = 1" in text
    assert "    0  0.5000  0 100%\n    1  0.5000  1 64%, 0 36%\n" in text


def test_an_infeasible_state_model_is_reported(tmp_path, data):
    arrays = random_arrays("real", "state")
    arrays["emission"][:, 0] *= 1.5
    model = write_model(tmp_path / "m.h5", "real", "state", arrays)
    done = hqmm("score", model, data)
    assert done.returncode == OK and "not trace preserving" in done.stderr and done.stderr.count("\n") == 1
    found = hqmm_json("score", model, data)
    assert found["feasibility_residual"] == pytest.approx(1.25) and found["raw"] is not None
    assert hqmm_json("inspect", model, "--entropy-symbols", 64)["feasible"] is False
    plain = tmp_path / "plain.h5"
    assert hqmm("convert", model, plain, "--expand").returncode == OK
    assert hqmm_json("score", plain, data)["log_likelihood"] == pytest.approx(found["log_likelihood"], abs=1e-12)


@pytest.mark.parametrize("change, says", [
    ({"version": 3}, "reads versions 1 and 2, the file has version 3"),
    ({"version": 1}, "'field': a real model is of version 2"),
    ({"version": 1, "field": "complex"}, "emits on its states is of version 2"),
    ({"field": "none"}, "expected real or complex"),
    ({"transition": np.eye(3)[None] * 1j}, "transition[0,0,0] is not real"),
    ({"initial_state": np.array([[.4, .1j, 0], [-.1j, .3, 0], [0, 0, .3]])}, "initial state is not real"),
    ({"emission": np.full((3, 3), 1j)}, "'emission': holds complex numbers"),
    ({"emission": np.ones((3, 2))}, "'emission': has shape (3, 2), expected (s, 3)"),
    ({"emission": np.ones((2, 3, 3))}, "'emission': has shape (2, 3, 3), expected (s, 3)"),
    ({"transition": np.ones((3, 3))}, "'transition': has shape (3, 3)"),
    ({"transition": np.ones((2, 3, 4))}, "the last two sizes must be equal"),
    ({"kraus": np.ones((3, 2, 3, 3))}, "cannot be combined with 'kraus'"),
    ({"emission": None}, "'emission': missing"),
    ({"emission": np.full((3, 3), np.nan)}, "emission[0,0] is not a finite number")])
def test_what_is_wrong_is_one_line(tmp_path, data, change, says):
    model = write_model(tmp_path / "m.h5", "real", "state")
    with h5py.File(model, "a") as f:
        for name, value in change.items():
            if name in ("version", "field"):
                f.attrs[name] = value
                continue
            if name in f:
                del f[name]
            if value is not None:
                f[name] = value
    fails(BAD_DATA, "score", model, data, says=[str(model), says])


def structured_classifier(tmp_path):
    """A classifier whose two models were exchanged for structured ones."""
    rows = tmp_path / "rows.txt"
    rows.write_text("".join(f"{c}\t0 1 2 {i % 3} {i % 2}\n" for i in range(6) for c in "ab"))
    path = tmp_path / "c.h5"
    assert hqmm("classify", "fit", rows, "-n", 1, "-w", 1, "--epochs", 1, "-o", path).returncode == OK
    models = [random_arrays("real", "state"), random_arrays("complex", "state", seed=1)]
    with h5py.File(path, "a") as f:
        f.attrs["version"] = 2
        for group, arrays, field in zip("01", models, ("real", "complex")):
            f[group].attrs["field"] = field
            for name in list(f[group]):
                del f[group][name]
            f[group].update(arrays)
    return path, rows, models


def test_classifiers_hold_structured_models(tmp_path):
    path, rows, models = structured_classifier(tmp_path)
    found = hqmm_json("inspect", path)["classes"]
    assert [(one["field"], one["emission"]) for one in found] == [("real", "state"), ("complex", "state")]
    predicted = hqmm_json("classify", "predict", path, rows)
    sequence = [0, 1, 2, 0, 0]
    a, b = (log_likelihood_by_hand(arrays, sequence) for arrays in models)
    assert predicted["rows"][0]["posteriors"]["a"] == pytest.approx(1 / (1 + np.exp(b - a)), abs=1e-9)
    part = tmp_path / "part.h5"
    assert hqmm("classify", "extract", path, "--class", "a", "-o", part).returncode == OK
    with h5py.File(part) as f:
        assert f.attrs["version"] == 2 and f.attrs["field"] == "real"
        assert np.array_equal(f["transition"], models[0]["transition"])
        assert np.array_equal(f["emission"], models[0]["emission"])


def test_a_structured_model_in_a_classifier_of_version_1_is_refused(tmp_path):
    path, rows, _ = structured_classifier(tmp_path)
    for version, says in ((1, ["class 'a'", "'field'", "version 2"]), (3, ["reads versions 1 and 2"])):
        bad = tmp_path / "bad.h5"
        shutil.copy(path, bad)
        with h5py.File(bad, "a") as f:
            f.attrs["version"] = version
        fails(BAD_DATA, "classify", "predict", bad, rows, says=says)
