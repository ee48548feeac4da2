"""HQMM and HMM, and load() for whatever a model file holds."""

from __future__ import annotations

import os
import warnings
from typing import Any, Optional, Union

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _core, _input
from ._base import Callback, existing
from ._sequence_model import SequenceModel


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
    def _sizes_of(cls, model: _core.Model) -> dict:
        _, n_kraus, n_states, _ = model.kraus_sets[0].shape
        return {"n_states": n_states, "n_kraus": n_kraus}

    @classmethod
    def from_kraus(cls, kraus: Any, initial_state: Any = None, alphabet: Any = None) -> "HQMM":
        """A model from operators (s, w, n, n); the initial state is I/n unless given."""
        kraus = np.asarray(kraus, dtype=complex)
        if kraus.ndim != 4:
            raise ValueError(f"kraus must have shape (s, w, n, n), found {kraus.shape}")
        s, w, n = kraus.shape[:3]
        state = np.eye(n, dtype=complex) / n if initial_state is None else initial_state
        symbols = _input.make_alphabet(alphabet) or _core.Alphabet(s)
        out = cls(n_states=n, n_kraus=w, alphabet=alphabet)
        out.model_ = _core.Model.from_kraus(kraus, np.asarray(state, dtype=complex), symbols)
        out.history_ = []
        if not out.model_.feasible:
            warnings.warn("the operators do not preserve the trace (residual "
                          f"{out.model_.feasibility_residual:.2g}): probabilities are normalised")
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
    log-likelihood at which a restart ends. `emission` is "state" (a symbol depends on the state it
    is emitted in) or "edge" (on the states before and after: Mealy machines, with n times the
    parameters).

    Attributes
    ----------
    transition_ : (n, n), columns sum to one.  emission_ : (s, n).  initial_ : (n,), the state
    before the first transition.  edges_ : (s, n, n), P(symbol y, state i | state j before) at
    (y, i, j).  transmat_, emissionprob_, startprob_ : the same as hmmlearn has them, rows summing
    to one and the start at the first symbol. A model that emits on its edges has no emission_,
    emissionprob_ or startprob_.
    """

    _kind = "hmm"
    _option_names = {name: name for name in ("emission", "epochs", "tolerance", "restarts",
                                             "patience", "time_limit", "validation_burn_in")}
    _option_names.update(n_states="latent_dim")

    def __init__(self, n_states: int = 4, random_state: Any = None, *, emission: str = "state",
                 alphabet: Any = None, epochs: Optional[int] = None,
                 tolerance: Optional[float] = None, restarts: Optional[int] = None,
                 patience: Optional[int] = None, time_limit: Optional[float] = None,
                 validation_burn_in: Union[int, str, None] = None, preset: str = "default",
                 validation_share: float = 0.2, n_jobs: Optional[int] = None,
                 verbose: Union[int, bool] = 0, callback: Optional[Callback] = None):
        self.n_states = n_states
        self.random_state = random_state
        self.emission = emission
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

    @classmethod
    def _sizes_of(cls, model: _core.Model) -> dict:
        return {"n_states": len(model.initial), "emission": model.emission_kind}

    def _in_states(self, name: str) -> _core.Model:
        """The model, if its symbols depend on the state alone."""
        check_is_fitted(self, "model_")
        if self.model_.emission_kind != "state":
            raise AttributeError(f"a model that emits on its edges has no {name}; see edges_")
        return self.model_

    @property
    def transition_(self) -> np.ndarray:
        check_is_fitted(self, "model_")
        return self.model_.transition

    @property
    def emission_(self) -> np.ndarray:
        return self._in_states("emission_").emission

    @property
    def edges_(self) -> np.ndarray:
        check_is_fitted(self, "model_")
        return self.model_.edges

    @property
    def initial_(self) -> np.ndarray:
        check_is_fitted(self, "model_")
        return self.model_.initial

    @property
    def transmat_(self) -> np.ndarray:
        return self.transition_.T

    @property
    def emissionprob_(self) -> np.ndarray:
        return self._in_states("emissionprob_").emission.T

    @property
    def startprob_(self) -> np.ndarray:
        model = self._in_states("startprob_")
        return model.transition @ model.initial


def load(path: Union[str, "os.PathLike[str]"]) -> Any:
    """The estimator for a model file: HQMM, HMM or HQMMClassifier, whichever it holds."""
    from ._classifier import HQMMClassifier

    path = existing(path)
    if _core.is_classifier_file(path):
        return HQMMClassifier.load(path)
    model = _core.Model.load(path)
    return estimator_of(model, path)


def estimator_of(model: _core.Model, name: str) -> Union[HQMM, HMM]:
    return HQMM._around(model, name) if model.kind == "hqmm" else HMM._around(model, name)
