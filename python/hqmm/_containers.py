"""Containers of sequences, from whichever library.

What a list of strings means, every container of strings means: numpy's arrays of text or objects, the
columns of pandas, polars and Arrow, one-column tables, tuples, generators, text or bytes.
"""

from __future__ import annotations

import collections.abc
import numbers
from typing import Any, Union

import numpy as np

TEXT = (str, bytes, bytearray)


def plain(X: Any) -> Union[str, np.ndarray, list]:
    """Text, an array or a list: what X holds, out of its container."""
    if isinstance(X, TEXT):
        return decoded(X)
    if isinstance(X, np.ndarray):
        return _list_of_text(X)
    if isinstance(X, (list, tuple)):
        return [decoded(item) for item in X]
    if hasattr(X, "toarray"):
        raise TypeError("A sparse matrix was passed, but dense data is required: X holds sequences.")
    if isinstance(X, (collections.abc.Mapping, collections.abc.Set)):
        raise ValueError(f"X cannot be read as sequences: a {type(X).__name__} has no order")
    return _foreign(X)


def decoded(item: Any) -> Any:
    """Bytes as the text they are; anything else as it is."""
    if not isinstance(item, (bytes, bytearray)):
        return item
    try:
        return item.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"bytes of X are not UTF-8: {error}") from None


def is_empty(X: Any) -> bool:
    """One sequence without a symbol, or a list without sequences."""
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.size == 0
    return isinstance(X, collections.abc.Sized) and len(X) == 0


def is_missing(value: Any) -> bool:
    """None, what numpy masks and pandas' NA."""
    return value is None or value is np.ma.masked or type(value).__name__ == "NAType"


def is_nan(value: Any) -> bool:
    return isinstance(value, numbers.Real) and value != value


def without_nan(items: list) -> list:
    """None for a NaN beside text: what pandas puts where a column has no value."""
    if not any(isinstance(item, str) for item in items):
        return items
    return [None if is_nan(item) else item for item in items]


def _foreign(X: Any) -> Union[np.ndarray, list]:
    """A column or table of another package, or something to walk through."""
    for convert in ("to_numpy", "__array__"):  # Arrow refuses what it would have to copy
        if not hasattr(X, convert):
            continue
        try:
            return _list_of_text(np.asarray(getattr(X, convert)()))
        except (TypeError, ValueError, NotImplementedError):
            continue
    for convert in ("to_pylist", "to_list", "__iter__"):
        if hasattr(X, convert):
            items = X if convert == "__iter__" else getattr(X, convert)()
            return [decoded(item) for item in items]
    return _list_of_text(np.asarray(X))


def _list_of_text(X: np.ndarray) -> Union[np.ndarray, list]:
    """A list, if X is one row or column of text or of other objects than numbers."""
    if X.size == 0 or X.dtype.kind not in "USO" or X.ndim == 0:
        return X
    if X.ndim > 2 or (X.ndim == 2 and X.shape[1] > 1):
        return X
    items = X.reshape(-1).tolist()
    if all(isinstance(item, numbers.Number) or is_missing(item) for item in items):
        return X
    return without_nan([decoded(item) for item in items])
