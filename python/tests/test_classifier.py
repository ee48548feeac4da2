import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

import hqmm


def data(count=60, seed=0):
    """The symbol in the middle is the class."""
    rng = np.random.default_rng(seed)
    X = rng.integers(3, size=(count, 9))
    return X, X[:, 4]


@pytest.fixture(scope="module")
def fitted():
    X, y = data()
    return hqmm.HQMMClassifier(2, epochs=15, random_state=1).fit(X, y)


def test_learns(fitted):
    X, y = data(seed=1)
    assert fitted.score(X, y) > 0.9
    proba = fitted.predict_proba(X)
    assert proba.shape == (60, 3) and np.allclose(proba.sum(axis=1), 1)
    assert np.array_equal(fitted.predict(X), fitted.classes_[proba.argmax(axis=1)])


def test_posteriors_are_those_of_the_models(fitted):
    X, _ = data(seed=1)
    joint = np.stack([fitted.class_model(c).score_sequences(X) for c in fitted.classes_], axis=1)
    joint += np.log(fitted.priors_)
    assert np.allclose(fitted.predict_log_proba(X), joint - np.logaddexp.reduce(joint, 1, keepdims=True))


def test_classes_keep_their_type_and_order():
    X, y = data()
    for labels in (y * 10 - 10, np.array(["b", "a", "c"])[y], y == 1, np.array([9, 10, 100])[y]):
        model = hqmm.HQMMClassifier(2, epochs=15, random_state=1).fit(X, labels)
        assert np.array_equal(model.classes_, np.unique(labels))
        assert model.predict(X).dtype == labels.dtype
        assert np.mean(model.predict(X) == labels) > 0.9


def test_round_trips(tmp_path, fitted):
    X, _ = data(seed=1)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))
    fitted.save(tmp_path / "clf.h5")
    loaded = hqmm.load(tmp_path / "clf.h5")
    assert isinstance(loaded, hqmm.HQMMClassifier)
    assert np.array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    assert loaded.predict(X).tolist() == [str(c) for c in fitted.predict(X)]
    assert clone(loaded).get_params() == loaded.get_params()


def test_priors():
    X, y = data()
    y = (y == 0).astype(int)
    model = hqmm.HQMMClassifier(2, epochs=1, prior="empirical", random_state=1).fit(X, y)
    assert np.allclose(model.priors_, [np.mean(y == 0), np.mean(y == 1)])
    model = hqmm.HQMMClassifier(2, epochs=1, prior={0: 0.75, 1: 0.25}, random_state=1).fit(X, y)
    assert np.allclose(model.priors_, [0.75, 0.25])
    for wrong in ("odd", {0: 1.0}, {0: 0.5, 1: 0.6}, {0: -1.0, 1: 2.0}):
        with pytest.raises(ValueError, match="prior"):
            hqmm.HQMMClassifier(2, prior=wrong).fit(X, y)


def test_cross_validation_and_grid():
    X, y = data()
    assert cross_val_score(hqmm.HQMMClassifier(2, epochs=3, random_state=1), X, y, cv=3).shape == (3,)
    model = hqmm.HQMMClassifier(2, epochs=3, random_state=1, grid="dropout=0.1,0.5").fit(X, y)
    assert [s["setting"] for s in model.provenance_["selection"]] == ["dropout=0.1", "dropout=0.5"]


@pytest.mark.parametrize("y, says", [
    ([0] * 60, "two classes"), ([0, 1], "60 sequences, but y has 2"), (None, "y"),
    (np.linspace(0, 1, 60), "continuous")])
def test_wrong_labels(y, says):
    with pytest.raises(ValueError, match=says):
        hqmm.HQMMClassifier(2).fit(data()[0], y)


@pytest.mark.parametrize("params", [{"objective": "odd"}, {"positions": "window:1-99"}, {"dropout": 2.0},
                                    {"grid": "nonsense"}, {"n_states": 0}, {"positions": []},
                                    {"positions": [0, -1]}, {"positions": [0.5]}, {"grid": 3}, {"inner_folds": 0},
                                    {"positions": "map:"}])
def test_wrong_parameters(params):
    with pytest.raises(ValueError):
        hqmm.HQMMClassifier(**{"n_states": 2, "epochs": 1, **params}).fit(*data())


def test_positions_as_an_array_or_in_a_file(tmp_path):
    X, y = data()
    sets = [0, 0, 0, 1, 2, 3, 4]  # position 7 and 8 belong to set 4 too
    (tmp_path / "map.txt").write_text(" ".join(map(str, sets)))
    settings = {"n_states": 2, "epochs": 3, "random_state": 1}
    model = hqmm.HQMMClassifier(positions=np.array(sets), **settings).fit(X, y)
    assert model.model_.model(0).position_map == [0, 0, 0, 1, 2, 3, 4, 4, 4]
    assert model.class_model(1).kraus_.shape[0] == 5
    in_file = hqmm.HQMMClassifier(positions=f"map:{tmp_path / 'map.txt'}", **settings).fit(X, y)
    assert in_file.model_.to_bytes() == model.model_.to_bytes()
    model.save(tmp_path / "clf.h5")
    again = hqmm.load(tmp_path / "clf.h5")
    assert again.positions == sets
    assert clone(again).fit(X, y).model_.to_bytes() == model.model_.to_bytes()
    with pytest.raises(OSError, match="nothing.txt"):
        hqmm.HQMMClassifier(positions=f"map:{tmp_path / 'nothing.txt'}").fit(X, y)
    (tmp_path / "map.txt").write_text("0 one")
    with pytest.raises(ValueError, match="number of a set"):
        hqmm.HQMMClassifier(positions=f"map:{tmp_path / 'map.txt'}").fit(X, y)


def test_callback_ends_a_training_and_keeps_it():
    X, y = data()
    settings = {"n_states": 2, "random_state": 1, "members": 2}
    seen = []
    model = hqmm.HQMMClassifier(epochs=15, callback=lambda r: seen.append(r) or r["epoch"] == 2,
                                **settings).fit(X, y)
    assert [(r["member"], r["epoch"]) for r in seen] == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert model.history_ == seen and model.n_iter_ == 2
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    whole = hqmm.HQMMClassifier(epochs=15, **settings).fit(X, y)
    assert len(whole.history_) == 30
    # The first epochs are those of the whole training.
    assert [r["objective"] for r in whole.history_ if r["epoch"] <= 2] == [r["objective"] for r in seen]


def test_callback_ends_each_class_learned_by_itself():
    X, y = data()
    model = hqmm.HQMMClassifier(2, learner="em", epochs=50, random_state=1,
                                callback=lambda r: r["epoch"] >= 2).fit(X, y)
    assert [r["epoch"] for r in model.history_] == [1, 2] * 3
    assert model.class_model(0).emission == "state"


def test_not_fitted():
    with pytest.raises(NotFittedError):
        hqmm.HQMMClassifier().predict([[0, 1]])
