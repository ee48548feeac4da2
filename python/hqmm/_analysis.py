"""What a fitted model says without data: its channel, entropy, size, criteria and circuit."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import SequenceEstimator, count, seed_of, text

# For docstrings.
ANALYSED = """n_parameters_ : int
            Numbers the model is free to choose: without its constraints, and without changes that
            change no probability.
        fixed_point_ : ndarray of shape (n, n), of an HMM (n,)
            The state after many unobserved steps.
        mixing_rate_ : float
            Modulus of the channel's second eigenvalue: correlations decay like its powers."""


class Analysis(SequenceEstimator):
    """The findings of `hqmm inspect`; position-dependent models do not have a single channel."""

    model_: _core.Model

    def _fitted(self) -> _core.Model:
        check_is_fitted(self, "model_")
        return self.model_

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters, without constrained ones and those that do not change any probability."""
        return _core.parameter_count(self._fitted())

    @property
    def fixed_point_(self) -> np.ndarray:
        """The stationary state: a density matrix (n, n), or a distribution (n,) for an HMM.

        If there are several, the one reached from I/n. Computed at every call.
        """
        return _core.fixed_point(self._fitted())

    @property
    def mixing_rate_(self) -> float:
        """Modulus of the second eigenvalue: correlations decay like its powers."""
        return _core.spectrum(self._fitted())["mixing_rate"]

    def spectrum(self, n_eigenvalues: int = 8) -> np.ndarray:
        """The leading eigenvalues of one step whose symbol is not known, largest modulus first.

        The first is 1. A modulus says how fast something is forgotten, a phase θ is a period of
        2π/|θ| symbols.
        """
        return _core.spectrum(self._fitted(), count("n_eigenvalues", n_eigenvalues, 1))["eigenvalues"]

    def entropy_rate(self, symbols: int = 0, random_state: Any = 1) -> dict:
        """Entropy per symbol of the stationary process, estimated along sampled sequences.

        symbols: how many to sample; 0 takes about a second's worth. With the same number and seed
        it is that of `hqmm inspect`: {"nats", "bits", "standard_error_bits", "symbols"}.
        """
        return _core.entropy_rate(self._fitted(), count("symbols", symbols, 0), seed_of(random_state),
                                  self._threads())

    def to_qasm(self, format: str = "openqasm3", *, steps: Optional[int] = None, initial: str = "auto") -> str:
        """The model as a quantum circuit, the text that `hqmm export` writes.

        format: "openqasm3" or "openqasm2". steps: symbols to emit; by default 10, or the length of a
        position map. initial: "auto" prepares a mixed initial state by purification, "pure" refuses one.
        """
        if format not in ("openqasm3", "openqasm2"):
            raise ValueError(f"format: expected 'openqasm3' or 'openqasm2', found {format!r:.60}")
        return self._circuit(format, steps, initial)

    def to_qutip(self, *, steps: Optional[int] = None, initial: str = "auto") -> str:
        """A Python program for QuTiP with the circuit, as `hqmm export --format qutip` writes it.

        It needs nothing of hqmm; its function probability(symbols) works out what a sequence weighs, of at
        most `steps` symbols where the model depends on the position.
        """
        return self._circuit("qutip", steps, initial)

    def _circuit(self, format: str, steps: Optional[int], initial: str) -> str:
        return _core.circuit(self._fitted(), format, 0 if steps is None else count("steps", steps, 1),
                             text("initial", initial))

    def aic(self, X: Any, lengths: Any = None) -> float:
        """Akaike's criterion 2k − 2ℓ with k = n_parameters_; smaller is better."""
        return 2.0 * self.n_parameters_ - 2.0 * self._likelihood(X, lengths)[0]

    def bic(self, X: Any, lengths: Any = None) -> float:
        """The Bayesian criterion k·ln N − 2ℓ, N the symbols of X that are not missing."""
        log_likelihood, symbols = self._likelihood(X, lengths)
        return self.n_parameters_ * float(np.log(symbols)) - 2.0 * log_likelihood

    def _likelihood(self, X: Any, lengths: Any) -> tuple:
        """(total log-likelihood, symbols that are not missing)."""
        data, _ = self._encode(X, lengths)
        figures = self.model_.score(data, 0, self._threads())
        found: Optional[float] = figures["log_likelihood"]
        return (-np.inf if found is None else found), max(1, figures["symbols"])
