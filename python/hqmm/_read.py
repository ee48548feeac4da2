"""read(): sequence files of every format that the command line reads."""

from __future__ import annotations

import os
import warnings
from typing import Any, List, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _core, _input
from ._base import existing

Path = Union[str, "os.PathLike[str]"]


class SequenceFile(NamedTuple):
    """What read() found in a file, or in several."""

    sequences: list
    names: Optional[List[str]]
    labels: Optional[List[Optional[str]]]
    alphabet: Any


def read(path: Union[Path, Sequence[Path]], *, alphabet: Any = None, format: str = "auto",
         ambiguous: str = "missing", label_column: Union[str, int] = "", variables: Sequence[str] = (),
         base: Optional[int] = None) -> SequenceFile:
    """Reads text, FASTA, FASTQ, UCI, labelled text, CSV, TSV, MATLAB, NumPy and HDF5 files, also packed.

    path: a file, or several that are read as one set.
    alphabet, format, ambiguous, label_column, variables, base: as the command line has them.

    The result has `sequences`, as fit() and all the others take them: strings where every symbol is
    one letter ("?" is a missing one), lists of tokens, or arrays of integers, masked where symbols are
    missing; with ambiguous="set" a sequence with codes such as R is a list with "[AG]" in their places; `names` and `labels`, or None where the file has none; and `alphabet`, what the parameter
    of that name takes. A model learned with that alphabet has the bytes of the command line's.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/x.fa", "w") as file:
    ...         _ = file.write(">first\\nACGTN\\n>second\\nGGA\\n")
    ...     found = read(f"{folder}/x.fa")
    >>> found.sequences, found.names, found.alphabet
    (['ACGT?', 'GGA'], ['first', 'second'], 'dna')
    """
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if not paths:
        raise ValueError("path: expected one file at least")
    found = _core.read([existing(one) for one in paths], _input.make_alphabet(alphabet), format, ambiguous,
                       str(label_column), list(variables), base,
                       lambda text: warnings.warn(text, stacklevel=3))
    symbols = found.alphabet
    named = len(symbols) if symbols.integers else symbols.name or symbols.tokens
    return SequenceFile(_sequences(found), found.names, found.labels, named)


def _sequences(found: _core.Sequences) -> list:
    parts = np.split(found.symbols, np.cumsum(found.lengths)[:-1])
    if found.alphabet.integers:
        return [np.ma.masked_equal(part, -1) if (part < 0).any() else part for part in parts]
    known = found.alphabet.tokens
    letters = all(len(token) == 1 for token in known)
    tokens = np.array([*known, *found.alphabet.set_tokens, _input.MISSING_TOKEN], dtype=object)  # −1 is the last one
    return ["".join(tokens[part]) if letters and (part < len(known)).all() else tokens[part].tolist()
            for part in parts]
