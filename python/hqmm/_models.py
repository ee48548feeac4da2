"""HQMM and HMM, and load() for any model file."""

from __future__ import annotations

import os
import warnings
from typing import Any, List, Union

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _core, _input
from ._analysis import ANALYSED, Analysis
from ._base import existing
from ._hidden_states import HiddenStates
from ._parameters import HMMParameters, HQMMParameters
from ._sequence_model import FITTED, SequenceModel


def _one_or_all(sets: List[np.ndarray]) -> np.ndarray:
    return sets[0] if len(sets) == 1 else np.stack(sets)


class HQMM(HQMMParameters, Analysis, SequenceModel):
    __doc__ = HQMMParameters._described("Hidden quantum Markov model.", """
        kraus_ : ndarray of shape (s, w, n, n)
            The Kraus operators; position-dependent models have a leading axis of sets. Arrays of a
            real model are real.
        transition_ : ndarray of shape (w, n, n)
            Of a model that emits on its states: the operators V that all symbols share, so that
            kraus_[y, q] is diag(emission_[y]) @ transition_[q].
        emission_ : ndarray of shape (s, n)
            The same: the square of emission_[y, i] is the probability of symbol y in state i. A model
            that emits on its edges has neither.
        initial_state_ : ndarray of shape (n, n)
            The density matrix before the first symbol.
        """ + ANALYSED + "\n        " + FITTED)

    _kind = "hqmm"

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
        return {"n_states": len(model.initial_state), "n_kraus": model.n_kraus, "field": model.field,
                "emission": model.emission_kind}

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
        return _one_or_all(self.model_.kraus_sets)

    def _on_states(self, name: str) -> _core.Model:
        """The model, if it emits on its states."""
        check_is_fitted(self, "model_")
        if self.model_.emission_kind != "state":
            raise AttributeError(f"a model that emits on its edges has no {name}; see kraus_")
        return self.model_

    @property
    def transition_(self) -> np.ndarray:
        """(w, n, n); position-dependent models have a leading axis of sets."""
        return _one_or_all(self._on_states("transition_").transition_sets)

    @property
    def emission_(self) -> np.ndarray:
        """(s, n); position-dependent models have a leading axis of sets."""
        return _one_or_all(self._on_states("emission_").emission_sets)

    @property
    def initial_state_(self) -> np.ndarray:
        check_is_fitted(self, "model_")
        return self.model_.initial_state

    def smooth(self, X: Any, lengths: Any = None) -> np.ndarray:
        """The state after every symbol of X given the whole sequence: (symbols, n, n).

        With the filtered state ρ and the effect E of the symbols that follow (see `effects`) it is
        √E ρ √E: ρ updated by Lüders' rule with what came after it, a density matrix. For an HMM
        turned into an HQMM its diagonal is the posterior of the states.
        """
        data, _ = self._encode(X, lengths)
        return _core.smooth(self.model_, data, self._threads())

    def effects(self, X: Any, lengths: Any = None) -> np.ndarray:
        """The effect E of the symbols that follow, after every symbol of X: (symbols, n, n).

        tr(E σ) is proportional to the probability of what follows from a state σ, scaled so that
        tr(E ρ) = 1 for ρ of `filter(X)`; the two are the past quantum state.
        """
        data, _ = self._encode(X, lengths)
        return _core.effects(self.model_, data, self._threads())

    def expand(self) -> "HQMM":
        """The same process with plain complex Kraus operators, as `hqmm convert --expand` makes it."""
        check_is_fitted(self, "model_")
        return HQMM._around(_core.expand(self.model_), "the expanded model")


class HMM(HMMParameters, HiddenStates, Analysis, SequenceModel):
    __doc__ = HMMParameters._described(
        "Hidden Markov model with categorical emissions, learned by EM from several starts.", """
        transition_ : ndarray of shape (n, n)
            Its columns sum to one.
        emission_ : ndarray of shape (s, n)
            Its columns sum to one; a model that emits on its edges has none.
        initial_ : ndarray of shape (n,)
            The state before the first transition.
        edges_ : ndarray of shape (s, n, n)
            P(symbol y, state i | state j before) at (y, i, j).
        transmat_, emissionprob_, startprob_ : ndarray
            The same as hmmlearn has them: rows sum to one, and the start is at the first symbol. A
            model that emits on its edges has no emissionprob_ or startprob_.
        """ + ANALYSED + "\n        " + FITTED)

    _kind = "hmm"

    def _given(self) -> dict:
        return {**super()._given(), "learner": "em"}

    @classmethod
    def _sizes_of(cls, model: _core.Model) -> dict:
        return {"n_states": len(model.initial), "emission": model.emission_kind}

    def _in_states(self, name: str) -> _core.Model:
        """The model, if its symbols depend only on the state."""
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

    def get_stationary_distribution(self) -> np.ndarray:
        """The same as fixed_point_, under hmmlearn's name."""
        return self.fixed_point_

    def to_hqmm(self, kind: str = "rank-one", *, emission: str = "edge",
                field: str = "complex") -> HQMM:
        """The HQMM with exactly these probabilities, as `hqmm convert --embed` makes it.

        kind: "rank-one" operators, or "cyclic" ones (full rank, a better start for training).
        emission: "edge", or "state" for a model that emits in its states. field: "complex" or "real".
        """
        check_is_fitted(self, "model_")
        return HQMM._around(_core.embed(self.model_, kind, emission, field), "the embedding")


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
