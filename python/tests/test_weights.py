"""What a sequence counts, and going on with more data."""

import numpy as np
import pytest

import hqmm

MODELS = {"HQMM": lambda **p: hqmm.HQMM(2, random_state=1, **{"epochs": 4, **p}),
          "state": lambda **p: hqmm.HQMM(2, random_state=1, emission="state", **{"epochs": 4, **p}),
          "givens": lambda **p: hqmm.HQMM(2, random_state=1, learner="givens", **{"epochs": 3, **p}),
          "HMM": lambda **p: hqmm.HMM(2, restarts=2, random_state=1, **{"epochs": 4, **p}),
          "Mealy": lambda **p: hqmm.HMM(2, restarts=1, emission="edge", random_state=1, **{"epochs": 4, **p})}
every_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def fitted(make, X, **how):
    return make().fit(X, **how).model_.to_bytes()


@every_model
def test_only_ratios_matter_and_zero_is_not_there(make, rows):
    w = np.linspace(0.25, 3, len(rows)).round(2)
    assert fitted(make, rows, sample_weight=np.full(12, 7.0)) == fitted(make, rows)
    assert fitted(make, rows, sample_weight=4 * w) == fitted(make, rows, sample_weight=w)
    assert fitted(make, rows, sample_weight=w) != fitted(make, rows)
    w[[2, 5]] = 0
    assert fitted(make, rows, sample_weight=w.tolist()) == fitted(
        make, np.delete(rows, [2, 5], axis=0), sample_weight=np.delete(w, [2, 5]))
    cut = {"lengths": [30] * 12, "sample_weight": w}
    assert fitted(make, rows.ravel(), **cut) == fitted(make, rows, sample_weight=w)


@pytest.mark.parametrize("emission", ["state", "edge"])
def test_em_counts_a_weight_as_often(rows, emission):
    """Weights 1 and 3 are the sequences once and three times."""
    often = np.array([1, 3] * 6)
    both = [hqmm.HMM(3, emission=emission, restarts=1, epochs=30, tolerance=0.0, random_state=1).fit(
        X, validation=rows, sample_weight=w) for X, w in ((rows, often), (np.repeat(rows, often, axis=0), None))]
    assert np.allclose(both[0].edges_, both[1].edges_, atol=1e-9)
    assert np.allclose(both[0].initial_, both[1].initial_, atol=1e-9)


def test_descent_learns_what_weighs(rows):
    """In batches of all chunks one step along the weighted mean is that of repeated sequences."""
    often = np.array([1, 3] * 6)
    models = [hqmm.HQMM(2, epochs=1, momentum=0.0, average=0.0, batch_size=100, random_state=1).fit(
        X, validation=rows, sample_weight=w) for X, w in ((rows, often), (np.repeat(rows, often, axis=0), None))]
    assert np.allclose(models[0].kraus_, models[1].kraus_, atol=1e-9)
    others = np.random.default_rng(3).integers(3, size=(12, 30))
    X, half = np.concatenate([rows, others]), np.repeat([1.0, 1e-3], 12)
    heavy, light = (hqmm.HQMM(3, epochs=30, random_state=1).fit(X, sample_weight=w) for w in (half, half[::-1]))
    assert heavy.score(rows) > light.score(rows) + 50 and light.score(others) > heavy.score(others) + 5


def test_the_validation_score_is_weighted(rows):
    """Held-out sequences choose the epoch as their weights say."""
    w = np.where(np.arange(12) % 2, 5.0, 0.5)
    model = hqmm.HQMM(2, epochs=3, random_state=1).fit(rows, sample_weight=w)
    plain = hqmm.HQMM(2, epochs=3, random_state=1).fit(rows)
    assert model.history_[0]["validation"]["symbols"] == plain.history_[0]["validation"]["symbols"]
    assert model.history_[0]["validation"]["log_likelihood"] != plain.history_[0]["validation"]["log_likelihood"]
    assert model.provenance_["data"] != plain.provenance_["data"]


@pytest.mark.parametrize("objective", ["discriminative", "generative"])
def test_classifiers_learn_what_weighs(rows, objective):
    X = np.concatenate([rows, rows[:, ::-1], rows[:, ::-1]])
    y = np.array(["a"] * 24 + ["b"] * 12)  # reversed ones are in both

    def learned(w):
        return hqmm.HQMMClassifier(3, epochs=15, objective=objective, random_state=1).fit(X, y, sample_weight=w)

    w = np.ones(36)
    assert learned(5 * w).model_.to_bytes() == learned(None).model_.to_bytes()
    w[12:24] = 0.01
    assert learned(w).score(rows, ["a"] * 12) >= 0.9 and learned(w).score(rows[:, ::-1], ["b"] * 12) >= 0.9
    w[12:24] = 0
    assert learned(w).model_.to_bytes() == hqmm.HQMMClassifier(3, epochs=15, objective=objective, random_state=1).fit(
        np.delete(X, range(12, 24), axis=0), np.delete(y, range(12, 24))).model_.to_bytes()


@pytest.mark.parametrize("weights, says", [
    ([1, 2], "a number for each of 12 sequences"), (np.ones((12, 1)), "shape"), ([-1.0] + [1] * 11, "at least 0"),
    ([np.nan] * 12, "finite"), ([0] * 12, "every sequence has weight 0")])
def test_wrong_weights(rows, weights, says):
    for model in hqmm.HQMM(2), hqmm.HMM(2):
        with pytest.raises(ValueError, match=says):
            model.fit(rows, sample_weight=weights)
    with pytest.raises(ValueError, match=says):
        hqmm.HQMMClassifier(2).fit(rows, [0, 1] * 6, sample_weight=weights)


@every_model
def test_partial_fit_goes_on(make, rows):
    model = make().partial_fit(rows[:6])
    assert model.model_.to_bytes() == fitted(make, rows[:6])
    first, worth = len(model.history_), model.score(rows)
    model.partial_fit(rows, validation=rows)
    assert model.history_[first]["epoch"] == 0 and model.score(rows) >= worth
    assert np.isclose(model.history_[first]["validation"]["log_likelihood"], worth)  # it began there
    kept = model.model_
    with pytest.raises(ValueError, match="not of the alphabet|beyond the alphabet"):
        model.partial_fit([[0, 3]])
    assert model.model_ is kept


def test_partial_fit_keeps_the_alphabet_and_takes_weights():
    model = hqmm.HQMM(2, epochs=1, random_state=1).partial_fit(["ACGT", "TTAC", "GACA"])
    model.partial_fit(["ACA", "CCA", "ACC"], sample_weight=[1, 2, 3])
    assert model.alphabet_ == list("ACGT") and model.n_iter_ == 1
