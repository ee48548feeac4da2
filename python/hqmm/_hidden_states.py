"""What a whole sequence says about the hidden states of an HMM."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from . import _core
from ._base import SequenceEstimator


class HiddenStates(SequenceEstimator):
    """Decoding, as in hmmlearn. (`predict` gives the next symbol.)"""

    model_: _core.Model

    def decode(self, X: Any, lengths: Any = None) -> Tuple[float, np.ndarray]:
        """(log-probability, states): the most probable path through every sequence (Viterbi).

        One state for every symbol of X, concatenated, and the logarithm of the probability of all
        paths together with the symbols. A missing symbol may have been any.
        """
        data, _ = self._encode(X, lengths)
        logs, states = _core.viterbi(self.model_, data, self._threads())
        return float(logs.sum()), states

    def posteriors(self, X: Any, lengths: Any = None) -> np.ndarray:
        """P(state | whole sequence) after every symbol of X, concatenated: (symbols, n)."""
        return self.score_samples(X, lengths)[1]

    def score_samples(self, X: Any, lengths: Any = None) -> Tuple[float, np.ndarray]:
        """(total log-likelihood, posteriors), as in hmmlearn."""
        data, _ = self._encode(X, lengths)
        logs, states = _core.posteriors(self.model_, data, self._threads())
        return float(logs.sum()), states
