"""The bars: what each ratio is held to, and what it is now."""
import math
from collections import namedtuple

from results import operations

# `measured` is None when the case did not run; `note` says why, or what else there is to say; `case` is ours.
Bar = namedtuple("Bar", "group what measured relation bar unit note case", defaults=("", ""))

# What "naive" means when a verdict is given: see naive_eigen.hpp. The other two stand beside it in the tables.
YARDSTICK = "eigen_native"

SINGLE = {(2, 1): 30, (4, 1): 14, (4, 4): 25, (6, 1): 10, (6, 4): 12, (8, 1): 8, (8, 4): 5.5}
BATCH = {(2, 1): 40, (4, 4): 35, (6, 1): 16, (6, 4): 22, (8, 1): 13, (8, 4): 12, (16, 1): 11, (16, 4): 3}
SHAPES = ((2, 1), (4, 1), (4, 2), (4, 4), (6, 1), (6, 4), (8, 1), (8, 4), (16, 1), (16, 4))
EM_BARS = {
    "em/n=6/s=6": {"hmmlearn": 40, "GHMM": 25, "pomegranate": 240},
    "em/n=32/s=20": {"hmmlearn": 20, "GHMM": 35, "pomegranate": 500},
}
UPDATE_SHAPES = ((6, 1), (6, 4), (8, 1), (8, 4), (16, 1), (16, 4))
SVD_SHAPES = (*UPDATE_SHAPES, (32, 4))
LINEAR_SHAPES = ((2, 1), (4, 2))


def verdict(bar):
    if bar.measured is None:
        return "–"
    met = bar.measured >= bar.bar if bar.relation == "≥" else bar.measured <= bar.bar
    return "met" if met else "MISSED"


def figure(value, unit):
    if value is None:
        return "–"
    if unit == "%":
        return f"{100 * value:.0f}%" if value >= 0.1 else f"{100 * value:.1f}%"
    return (f"{value:.0f}" if value >= 99.5 else f"{value:.3g}") + unit


def naive_bars(results, batch, bars):
    group = f"loss and gradient, {'one sequence' if batch == 1 else f'batch {batch}'}, against naive Eigen"
    for (n, w), bar in bars.items():
        shape = f"n={n}/w={w}/B={batch}"
        ours = f"gradient/auto/{shape}"
        others = [results.ratio(f"gradient/{name}/{shape}", ours) for name in ("eigen", "naive")]
        note = f"{figure(others[0], '×')} with our flags, {figure(others[1], '×')} the naive engine"
        failure = results.failures.get(ours)
        measured = results.ratio(f"gradient/{YARDSTICK}/{shape}", ours)
        yield Bar(group, f"n={n} w={w}", measured, "≥", bar, "×", failure or note, ours)


def dgemm_bars(results):
    cases = [("superoperator", n, 4, bar) for n, bar in ((6, 0.75), (8, 0.80), (16, 0.80))]
    cases += [("kraus", n, w, bar) for n, bar in ((8, 0.85), (16, 1.0), (32, 1.0), (64, 1.0)) for w in (1, 2)]
    for form, n, w, bar in cases:
        name = f"gradient/{form}/n={n}/w={w}/B=20"
        share = results.share_of_dgemm(name, form, n, w)
        note = results.failures.get(name, "")
        yield Bar("share of dgemm", f"{form} n={n} w={w}", share, "≥", bar, "%", note, name)


def em_bars(results):
    for case, bars in EM_BARS.items():
        for peer, bar in bars.items():
            rows = [row for row in results.peers if row["peer"].startswith(peer)]
            rows = [row for row in rows if row.get("case", case) == case and "log" not in row["peer"]]
            row = rows[0] if rows else {"missing": "not run"}
            ours = results.seconds(case)
            measured = row["seconds"] / ours if ours and "seconds" in row else None
            note = row.get("missing") or ("" if "seconds" in row else f"answers differ by {row['error']:.1e}")
            what = f"{case[3:].replace('/', ' ')}, against {peer}"
            yield Bar("Baum–Welch iteration, 200 × 300", what, measured, "≥", bar, "×", note, case)


def edge_em_bars(results):
    # three products of a matrix and a vector for every symbol
    edges, states = "em/edges/n=17/s=4", "em/n=28/s=4"
    ratio = results.ratio(states, edges)
    measured = None if ratio is None else ratio * (17 / 28) ** 2
    note = "" if ratio is None else f"in {figure(1 / ratio, '×')} the time"
    yield Bar("Baum–Welch on edges: arithmetic per second, against an ordinary HMM", "n=17 against n=28, s=4", measured, "≥",
              1, "×", note, edges)


def update_bars(results):
    for n, w in SVD_SHAPES:
        ours = f"newton_schulz/n={n}/w={w}"
        ratio = results.ratio(f"jacobi_svd_native/n={n}/w={w}", ours)
        note = figure(results.ratio(f"jacobi_svd/n={n}/w={w}", ours), "×") + " with our flags"
        yield Bar("orthogonalisation against JacobiSVD", f"n={n} w={w}", ratio, "≥", 9, "×", note, ours)
    for batch, bar in ((1, 0.10), (20, 0.02)):
        for n, w in UPDATE_SHAPES:
            update = results.seconds(f"update/n={n}/w={w}")
            gradient = results.seconds(f"gradient/auto/n={n}/w={w}/B={batch}")
            share = update / (update + gradient) if update and gradient else None
            what = "one sequence" if batch == 1 else f"batch {batch}"
            group = f"update's share of a step, {what}"
            yield Bar(group, f"n={n} w={w}", share, "≤", bar, "%", "", f"update/n={n}/w={w}")


def thread_bars(results):
    group = "two threads against one, same bytes"
    if results.machine.get("cores", 1) < 2:
        return
    for name in sorted(name for name in results.cases if name.startswith("threads/") and name.endswith("=1")):
        shape = name.split("/", 1)[1].rsplit("/", 1)[0]
        ratio = results.ratio(name, f"threads/{shape}/threads=2")
        note = results.failures.get(f"threads/{shape}/threads=2", "")
        yield Bar(group, shape.replace("/", " "), ratio, "≥", 1.85, "×", note)
    training = results.training
    for what, command in (("restarts", "hqmm train, 8 restarts"), ("grid", "hqmm select, 6 models")):
        if what + "1" not in training:
            continue
        same = training[what + "_same_bytes"]
        ratio = training[what + "1"] / training[what + "2"] if same else None
        yield Bar(group, command, ratio, "≥", 1.85, "×", "" if same else "the bytes differ")


def structured_bars(results):
    for n, bar in ((64, 0.80), (39, 0.70)):
        name = f"gradient/kraus/n={n}/w=2/B=32/s=27/real/state"
        rate, dgemm = results.rate(name), results.dgemm()
        share = 2.0 * 4.0 * 2.0 * n**3 * rate / dgemm if rate and dgemm else None
        note = results.failures.get(name, "counted as 4·w·n³ multiply-adds: two products each way, none for the gradient")
        yield Bar("share of dgemm, real models on states", f"n={n} w=2", share, "≥", bar, "%", note, name)
    ours = "gradient/auto/n=11/w=2/B=32/s=4/real"
    ratio = results.ratio(ours, "gradient/auto/n=8/w=2/B=32/s=4")
    note = "of about as many parameters"
    yield Bar("real models on edges against complex ones, time", "n=11 w=2 against n=8 w=2", ratio, "≤", 1.15, "×", note, ours)


def other_bars(results):
    for n in (32, 64):
        ratio = results.ratio(f"gradient/factor/n={n}/w=1/B=20/s=27", f"gradient/pure/n={n}/w=1/B=20/s=27")
        yield Bar("pure state against the factor form, 27 symbols", f"n={n}", ratio, "≥", 5, "×")
    training = results.training
    ratio = training["naive"] / training["default"] if "naive" in training else None
    note = training.get("naive_failed", "")
    if ratio:
        note = f"{training['default']:.2f} s against {training['naive']:.1f} s; the naive run's 60 epochs from 6"
    group = "training run of the defaults against --engine naive"
    yield Bar(group, "n=4 w=2, 200 × 300, 60 epochs", ratio, "≥", 20, "×", note)
    picked = [target for target, (got, _) in results.targets.items() if got == target]
    note = "runs on " + ", ".join(picked)
    yield Bar("one binary, vector instructions picked at run time", "targets", len(picked) or None, "≥", 3, "", note)


def long_bars(results):
    """One sequence: symbols a second, against a walk of sequences that are just too short to be cut, and two threads."""
    def million(name):
        rate = results.rate(name)
        return rate / 1e6 if rate else None

    name = "long/score/n=2/w=1/threads=1"
    group = "one long sequence, million symbols a second and core"
    yield Bar(group, "n=2 w=1 s=6", million(name), "≥", 100, "", results.failures.get(name, ""), name)
    group = "one long sequence against a walk, one core"
    for n, w in ((8, 1), (8, 4)):
        name = f"long/score/n={n}/w={w}/threads=1"
        rate, walk = million(name), million(f"long/walk/n={n}/w={w}")
        note = f"{figure(rate, '')} against {figure(walk, '')} million symbols a second"
        yield Bar(group, f"n={n} w={w}", rate / walk if rate and walk else None, "≥", 3, "×", note, name)
    if results.machine.get("cores", 1) < 2:
        return
    group = "one long sequence, two threads against one, same bytes"
    for name in sorted(name for name in results.cases if name.startswith("long/") and name.endswith("/threads=1")):
        shape = name[len("long/"):-len("/threads=1")]
        two = f"long/{shape}/threads=2"
        yield Bar(group, shape.replace("/", " "), results.ratio(name, two), "≥", 1.7, "×", results.failures.get(two, ""))


def slope(points):
    """Least squares of log y over log x."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


def symbol_points(results, n, w):
    """(symbols, seconds), ascending."""
    ending = f"/n={n}/w={w}"
    cases = [c for name, c in results.cases.items() if name.startswith("scaling/symbols=") and name.endswith(ending)]
    return sorted((case["symbols"], case["seconds"]) for case in cases)


def shape_points(results):
    """{form: [(operations per symbol, seconds per symbol, n, w)]}, ascending. Fused grams are forms of their own."""
    out = {}
    for name, case in results.cases.items():
        if not name.startswith("scaling/n="):
            continue
        n, w = (int(part.split("=")[1]) for part in name.split("/")[1:3])
        form = case.get("label", "")
        if form:
            out.setdefault(form, []).append((operations(form, n, w), case["seconds"] / case["symbols"], n, w))
    return {form: sorted(points) for form, points in sorted(out.items())}


def scaling_bars(results):
    for n, w in LINEAR_SHAPES:
        points = symbol_points(results, n, w)
        measured = slope(points) if len(points) > 2 else None
        note = ""
        if measured:
            per_symbol = [1e9 * seconds / symbols for symbols, seconds in points]
            sizes = f"{points[0][0]:.0e} to {points[-1][0]:.0e} symbols"
            note = f"{min(per_symbol):.3g} to {max(per_symbol):.3g} ns a symbol, {sizes}"
        yield Bar("growth with symbols: exponent", f"n={n} w={w}", measured, "≤", 1.05, "", note)
    for form, points in shape_points(results).items():
        if len({point[0] for point in points}) < 3:
            continue
        measured = slope([point[:2] for point in points])
        note = f"n from {min(p[2] for p in points)} to {max(p[2] for p in points)}"
        yield Bar("growth with the form's operations: exponent", form, measured, "≤", 1.05, "", note)


def all_bars(results):
    return [
        *naive_bars(results, 20, BATCH),
        *naive_bars(results, 1, SINGLE),
        *dgemm_bars(results),
        *structured_bars(results),
        *em_bars(results),
        *edge_em_bars(results),
        *update_bars(results),
        *thread_bars(results),
        *long_bars(results),
        *other_bars(results),
        *scaling_bars(results),
    ]
