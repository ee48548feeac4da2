"""What calling from Python costs: PYTHONPATH=python python3 python/bench.py build/release/hqmm

Prints the processor time of a default training run from Python beside that of the command line (which also
reads the data and writes the model), and how long two threads take that fit a model each. The model files
must have the same bytes. Two runs of the command line at once, beside one, say what the machine itself can
do at the moment.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import tempfile
import threading
import time

import numpy as np

import hqmm
from hqmm import _core

SEQUENCES, LENGTH, SYMBOLS = 200, 1000, 6


def make_data():
    """From a random model with n = 4, so that there is something to learn."""
    entries = np.random.default_rng(1).normal(size=(SYMBOLS * 4, 4))
    kraus = np.linalg.qr(entries)[0].reshape(SYMBOLS, 1, 4, 4)
    return hqmm.HQMM.from_kraus(kraus).sample(SEQUENCES, LENGTH, random_state=1)


def fit(rows, seed=1):
    return hqmm.HQMM(4, 1, random_state=seed, n_jobs=1).fit(rows)


def outside_the_compiled_call(rows):
    """The share of a fit's processor time that is spent in Python."""
    train, inside = _core.train, []

    def watched(*args):
        start = time.thread_time()
        found = train(*args)
        inside.append(time.thread_time() - start)
        return found

    _core.train = watched
    try:
        start = time.thread_time()
        fit(rows)
        return 1 - inside[0] / (time.thread_time() - start)
    finally:
        _core.train = train


def timed(work):
    """(wall, processor time of this process and the children it waited for)"""
    def cpu():
        own, children = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime

    wall, used = time.perf_counter(), cpu()
    work()
    return time.perf_counter() - wall, cpu() - used


def at_once(work, count):
    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--repeats", type=int, default=10)
    args = parser.parse_args()
    rows = make_data()
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data.txt"
        data.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))

        def cli(i=0):
            subprocess.run([args.binary, "train", data, "-o", f"{folder}/{i}.h5", "-n", "4", "-w", "1",
                            "--seed", "1", "--threads", "1", "--quiet"], check=True, stdout=subprocess.DEVNULL)

        ways = {
            "cli": cli, "python": lambda: fit(rows),
            "cli_two": lambda: at_once(cli, 2), "python_two": lambda: at_once(lambda i: fit(rows, 1 + i), 2),
        }
        seen = {name: [] for name in ways}
        for _ in range(args.repeats):  # in turn, so that a busy minute does not fall on one of them
            for name, work in ways.items():
                seen[name].append(timed(work))
        outside = min(outside_the_compiled_call(rows) for _ in range(args.repeats))
        same = fit(rows).model_.to_bytes() == pathlib.Path(f"{folder}/0.h5").read_bytes()
    wall = {name: min(pair[0] for pair in pairs) for name, pairs in seen.items()}
    used = {name: min(pair[1] for pair in pairs) for name, pairs in seen.items()}
    print(f"{SEQUENCES} sequences of {LENGTH}, {SYMBOLS} symbols, n = 4, w = 1, one thread; "
          f"least of {args.repeats}; load {os.getloadavg()[0]:.1f}")
    print(f"command line   {wall['cli']:7.2f} s, processor {used['cli']:7.2f} s")
    print(f"Python         {wall['python']:7.2f} s, processor {used['python']:7.2f} s "
          f"({100 * (used['python'] / used['cli'] - 1):+.1f} %), {100 * outside:.1f} % of it outside the compiled "
          f"call, same bytes: {'yes' if same else 'NO'}")
    print(f"two at once    command line {wall['cli_two'] / wall['cli']:.2f}x of one, "
          f"Python threads {wall['python_two'] / wall['python']:.2f}x of one "
          f"(processor {used['python_two'] / used['python'] / 2:.2f}x of twice one)")


if __name__ == "__main__":
    main()
