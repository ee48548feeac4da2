"""select(): the best of a grid of models; baseline(): the Markov chains to compare models with."""

from __future__ import annotations

import numbers
from typing import Any, Callable, Iterable, List, NamedTuple, Optional, Sequence, Union

from . import _core, _input
from ._base import count, seed_of, text, threads_of
from ._models import HMM, HQMM, estimator_of


class Selection(NamedTuple):
    """What select() found, the best first: the rows of `hqmm select --json`, and the models."""

    table: List[dict]
    models: List[Union[HQMM, HMM]]

    @property
    def best(self) -> Union[HQMM, HMM]:
        return self.models[0]


def _counts(name: str, given: Any, least: int = 1) -> List[int]:
    """One number, or several."""
    values = [given] if isinstance(given, numbers.Number) else list(given)
    if not values:
        raise ValueError(f"{name}: expected one number at least")
    return [count(name, value, least) for value in values]


def _words(name: str, given: Any) -> List[str]:
    if given is None:
        return []
    return [text(name, word) for word in ([given] if isinstance(given, str) else given)]


def select(X: Any, lengths: Any = None, *, n_states: Union[int, Iterable[int]] = (2, 4, 8),
           n_kraus: Union[int, Iterable[int]] = (1, 2, 4),
           field: Union[str, Sequence[str], None] = None,
           emission: Union[str, Sequence[str], None] = None, learner: str = "ns-ris",
           validation: Any = None, callback: Optional[Callable[[str], Any]] = None,
           **params: Any) -> Selection:
    """Trains a grid of sizes and ranks them by bits per validation symbol, as `hqmm select` does.

    Every model is trained on one thread, `n_jobs` of them at a time; the models have the bytes of the
    command line's. Of two that are equally good the smaller comes first.

    n_states, n_kraus, field, emission: a value or several; HMMs (learner="em") have neither n_kraus
    nor field.
    params: any other parameter of HQMM, or of HMM: epochs=30, random_state=1, validation_share=0.2, …
    callback: gets the name of every model when it is trained: "n8-w2".

    >>> table, models = select([[0, 1, 0, 1, 1], [1, 0, 1, 0, 1]] * 5, n_states=[2, 3], n_kraus=1,
    ...                        epochs=2, random_state=1)
    >>> [row["latent_dim"] for row in sorted(table, key=lambda row: row["latent_dim"])]
    [2, 3]
    """
    if params.get("warm_start"):
        raise ValueError("select trains every model from its own start: there is no warm_start")
    base: Union[HQMM, HMM] = (HMM(**params) if learner == "em" else HQMM(learner=learner, **params))
    raw = _input.read(X, lengths)
    raw.require_known()
    alphabet = _input.make_alphabet(base.alphabet) or raw.infer_alphabet()
    held_out = None if validation is None else _input.read(validation).encode(alphabet)
    found = _core.select(raw.encode(alphabet), held_out, float(base.validation_share),
                         {**base._given(), "seed": seed_of(base.random_state)},
                         text("preset", base.preset), _counts("n_states", n_states),
                         _counts("n_kraus", n_kraus), _words("field", field),
                         _words("emission", emission), base._threads(), callback)
    return Selection([row for row, _ in found],
                     [estimator_of(model, "a model of the grid") for _, model in found])


def baseline(train: Any, test: Any, *, validation: Any = None,
             order: Union[int, Iterable[int]] = range(8), pseudo_count: float = 1.0, burn_in: int = 0,
             alphabet: Any = None, train_lengths: Any = None, test_lengths: Any = None,
             per_sequence: bool = False, n_jobs: Optional[int] = None) -> List[dict]:
    """Bits per symbol of smoothed Markov chains, a dictionary for each order, as in `hqmm baseline`.

    Chains of order k are counted in `train` and score `test`. With `validation` every order has the
    pseudo count that does best there; else it is `pseudo_count`.

    >>> [round(row["bits_per_symbol"], 2) for row in baseline("0101010101", "01010101", order=[0, 1])]
    [1.0, 0.33]
    """
    raw = _input.read(train, train_lengths)
    symbols = _input.make_alphabet(alphabet) or raw.infer_alphabet()
    orders = _counts("order", order, 0)
    if max(orders) > 30:
        raise ValueError(f"order: expected numbers from 0 to 30, found {orders!r:.60}")
    if not 0 <= pseudo_count <= 1e6:
        raise ValueError(f"pseudo_count must be from 0 to 1e6, found {pseudo_count}")
    held_out = None if validation is None else _input.read(validation).encode(symbols)
    found = _core.baseline(raw.encode(symbols), _input.read(test, test_lengths).encode(symbols), held_out,
                           orders, float(pseudo_count), count("burn_in", burn_in, 0), bool(per_sequence),
                           threads_of(n_jobs))
    return found["chains"]
