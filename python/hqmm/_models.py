"""HQMM and HMM: one model of sequences, learned by maximum likelihood."""

from __future__ import annotations

import os
import warnings
from typing import Any, Optional, Union

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _core, _input
from ._base import (Callback, Progress, SequenceEstimator, observer, plain, seed_of,
                    to_json)


def _describe(record: dict) -> str:
    validation = record["validation"]["da"]
    figure = "–" if validation is None else f"{validation:.4f}"
    return (f"restart {record['restart'] + 1}  epoch {record['epoch']:4d}  validation DA {figure}"
            f"{' *' if record['best'] else ''}")


class SequenceModel(SequenceEstimator):
    """Learning, scoring, prediction and sampling, whichever the model."""

    # Parameters whose None means "as the learner's recipe says", by their names in a model file.
    _option_names: dict = {}
    _kind = ""

    def _given(self) -> dict:
        given = {}
        for name, option in self._option_names.items():
            value = getattr(self, name)
            if value is not None:
                given[option] = plain(name, value)
        return given

    def fit(self, X: Any, lengths: Any = None, *, validation: Any = None) -> "SequenceModel":
        """Learns from sequences; keeps the epoch that did best on validation data.

        validation: sequences of their own. Without them `validation_share` of X is held out, as
        `hqmm train` does.
        """
        raw = _input.read(X, lengths)
        alphabet = _input.make_alphabet(self.alphabet)
        if alphabet is None:
            alphabet = raw.infer_alphabet()
        data = raw.encode(alphabet)
        held_out = None if validation is None else _input.read(validation).encode(alphabet)
        seed = seed_of(self.random_state)
        progress = Progress(self.verbose, _describe)
        start = self._start()
        try:
            found = _core.train(data, held_out, float(self.validation_share),
                                to_json({**self._given(), "seed": seed}), self.preset,
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
            self.status_ = "stopped"  # by the callback: Ctrl-C raises
        if self.status_ == "diverged":
            warnings.warn(f"training diverged: {found['message']}; the best model before that is "
                          "kept", ConvergenceWarning, stacklevel=3)

    # ---- scoring -------------------------------------------------------------------------------

    def score(self, X: Any, lengths: Any = None) -> float:
        """Total log-likelihood of X in nats; larger is better."""
        return float(self.score_sequences(X, lengths).sum())

    def score_sequences(self, X: Any, lengths: Any = None, *, burn_in: int = 0) -> np.ndarray:
        """The log-likelihood of each sequence; its first `burn_in` symbols are not scored."""
        data, _ = self._encode(X, lengths)
        return self.model_.score_sequences(data, _count("burn_in", burn_in, 0), self._threads())

    def evaluate(self, X: Any, lengths: Any = None, *, burn_in: int = 0) -> dict:
        """The figures of `hqmm score`: description accuracy, bits per symbol, perplexity, …"""
        data, _ = self._encode(X, lengths)
        return self.model_.score(data, _count("burn_in", burn_in, 0), self._threads())

    # ---- prediction ----------------------------------------------------------------------------

    def predict_proba(self, X: Any, lengths: Any = None, *, steps: int = 1) -> np.ndarray:
        """After every symbol of X, concatenated: the distribution of the next one (symbols, s)."""
        data, _ = self._encode(X, lengths)
        return self.model_.predict(data, _count("steps", steps, 1))

    def predict(self, X: Any, lengths: Any = None, *, steps: int = 1) -> np.ndarray:
        """After every symbol of X, concatenated: the most probable next one."""
        return self._symbols(self.predict_proba(X, lengths, steps=steps).argmax(axis=1))

    def predict_next_proba(self, X: Any, lengths: Any = None, *, steps: int = 1) -> np.ndarray:
        """The distribution of the symbol after the sequence: s numbers; a row for each of several."""
        data, raw = self._encode(X, lengths)
        out = self.model_.predict(data, _count("steps", steps, 1), last_only=True)
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
        drawn = self.model_.sample(_count("n", n, 1), _count("length", length, 1), seed,
                                   self._threads())
        return self._symbols(drawn)

    def _symbols(self, indices: np.ndarray) -> np.ndarray:
        alphabet = self.model_.alphabet
        return indices if alphabet.integers else np.array(alphabet.tokens)[indices]

    # ---- files ---------------------------------------------------------------------------------

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "SequenceModel":
        """An estimator around a model file, ready to score."""
        return cls._around(_core.Model.load(os.fspath(path)), os.fspath(path))

    @classmethod
    def _around(cls, model: _core.Model, path: str) -> "SequenceModel":
        if model.kind != cls._kind:
            raise ValueError(f"{path}: a model of kind {model.kind}, not {cls._kind}")
        out = cls(**cls._params_of(model))
        out.model_ = model
        out.history_ = []
        return out

    @classmethod
    def _params_of(cls, model: _core.Model) -> dict:
        """The parameters that would learn it again, as far as the file tells."""
        options = model.provenance.get("options", {})
        params = {name: options[option] for name, option in cls._option_names.items()
                  if option in options}
        if "seed" in options:
            params["random_state"] = options["seed"]
        return params


class HQMM(SequenceModel):
    """Hidden quantum Markov model.

    Parameters
    ----------
    n_states : dimension n of the latent state, an n × n density matrix.
    n_kraus : Kraus operators per symbol, w.
    learner : "ns-ris", "cosm" or "givens".
    random_state : an integer is the `--seed` of the command line; None draws one.
    alphabet : None (from the data), a number of symbols, "dna", "rna", "protein", or the tokens.
    warm_start : "em", or a fitted HQMM or HMM to start from.
    validation_share : held out of X to select the best epoch by, when fit gets no validation data.
    n_jobs : threads; they change the time and never the result.
    verbose : 1 shows a progress line, 2 a line per epoch.
    callback : called with a dictionary after every epoch; something true as its answer stops.

    The other parameters are those of `hqmm train`; None leaves the learner's recipe alone.

    Attributes
    ----------
    kraus_ : (s, w, n, n) complex.  initial_state_ : (n, n) complex.  history_ : a record per epoch.
    model_ : the model file in memory.  status_, n_iter_, best_epoch_, best_restart_, seed_.
    """

    _kind = "hqmm"
    _option_names = {name: name for name in (
        "learner", "retraction", "initial_state", "epochs", "batch_size", "step_size", "step_decay",
        "schedule", "momentum", "ns_steps", "average", "engine", "chunk_length", "burn_in",
        "validation_burn_in", "gradient_through_burn_in", "givens_pairs", "givens_evaluations",
        "restarts", "patience", "time_limit", "warm_noise")}
    _option_names.update(n_states="latent_dim", n_kraus="kraus_rank")

    def __init__(self, n_states: int = 4, n_kraus: int = 1, learner: str = "ns-ris",
                 random_state: Any = None, *, alphabet: Any = None, epochs: Optional[int] = None,
                 batch_size: Optional[int] = None, step_size: Optional[float] = None,
                 step_decay: Optional[float] = None, schedule: Optional[str] = None,
                 momentum: Optional[float] = None, ns_steps: Optional[int] = None,
                 average: Optional[float] = None, retraction: Optional[str] = None,
                 initial_state: Optional[str] = None, engine: Optional[str] = None,
                 chunk_length: Union[int, str, None] = None, burn_in: Union[int, str, None] = None,
                 validation_burn_in: Union[int, str, None] = None,
                 gradient_through_burn_in: Optional[bool] = None,
                 givens_pairs: Optional[int] = None, givens_evaluations: Optional[int] = None,
                 restarts: Optional[int] = None, patience: Optional[int] = None,
                 time_limit: Optional[float] = None, warm_start: Any = None,
                 warm_noise: Optional[float] = None, preset: str = "default",
                 validation_share: float = 0.2, n_jobs: Optional[int] = None,
                 verbose: Union[int, bool] = 0, callback: Optional[Callback] = None):
        self.n_states = n_states
        self.n_kraus = n_kraus
        self.learner = learner
        self.random_state = random_state
        self.alphabet = alphabet
        self.epochs = epochs
        self.batch_size = batch_size
        self.step_size = step_size
        self.step_decay = step_decay
        self.schedule = schedule
        self.momentum = momentum
        self.ns_steps = ns_steps
        self.average = average
        self.retraction = retraction
        self.initial_state = initial_state
        self.engine = engine
        self.chunk_length = chunk_length
        self.burn_in = burn_in
        self.validation_burn_in = validation_burn_in
        self.gradient_through_burn_in = gradient_through_burn_in
        self.givens_pairs = givens_pairs
        self.givens_evaluations = givens_evaluations
        self.restarts = restarts
        self.patience = patience
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.warm_noise = warm_noise
        self.preset = preset
        self.validation_share = validation_share
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _given(self) -> dict:
        if self.learner == "em":
            raise ValueError("em learns hidden Markov models: use hqmm.HMM")
        return super()._given()

    def _start(self) -> Any:
        start = self.warm_start
        if start is None or start is False:
            return ""
        if isinstance(start, str) and start == "em":
            return start
        if isinstance(start, SequenceModel):
            check_is_fitted(start, "model_")
            return start.model_
        raise ValueError(f"warm_start: expected 'em', a fitted HQMM or HMM, found {start!r:.60}")

    @classmethod
    def from_kraus(cls, kraus: Any, initial_state: Any = None, alphabet: Any = None) -> "HQMM":
        """A model from operators (s, w, n, n); the initial state is I/n unless given."""
        kraus = np.asarray(kraus, dtype=complex)
        if kraus.ndim != 4:
            raise ValueError(f"kraus must have shape (s, w, n, n), found {kraus.shape}")
        s, w, n = kraus.shape[:3]
        state = np.eye(n, dtype=complex) / n if initial_state is None else initial_state
        symbols = _input.make_alphabet(s if alphabet is None else alphabet)
        out = cls(n_states=n, n_kraus=w, alphabet=alphabet)
        out.model_ = _core.Model.from_kraus(kraus, np.asarray(state, dtype=complex), symbols)
        out.history_ = []
        return out

    @property
    def kraus_(self) -> np.ndarray:
        """(s, w, n, n); position-dependent models have a leading axis of sets."""
        check_is_fitted(self, "model_")
        sets = self.model_.kraus_sets
        return sets[0] if len(sets) == 1 else np.stack(sets)

    @property
    def initial_state_(self) -> np.ndarray:
        check_is_fitted(self, "model_")
        return self.model_.initial_state


class HMM(SequenceModel):
    """Hidden Markov model with categorical emissions, learned by EM from several starts.

    Parameters are those of HQMM as far as EM has them; `tolerance` is the relative change of the
    log-likelihood at which a restart ends.

    Attributes
    ----------
    transition_ : (n, n), columns sum to one.  emission_ : (s, n).  initial_ : (n,), the state
    before the first transition.  transmat_, emissionprob_, startprob_ : the same as hmmlearn has
    them, rows summing to one and the start at the first symbol.
    """

    _kind = "hmm"
    _option_names = {name: name for name in ("epochs", "tolerance", "restarts", "patience",
                                             "time_limit", "validation_burn_in")}
    _option_names.update(n_states="latent_dim")

    def __init__(self, n_states: int = 4, random_state: Any = None, *, alphabet: Any = None,
                 epochs: Optional[int] = None, tolerance: Optional[float] = None,
                 restarts: Optional[int] = None, patience: Optional[int] = None,
                 time_limit: Optional[float] = None,
                 validation_burn_in: Union[int, str, None] = None, preset: str = "default",
                 validation_share: float = 0.2, n_jobs: Optional[int] = None,
                 verbose: Union[int, bool] = 0, callback: Optional[Callback] = None):
        self.n_states = n_states
        self.random_state = random_state
        self.alphabet = alphabet
        self.epochs = epochs
        self.tolerance = tolerance
        self.restarts = restarts
        self.patience = patience
        self.time_limit = time_limit
        self.validation_burn_in = validation_burn_in
        self.preset = preset
        self.validation_share = validation_share
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _given(self) -> dict:
        return {**super()._given(), "learner": "em"}

    @property
    def transition_(self) -> np.ndarray:
        check_is_fitted(self, "model_")
        return self.model_.transition

    @property
    def emission_(self) -> np.ndarray:
        check_is_fitted(self, "model_")
        return self.model_.emission

    @property
    def initial_(self) -> np.ndarray:
        check_is_fitted(self, "model_")
        return self.model_.initial

    @property
    def transmat_(self) -> np.ndarray:
        return self.transition_.T

    @property
    def emissionprob_(self) -> np.ndarray:
        return self.emission_.T

    @property
    def startprob_(self) -> np.ndarray:
        return self.transition_ @ self.initial_


class Stream:
    """A model's state carried along symbols as they arrive."""

    def __init__(self, model: _core.Model):
        self._stream = _core.Stream(model)
        self._alphabet = model.alphabet

    def push(self, symbol: Union[int, str, None]) -> float:
        """Takes one symbol (None: a missing one); what it was worth, log P(symbol | past)."""
        if symbol is None:
            return self._stream.push(-1)
        if isinstance(symbol, str):
            return self._stream.push(int(self._alphabet.encode([symbol])[0]))
        if symbol < 0:
            raise ValueError(f"symbols must not be negative, found {symbol} (None is missing)")
        return self._stream.push(int(symbol))

    def next_proba(self, steps: int = 1) -> np.ndarray:
        """The distribution of the symbol `steps` ahead."""
        return self._stream.next(_count("steps", steps, 1))

    @property
    def state(self) -> np.ndarray:
        return self._stream.state

    def restart(self) -> None:
        """Back to the initial state: a new sequence begins."""
        self._stream.restart()


def load(path: Union[str, "os.PathLike[str]"]) -> SequenceEstimator:
    """The estimator for a model file: HQMM, HMM or HQMMClassifier, whichever it holds."""
    from ._classifier import HQMMClassifier

    path = os.fspath(path)
    if _core.is_classifier_file(path):
        return HQMMClassifier.load(path)
    model = _core.Model.load(path)
    return (HQMM if model.kind == "hqmm" else HMM)._around(model, path)


def _count(name: str, value: Any, least: int) -> int:
    try:
        number = int(value.__index__())
    except AttributeError:
        raise ValueError(f"{name} must be a whole number, found {value!r}") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, found {number}")
    return number
