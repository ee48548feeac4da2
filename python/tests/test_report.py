"""hqmm.report, model.report and what a notebook shows."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import NotFittedError

import hqmm
from hqmm import _core, _report

SVG = "{http://www.w3.org/2000/svg}"
needs_page = pytest.mark.skipif(not _core.has_report_page(), reason="skipped: built without npm, there is no page")


@pytest.fixture(scope="module")
def model(rows):
    return hqmm.HQMM(2, epochs=3, restarts=2, random_state=1).fit(rows)


def document(path):
    text = path.read_text()
    return json.loads(re.search(r'<script type="application/json" id="document">(.*?)</script>', text, re.S).group(1))


def markup(estimator):
    """What a notebook shows, which is well-formed."""
    shown = estimator._repr_html_()
    assert estimator._repr_mimebundle_()["text/html"] == shown
    assert "<script" not in shown and not re.search(r"\son\w+=", shown)
    return ElementTree.fromstring(shown)


@needs_page
def test_a_fitted_model_is_a_run_with_its_model(tmp_path, model):
    model.report(tmp_path / "r.html", title="</script><b>")
    found = document(tmp_path / "r.html")
    assert found["title"] == "</script><b>"
    (run,) = found["items"]
    assert (run["kind"], run["name"], run["status"]) == ("run", "HQMM", model.status_)
    assert run["best"]["epoch"] == model.best_epoch_ and run["best"]["restart"] == model.best_restart_
    for restart in run["restarts"]:
        own = [r["validation"] for r in model.history_ if r["restart"] == restart["restart"]]
        assert restart["validation_bits"] == pytest.approx([-r["log_likelihood"] / r["symbols"] / np.log(2) for r in own])
    assert run["model"]["eigenvalues"][1]["modulus"] == pytest.approx(model.mixing_rate_)


@needs_page
def test_things_of_all_kinds(tmp_path, rows, model, cli):
    (tmp_path / "train.txt").write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    cli("train", tmp_path / "train.txt", "-n", 2, "--epochs", 2, "--run", tmp_path / "run")
    model.save(tmp_path / "m.h5")
    classifier = hqmm.HQMMClassifier(epochs=1, random_state=1).fit(rows, np.arange(len(rows)) % 2)
    things = [model, hqmm.HMM(2, epochs=2, random_state=1).fit(rows), classifier, hqmm.load(tmp_path / "m.h5"),
              tmp_path / "run", str(tmp_path / "m.h5"), model]
    hqmm.report(things, tmp_path / "all.html")
    found = [(item["kind"], item["name"]) for item in document(tmp_path / "all.html")["items"]]
    assert found == [("run", "HQMM"), ("run", "HMM"), ("classifier", "HQMMClassifier"), ("model", "HQMM (2)"), ("run", "run"),
                     ("model", "m.h5"), ("run", "HQMM (3)")]
    hqmm.report([model, tmp_path / "m.h5"], tmp_path / "two.html", names=["a/<b>", "a/<b>"])
    assert [item["name"] for item in document(tmp_path / "two.html")["items"]] == ["a/<b>", "a/<b> (2)"]


@needs_page
def test_what_partial_fit_adds_is_a_restart(tmp_path, rows):
    """It shows the model it began with, and that with noise, as epoch 0."""
    model = hqmm.HQMM(2, epochs=2, random_state=1).fit(rows).partial_fit(rows)
    model.report(tmp_path / "r.html")
    (run,) = document(tmp_path / "r.html")["items"]
    assert [restart["epoch"] for restart in run["restarts"]] == [[0, 1, 2], [0, 0, 1, 2]]
    assert len(markup(model).findall(f".//{SVG}svg")) == 2


def test_without_the_page_the_error_says_how_to_get_it(tmp_path, model, monkeypatch):
    monkeypatch.setattr(_core, "has_report_page", lambda: False)
    with pytest.raises(RuntimeError, match="nodejs and npm.*pip install"):
        model.report(tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


@needs_page
def test_what_cannot_be_reported_on(tmp_path, model):
    out = tmp_path / "r.html"
    for things, error in (([], ValueError), ([hqmm.HQMM()], NotFittedError), ([3], TypeError),
                          ([tmp_path / "none.h5"], FileNotFoundError), ([tmp_path], OSError)):
        with pytest.raises(error):
            hqmm.report(things, out)
    for names in (["a", "b"], "a", [1]):
        with pytest.raises(ValueError, match="names"):
            hqmm.report([model], out, names=names)
    with pytest.raises(OSError):
        model.report(tmp_path / "none" / "r.html")
    assert not out.exists()


def test_a_notebook_shows_numbers_history_and_spectrum(model):
    shown = markup(model)
    texts = [cell.text for cell in shown.iter("td")]
    assert str(model.n_parameters_) in texts and f"{model.provenance_['train']['bits_per_symbol']:.5f} bits per symbol" in texts
    history, spectrum = shown.iter(f"{SVG}svg")
    best = f"in epoch {model.best_epoch_}"
    assert any(t.text.startswith("best: ") and t.text.endswith(best) for t in history.iter(f"{SVG}text") if t.text)
    moduli = [float(c.find(f"{SVG}title").text.split()[0]) for c in spectrum.iter(f"{SVG}circle") if c.find(f"{SVG}title") is not None]
    assert moduli == pytest.approx(np.abs(model.spectrum(32)), abs=1e-4)
    assert model._repr_html_() == model._repr_html_()


def test_a_notebook_shows_names_as_text(rows):
    hostile = ['<script>alert("1")</script>', "\"'&", "x" * 10000]
    model = hqmm.HMM(2, epochs=1, restarts=1, alphabet=hostile, random_state=1)
    model.fit([[hostile[y] for y in row] for row in rows])
    shown = markup(model)
    assert any(hostile[0] in (cell.text or "") for cell in shown.iter("td"))
    assert len(model._repr_html_()) < 50_000


def test_a_notebook_shows_what_there_is(tmp_path, rows, model):
    assert "sk-top-container" in hqmm.HQMM()._repr_html_(), "before fit it is scikit-learn's own"
    model.save(tmp_path / "m.h5")
    assert len(markup(hqmm.load(tmp_path / "m.h5")).findall(f".//{SVG}svg")) == 1, "a file has no history"
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_") and "text/html" not in model._repr_mimebundle_()


def test_histories_are_told_apart_by_their_epochs():
    class Fitted:
        history_ = [{"restart": r, "epoch": e, "validation": {}} for r, e in ((0, 0), (0, 1), (1, 0), (0, 2), (0, 0), (0, 1), (0, 0))]

    found = [json.loads(line) for line in _report.lines(Fitted()).splitlines()]
    assert [(r["restart"], r["epoch"]) for r in found] == [(0, 0), (0, 1), (1, 0), (0, 2), (2, 0), (2, 1), (3, 0)]
