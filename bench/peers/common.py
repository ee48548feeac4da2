"""What the peers share: reading the work, timing, comparing answers, and printing rows.

A peer is a program `peers/NAME.py FOLDER` that repeats work written by hqmm_bench_export and prints a JSON list of
rows:
  {"peer": who, "case": the Google Benchmark name of our side, "seconds": best time, "error": distance from our answer}
or {"peer": who, "missing": why}. An answer further away than TOLERANCE is not worth timing: its row has no seconds.
"""
import json
import os
import sys
import time

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

TOLERANCE = 1e-8


def load(folder, name):
    with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def best_time(function, least=0.5, repeats=3):
    """The fastest of at least `repeats` calls that together take at least `least` seconds."""
    best, total, calls = float("inf"), 0.0, 0
    while calls < repeats or total < least:
        start = time.process_time()
        function()
        taken = time.process_time() - start
        best, total, calls = min(best, taken), total + taken, calls + 1
        if total > 20.0:
            break
    return best


def row(peer, case, error, seconds):
    """`seconds` is a function: it is asked only when the answer is right."""
    out = {"peer": peer, "case": case, "error": float(error)}
    if error <= TOLERANCE:
        out["seconds"] = seconds()
    return out


def main(peer, modules, rows):
    """Prints the rows, or that a module is not installed."""
    import importlib

    try:
        for module in modules:
            importlib.import_module(module)
    except ImportError:
        print(json.dumps([{"peer": peer, "missing": "not installed"}]))
        return
    print(json.dumps(list(rows(sys.argv[1]))))
