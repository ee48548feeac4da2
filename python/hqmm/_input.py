"""What people pass as X: concatenated + lengths, a list of sequences, a 2-D array, or tokens.

Everything becomes one contiguous array of symbols, a length per sequence and, when symbols are
missing, a mask. Integer arrays are taken as they lie in memory.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from . import _core
from ._containers import decoded, is_missing, plain, without_nan

MISSING_TOKEN = "?"
LARGEST_ALPHABET = 65535
SET_TOKENS = frozenset(token for name in ("dna", "rna", "protein") for token in _core.Alphabet(name).set_tokens)


@dataclass
class Raw:
    """Symbols or tokens before an alphabet is known."""

    values: np.ndarray  # one axis: integers, or str objects
    lengths: np.ndarray
    missing: Optional[np.ndarray]  # of integers
    single: bool  # X was one sequence and not a list of one

    @property
    def tokens(self) -> bool:
        return self.values.dtype == object

    def require_known(self) -> None:
        """For learning: at least one symbol that is not missing."""
        if self.tokens:
            unseen = all(token == MISSING_TOKEN for token in self.values)
        else:
            unseen = self.missing is not None and bool(self.missing.all())
        if unseen:
            raise ValueError("every symbol of X is missing")

    def infer_alphabet(self) -> _core.Alphabet:
        if self.tokens:
            return _core.Alphabet(sorted({t for t in self.values if t != MISSING_TOKEN}))
        known = self.values if self.missing is None else self.values[~self.missing]
        if known.min() < 0:
            raise ValueError(_negative(known.min()))
        if known.max() >= LARGEST_ALPHABET:
            raise ValueError(f"symbols go up to {LARGEST_ALPHABET - 1}, found {known.max()}")
        return _core.Alphabet(int(known.max()) + 1)

    def kept(self, rows: np.ndarray) -> "Raw":
        """Without the sequences where `rows` is False."""
        symbols = np.repeat(rows, self.lengths)
        missing = None if self.missing is None else self.missing[symbols]
        return Raw(self.values[symbols], self.lengths[rows], missing, self.single)

    def encode(self, alphabet: _core.Alphabet, labels: Optional[list] = None,
               weights: Optional[np.ndarray] = None) -> _core.Sequences:
        values, missing = self.values, self.missing
        if self.tokens:
            unique, inverse = np.unique(values.astype(str), return_inverse=True)
            values = alphabet.encode([str(t) for t in unique])[inverse]
            missing = values < 0
        return _core.Sequences(values, self.lengths, alphabet, missing, labels or [],
                               [] if weights is None else weights.tolist(), encoded=self.tokens)


def read(X: Any, lengths: Any = None) -> Raw:
    """Parses X; ValueError says what is wrong with it."""
    X = plain(X)
    if isinstance(X, str):
        raw = _from_list([X], single=True)
    elif isinstance(X, list):
        raw = _from_list(X, single=None)
    else:
        raw = _from_array(X, lengths)
    return raw if lengths is None else _cut(raw, lengths)


def read_weighted(X: Any, lengths: Any, sample_weight: Any) -> tuple:
    """(Raw, weights or None, which sequences they are): those of weight 0 are left out."""
    raw = read(X, lengths)
    rows = np.ones(len(raw.lengths), dtype=bool)
    if sample_weight is None:
        return raw, None, rows
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape == ():
        weights = np.full(len(rows), float(weights))
    if weights.shape != rows.shape:
        raise ValueError(f"sample_weight: expected a number for each of {len(rows)} sequences, found shape "
                         f"{weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight: expected finite numbers of at least 0")
    rows = weights > 0
    if not rows.any():
        raise ValueError("sample_weight: every sequence has weight 0")
    return (raw if rows.all() else raw.kept(rows)), weights[rows], rows


def _cut(raw: Raw, lengths: Any) -> Raw:
    if len(raw.lengths) != 1:
        raise ValueError("lengths goes with concatenated sequences: X must have one axis, "
                         f"found {len(raw.lengths)} sequences")
    found = np.asarray(lengths)
    if found.ndim != 1 or found.dtype.kind not in "iu" or found.size == 0:
        raise ValueError(f"lengths must be a list of whole numbers, found {lengths!r:.80}")
    if (found < 1).any():
        raise ValueError(f"lengths must be positive, found {found.min()}")
    if found.sum() != raw.values.size:
        raise ValueError(f"lengths sum to {found.sum()}, but X has {raw.values.size} symbols")
    return Raw(raw.values, found.astype(np.int64), raw.missing, single=False)


def _from_list(items: list, single: Optional[bool]) -> Raw:
    if not items:
        raise ValueError("X is empty: there are no sequences in it")
    # ["a", "b"] and ["A", "[AG]"] are one sequence of tokens, ["ACGT", "TT"] are sequences of letters.
    flat = all(isinstance(item, numbers.Number) or is_missing(item)
               or isinstance(item, str) and (len(item) == 1 or item in SET_TOKENS) for item in items)
    if flat and single is None:
        return _flat(_array_of(items), [len(items)], single=True)
    parts = [_one_sequence(item, i) for i, item in enumerate(items)]
    if len({part[0].dtype == object for part in parts}) > 1:
        raise ValueError("X mixes sequences of integers with sequences of tokens")
    values = np.concatenate([part[0] for part in parts])
    missing = None
    if any(part[1] is not None for part in parts):
        missing = np.concatenate([np.zeros(len(v), bool) if m is None else m for v, m in parts])
    lengths = np.array([len(part[0]) for part in parts], dtype=np.int64)
    return Raw(values, lengths, missing, single=bool(single))


def _one_sequence(item: Any, index: int) -> tuple:
    try:
        item = decoded(item)
        array = np.array(list(item), dtype=object) if isinstance(item, str) else _array_of(item)
        if array.ndim == 2 and array.shape[1] == 1:
            array = array.ravel()
        if array.ndim != 1:
            raise ValueError(f"has {array.ndim} axes, expected one")
        if array.size == 0:
            raise ValueError("is empty")
        return _symbols(array)
    except ValueError as error:
        raise ValueError(f"sequence {index} of X: {error}") from None


def _array_of(item: Any) -> np.ndarray:
    if isinstance(item, np.ndarray):
        return item
    if isinstance(item, numbers.Number) or is_missing(item):
        raise ValueError(f"expected a sequence, found {item!r:.40}")
    out = plain(item)
    if isinstance(out, np.ndarray):
        if out.ndim == 0:
            raise ValueError(f"expected a sequence, found a {type(item).__name__}")
        return out
    items = without_nan(list(out))
    known = [value for value in items if not is_missing(value)]
    if len({isinstance(value, str) for value in known}) > 1:
        raise ValueError("mixes tokens with numbers")
    if len(known) < len(items):
        hidden = [is_missing(value) for value in items]
        if known and isinstance(known[0], str):
            return np.array([MISSING_TOKEN if gone else value for value, gone in zip(items, hidden)],
                            dtype=object)
        return np.ma.array([0 if gone else value for value, gone in zip(items, hidden)], mask=hidden)
    try:
        return np.asarray(items)
    except ValueError:
        raise ValueError("is not a flat list of symbols") from None


def _from_array(X: np.ndarray, lengths: Any) -> Raw:
    if X.ndim == 0:
        raise ValueError(f"X must be sequences, found the scalar {X!r:.40}")
    if X.ndim == 2 and X.shape[1] == 0:
        raise ValueError(f"X is empty: 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if X.size == 0:
        raise ValueError(f"X is empty: found an array of shape {X.shape}, at least one symbol is "
                         "required")
    if X.ndim > 2:
        raise ValueError(f"X must have one or two axes, found {X.ndim}")
    # hmmlearn's column of symbols is one sequence; rows are sequences otherwise.
    column = X.ndim == 2 and X.shape[1] == 1
    if X.ndim == 1 or column:
        return _flat(X.reshape(-1), [X.size], single=True)
    if lengths is not None:
        raise ValueError(f"lengths goes with concatenated sequences, but X has {X.shape[0]} rows")
    return _flat(X.reshape(-1), [X.shape[1]] * X.shape[0], single=False)


def _flat(X: np.ndarray, lengths: list, single: bool) -> Raw:
    values, missing = _symbols(X)
    return Raw(values, np.asarray(lengths, dtype=np.int64), missing, single)


def _symbols(array: np.ndarray) -> tuple:
    """(integers, mask or None), or (tokens as objects, None)."""
    missing = None
    if isinstance(array, np.ma.MaskedArray):
        missing = np.ma.getmaskarray(array).copy()
        array = array.filled(0) if array.dtype.kind in "iufb" else array.filled(MISSING_TOKEN)
    kind = array.dtype.kind
    if kind == "O":
        array, missing = _without_none(array, missing)
    if kind in "US" or kind == "O" and isinstance(array.flat[0], (str, bytes)):
        return _tokens(array), None
    if kind == "O":
        for value in array.flat:
            if not isinstance(value, numbers.Number):
                # numpy's own words and type, which scikit-learn's checks ask for
                raise TypeError("X holds what is not a symbol: argument must be a string or a number, "
                                f"not '{type(value).__name__}'")
        try:
            array = np.array(array.tolist(), dtype=None)
        except ValueError:
            array = np.empty(0, dtype=object)
        kind = array.dtype.kind
    if kind == "b":
        array = array.astype(np.uint8)
    elif kind == "f":
        array = _whole(array, missing)
    elif kind not in "iu":
        note = "Complex data not supported: " if kind == "c" else ""
        raise ValueError(f"{note}symbols must be integers or tokens, found dtype {array.dtype}")
    known = array if missing is None else array[~missing]
    if kind == "i" and known.size and known.min() < 0:
        raise ValueError(_negative(known.min()))
    native = array.dtype.newbyteorder("=")
    return np.ascontiguousarray(array, dtype=native), missing


def _without_none(array: np.ndarray, missing: Optional[np.ndarray]) -> tuple:
    """None or pandas' NA in an array of objects is a missing symbol."""
    hidden = np.array([is_missing(value) for value in array.flat])
    if not hidden.any():
        return array, missing
    text = any(isinstance(value, (str, bytes)) for value in array.flat)
    array = array.copy()
    array[hidden] = MISSING_TOKEN if text else 0
    return array, hidden if missing is None else missing | hidden


def _tokens(array: np.ndarray) -> np.ndarray:
    values = [decoded(value) for value in array.tolist()]
    for value in values:
        if not isinstance(value, str):
            raise ValueError(f"mixes tokens with {type(value).__name__} ({value!r:.40})")
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _whole(array: np.ndarray, missing: Optional[np.ndarray]) -> np.ndarray:
    known = array if missing is None else array[~missing]
    if np.isnan(known).any():
        raise ValueError("Input X contains NaN. Missing symbols are masked: numpy.ma.masked_invalid(X)")
    if np.isinf(known).any():
        raise ValueError("Input X contains infinity")
    if (known != np.floor(known)).any():
        odd = known[known != np.floor(known)].flat[0]
        raise ValueError(f"symbols must be whole numbers, found {odd}")
    if known.size and np.abs(known).max() > LARGEST_ALPHABET:
        raise ValueError(f"symbols go up to {LARGEST_ALPHABET - 1}, found {known.flat[np.abs(known).argmax()]:g}")
    array = np.where(missing, 0, array) if missing is not None else array
    if (array < 0).any():
        raise ValueError(_negative(int(array.min())))
    return array.astype(np.int64)


def _negative(value: Any) -> str:
    return (f"symbols must not be negative, found {value} "
            f"(missing ones are masked: numpy.ma.masked_equal(X, {value}))")


def make_alphabet(alphabet: Any) -> Optional[_core.Alphabet]:
    """What the parameter says: None, a number of symbols, "dna"…, "a,b,c", or a list of tokens."""
    if alphabet is None or isinstance(alphabet, _core.Alphabet):
        return alphabet
    if isinstance(alphabet, numbers.Integral) and not isinstance(alphabet, bool):
        if not 1 <= int(alphabet) <= LARGEST_ALPHABET:
            raise ValueError(f"alphabet: from 1 to {LARGEST_ALPHABET} symbols, found {alphabet}")
        return _core.Alphabet(int(alphabet))
    if isinstance(alphabet, str):
        return _core.Alphabet(alphabet)
    try:
        tokens = [str(token) for token in alphabet]
    except TypeError:
        tokens = []
    if not tokens:
        raise ValueError(f"alphabet: expected a number of symbols, a name or tokens, found {alphabet!r:.60}")
    return _core.Alphabet(tokens)
