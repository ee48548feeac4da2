"""scikit-learn's own checks. Those that cannot hold for sequences are listed, and must go on failing:
a check that starts to pass comes off the list."""

import unittest
import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator

import hqmm

COLUMN = "a column is one sequence, as in hmmlearn: what is wrong is the number of labels"
FEATURES = "rows are sequences of any length: there is no number of features to compare"
ONE = "one axis is one sequence, and as good as rows"
POSITIONS = "predict answers for every symbol of a row, not for every row"
TOTAL = "score_samples is hmmlearn's: the log-likelihood of all sequences, and the posteriors"
ONE_CLASS = "its numbers below 1 are cut to whole ones, and so are its labels: one class is left"
REAL = "its data are real numbers, which are not symbols; what is wrong is not the number of classes"

ORDER = "it shuffles the sequences, and what is held out and dealt to batches follows from their order"

NOT_FOR_SEQUENCES = {
    "check_sample_weights_invariance": ORDER,
    "check_n_features_in": FEATURES,
    "check_fit2d_predict1d": ONE,
}
NOT_FOR_MODELS = {
    **NOT_FOR_SEQUENCES,
    "check_methods_sample_order_invariance": POSITIONS,
}
NOT_FOR_HMMS = {
    **NOT_FOR_MODELS,
    "check_methods_subset_invariance": TOTAL,
}
NOT_FOR_CLASSIFIERS = {
    **NOT_FOR_SEQUENCES,
    "check_dtype_object": ONE_CLASS,
    "check_classifiers_one_label": REAL,
    "check_classifiers_one_label_sample_weights": REAL,
    "check_classifiers_train": FEATURES,
    "check_fit2d_1feature": COLUMN,
}


class WithoutY:
    """The second argument of fit and score is lengths, as in hmmlearn, where the checks put y."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, sample_weight=sample_weight)

    def partial_fit(self, X, y=None, sample_weight=None):
        return super().partial_fit(X, sample_weight=sample_weight)

    def score(self, X, y=None):
        return super().score(X)


class PlainHQMM(WithoutY, hqmm.HQMM):
    pass


class PlainHMM(WithoutY, hqmm.HMM):
    pass


@pytest.mark.parametrize("estimator, skipped", [
    (PlainHQMM(2, epochs=1), NOT_FOR_MODELS),
    (PlainHMM(2, epochs=1, restarts=1), NOT_FOR_HMMS),
    (PlainHMM(2, emission="edge", epochs=1, restarts=1), NOT_FOR_HMMS),
    (hqmm.HQMMClassifier(2, epochs=5), NOT_FOR_CLASSIFIERS),
], ids=["HQMM", "HMM", "edge HMM", "HQMMClassifier"])
def test_check_estimator(estimator, skipped):
    failed, passed = {}, set()
    for instance, check in check_estimator(estimator, generate_only=True):
        name = getattr(check, "func", check).__name__
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(instance)
            passed.add(name)
        except unittest.SkipTest:
            pass  # pandas is not there
        except (Exception, AssertionError) as error:
            failed[name] = error
    unexpected = {name: str(error) for name, error in failed.items() if name not in skipped}
    assert not unexpected
    assert not set(skipped) - set(failed), "these pass now"
    assert len(passed) > 15
