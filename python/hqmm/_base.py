"""What the estimators share: seeds, threads, progress, options, input in the model's alphabet."""

from __future__ import annotations

import errno
import numbers
import os
from typing import Any, Optional, Union

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _core, _input

MOST_THREADS = 4096


def seed_of(random_state: Any) -> int:
    """An integer is the seed itself, as with `--seed`; anything else draws one."""
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if not 0 <= int(random_state) < 2**64:
            raise ValueError(f"random_state must be from 0 to 2**64 - 1, found {random_state}")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))


def threads_of(n_jobs: Optional[int]) -> int:
    """scikit-learn's n_jobs; The library takes 0 as all cores. Results never depend on it."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a whole number other than 0, found {n_jobs!r}")
    if n_jobs > MOST_THREADS:
        raise ValueError(f"n_jobs must be at most {MOST_THREADS}, found {n_jobs}")
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def count(name: str, value: Any, least: int) -> int:
    """A whole number; ValueError otherwise."""
    if not isinstance(value, numbers.Integral) or isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be a whole number, found {value!r:.60}")
    number = int(value)
    if number < least:
        raise ValueError(f"{name} must be at least {least}, found {number}")
    if number >= 2**63:
        raise ValueError(f"{name} is too large: {number}")
    return number


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text, found {value!r:.60}")
    return value


def existing(path: Union[str, "os.PathLike[str]"]) -> str:
    path = os.fspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return path


def params_of(options: dict, names: dict) -> dict:
    """The parameters for a file's options, without the device: a model may be used elsewhere than it was learned."""
    return {name: options[option] for name, option in names.items() if option in options and option != "device"}


class SequenceEstimator(BaseEstimator):
    """Input in the alphabet of the fitted model."""

    def _more_tags(self) -> dict:
        return {"X_types": ["2darray", "categorical"], "requires_positive_X": True, "allow_nan": False,
                "preserves_dtype": [], "non_deterministic": False}

    def _encode(self, X: Any, lengths: Any = None) -> tuple:
        """(sequences, what X looked like); NotFittedError before fit."""
        check_is_fitted(self, "model_")
        raw = _input.read(X, lengths)
        return raw.encode(self.model_.alphabet), raw

    def _threads(self) -> int:
        return threads_of(self.n_jobs)

    def _device(self) -> str:
        """Where to compute: 'cpu' for estimators that support nothing else."""
        return getattr(self, "device", None) or "cpu"

    @property
    def alphabet_(self) -> list:
        """The symbols in the alphabet's order, as they are written."""
        check_is_fitted(self, "model_")
        return self.model_.alphabet.tokens

    @property
    def n_symbols_(self) -> int:
        check_is_fitted(self, "model_")
        return len(self.model_.alphabet)

    @property
    def provenance_(self) -> dict:
        """How the model was made: options, seed, data hash, scores."""
        check_is_fitted(self, "model_")
        return self.model_.provenance

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the model file that the command line reads: HDF5, or JSON and MATLAB by extension."""
        check_is_fitted(self, "model_")
        self.model_.save(os.fspath(path))

    def report(self, path: Union[str, "os.PathLike[str]"] = "report.html", *, title: str = "") -> None:
        """Writes an HTML page about the model and its training, which opens offline; see hqmm.report."""
        from ._report import report

        report([self], path, title=title)
