import os
import pathlib
import re
import subprocess
import sys

import matplotlib
import numpy as np
import pytest

import hqmm
from hqmm import plots

matplotlib.use("Agg")
PYTHON = pathlib.Path(__file__).resolve().parents[1]
INSTALLED = pathlib.Path(hqmm.__file__).resolve().parents[1]  # the one under test


def run(name, *args):
    done = subprocess.run([sys.executable, PYTHON / "examples" / name, *args], capture_output=True,
                          text=True, timeout=600, env={**os.environ, "PYTHONPATH": str(INSTALLED)})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_fit_and_score():
    """It shows a win, and the opposite, and says of both when to expect them."""
    text = run("fit_and_score.py")
    assert "best by cross-validation" in text
    assert float(re.search(r"The HQMM is (\S+) bits ahead of the best HMM: expect", text)[1]) > 0.005
    assert float(re.search(r"The HMM is (\S+) bits ahead", text)[1]) > 0
    assert "When to expect" in (PYTHON / "examples" / "fit_and_score.py").read_text()


def test_classify_splice():
    text = run("classify_splice.py")
    assert "classes: ['EI', 'IE', 'N']" in text
    assert float(text.split("accuracy:")[1].split()[0]) > 0.8


def test_classify_splice_of_uci(splice):
    text = run("classify_splice.py", splice)
    assert "classes: ['EI', 'IE', 'N']" in text
    # 52 % are N, and position frequencies alone are right in about 95 %.
    assert float(text.split("accuracy:")[1].split()[0]) > 0.9


def test_stream_predictions():
    assert "surprise" in run("stream_predictions.py")


def test_plots(rows):
    model = hqmm.HQMM(2, epochs=2, restarts=2, random_state=1).fit(rows)
    ax = plots.plot_history(model)
    assert len(ax.lines) == 4 and len(ax.lines[0].get_xdata()) == 3
    with pytest.raises(ValueError, match="no history"):
        plots.plot_history(hqmm.HQMM.from_kraus(model.kraus_))
    classifier = hqmm.HQMMClassifier(2, epochs=3, members=2, random_state=1).fit(rows, [0, 1] * 6)
    ax = plots.plot_history(classifier)
    assert [len(line.get_xdata()) for line in ax.lines] == [3, 3]
    image = plots.plot_density_matrix(model.filter(rows[0])[-1]).images[0]
    assert np.allclose(image.get_array(), np.abs(model.filter(rows[0])[-1]))
    states = model.filter(rows[0])
    points = plots.bloch_vectors(states)
    assert (np.linalg.norm(points, axis=1) <= 1 + 1e-9).all()
    assert np.allclose(plots.bloch_vectors([[1, 0], [0, 0]]), [0, 0, 1])
    assert np.allclose(plots.bloch_vectors([[0.5, -0.5j], [0.5j, 0.5]]), [0, 1, 0])
    plots.plot_bloch(states)
    with pytest.raises(ValueError, match="n = 2"):
        plots.plot_bloch(np.eye(3) / 3)
    with pytest.raises(ValueError, match="square"):
        plots.plot_density_matrix(np.ones(3))
