"""The same defaults everywhere: Python's signatures, the command line's help, and what both learn with."""

import inspect
import json
import re

import numpy as np
import pytest

import hqmm
from hqmm import _core

from conftest import write_text

# What a face of its own decides: a seed of one's own and one thread, as scikit-learn has it, and settings
# that are chosen first only when a grid is given.
OWN = {"random_state": None, "n_jobs": None, "grid": None, "verbose": 0, "callback": None, "alphabet": None,
       "warm_start": None}
SWITCHES = {"gradient_through_burn_in", "halving"}  # their help shows no default


def flag_defaults(text):
    """{flag: (default, {learner: its own})} of a help page."""
    out = {}
    for names, default, others in re.findall(r"^  (-\S+) [^=\n]*?=(\S+)(?: \(([^)]*)\))?", text, re.M):
        own = dict(part.split(" ") for part in others.split(", ")) if others else {}
        out[names.split("--")[-1]] = (default, own)
    return out


def as_text(value):
    return f"{value:g}" if isinstance(value, float) else str(value)


def test_both_tables_say_the_same(cli):
    shown = flag_defaults(cli("train", "--help"))
    for row in _core.train_options():
        if row["id"] in SWITCHES | {"learner"}:
            continue
        default, own = shown[row["id"].replace("_", "-")]
        assert as_text(row["default"]) == default, row["id"]
        recipes = {name: as_text(value) for name, value in row["recipes"].items()}
        assert {name: value for name, value in recipes.items() if value != default} == own, row["id"]


def test_signatures_have_the_defaults_of_the_table(cli):
    shown = flag_defaults(cli("train", "--help"))
    rows = {row["name"]: row for row in _core.train_options()}
    for kind, learner in (hqmm.HQMM, "ns-ris"), (hqmm.HMM, "em"):
        for name, parameter in inspect.signature(kind).parameters.items():
            if name in OWN:
                assert parameter.default == OWN[name]
            elif name in rows:
                assert parameter.default in (None, rows[name]["recipes"].get(learner)), name
            else:
                assert as_text(parameter.default) == shown[name.replace("_", "-")][0], name
    assert flag_defaults(cli("train", "--help"))["kraus-rank"][0] == "2" == str(hqmm.HQMM().n_kraus)
    fit = flag_defaults(cli("classify", "fit", "--help"))
    assert (fit["prior"][0], fit["inner-folds"][0]) == (hqmm.HQMMClassifier().prior, str(hqmm.HQMMClassifier().inner_folds))


@pytest.mark.parametrize("learner", ["ns-ris", "cosm", "givens", "em"])
def test_both_learn_with_the_same(cli, tmp_path, rows, learner):
    data = write_text(tmp_path / "data.txt", rows)
    epochs = {"givens": 1, "em": 2}.get(learner, 1)
    cli("train", data, "--learner", learner, "--epochs", epochs, "-o", tmp_path / "m.h5")
    make = hqmm.HMM if learner == "em" else lambda **p: hqmm.HQMM(learner=learner, **p)
    model = make(epochs=epochs, random_state=1).fit(rows)
    assert model.provenance_["options"] == hqmm.load(tmp_path / "m.h5").provenance_["options"]
    assert model.model_.to_bytes() == (tmp_path / "m.h5").read_bytes()


def test_classifiers_learn_with_the_same(cli, tmp_path, rows):
    path = tmp_path / "data.tsv"
    y = ["a", "b"] * 6
    path.write_text("".join(f"{c}\t{' '.join(map(str, row))}\n" for c, row in zip(y, rows)))
    cli("classify", "fit", path, "--grid", "none", "-o", tmp_path / "c.h5")
    classifier = hqmm.HQMMClassifier(random_state=1).fit(rows, y)
    there = json.loads(json.dumps(hqmm.load(tmp_path / "c.h5").provenance_))
    assert classifier.provenance_["options"] == there["options"]


def test_questions_have_the_same_defaults(cli, rows):
    model = hqmm.HQMM(2, epochs=1, random_state=1).fit(rows)
    length = inspect.signature(model.sample).parameters["length"].default
    assert flag_defaults(cli("sample", "--help"))["length"][0] == str(length) and model.sample().shape == (1, length)
    for method, flag in (model.score_sequences, "burn-in"), (model.evaluate, "burn-in"):
        found = inspect.signature(method).parameters[flag.replace("-", "_")].default
        assert flag_defaults(cli("score", "--help"))[flag][0] == str(found)
    steps = inspect.signature(model.predict_next_proba).parameters["steps"].default
    assert flag_defaults(cli("predict", "--help"))["steps"][0] == str(steps)
    chains = {name: p.default for name, p in inspect.signature(hqmm.baseline).parameters.items()}
    shown = flag_defaults(cli("baseline", "--help"))
    assert np.isclose(float(shown["pseudo-count"][0]), chains["pseudo_count"])
    grid = {name: p.default for name, p in inspect.signature(hqmm.select).parameters.items()}
    shown = flag_defaults(cli("select", "--help"))
    assert tuple(map(int, shown["latent-dim"][0].strip("[]").split(","))) == grid["n_states"]
    assert tuple(map(int, shown["kraus-rank"][0].strip("[]").split(","))) == grid["n_kraus"]
