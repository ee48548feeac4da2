"""What the estimators say of their parameters: one table for the library, the help and the messages."""

import inspect
import pickle
import pydoc
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import hqmm
from hqmm import _core, _parameters

ESTIMATORS = [hqmm.HQMM, hqmm.HMM, hqmm.HQMMClassifier]


def sections(kind):
    """The docstring as numpydoc reads it: {section: {name: (type, meaning)}}."""
    lines = inspect.getdoc(kind).splitlines()
    out, section = {}, None
    for line, below in zip(lines, [*lines[1:], ""]):
        if below and set(below) == {"-"}:
            section = out.setdefault(line, {})
        elif section is not None and (entry := re.fullmatch(r"(\w+(?:, \w+)*) : (.+)", line)):
            meaning = []
            for name in entry[1].split(", "):
                section[name] = (entry[2], meaning)
        elif section is not None and line.startswith("    "):
            meaning.append(line.strip())
    return out


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_parameter_is_documented(kind):
    documented = sections(kind)["Parameters"]
    signature = inspect.signature(kind).parameters
    assert list(documented) == list(signature)
    assert set(signature) == set(kind().get_params())
    for name, (what, meaning) in documented.items():
        assert re.fullmatch(rf".+, default={re.escape(repr(signature[name].default))}", what), (name, what)
        text = " ".join(meaning)
        assert len(text) > 15 and text[0].isupper() and text.endswith("."), (name, text)
        assert name in pydoc.render_doc(kind)
    assert max(map(len, inspect.getdoc(kind).splitlines())) <= 110


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_attribute_is_documented(kind):
    documented = sections(kind)["Attributes"]
    properties = {name for name, value in inspect.getmembers(kind) if isinstance(value, property)
                  and name.endswith("_") and not name.startswith("_")}
    assert properties <= set(documented)
    rows, y = [[0, 1, 2], [2, 1, 0]] * 10, [0, 1] * 10
    model = kind(2, epochs=1, random_state=1)
    model.fit(rows, y) if kind is hqmm.HQMMClassifier else model.fit(rows)
    learned = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert learned <= set(documented)


def test_parameters_follow_from_the_table():
    rows = {row["name"]: row for row in _core.train_options()}
    params = hqmm.HQMM().get_params()
    assert (params["n_states"], params["n_kraus"], params["learner"]) == (4, 2, "ns-ris")
    assert set(rows) - set(params) == {"tolerance"}
    assert (params["field"], params["emission"]) == (None, None)
    assert {"emission", "tolerance"} <= set(hqmm.HMM().get_params())
    assert hqmm.HMM().get_params()["emission"] == "state"
    assert not {"n_kraus", "field"} & set(hqmm.HMM().get_params())
    what, meaning = sections(hqmm.HQMM)["Parameters"]["epochs"]
    assert what == "int or None, default=None" and "None is 60 (givens 15)." in " ".join(meaning)
    assert "None is 600." in " ".join(sections(hqmm.HMM)["Parameters"]["epochs"][1])
    assert {row["name"] for row in _core.classifier_options()} <= set(hqmm.HQMMClassifier().get_params())


def test_the_stub_has_every_parameter():
    text = _parameters.stub()
    for kind in ESTIMATORS:
        for name in inspect.signature(kind).parameters:
            assert re.search(rf"^    {name}: ", text, re.M), name


def test_a_signature_like_any_other():
    assert list(inspect.signature(hqmm.HQMM).parameters)[:4] == ["n_states", "n_kraus", "learner", "random_state"]
    assert hqmm.HQMM(3, 1, "cosm", 5).get_params()["random_state"] == 5
    with pytest.raises(TypeError, match="colour"):
        hqmm.HQMM(colour=1)
    with pytest.raises(TypeError):
        hqmm.HQMM(2, 1, "ns-ris", 1, "dna")
    model = hqmm.HQMM(3, momentum=0.5, callback=print)
    for copy in (clone(model), pickle.loads(pickle.dumps(model))):
        assert copy.get_params() == model.get_params()
    search = GridSearchCV(hqmm.HQMM(2, epochs=1, random_state=1), {"momentum": [0.5, 0.9]}, cv=2)
    assert search.fit([[0, 1, 0, 1], [1, 0, 0, 1]] * 4).best_params_["momentum"] in (0.5, 0.9)


@pytest.mark.parametrize("params, says", [
    ({"n_states": 0}, "n_states: expected a whole number from 1 to 4096, found 0"),
    ({"momentum": 1}, r"momentum: expected a number in \[0, 1\), found 1"),
    ({"schedule": "wild"}, "schedule: expected cosine or geometric or constant, found 'wild'"),
    ({"burn_in": 50, "chunk_length": 50}, "burn_in=50 leaves nothing to score in chunks of 50 symbols"),
    ({"retraction": "literal", "average": 0.5}, "average cannot be combined with retraction='literal'"),
    ({"learner": "givens", "initial_state": "learned"}, "use another initial_state than learned"),
    ({"warm_start": "em", "n_states": 3}, "needs n_kraus=3, not 2"),
    ({"epochs": np.array([1])}, r"epochs: expected a whole number of at least 0, found array\(\[1\]\)"),
    ({"gradient_through_burn_in": 1}, "gradient_through_burn_in: expected true or false, found 1")])
def test_python_speaks_of_parameters(params, says):
    with pytest.raises(ValueError, match=says):
        hqmm.HQMM(**{"n_states": 2, "epochs": 1, "random_state": 1, **params}).fit([[0, 1, 0], [1, 0, 1]] * 5)


def test_numbers_of_numpy_are_numbers():
    params = {"n_states": np.int32(2), "epochs": np.uint8(1), "momentum": np.float32(0.5),
              "gradient_through_burn_in": np.bool_(True), "step_size": 1, "burn_in": np.int64(0)}
    model = hqmm.HQMM(random_state=1, **params).fit([[0, 1, 0], [1, 0, 1]] * 5)
    options = model.provenance_["options"]
    assert (options["latent_dim"], options["momentum"], options["step_size"]) == (2, 0.5, 1.0)


def test_records_are_dictionaries():
    model = hqmm.HQMM(2, epochs=1, random_state=1).fit([[0, 1, 0], [1, 0, 1]] * 5)
    record = model.history_[-1]
    assert record["restart"] == 0 and record["epoch"] == 1 and isinstance(record["best"], bool)
    assert isinstance(record["validation"]["da"], float) and isinstance(record["seconds"], float)
