"""SequenceModel: what HQMM and HMM share, a model of sequences learned by maximum likelihood."""

from __future__ import annotations

import numbers
import os
import warnings
from typing import Any, Type, TypeVar, Union

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from . import _core, _input
from ._base import SequenceEstimator, count, existing, params_of, seed_of, text
from ._containers import is_empty
from ._progress import TrainProgress, observer

# The attributes that learning leaves, for docstrings.
FITTED = """alphabet_ : list of str
            The symbols in the alphabet's order, as they are written.
        n_symbols_ : int
            The number of symbols in the alphabet.
        model_ : Model
            The model file in memory.
        provenance_ : dict
            How the model was made, as in its file.
        history_ : list of dict
            A record per epoch.
        status_ : str
            Why training ended.
        n_iter_ : int
            The number of epochs that were run.
        best_epoch_ : int
            The epoch whose model was kept.
        best_restart_ : int
            The start that the kept epoch belongs to.
        fit_seconds_ : float
            How long training took.
        seed_ : int
            The seed from random_state."""


class InterruptedFitWarning(UserWarning):
    """Ctrl-C ended a fit: the best model so far is kept."""


Self = TypeVar("Self", bound="SequenceModel")


class SequenceModel(SequenceEstimator):
    """Learning, scoring, prediction and sampling, for either kind of model."""

    history_: list
    _option_names: dict = {}  # parameters that are options of the library, with their ids
    _kind = ""

    def _given(self) -> dict:
        """The options that were given, by id; None keeps the learner's recipe."""
        given = {option: getattr(self, name) for name, option in self._option_names.items()}
        return {option: value for option, value in given.items() if value is not None}

    def fit(self: Self, X: Any, lengths: Any = None, *, validation: Any = None,
            sample_weight: Any = None) -> Self:
        """Learns from sequences; keeps the epoch that did best on validation data.

        validation: separate sequences. Without them `validation_share` of X is held out, as
        `hqmm train` does.
        sample_weight: what each sequence counts, in learning and in the validation score of those
        held out. Only ratios matter; a sequence of weight 0 is ignored.
        """
        raw, weights, _ = _input.read_weighted(X, lengths, sample_weight)
        raw.require_known()
        alphabet = _input.make_alphabet(self.alphabet) or raw.infer_alphabet()
        return self._learn(raw.encode(alphabet, weights=weights), alphabet, validation,
                           self._given(), self._start())

    def partial_fit(self: Self, X: Any, lengths: Any = None, *, validation: Any = None,
                    sample_weight: Any = None) -> Self:
        """Continues from the fitted model with more data; without one it is fit().

        Trains with the same options, from the first step size again, and keeps the model it began
        with if that still does best on validation data: those given, or a share held out of X. The
        alphabet stays. history_ grows; n_iter_ and the like describe this call.
        """
        if not hasattr(self, "model_"):
            return self.fit(X, lengths, validation=validation, sample_weight=sample_weight)
        raw, weights, _ = _input.read_weighted(X, lengths, sample_weight)
        raw.require_known()
        alphabet = self.model_.alphabet
        before = self.history_
        self._learn(raw.encode(alphabet, weights=weights), alphabet, validation,
                    {**self._given(), "restarts": 1}, self.model_)
        self.history_ = before + self.history_
        return self

    def _learn(self: Self, data: _core.Sequences, alphabet: _core.Alphabet, validation: Any,
               given: dict, start: Any) -> Self:
        """start: a model, "em", or "" for a random one."""
        held_out = None if validation is None else _input.read(validation).encode(alphabet)
        seed = seed_of(self.random_state)
        options = {**given, "seed": seed}
        preset = text("preset", self.preset)
        progress = TrainProgress(self.verbose, _core.recipe(options, preset, len(alphabet)))
        try:
            found = _core.train(data, held_out, float(self.validation_share), options, preset,
                                start if isinstance(start, str) else "",
                                None if isinstance(start, str) else start, self._threads(),
                                observer(progress, self.callback))
        finally:
            progress.close()
        self._keep(found, seed)
        return self

    def _start(self) -> Any:
        return ""

    def _keep(self, found: dict, seed: int) -> None:
        self.model_ = found["model"]
        self.history_ = found["history"]
        self.status_ = found["status"]
        self.n_iter_ = found["epochs_run"]
        self.best_epoch_ = found["best_epoch"]
        self.best_restart_ = found["best_restart"]
        self.fit_seconds_ = found["seconds"]
        self.seed_ = seed
        if self.status_ == "interrupted":
            self.status_ = "interrupted" if found["by_interrupt"] else "stopped"  # by the callback
        if found["by_interrupt"]:
            warnings.warn(f"Ctrl-C in epoch {self.n_iter_ + 1}: the best model so far is kept, that of "
                          f"epoch {self.best_epoch_}", InterruptedFitWarning, stacklevel=4)
        if self.status_ == "diverged":
            warnings.warn(f"training diverged: {found['message']}; the best model before that is "
                          "kept", ConvergenceWarning, stacklevel=4)

    # ---- scoring -------------------------------------------------------------------------------

    def score(self, X: Any, lengths: Any = None) -> float:
        """Total log-likelihood of X in nats; larger is better."""
        return float(self.score_sequences(X, lengths).sum())

    def score_sequences(self, X: Any, lengths: Any = None, *, burn_in: int = 0) -> np.ndarray:
        """The log-likelihood of each sequence; its first `burn_in` symbols are not scored."""
        data, _ = self._encode(X, lengths)
        return self.model_.score_sequences(data, count("burn_in", burn_in, 0), self._threads(),
                                           self._device())

    def evaluate(self, X: Any, lengths: Any = None, *, burn_in: int = 0) -> dict:
        """The figures of `hqmm score`: description accuracy, bits per symbol, perplexity, …"""
        data, _ = self._encode(X, lengths)
        return self.model_.score(data, count("burn_in", burn_in, 0), self._threads(), self._device())

    # ---- prediction ----------------------------------------------------------------------------

    def predict_proba(self, X: Any, lengths: Any = None, *, steps: int = 1) -> np.ndarray:
        """The distribution of the next symbol after every symbol of X, concatenated: (symbols, s)."""
        data, _ = self._encode(X, lengths)
        return self.model_.predict(data, count("steps", steps, 1))

    def predict(self, X: Any, lengths: Any = None, *, steps: int = 1) -> np.ndarray:
        """The most probable next symbol after every symbol of X, concatenated."""
        return self._symbols(self.predict_proba(X, lengths, steps=steps).argmax(axis=1))

    def predict_next_proba(self, X: Any, lengths: Any = None, *, steps: int = 1) -> np.ndarray:
        """The distribution of the symbol after a sequence: s numbers; a row per sequence for several.

        For [] it is the distribution of the first symbol.
        """
        if lengths is None and is_empty(X):
            return self.stream().next_proba(steps)
        data, raw = self._encode(X, lengths)
        out = self.model_.predict(data, count("steps", steps, 1), last_only=True)
        return out[0] if raw.single else out

    def filter(self, X: Any, lengths: Any = None) -> np.ndarray:
        """The state after every symbol of X, concatenated: (symbols, n, n), of an HMM (symbols, n)."""
        data, _ = self._encode(X, lengths)
        return self.model_.filter(data)

    def stream(self) -> "Stream":
        """A filter to push symbols into as they arrive."""
        check_is_fitted(self, "model_")
        return Stream(self.model_)

    def sample(self, n: int = 1, length: int = 300, random_state: Any = None) -> np.ndarray:
        """n sequences of `length` symbols as rows; with an integer seed those of `hqmm sample`."""
        check_is_fitted(self, "model_")
        seed = seed_of(self.random_state if random_state is None else random_state)
        drawn = self.model_.sample(count("n", n, 1), count("length", length, 1), seed,
                                   self._threads())
        return self._symbols(drawn)

    def _symbols(self, indices: np.ndarray) -> np.ndarray:
        alphabet = self.model_.alphabet
        return indices if alphabet.integers else np.array(alphabet.tokens)[indices]

    # ---- notebooks -----------------------------------------------------------------------------

    def _repr_html_inner(self) -> str:
        """What a notebook shows: a fitted model's numbers, history and spectrum, else scikit-learn's view."""
        if not hasattr(self, "model_"):
            return estimator_html_repr(self)
        from ._report import notebook

        return notebook(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict:
        bundle = super()._repr_mimebundle_(**kwargs)
        return {**bundle, "text/html": self._repr_html_inner()} if "text/html" in bundle else bundle

    # ---- files ---------------------------------------------------------------------------------

    @classmethod
    def load(cls: Type[Self], path: Union[str, "os.PathLike[str]"]) -> Self:
        """An estimator made from a model file, ready to score."""
        return cls._around(_core.Model.load(existing(path)), os.fspath(path))

    @classmethod
    def _around(cls: Type[Self], model: _core.Model, path: str) -> Self:
        if model.kind != cls._kind:
            raise ValueError(f"{path}: a model of kind {model.kind}, not {cls._kind}")
        out = cls(**cls._params_of(model))
        out.model_ = model
        out.history_ = []
        return out

    @classmethod
    def _params_of(cls, model: _core.Model) -> dict:
        """The parameters that would learn the model again, as far as the file has them; sizes are the model's."""
        options = model.provenance.get("options", {})
        params = params_of(options, cls._option_names)
        if "seed" in options:
            params["random_state"] = options["seed"]
        return {**params, **cls._sizes_of(model)}

    @classmethod
    def _sizes_of(cls, model: _core.Model) -> dict:
        raise NotImplementedError


class Stream:
    """A model's state, updated with every symbol as it arrives."""

    def __init__(self, model: _core.Model):
        self._stream = _core.Stream(model)
        self._alphabet = model.alphabet

    def push(self, symbol: Union[int, str, None]) -> float:
        """Takes one symbol (None: a missing one) and returns log P(symbol | past)."""
        if symbol is None:
            return self._stream.push(-1)
        if isinstance(symbol, str):
            return self._stream.push(int(self._alphabet.encode([symbol])[0]), encoded=True)
        if isinstance(symbol, numbers.Real) and symbol < 0:
            raise ValueError(f"symbols must not be negative, found {symbol} (None is missing)")
        return self._stream.push(count("a symbol", symbol, 0))

    def next_proba(self, steps: int = 1) -> np.ndarray:
        """The distribution of the symbol `steps` ahead."""
        return self._stream.next(count("steps", steps, 1))

    @property
    def state(self) -> np.ndarray:
        return self._stream.state

    def restart(self) -> None:
        """Back to the initial state: a new sequence begins."""
        self._stream.restart()
