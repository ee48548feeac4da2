"""Whatever is passed as X: the same data in every form, and one clear exception for what is none."""

import numpy as np
import pytest
from scipy import sparse

import hqmm
from hqmm import _input


@pytest.fixture(scope="module")
def model(rows):
    return hqmm.HQMM(2, epochs=1, random_state=1).fit(rows)


def test_forms_agree(model, rows):
    expected = model.score_sequences(rows)
    concatenated, lengths = rows.ravel(), [30] * 12
    forms = [
        (rows, None), (rows.tolist(), None), (list(rows), None), (tuple(map(tuple, rows)), None),
        (concatenated, lengths), (concatenated.reshape(-1, 1), lengths),
        (concatenated.tolist(), np.array(lengths)), (rows.astype(float), None),
        (np.asfortranarray(rows), None), (rows[:, ::-1][:, ::-1], None),
        (rows.astype(">i4"), None), (rows.astype(str), None), (rows.astype("S1"), None),
        (["".join(map(str, row)) for row in rows], None), ([row.reshape(-1, 1) for row in rows], None),
        (rows.astype(object), None), (np.ma.array(rows), None),
    ] + [(rows.astype(t), None) for t in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")]
    for X, cut in forms:
        assert np.array_equal(model.score_sequences(X, cut), expected), (type(X), cut is None)


def test_one_sequence_or_several(model):
    assert len(model.score_sequences([0, 1, 2])) == 1
    assert len(model.score_sequences(np.array([[0], [1], [2]]))) == 1  # hmmlearn's column
    assert len(model.score_sequences([[0], [1], [2]])) == 3
    assert len(model.score_sequences([[0, 1], [2]])) == 2


def test_missing_symbols(model):
    expected = model.score_sequences([["0", "?", "2"]])
    assert expected != model.score_sequences([[0, 1, 2]])
    for X in ([0, None, 2], np.ma.array([0, 9, 2], mask=[0, 1, 0]), ["0", None, "2"], [["0", None, "2"]],
              np.array([0, None, 2], dtype=object), np.array([["0", None, "2"]], dtype=object),
              np.ma.masked_invalid([0, np.nan, 2]), np.ma.masked_equal([0, -1, 2], -1)):
        assert np.array_equal(model.score_sequences(X), expected)


@pytest.mark.parametrize("X, lengths, says", [
    ([], None, "empty"), (np.empty((0, 3)), None, "empty"), ([[0, 1], []], None, "sequence 1.*empty"),
    (np.empty(0, int), None, "empty"), (np.empty((3, 0)), None, "empty"),
    ([[0, -1]], None, "negative"), (np.array([0, -1]), None, "negative"),
    ([0.5, 1.0], None, "whole"), ([0.0, np.nan], None, "NaN"), ([0.0, np.inf], None, "infinity"),
    (np.array([0j, 1j]), None, "Complex data not supported"), (np.array(["2020-01-01"], dtype="M8[D]"), None, "dtype"),
    ([0, 1, 2], [2], "sum to 2, but X has 3"), ([0, 1, 2], [2, 2], "sum to 4"),
    ([0, 1, 2], [3, 0], "positive"), ([0, 1, 2], [-1, 4], "positive"), ([0, 1, 2], [1.5, 1.5], "lengths"),
    ([0, 1, 2], [], "lengths"), ([[0, 1], [1, 0]], [4], "lengths goes with"),
    (np.zeros((2, 2), int), [4], "lengths goes with"),
    (np.zeros((2, 2, 2), int), None, "axes"), (3, None, "scalar"), (None, None, "X|symbols"),
    ([[0, 1], 2], None, "expected a sequence"), ([["a"], [0]], None, "mixes"),
    ([["a", 1]], None, "mixes"), ([object()], None, "expected a sequence"), ({"a": 1}, None, "."),
])
def test_wrong_input(X, lengths, says):
    with pytest.raises(ValueError, match=says):
        hqmm.HQMM(2, epochs=1).fit(X, lengths)
    with pytest.raises(ValueError, match=says):
        hqmm.HMM(2, epochs=1, restarts=1).fit(X, lengths)


def test_wrong_for_this_model(model):
    with pytest.raises(ValueError, match="symbol 3 at position 1 is beyond the alphabet of 3"):
        model.score([0, 3])
    with pytest.raises(ValueError, match="not of the alphabet"):
        model.score(["a", "b"])
    with pytest.raises(ValueError, match="burn_in"):
        model.score_sequences([0, 1], burn_in=-1)
    with pytest.raises(ValueError, match="steps"):
        model.predict_next_proba([0, 1], steps=0)
    with pytest.raises(ValueError, match="negative"):
        model.stream().push(-1)
    with pytest.raises(ValueError, match="beyond"):
        model.stream().push(3)
    for odd in (1.5, 10**20, True):
        with pytest.raises(ValueError, match="symbol"):
            model.stream().push(odd)


def test_objects_that_are_no_symbols_are_type_errors(rows):
    X = rows.astype(object)
    X[1, 2] = {"a": 1}
    with pytest.raises(TypeError, match="not 'dict'"):
        hqmm.HQMM(2).fit(X)
    with pytest.raises(TypeError, match="not 'dict'"):
        hqmm.HQMMClassifier(2).fit(X, [0, 1] * 6)


def test_sparse_is_a_type_error(rows):
    with pytest.raises(TypeError, match="[sS]parse"):
        hqmm.HQMM(2).fit(sparse.csr_matrix(rows))


def test_integers_are_not_copied(rows):
    X = np.ascontiguousarray(rows)
    assert np.shares_memory(_input.read(X).values, X)


@pytest.mark.parametrize("X", [np.ma.masked_all((4, 5), dtype=int), [["?", "?"], ["?"]], [[None, None]]])
def test_nothing_but_missing_symbols(X):
    for model in (hqmm.HQMM(2, alphabet=3), hqmm.HMM(2, alphabet=3)):
        with pytest.raises(ValueError, match="every symbol of X is missing"):
            model.fit(X)
    with pytest.raises(ValueError, match="every symbol of X is missing"):
        hqmm.HQMMClassifier(2, alphabet=3).fit(X, [0, 1, 0, 1][:len(X)])


def test_large_symbols():
    with pytest.raises(ValueError, match="65534"):
        hqmm.HQMM(2).fit([0, 70000])
    model = hqmm.HQMM(1, epochs=0, random_state=1).fit([[0, 300] * 5])
    assert model.n_symbols_ == 301
