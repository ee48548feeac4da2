"""What a list of strings means, every container of strings means: the same model, to the byte."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import hqmm

DNA = ["ACGTACGTTA", "ACGGT", "TTACGTACGTACG", "ACGTT", "CGTACGTAC", "A"] * 3
CLASSES = ["up", "down", "up"] * 6


class Arrow:
    """A column as pyarrow has it: numpy would copy, and is refused."""

    def __init__(self, values):
        self.values = values

    def to_numpy(self, zero_copy_only=True):
        if zero_copy_only:
            raise ValueError("Needed to copy 1 chunks with 0 nulls, but zero_copy_only was True")
        return np.array(self.values, dtype=object)

    def to_pylist(self):
        return self.values

    def __iter__(self):
        raise AssertionError("scalars of Arrow are not what they hold")


class Polars:
    """A column as polars has it."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None):
        return np.array(self.values, dtype=dtype or object)

    def to_list(self):
        return self.values


def objects(values):
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


CONTAINERS = {
    "tuple": tuple, "generator": lambda v: (one for one in v), "map": lambda v: map(str, v), "U": np.array,
    "S": lambda v: np.array(v, dtype="S"), "O": objects, "column of U": lambda v: np.array(v)[:, None],
    "column of O": lambda v: objects(v)[:, None], "bytes": lambda v: [one.encode() for one in v],
    "bytearrays": lambda v: [bytearray(one.encode()) for one in v],
    "O of bytes": lambda v: objects([one.encode() for one in v]),
    "generator of bytes": lambda v: (one.encode() for one in v), "numpy.str_": lambda v: [np.str_(one) for one in v],
    "letters": lambda v: [list(one) for one in v], "arrays of letters": lambda v: objects([np.array(list(one)) for one in v]),
    "Arrow": Arrow, "polars": Polars, "dictionary's values": lambda v: dict(enumerate(v)).values(),
    "masked": lambda v: np.ma.array(objects(v))}


def series(**how):
    return lambda v: pytest.importorskip("pandas", reason="skipped: pandas is not installed").Series(v, **how)


PANDAS = {
    "Series": series(), "string": series(dtype="string"), "category": series(dtype="category"),
    "to_numpy": lambda v: series()(v).to_numpy(), "string array": lambda v: series(dtype="string")(v).array,
    "index": lambda v: series()(v, ).set_axis(range(5, 5 + len(v))), "frame": lambda v: series()(v).to_frame("seq"),
    "frame of string": lambda v: series(dtype="string")(v).to_frame(),
    "frame to numpy": lambda v: series()(v).to_frame().to_numpy(), "bytes": lambda v: series()([one.encode() for one in v]),
    "lists": lambda v: series()([list(one) for one in v])}


def every_container(test):
    named = [pytest.param(make, id=name) for name, make in CONTAINERS.items()]
    named += [pytest.param(make, id=f"pandas {name}") for name, make in PANDAS.items()]
    return pytest.mark.parametrize("container", named)(test)


def model_bytes(X):
    return hqmm.HQMM(2, epochs=1, random_state=1).fit(X).model_.to_bytes()


@every_container
def test_strings_in_any_container_give_the_same_model(container):
    assert model_bytes(container(DNA)) == model_bytes(DNA)


@every_container
def test_letters_in_any_container_are_one_sequence(container, request):
    if request.node.callspec.id.endswith(("letters", "lists")):
        pytest.skip("a sequence in each entry")
    letters = list("ACGTACGTTTACG")
    assert model_bytes(container(letters)) == model_bytes(letters)


@every_container
def test_a_classifier_takes_any_container(container):
    def learned(X, y):
        return hqmm.HQMMClassifier(2, epochs=1, alphabet="dna", random_state=1).fit(X, y).model_.to_bytes()

    assert learned(container(DNA), CLASSES) == learned(DNA, CLASSES)


def test_one_piece_of_bytes_is_one_sequence():
    assert model_bytes(b"ACGTACGTTTACG") == model_bytes("ACGTACGTTTACG")


def test_pandas_throughout():
    pandas = pytest.importorskip("pandas", reason="skipped: pandas is not installed")
    df = pandas.DataFrame({"seq": DNA, "y": CLASSES}, index=range(100, 100 + len(DNA)))
    model = hqmm.HQMM(2, epochs=1, random_state=1).fit(df.seq)
    assert model.alphabet_ == list("ACGT") and len(model.score_sequences(df.seq)) == len(df)
    classifier = hqmm.HQMMClassifier(2, epochs=1, random_state=1).fit(df.seq, df.y)
    assert (classifier.predict(df["seq"]) == classifier.predict(DNA)).all()
    for estimator, y in (model, None), (classifier, df.y.astype("string")):
        search = GridSearchCV(estimator, {"n_states": [1, 2]}, cv=2, error_score="raise")
        assert search.fit(df.seq, y).best_params_ == search.fit(DNA, y).best_params_


def test_columns_of_numbers():
    pandas = pytest.importorskip("pandas", reason="skipped: pandas is not installed")
    numbers = [0, 1, 2, 0, 1, 2, 2, 1]
    for column in (pandas.Series(numbers), pandas.Series(numbers, dtype="Int64"), pandas.DataFrame({"x": numbers}),
                   Arrow(numbers), Polars(numbers), iter(numbers)):
        assert model_bytes(column) == model_bytes(numbers)
    hidden = [0, 1, None, 0, 1, 2, 2, 1]
    assert model_bytes(pandas.Series(hidden, dtype="Int64")) == model_bytes(hidden)
    tokens = ["a", None, "b", "a"]
    for column in (pandas.Series(["a", np.nan, "b", "a"]), pandas.Series(tokens, dtype="string"), Arrow(tokens)):
        assert model_bytes(column) == model_bytes(tokens)


@pytest.mark.parametrize("X, says", [
    (np.array(["ACGT", None], dtype=object), "sequence 1 of X: expected a sequence, found None"),
    (["ACGT", ""], "sequence 1 of X: is empty"), ({"ACGT", "TTT"}, "a set has no order"),
    ({"a": "ACGT"}, "a dict has no order"), ([b"ACGT", b"\xff\xfe"], "not UTF-8"), (iter([]), "empty")])
def test_one_clear_exception(X, says):
    with pytest.raises(ValueError, match=says):
        hqmm.HQMM(2, epochs=1).fit(X)
