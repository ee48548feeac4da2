import copy
import pickle

import h5py
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

import hqmm


@pytest.fixture(scope="module")
def fitted(rows):
    return hqmm.HQMM(2, 2, epochs=2, random_state=1).fit(rows)


def test_shapes(fitted, rows):
    assert fitted.kraus_.shape == (3, 2, 2, 2)
    assert fitted.initial_state_.shape == (2, 2)
    gamma = fitted.kraus_.reshape(-1, 2)
    assert np.allclose(gamma.conj().T @ gamma, np.eye(2), atol=1e-11)
    assert fitted.predict_proba(rows).shape == (rows.size, 3)
    assert fitted.predict(rows).shape == (rows.size,)
    assert fitted.filter(rows).shape == (rows.size, 2, 2)
    assert fitted.sample(4, 5, random_state=0).shape == (4, 5)
    assert fitted.predict_next_proba([0, 1]).shape == (3,)
    assert fitted.predict_next_proba([[0, 1], [2]]).shape == (2, 3)
    assert [r["epoch"] for r in fitted.history_] == [0, 1, 2]


def test_arrays_are_views_that_outlive_the_model_and_cannot_be_written(rows):
    model = hqmm.HQMM(2, epochs=1, random_state=1).fit(rows)
    kraus = model.kraus_
    kept = kraus.copy()
    del model
    assert np.array_equal(kraus, kept)
    with pytest.raises(ValueError, match="read-only"):
        kraus[0, 0, 0, 0] = 1


def by_hand(kraus, rho, sequence):
    """log P, the next distribution and the states, straight from the definition."""
    total, states = 0.0, []
    for y in sequence:
        after = sum(k @ rho @ k.conj().T for k in kraus[y])
        p = np.trace(after).real
        total, rho = total + np.log(p), after / p
        states.append(rho)
    ahead = [sum(np.trace(k @ rho @ k.conj().T).real for k in ks) for ks in kraus]
    return total, np.array(ahead), np.array(states)


def test_against_the_definition(fitted, rows):
    total, ahead, states = by_hand(fitted.kraus_, fitted.initial_state_, rows[0])
    assert fitted.score_sequences(rows)[0] == pytest.approx(total, abs=1e-9)
    assert fitted.score(rows[0]) == pytest.approx(total, abs=1e-9)
    assert np.allclose(fitted.predict_next_proba(rows[0]), ahead, atol=1e-12)
    assert np.allclose(fitted.filter(rows[0]), states, atol=1e-12)
    stream = fitted.stream()
    assert sum(stream.push(int(y)) for y in rows[0]) == pytest.approx(total, abs=1e-9)
    assert np.allclose(stream.next_proba(), ahead, atol=1e-12)
    assert np.allclose(stream.state, states[-1], atol=1e-12)


def test_hmm_against_the_definition(rows):
    model = hqmm.HMM(2, restarts=2, epochs=5, random_state=1).fit(rows)
    x, total = model.initial_, 0.0
    for y in rows[0]:
        x = model.emission_[y] * (model.transition_ @ x)
        total, x = total + np.log(x.sum()), x / x.sum()
    assert model.score(rows[0]) == pytest.approx(total, abs=1e-9)
    assert np.allclose(model.filter(rows[0])[-1], x)
    # hmmlearn's forward algorithm with hmmlearn's names
    alpha, total = model.startprob_, 0.0
    for t, y in enumerate(rows[0]):
        alpha = (alpha if t == 0 else alpha @ model.transmat_) * model.emissionprob_[:, y]
        total, alpha = total + np.log(alpha.sum()), alpha / alpha.sum()
    assert model.score(rows[0]) == pytest.approx(total, abs=1e-9)
    assert np.allclose(model.transmat_.sum(axis=1), 1) and np.isclose(model.startprob_.sum(), 1)


def test_edge_hmm_against_the_definition(rows):
    model = hqmm.HMM(3, emission="edge", restarts=2, epochs=5, random_state=1).fit(rows)
    assert model.edges_.shape == (3, 3, 3)
    assert np.allclose(model.edges_.sum(axis=(0, 1)), 1)
    assert np.allclose(model.transition_, model.edges_.sum(axis=0))
    assert np.allclose(model.transmat_.sum(axis=1), 1)
    x, total, states = model.initial_, 0.0, []
    for y in rows[0]:
        x = model.edges_[y] @ x
        total, x = total + np.log(x.sum()), x / x.sum()
        states.append(x)
    ahead = (model.edges_ @ x).sum(axis=1)
    assert model.score(rows[0]) == pytest.approx(total, abs=1e-9)
    assert np.allclose(model.filter(rows[0]), states)
    assert np.allclose(model.predict_next_proba(rows[0]), ahead)
    stream = model.stream()
    assert sum(stream.push(int(y)) for y in rows[0]) == pytest.approx(total, abs=1e-9)
    assert np.allclose(stream.state, x) and np.allclose(stream.next_proba(), ahead)
    assert model.sample(2, 9, random_state=1).shape == (2, 9)
    for name in ("emission_", "emissionprob_", "startprob_"):
        assert not hasattr(model, name)


def test_edge_hmm_round_trips(tmp_path, rows):
    model = hqmm.HMM(3, emission="edge", restarts=1, epochs=2, random_state=1).fit(rows)
    for name in ("model.h5", "model.json", "model.mat"):
        model.save(tmp_path / name)
        again = hqmm.load(tmp_path / name)
        assert isinstance(again, hqmm.HMM) and again.emission == "edge" and again.n_states == 3
        assert np.array_equal(again.edges_, model.edges_)
    assert pickle.loads(pickle.dumps(model)).model_.to_bytes() == model.model_.to_bytes()
    warm = hqmm.HQMM(3, 3, epochs=1, random_state=1, warm_start=model, warm_noise=0.0).fit(rows)
    assert warm.history_[0]["validation"]["log_likelihood"] == pytest.approx(
        model.history_[model.best_epoch_]["validation"]["log_likelihood"], abs=1e-6)


def test_an_hmm_has_edges_too(rows):
    model = hqmm.HMM(2, restarts=1, epochs=2, random_state=1).fit(rows)
    expected = model.emission_[:, :, None] * model.transition_
    assert np.allclose(model.edges_, expected)
    with pytest.raises(ValueError, match="emission"):
        hqmm.HMM(2, emission="odd").fit(rows)


KINDS = [("complex", "edge"), ("complex", "state"), ("real", "edge"), ("real", "state")]


@pytest.mark.parametrize("field, emission", KINDS)
def test_structured_models(tmp_path, rows, field, emission):
    model = hqmm.HQMM(3, field=field, emission=emission, epochs=2, random_state=1).fit(rows)
    number = np.float64 if field == "real" else np.complex128
    assert model.kraus_.shape == (3, 2, 3, 3) and model.kraus_.dtype == number
    assert model.initial_state_.dtype == number and model.filter(rows).dtype == number
    if emission == "state":
        assert model.transition_.shape == (2, 3, 3) and model.transition_.dtype == number
        assert model.emission_.shape == (3, 3) and model.emission_.dtype == np.float64
        assert np.array_equal(model.kraus_, model.emission_[:, None, :, None] * model.transition_)
        assert np.allclose((model.emission_ ** 2).sum(axis=0), 1, atol=1e-11)
    else:
        assert not hasattr(model, "transition_") and not hasattr(model, "emission_")
    with pytest.raises(ValueError, match="read-only"):
        model.kraus_[0, 0, 0, 0] = 1
    total, ahead, states = by_hand(model.kraus_, model.initial_state_, rows[0])
    assert model.score(rows[0]) == pytest.approx(total, abs=1e-9)
    assert np.allclose(model.predict_next_proba(rows[0]), ahead, atol=1e-12)
    assert np.allclose(model.filter(rows[0]), states, atol=1e-12)
    stream = model.stream()
    assert sum(stream.push(int(y)) for y in rows[0]) == pytest.approx(total, abs=1e-9)
    assert stream.state.dtype == number and np.allclose(stream.state, states[-1], atol=1e-12)
    for name in ("model.h5", "model.json", "model.mat"):
        model.save(tmp_path / name)
        again = hqmm.load(tmp_path / name)
        assert (again.n_states, again.n_kraus, again.field, again.emission) == (3, 2, field, emission)
        assert again.model_.to_bytes() == model.model_.to_bytes()
    assert pickle.loads(pickle.dumps(model)).model_.to_bytes() == model.model_.to_bytes()
    # What a file says of its options learns the same model again.
    assert clone(again).set_params(alphabet=3).fit(rows).model_.to_bytes() == model.model_.to_bytes()
    plain = hqmm.HQMM.from_kraus(model.kraus_, model.initial_state_)
    assert (plain.model_.field, plain.model_.emission_kind) == ("complex", "edge")
    assert plain.score(rows) == pytest.approx(model.score(rows), abs=1e-9)


def test_operators_of_states_outlive_the_model(rows):
    model = hqmm.HQMM(2, field="real", emission="state", epochs=1, random_state=1).fit(rows)
    views = model.kraus_, model.transition_, model.emission_, model.initial_state_
    kept = [view.copy() for view in views]
    del model
    assert all(map(np.array_equal, views, kept))


def test_sets_of_a_position_dependent_state_model(tmp_path):
    rng = np.random.default_rng(1)
    v = np.stack([np.linalg.qr(rng.normal(size=(4, 2)))[0].reshape(2, 2, 2) for _ in range(3)])
    c = rng.normal(size=(3, 4, 2))
    c /= np.linalg.norm(c, axis=1, keepdims=True)
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file.attrs.update({"format": "hqmm-model", "version": 2, "kind": "hqmm", "field": "real"})
        file.update({"transition": v, "emission": c})
    model = hqmm.load(tmp_path / "m.h5")
    assert np.array_equal(model.transition_, v) and np.array_equal(model.emission_, c)
    assert model.kraus_.shape == (3, 4, 2, 2, 2) and model.kraus_.dtype == np.float64
    assert np.array_equal(model.kraus_, c[:, :, None, :, None] * v[:, None])


def test_round_trips(tmp_path, fitted, rows):
    for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert again.model_.to_bytes() == fitted.model_.to_bytes()
        assert again.get_params() == fitted.get_params() and again.history_ == fitted.history_
    for name in ("model.h5", "model.json"):
        fitted.save(tmp_path / name)
        again = hqmm.HQMM.load(tmp_path / name)
        assert np.array_equal(again.kraus_, fitted.kraus_)
        assert again.score(rows) == fitted.score(rows)
        assert (again.n_states, again.n_kraus, again.random_state) == (2, 2, 1)
        assert isinstance(hqmm.load(tmp_path / name), hqmm.HQMM)
    with h5py.File(tmp_path / "model.h5") as file:
        assert np.array_equal(file["kraus"][()], fitted.kraus_)
    by_arrays = hqmm.HQMM.from_kraus(fitted.kraus_, fitted.initial_state_)
    assert np.array_equal(by_arrays.kraus_, fitted.kraus_)
    assert by_arrays.score(rows) == fitted.score(rows)
    # What a file says of its options learns the same model again.
    assert clone(again).set_params(alphabet=3).fit(rows).model_.to_bytes() == fitted.model_.to_bytes()


def test_operators_that_do_not_preserve_the_trace(fitted):
    with pytest.warns(UserWarning, match="do not preserve the trace"):
        model = hqmm.HQMM.from_kraus(0.9 * fitted.kraus_, fitted.initial_state_)
    assert np.isclose(model.predict_next_proba([0, 1]).sum(), 1)
    with pytest.raises(ValueError, match=r"kraus\[0,0,0,0\]"):
        hqmm.HQMM.from_kraus(np.full((2, 1, 2, 2), np.nan))


def test_sizes_of_a_file_that_does_not_tell_its_options(tmp_path):
    kraus = np.linalg.qr(np.random.default_rng(1).normal(size=(5 * 2 * 3, 3)))[0].reshape(5, 2, 3, 3)
    hqmm.HQMM.from_kraus(kraus).save(tmp_path / "model.h5")
    again = hqmm.load(tmp_path / "model.h5")
    assert (again.n_states, again.n_kraus, again.n_symbols_) == (3, 2, 5)


def test_wrong_files(tmp_path, rows):
    with pytest.raises(FileNotFoundError, match="nothing.h5"):
        hqmm.load(tmp_path / "nothing.h5")
    with pytest.raises(OSError):
        hqmm.load(tmp_path / "nothing.h5")
    (tmp_path / "bad.h5").write_bytes(b"\x89HDF\r\n\x1a\nrubbish")
    with pytest.raises(ValueError, match="bad.h5"):
        hqmm.load(tmp_path / "bad.h5")
    hqmm.HMM(2, restarts=1, epochs=1, random_state=1).fit(rows).save(tmp_path / "hmm.h5")
    with pytest.raises(ValueError, match="kind hmm, not hqmm"):
        hqmm.HQMM.load(tmp_path / "hmm.h5")
    with pytest.raises(ValueError, match="kraus must have shape"):
        hqmm.HQMM.from_kraus(np.eye(2))


def test_scikit_learn_around_it(rows):
    model = hqmm.HQMM(2, epochs=1, random_state=1)
    assert len(cross_val_score(model, rows, cv=3)) == 3
    search = GridSearchCV(model, {"n_states": [1, 2]}, cv=2).fit(list(rows))
    assert search.best_params_["n_states"] in (1, 2)
    pipe = Pipeline([("shift", FunctionTransformer(lambda X: X % 3)), ("model", model)])
    assert pipe.fit(rows).score(rows) == model.fit(rows).score(rows)
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("call", [
    lambda m: m.score([[0, 1]]), lambda m: m.predict_next_proba([0]), lambda m: m.sample(1),
    lambda m: m.save("x.h5"), lambda m: m.filter([0]), lambda m: m.stream(), lambda m: m.alphabet_])
@pytest.mark.parametrize("kind", [hqmm.HQMM, hqmm.HMM])
def test_not_fitted(kind, call):
    with pytest.raises(NotFittedError):
        call(kind(2))


@pytest.mark.parametrize("params, says", [
    ({"n_states": 0}, "n_states"), ({"n_states": 1.5}, "n_states"), ({"step_size": -1}, "step_size"),
    ({"step_size": float("nan")}, "step_size"), ({"learner": "magic"}, "learner"),
    ({"learner": "em"}, "HMM"), ({"schedule": "wild"}, "schedule"), ({"n_jobs": 0}, "n_jobs"),
    ({"random_state": -1}, "random_state"), ({"validation_share": 2.0}, "between 0 and 1"),
    ({"preset": "mine"}, "preset"), ({"warm_start": 3}, "warm_start"), ({"alphabet": "x"}, "alphabet"),
    ({"epochs": [1]}, "epochs"), ({"epochs": -1}, "epochs"), ({"epochs": True}, "epochs"),
    ({"n_states": 10**30}, "n_states"), ({"n_jobs": 10**12}, "n_jobs"), ({"preset": 3}, "preset"),
    ({"alphabet": []}, "alphabet"), ({"alphabet": 3.5}, "alphabet"), ({"retraction": "literal", "average": 0.5}, "average")])
def test_wrong_parameters(rows, params, says):
    with pytest.raises(ValueError, match=says) as raised:
        hqmm.HQMM(**{"n_states": 2, "epochs": 1, **params}).fit(rows)
    assert "--" not in str(raised.value)


def test_random_state(rows):
    same = [hqmm.HQMM(2, epochs=1, random_state=np.random.RandomState(3)).fit(rows) for _ in "ab"]
    assert same[0].seed_ == same[1].seed_
    assert same[0].model_.to_bytes() == same[1].model_.to_bytes()
    assert hqmm.HQMM(2, epochs=1, random_state=np.random.default_rng(3)).fit(rows).seed_ >= 0


def test_warm_start_from_a_model(rows, fitted):
    again = hqmm.HQMM(2, 2, epochs=1, random_state=1, warm_start=fitted).fit(rows)
    assert again.history_[0]["validation"] == fitted.history_[fitted.best_epoch_]["validation"]
    with pytest.raises(NotFittedError):
        hqmm.HQMM(2, epochs=1, warm_start=hqmm.HQMM(2)).fit(rows)


def test_tokens_come_back_as_tokens():
    model = hqmm.HQMM(2, epochs=1, alphabet="dna", random_state=1).fit(["ACGT", "acgtn", "UUAC"])
    assert model.alphabet_ == ["A", "C", "G", "T"]
    assert set(model.sample(2, 20, random_state=1).ravel()) <= set("ACGT")
    assert set(model.predict("ACG")) <= set("ACGT")
    assert model.predict_next_proba("ACG").shape == (4,)
    stream = model.stream()
    stream.push("A")
    assert np.array_equal(stream.next_proba(), model.predict_next_proba("A"))


def test_before_the_first_symbol(rows):
    for model in hqmm.HQMM(3, epochs=2, random_state=1).fit(rows), hqmm.HMM(2, epochs=2, random_state=1).fit(rows):
        first = model.predict_next_proba([])
        assert first.shape == (3,) and np.isclose(first.sum(), 1)
        assert np.allclose(np.log(first), [model.score([[symbol]]) for symbol in range(3)])
        for nothing in "", (), np.empty(0, int), np.array([], dtype=float):
            assert np.array_equal(model.predict_next_proba(nothing), first)
        assert np.allclose(model.predict_next_proba([], steps=2), model.stream().next_proba(2))
    with pytest.raises(ValueError, match="empty"):
        model.predict_next_proba([[0], []])
