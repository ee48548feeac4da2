"""HQMMClassifier: one model per class, learned together so that the right class wins."""

from __future__ import annotations

import os
from typing import Any, Union

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _core, _input
from ._base import SequenceEstimator, count, existing, params_of, seed_of, text
from ._models import estimator_of
from ._parameters import HQMMClassifierParameters
from ._progress import ClassifierProgress, observer


class HQMMClassifier(HQMMClassifierParameters, ClassifierMixin, SequenceEstimator):
    __doc__ = HQMMClassifierParameters._described(
        "Classifies sequences, with one hidden quantum Markov model per class.", """
        classes_ : ndarray of shape (n_classes,)
            The classes, sorted.
        priors_ : ndarray of shape (n_classes,)
            The probabilities of the classes before any symbol is seen.
        model_ : Classifier
            The classifier file in memory.
        alphabet_ : list of str
            The symbols in the alphabet's order, as they are written.
        n_symbols_ : int
            The number of symbols in the alphabet.
        provenance_ : dict
            How the classifier was made, as in its file.
        history_ : list of dict
            A record per epoch.
        n_iter_ : int
            The number of the last epoch.
        seed_ : int
            The seed from random_state.
        """)

    def _given(self) -> dict:
        """The options that were given, by id."""
        given = {option: getattr(self, name) for name, option in self._option_names.items()}
        if self._position_map():
            given["positions"] = "map:given"
        return {option: value for option, value in given.items() if value is not None}

    def _position_map(self) -> list:
        """`positions` when it is an array: a set for each position."""
        if self.positions is None or isinstance(self.positions, str):
            return []
        found = np.asarray(self.positions)
        if found.ndim != 1 or found.dtype.kind not in "iu" or found.size == 0 \
                or found.min() < 0 or found.max() >= 2**32:
            raise ValueError("positions: expected text or whole numbers, one for each position, "
                             f"found {self.positions!r:.60}")
        return found.tolist()

    def fit(self, X: Any, y: Any, lengths: Any = None, *, sample_weight: Any = None) -> "HQMMClassifier":
        """Learns from sequences and the class of each.

        sample_weight: what each sequence counts in learning, on top of the weight of its class, which
        follows from `prior`. Only ratios matter; a sequence of weight 0 is ignored.
        """
        if y is None:
            raise ValueError("HQMMClassifier requires y to be passed, but the target y is None")
        raw, weights, rows = _input.read_weighted(X, lengths, sample_weight)
        raw.require_known()
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if len(y) != len(rows):
            raise ValueError(f"X has {len(rows)} sequences, but y has {len(y)} classes")
        y = y[rows]
        classes, indices = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"a classifier needs two classes at least, found {len(classes)} class")
        names = _names(classes)
        alphabet = _input.make_alphabet(self.alphabet) or raw.infer_alphabet()
        data = raw.encode(alphabet, [names[i] for i in indices], weights)
        # The library orders classes by the bytes of their names.
        order = sorted(range(len(names)), key=lambda i: names[i].encode())
        seed = seed_of(self.random_state)
        progress = ClassifierProgress(self.verbose, _core.classifier_recipe(data, self._given()), len(names))
        prior, priors = self._priors(classes[order])
        try:
            self.model_, self.history_ = _core.fit_classifier(
                data, self._given(), prior, priors, text("grid", self.grid or ""),
                count("inner_folds", self.inner_folds, 1), seed,
                self._threads(), self._position_map(), observer(progress, self.callback))
        finally:
            progress.close()
        self.classes_ = classes
        self._columns = np.argsort(order)
        self.priors_ = np.asarray(self.model_.priors)[self._columns]
        self.n_iter_ = max([1] + [record["epoch"] for record in self.history_])
        self.seed_ = seed
        return self

    def _priors(self, ordered: np.ndarray) -> tuple:
        if isinstance(self.prior, str):
            if self.prior not in ("uniform", "empirical"):
                raise ValueError("prior: expected 'uniform', 'empirical' or a dictionary, found "
                                 f"{self.prior!r:.60}")
            return self.prior, []
        given = dict(self.prior)
        missing = [c for c in ordered.tolist() if c not in given]
        if missing or len(given) != len(ordered):
            raise ValueError(f"prior: expected one for each of {ordered.tolist()}, found {given!r:.80}")
        priors = np.array([float(given[c]) for c in ordered.tolist()])
        if not (priors > 0).all() or abs(priors.sum() - 1) > 1e-6:
            raise ValueError(f"prior: the probabilities must be positive and sum to 1, found {given!r:.80}")
        return "given", (priors / priors.sum()).tolist()

    def predict_log_proba(self, X: Any, lengths: Any = None) -> np.ndarray:
        """log P(class | sequence), a row per sequence, a column per entry of classes_."""
        data, _ = self._encode(X, lengths)
        return self.model_.log_proba(data, self._threads(), self._device())[:, self._columns]

    def predict_proba(self, X: Any, lengths: Any = None) -> np.ndarray:
        return np.exp(self.predict_log_proba(X, lengths))

    def predict(self, X: Any, lengths: Any = None) -> np.ndarray:
        """The most probable class of each sequence."""
        best = self.predict_log_proba(X, lengths).argmax(axis=1)
        return self.classes_[best]

    def explain(self, X: Any, lengths: Any = None) -> list:
        """Why: for every sequence an array (length, n_classes), a column per entry of classes_.

        An entry is what the symbol of that position changes in the log-odds of the class, in nats; 0
        where it is missing. `hqmm classify predict --explain` has those of the class it decides for.
        """
        data, _ = self._encode(X, lengths)
        return [found[:, self._columns] for found in _core.explain(self.model_, data, self._threads())]

    def class_model(self, name: Any) -> Any:
        """The model of one class as an estimator: HQMM or HMM."""
        check_is_fitted(self, "model_")
        found = np.flatnonzero(self.classes_ == name)
        if found.size == 0:
            raise ValueError(f"there is no class {name!r}; known are {self.classes_.tolist()}")
        model = self.model_.model(int(self._columns[found[0]]))
        return estimator_of(model, f"class {name!r}")

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "HQMMClassifier":
        """A classifier from its file; its classes are the names in it, as text."""
        model = _core.Classifier.load(existing(path))
        options = model.provenance.get("options", {})
        out = cls(**params_of(options, cls._option_names))
        if out.positions == "map":
            out.positions = options["position_map"]
        if "seed" in model.provenance:
            out.random_state = model.provenance["seed"]
        if options.get("prior") in ("uniform", "empirical"):
            out.prior = options["prior"]
        out.model_ = model
        out.classes_ = np.array(model.classes)
        out._columns = np.arange(len(out.classes_))
        out.priors_ = np.asarray(model.priors)
        out.history_ = []
        return out


def _names(classes: np.ndarray) -> list:
    """Text for each class, as the file keeps it."""
    names = [c.decode() if isinstance(c, bytes) else str(c) for c in classes.tolist()]
    if len(set(names)) != len(names):
        raise ValueError(f"classes {classes.tolist()!r:.80} do not have distinct names")
    return names
