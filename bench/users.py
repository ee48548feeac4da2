"""What users wait for: to train, score and sample 1, 10 and 100 million symbols, beside HMM libraries.

The largest sizes are measured where that takes seconds and drawn out from smaller ones where not; the table marks those.
"""
import os
import sys
from types import SimpleNamespace

from timed import timed

SIZES = (1_000_000, 10_000_000, 100_000_000)
SHAPES = (4, 8, 16)
LENGTH = 500
MEASURED = {4: SIZES, 8: SIZES[:2], 16: SIZES[:2]}
NAIVE_SYMBOLS = 100_000
PEER_SEQUENCES, PEER_LENGTH, PEER_SYMBOLS = 200, 300, 6


def measure(hqmm, ghmm, folder):
    """{"n/symbols/what": {"seconds", "MB"}} of our commands, {"n/who": seconds per symbol} of the others."""
    os.makedirs(folder, exist_ok=True)
    out = {"ours": {}, "others": {}}
    for n in SHAPES:
        model = first_model(hqmm, folder, n)
        for symbols in MEASURED[n]:
            for what, result in commands(hqmm, folder, model, n, symbols):
                out["ours"][f"{n}/{symbols}/{what}"] = {"seconds": result.wall, "MB": result.megabytes}
        out["others"][f"{n}/naive"] = naive(hqmm, folder, model, n)
        for who, seconds in peers(ghmm, n).items():
            out["others"][f"{n}/{who}"] = seconds
    return out


def sample(hqmm, model, data, symbols):
    return timed(hqmm, "sample", model, "--count", str(symbols // LENGTH), "--length", str(LENGTH), "-o", data, "--quiet")


def train(hqmm, data, n, out, *more):
    return timed(hqmm, "train", data, "-n", str(n), "--epochs", "1", "-o", out, "--quiet", *more)


def first_model(hqmm, folder, n):
    """A model of n to sample from, of what a smaller one makes of the paper's benchmark."""
    timed(hqmm, "generate", "synthetic-hmm", "-o", os.path.join(folder, "start"), "--quiet")
    model = os.path.join(folder, f"model-{n}.h5")
    train(hqmm, os.path.join(folder, "start", "train.txt"), n, model)
    return model


def commands(hqmm, folder, model, n, symbols):
    """(what, Timed) of every command on a file of so many symbols."""
    data = os.path.join(folder, "data.txt")
    try:
        yield "sample", sample(hqmm, model, data, symbols)
        yield "score", timed(hqmm, "score", model, data, "--quiet")
        yield "train", train(hqmm, data, n, os.path.join(folder, "trained.h5"))
    finally:
        if os.path.exists(data):
            os.remove(data)


def naive(hqmm, folder, model, n):
    """Seconds per symbol of an epoch of --engine naive."""
    data = os.path.join(folder, "few.txt")
    sample(hqmm, model, data, NAIVE_SYMBOLS)
    return train(hqmm, data, n, os.path.join(folder, "naive.h5"), "--engine", "naive").wall / NAIVE_SYMBOLS


def peers(ghmm, n):
    """{library: seconds per symbol} of a Baum–Welch iteration of an HMM with n states."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers"))
    try:
        import numpy
    except ImportError:
        return {}
    random = numpy.random.default_rng(n)
    work = SimpleNamespace(
        transition=random.dirichlet(numpy.ones(n), n), emission=random.dirichlet(numpy.ones(PEER_SYMBOLS), n),
        initial=numpy.full(n, 1.0 / n), sequences=random.integers(PEER_SYMBOLS, size=(PEER_SEQUENCES, PEER_LENGTH)).tolist(),
    )
    out, symbols = {}, PEER_SEQUENCES * PEER_LENGTH
    if os.path.exists(ghmm):
        import ghmm_em

        out["GHMM"] = min(ghmm_em.run(work, ghmm)[0] for _ in range(3)) / symbols
    try:
        import pomegranate_em

        sequences = [numpy.array(sequence) for sequence in work.sequences]
        out["pomegranate"] = min(pomegranate_em.iterate(work, sequences)[0] for _ in range(3)) / symbols
    except ImportError:
        pass
    return out


# ---- the table -------------------------------------------------------------------------------------


def seconds_text(seconds):
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.0f} min" if seconds >= 600 else f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def drawn_out(ours, n, symbols, what):
    """(seconds, MB or None) from the sizes that were measured: in proportion, and memory along the last two."""
    points = sorted((size, ours[f"{n}/{size}/{what}"]) for size in SIZES if f"{n}/{size}/{what}" in ours)
    if not points:
        return None
    size, last = points[-1]
    seconds = last["seconds"] * symbols / size
    if len(points) < 2:
        return seconds, None
    before_size, before = points[-2]
    slope = max(0.0, last["MB"] - before["MB"]) / (size - before_size)
    return seconds, last["MB"] + slope * (symbols - size)


def our_cell(ours, n, symbols, what):
    known = ours.get(f"{n}/{symbols}/{what}")
    if known:
        return f"{seconds_text(known['seconds'])}, {known['MB']:.0f} MB"
    found = drawn_out(ours, n, symbols, what)
    if found is None:
        return "–"
    return f"≈ {seconds_text(found[0])}" + (f", {found[1]:.0f} MB" if found[1] is not None else "")


def other_cell(others, n, symbols, who):
    per_symbol = others.get(f"{n}/{who}")
    return "–" if per_symbol is None else f"≈ {seconds_text(per_symbol * symbols)}"


def rows(users):
    """Header and rows of the table; nothing without measurements."""
    header = ["symbols", "n", "train, one epoch", "score", "sample", "`--engine naive`, one epoch",
              "GHMM, an iteration", "pomegranate, an iteration"]
    if not users:
        return header, []
    body = []
    for symbols in SIZES:
        for n in SHAPES:
            row = [f"{symbols // 1_000_000} million", str(n)]
            row += [our_cell(users["ours"], n, symbols, what) for what in ("train", "score", "sample")]
            row += [other_cell(users["others"], n, symbols, who) for who in ("naive", "GHMM", "pomegranate")]
            body.append(row)
    return header, body
