"""Pages of `hqmm report` about Python objects, and what a notebook shows of a model."""

from __future__ import annotations

import html
import json
import os
import tempfile
from typing import Any, Optional, Sequence, Union

from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import SequenceEstimator, existing, text

Path = Union[str, "os.PathLike[str]"]
LARGEST_CHANNEL = 32  # a notebook draws the spectrum of models up to this many states: beyond, it takes seconds
EIGENVALUES = 32


def report(things: Any, path: Path = "report.html", *, title: str = "", names: Optional[Sequence[str]] = None) -> None:
    """Writes one HTML page about models and runs, as `hqmm report` does; it opens offline.

    things: one or a list of fitted estimators, model and classifier files, run folders, folders of
    `hqmm reproduce`, and the JSON of studies and cross-validations. Several are compared.
    title: of the page; by default the first name.
    names: what each thing is called, else its class or the name of its file.
    """
    listed = list(things) if isinstance(things, (list, tuple)) else [things]
    if not listed:
        raise ValueError("things: nothing to report on")
    if names is not None and (isinstance(names, str) or len(names) != len(listed)):
        raise ValueError(f"names: expected one for each of {len(listed)} things, found {names!r:.60}")
    called = [text("names", name) for name in names] if names is not None else [""] * len(listed)
    if not _core.has_report_page():
        raise RuntimeError("this hqmm was built without npm and has no page to write: install nodejs and npm, then install "
                           "hqmm again ('pip install .', or './dev python')")
    with tempfile.TemporaryDirectory(prefix="hqmm-report-") as folder:
        paths = []
        for number, thing in enumerate(listed):
            if isinstance(thing, (str, os.PathLike)):
                paths.append(existing(thing))
                continue
            if not isinstance(thing, SequenceEstimator):
                raise TypeError(f"things: expected estimators of hqmm and paths, found {type(thing).__name__}")
            check_is_fitted(thing, "model_")
            called[number] = called[number] or type(thing).__name__
            paths.append(_written(thing, os.path.join(folder, str(number))))
        _core.write_report(paths, called, text("title", title), os.fspath(path))


def _written(estimator: Any, path: str) -> str:
    """The estimator as files: a run folder where it has a history, else its model."""
    history = lines(estimator)
    options = estimator.provenance_.get("options")
    if not history or options is None:
        estimator.save(path)
        return path
    os.mkdir(path)
    data = estimator.provenance_.get("data", {})
    files = {"config.json": json.dumps({"options": options, "train": "what fit() was given", "validation": "",
                                        "validation_share": estimator.validation_share,
                                        "validation_hash": data.get("validation_hash", ""), "out": ""}),
             "history.jsonl": history,
             "summary.json": json.dumps({"status": estimator.status_})}
    for name, content in files.items():
        with open(os.path.join(path, name), "w", encoding="utf-8") as file:
            file.write(content)
    estimator.save(os.path.join(path, "model.h5"))
    return path


def lines(estimator: Any) -> str:
    """history_ as the lines of a run's history.jsonl; what partial_fit added counts as further restarts."""
    records = [record for record in estimator.history_ if "validation" in record]
    out: list = []
    last: dict = {}  # epoch of each restart
    base, most = 0, -1
    for record in records:
        restart = record["restart"]
        if record["epoch"] < last.get(restart, 0):  # begins anew
            last, base = {}, most + 1
        last[restart] = record["epoch"]
        most = max(most, base + restart)
        out.append(json.dumps({**record, "restart": base + restart}))
    return "".join(line + "\n" for line in out)


def notebook(estimator: Any) -> str:
    """A few numbers, the history and the spectrum as HTML: no script, all text escaped."""
    rows = "".join(f'<tr><th style="text-align:left">{html.escape(name)}</th>'
                   f'<td style="text-align:left">{html.escape(value)}</td></tr>' for name, value in _facts(estimator))
    figures = []
    history = lines(estimator)
    if history:
        figures.append(_core.history_svg("Bits per symbol by epoch", history))
    values = _eigenvalues(estimator)
    if values is not None:
        figures.append(_core.disc_svg("Spectrum of the channel", values))
    drawn = "".join(f'<div style="flex:1 1 20em;max-width:40em">{figure}</div>' for figure in figures)
    return (f'<div class="hqmm-model"><table>{rows}</table>'
            f'<div style="display:flex;flex-wrap:wrap;gap:1em">{drawn}</div></div>')


def _facts(estimator: Any) -> list:
    tokens = estimator.alphabet_
    shown = " ".join(tokens[:8]) + (" …" if len(tokens) > 8 else "")
    facts = [("model", repr(estimator)), ("symbols", f"{len(tokens)}: {shown if len(shown) <= 80 else shown[:79] + '…'}"),
             ("free parameters", str(estimator.n_parameters_))]
    provenance = estimator.provenance_
    for part, name in (("train", "training data"), ("validation", "validation data")):
        bits = provenance.get(part, {}).get("bits_per_symbol") if isinstance(provenance.get(part), dict) else None
        if isinstance(bits, float):
            facts.append((name, f"{bits:.5f} bits per symbol"))
    if hasattr(estimator, "status_"):
        facts.append(("training", _how_it_ended(estimator)))
    return facts


ENDS = {"max-epochs": "ran all {}", "converged": "converged after {}", "diverged": "diverged after {}",
        "time-limit": "reached its time limit after {}", "interrupted": "interrupted after {}",
        "stopped": "stopped by its callback after {}"}


def _how_it_ended(estimator: Any) -> str:
    """The sentence of `hqmm train`: ran all 60 epochs in 12.3 seconds; the best was epoch 57."""
    epochs = f"{estimator.n_iter_} epoch{'' if estimator.n_iter_ == 1 else 's'}"
    return (f"{ENDS[estimator.status_].format(epochs)} in {estimator.fit_seconds_:.3g} seconds; "
            f"the best was epoch {estimator.best_epoch_}")


def _eigenvalues(estimator: Any) -> Any:
    """None of a model that depends on the position, or is large."""
    if estimator.get_params().get("n_states", 0) > LARGEST_CHANNEL:
        return None
    try:
        return estimator.spectrum(EIGENVALUES)
    except ValueError:
        return None
