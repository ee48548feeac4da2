"""scikit-learn's own checks. Those that cannot hold for sequences of symbols are listed with why."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

import hqmm

# Every check that feeds real numbers: check_estimator's data are drawn from normal distributions,
# and a symbol is a whole number. What they are about is tested on symbols in the other files.
REAL = "its data are real numbers, not symbols"
# A row is a sequence and may have any length: there is no number of features.
FEATURES = "sequences have no number of features"
SECOND = "the second argument of fit is lengths, as in hmmlearn, not y"


def outcomes(estimator):
    out = {}
    for instance, check in check_estimator(estimator, generate_only=True):
        name = getattr(check, "func", check).__name__
        try:
            check(instance)
            out[name] = None
        except Exception as error:  # noqa: BLE001 – the checks raise anything
            out.setdefault(name, error)
    return out
