"""Viterbi paths, posteriors and smoothed states: against the definitions, and against one another."""

import itertools
import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import hqmm


@pytest.fixture(scope="module", params=["state", "edge"])
def hmm(request):
    rows = np.random.default_rng(5).integers(3, size=(12, 30))
    return hqmm.HMM(3, emission=request.param, restarts=1, epochs=5, random_state=1).fit(rows)


def all_paths(model, sequence):
    """P(path, sequence) of every path; the state before the first symbol is summed over."""
    step = [model.edges_.sum(axis=0) if y is None else model.edges_[y] for y in sequence]
    first = step[0] @ model.initial_
    out = {}
    for path in itertools.product(range(len(first)), repeat=len(sequence)):
        p = first[path[0]]
        for t in range(1, len(path)):
            p *= step[t][path[t], path[t - 1]]
        out[path] = p
    return out


@pytest.mark.parametrize("sequence", [[0], [2, 1, 0, 0, 1], [1, None, None, 2, 0]])
def test_paths_and_posteriors_are_those_of_enumeration(hmm, sequence):
    paths = all_paths(hmm, sequence)
    best = max(paths, key=paths.get)
    log_prob, states = hmm.decode(sequence)
    assert log_prob == pytest.approx(np.log(paths[best]), abs=1e-12)
    assert tuple(states) == best and states.dtype == np.int64
    total = sum(paths.values())
    posteriors = np.zeros((len(sequence), 3))
    for path, p in paths.items():
        posteriors[np.arange(len(path)), path] += p / total
    log_likelihood, found = hmm.score_samples(sequence)
    assert np.allclose(found, posteriors, atol=1e-12)
    assert log_likelihood == pytest.approx(np.log(total)) == pytest.approx(hmm.score(sequence))
    assert np.array_equal(hmm.posteriors(sequence), found)


def test_concatenated_sequences(hmm, rows):
    log_prob, states = hmm.decode(rows[:4])
    parts = [hmm.decode(row) for row in rows[:4]]
    assert log_prob == pytest.approx(sum(part[0] for part in parts))
    assert np.array_equal(states, np.concatenate([part[1] for part in parts]))
    again = hmm.decode(rows[:4].reshape(-1, 1), [30] * 4)
    assert again[0] == log_prob and np.array_equal(again[1], states)
    assert hmm.posteriors(rows[:4]).shape == (120, 3)
    # nothing comes after the last symbol: what is filtered is all there is
    assert np.allclose(hmm.posteriors(rows)[29::30], hmm.filter(rows)[29::30])


def test_long_sequences_do_not_underflow(hmm):
    X = np.random.default_rng(1).integers(3, size=100_000)
    log_prob, states = hmm.decode(X)
    log_likelihood, posteriors = hmm.score_samples(X)
    assert -np.inf < log_prob < log_likelihood < -50_000
    assert states.shape == X.shape and np.allclose(posteriors.sum(axis=1), 1)


def test_paths_begin_where_hmmlearn_has_them_begin(tmp_path):
    """hmmlearn's recursion with startprob_, transmat_ and emissionprob_: log P(path, X)."""
    transmat, startprob = np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([0.6, 0.4])
    emission = np.array([[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]])
    # the file has the state before the first transition
    initial = np.linalg.solve(transmat.T, startprob)
    (tmp_path / "m.json").write_text(json.dumps({
        "format": "hqmm-model", "version": 1, "kind": "hmm", "alphabet": ["0", "1", "2"],
        "transition": transmat.T.tolist(), "emission": emission.T.tolist(), "initial": initial.tolist()}))
    model = hqmm.load(tmp_path / "m.json")
    assert np.allclose(model.startprob_, startprob)
    delta = np.log(startprob) + np.log(emission[:, 0])
    for y in (1, 2, 2):
        delta = (delta[:, None] + np.log(transmat)).max(axis=0) + np.log(emission[:, y])
    assert model.decode([0, 1, 2, 2])[0] == pytest.approx(delta.max(), abs=1e-12)


@pytest.mark.parametrize("kind", ["rank-one", "cyclic"])
def test_smoothed_states_of_an_embedded_hmm_are_its_posteriors(hmm, rows, kind):
    X = np.ma.masked_array(rows, mask=np.random.default_rng(2).random(rows.shape) < 0.1)
    smoothed = hmm.to_hqmm(kind).smooth(X)
    assert np.allclose(np.einsum("tii->ti", smoothed).real, hmm.posteriors(X), atol=1e-10)


@pytest.mark.parametrize("options", [{}, {"field": "real", "emission": "state"}])
def test_smoothed_states_of_an_hqmm(rows, options):
    model = hqmm.HQMM(3, 2, epochs=3, random_state=1, **options).fit(rows)
    X = rows[:3]
    rho, effects, smoothed = model.filter(X), model.effects(X), model.smooth(X)
    assert smoothed.shape == rho.shape == (90, 3, 3) and smoothed.dtype == rho.dtype
    assert np.allclose(np.einsum("tij,tji->t", effects, rho), 1)
    assert np.allclose(np.einsum("tii->t", smoothed), 1)
    assert np.linalg.eigvalsh(smoothed).min() > -1e-12
    assert np.allclose(smoothed[29::30], rho[29::30])
    # √ρE√ρ is another matrix with the same eigenvalues
    t = 10
    assert np.allclose(np.sort(np.linalg.eigvals(effects[t] @ rho[t]).real), np.linalg.eigvalsh(smoothed[t]))
    # tr(E σ) is the probability of what follows from σ, up to the scale
    kraus, row = model.kraus_, X[0]

    def weight(sigma):
        for y in row[t + 1:]:
            sigma = sum(k @ sigma @ k.conj().T for k in kraus[y])
        return np.trace(sigma).real

    sigma = np.diag([0.5, 0.25, 0.25])
    assert np.trace(effects[t] @ sigma).real == pytest.approx(weight(sigma) / weight(rho[t]))


def test_of_a_position_dependent_model():
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(40, 9))
    classifier = hqmm.HQMMClassifier(2, epochs=3, positions="window:3-5", random_state=1).fit(X, X[:, 4] == 0)
    model = classifier.class_model(True)
    assert len(model.model_.position_map) > 1
    smoothed = model.smooth(X)
    assert np.allclose(np.einsum("tii->t", smoothed), 1)
    assert np.allclose(smoothed[8::9], model.filter(X)[8::9])


def test_before_fit_and_wrong_input(hmm):
    for call in (hqmm.HMM().decode, hqmm.HMM().posteriors, hqmm.HQMM(2).smooth):
        with pytest.raises(NotFittedError):
            call([0, 1])
    with pytest.raises(ValueError, match="beyond the alphabet"):
        hmm.decode([0, 9])
