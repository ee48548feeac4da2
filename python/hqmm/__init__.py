"""Hidden quantum Markov models: scikit-learn estimators at C++ speed.

>>> import hqmm
>>> model = hqmm.HQMM(n_states=2, random_state=1).fit([[0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0]])
>>> model.predict_next_proba([0, 1, 0]).shape
(2,)
"""

from ._classifier import HQMMClassifier
from ._core import __version__
from ._models import HMM, HQMM, load
from ._read import SequenceFile, read
from ._report import report
from ._select import Selection, baseline, select
from ._sequence_model import InterruptedFitWarning, Stream

__all__ = ["HMM", "HQMM", "HQMMClassifier", "InterruptedFitWarning", "Selection", "SequenceFile", "Stream", "baseline",
           "load", "read", "report", "select", "__version__"]
