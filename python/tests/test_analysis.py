"""What `hqmm inspect` and `hqmm convert` do, from Python; criteria; explanations."""

import itertools
import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import hqmm
from conftest import write_text


def models(rows):
    return [hqmm.HQMM(2, epochs=2, random_state=1).fit(rows),
            hqmm.HQMM(3, field="real", emission="state", epochs=2, random_state=1).fit(rows),
            hqmm.HMM(3, epochs=3, restarts=1, random_state=1).fit(rows),
            hqmm.HMM(3, emission="edge", epochs=3, restarts=1, random_state=1).fit(rows)]


def test_findings_are_those_of_inspect(tmp_path, cli, rows):
    for model in models(rows):
        model.save(tmp_path / "m.h5")
        found = json.loads(cli("inspect", tmp_path / "m.h5", "--json", "--entropy-symbols", 2000, "--seed", 3,
                               "--eigenvalues", 4))
        assert model.n_parameters_ == found["parameters"]
        assert model.mixing_rate_ == pytest.approx(found["mixing_rate"], abs=1e-12)
        printed = np.array([[complex(*entry) for entry in row] for row in found["fixed_point"]])
        fixed = model.fixed_point_
        assert np.array_equal(np.diag(fixed) if fixed.ndim == 1 else fixed, printed)
        values = np.array([complex(value["re"], value["im"]) for value in found["eigenvalues"]])
        assert np.allclose(model.spectrum(4), values)
        assert model.entropy_rate(2000, random_state=3) == found["entropy_rate"]


def test_fixed_points_are_fixed(rows):
    quantum, _, state, edge = models(rows)
    rho = quantum.fixed_point_
    assert np.allclose(np.einsum("yqij,jk,yqlk->il", quantum.kraus_, rho, quantum.kraus_.conj()), rho)
    for hmm in (state, edge):
        assert np.allclose(hmm.transition_ @ hmm.fixed_point_, hmm.fixed_point_)
        assert np.array_equal(hmm.get_stationary_distribution(), hmm.fixed_point_)
    assert quantum.spectrum()[0] == pytest.approx(1)


def test_criteria(rows):
    hidden = rows.copy()
    X = np.ma.masked_array(hidden, mask=np.arange(hidden.size).reshape(hidden.shape) % 7 == 0)
    for model in models(rows):
        k, fitted = model.n_parameters_, model.score(X)
        assert model.aic(X) == pytest.approx(2 * k - 2 * fitted)
        assert model.bic(X) == pytest.approx(k * np.log(X.count()) - 2 * fitted)
    # an HMM has n(n−1) + n(s−1) + n−1
    assert models(rows)[2].n_parameters_ == 3 * 2 + 3 * 2 + 2


def test_embedding_and_expanding_are_those_of_convert(tmp_path, cli, rows):
    _, structured, state, edge = models(rows)
    for hmm, choices in ((state, [{}, {"emission": "state", "field": "real"}]), (edge, [{}])):
        hmm.save(tmp_path / "hmm.h5")
        for kind in ("rank-one", "cyclic"):
            for choice in choices:
                flags = [word for name, value in choice.items() for word in (f"--{name}", value)]
                cli("convert", tmp_path / "hmm.h5", tmp_path / "q.h5", "--embed", kind, *flags)
                embedded = hmm.to_hqmm(kind, **choice)
                assert isinstance(embedded, hqmm.HQMM)
                assert embedded.model_.to_bytes() == (tmp_path / "q.h5").read_bytes()
                assert np.allclose(embedded.score_sequences(rows), hmm.score_sequences(rows))
    structured.save(tmp_path / "s.h5")
    cli("convert", tmp_path / "s.h5", tmp_path / "p.h5", "--expand")
    assert structured.expand().model_.to_bytes() == (tmp_path / "p.h5").read_bytes()
    with pytest.raises(ValueError, match="emission='state' takes an HMM that emits on its states"):
        edge.to_hqmm(emission="state")
    for wrong in ({"kind": "odd"}, {"emission": "odd"}, {"field": "odd"}):
        with pytest.raises(ValueError, match="odd"):
            state.to_hqmm(**wrong)


def test_circuits_are_those_of_export(tmp_path, cli, rows):
    for model in models(rows):
        model.save(tmp_path / "m.h5")

        def exported(*options):
            return cli("export", tmp_path / "m.h5", *options)

        assert model.to_qasm() == exported()
        assert model.to_qasm("openqasm2", steps=3) == exported("--format", "openqasm2", "--steps", 3)
        assert model.to_qasm(steps=np.int64(4)) == exported("--steps", 4)
        assert model.to_qutip() == exported("--format", "qutip")
        for wrong in ({"format": "qutip"}, {"format": 3}, {"steps": 0}, {"steps": 1.5}, {"initial": "odd"}):
            with pytest.raises(ValueError, match=next(iter(wrong))):
                model.to_qasm(**wrong)
        with pytest.raises(ValueError, match="steps=1000000 is more than"):
            model.to_qasm(steps=1_000_000)
    kraus, pure = hqmm.HQMM.from_kraus(models(rows)[0].kraus_), np.diag([1.0, 0.0])
    with pytest.raises(ValueError, match="initial='pure': the initial state is mixed"):
        kraus.to_qasm(initial="pure")
    started = hqmm.HQMM.from_kraus(kraus.kraus_, pure)
    assert started.to_qasm(initial="pure") == started.to_qasm()


def test_qutip_programs_give_the_probabilities(rows):
    pytest.importorskip("qutip")
    words = [np.array(word) for word in itertools.product(range(3), repeat=2)]
    for model in models(rows):
        program = {"__name__": "circuit"}
        exec(model.to_qutip(steps=2), program)
        found = [program["probability"](word) for word in words]
        assert np.allclose(found, np.exp(model.score_sequences(words)), rtol=0, atol=1e-10)


def test_explanations_are_those_of_the_command_line(tmp_path, cli):
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(60, 9))
    y = np.array(["b", "a", "c"])[X[:, 4]]
    model = hqmm.HQMMClassifier(2, epochs=10, random_state=1).fit(X, y)
    model.save(tmp_path / "clf.h5")
    data = write_text(tmp_path / "data.txt", X[:5])
    printed = json.loads(cli("classify", "predict", tmp_path / "clf.h5", data, "--explain", "--json"))
    found = model.explain(X[:5])
    decided = model.predict(X[:5])
    for row, one, label in zip(printed["rows"], found, decided):
        assert one.shape == (9, 3)
        assert row["contributions"] == one[:, model.classes_.tolist().index(label)].tolist()
    strongest = np.mean([one[:, model.classes_.tolist().index(label)].argmax() == 4
                         for one, label in zip(found, decided)])
    assert strongest > 0.5  # the symbol in the middle is the class


def test_before_fit():
    for call in (lambda: hqmm.HQMM(2).n_parameters_, lambda: hqmm.HMM().fixed_point_, hqmm.HQMM(2).spectrum,
                 hqmm.HMM().to_hqmm, hqmm.HQMM(2).to_qasm, hqmm.HMM().to_qutip, lambda: hqmm.HQMM(2).aic([0]), lambda: hqmm.HQMMClassifier().explain([0])):
        with pytest.raises(NotFittedError):
            call()


def test_a_position_dependent_model_has_no_one_channel():
    X = np.random.default_rng(0).integers(3, size=(40, 9))
    model = hqmm.HQMMClassifier(2, epochs=1, positions="window:3-5", random_state=1).fit(X, X[:, 4] == 0)
    with pytest.raises(ValueError, match="depends on the position"):
        model.class_model(True).fixed_point_
    assert model.class_model(True).n_parameters_ > 0
