#!/usr/bin/env python3
"""How training scales over ranks: measured on this machine, and a model of it that is checked with slowed messages.

usage: ranks.py HQMM RESULTS.json [--write docs/scaling.md] [--symbols N] [PART…]

Parts are data, em, one, two, weak, delayed and bytes; without any, all. What earlier parts have found is kept in RESULTS.json.
Run by ./dev bench scaling. Times are those that hqmm itself reports for one epoch, one thread to a rank.
"""

import argparse
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "faults"))
from ranks import environment, mpirun  # noqa: E402

LENGTH = 300
SYMBOLS = 6
BATCH = 256
UPDATES = 4  # of an epoch in which messages are slowed or counted
LATENCY, BANDWIDTH = 5e-6, 1e9  # between machines, as assumed
WORK = {
    "EM, n = 16": ["--learner", "em", "-n", "16", "--restarts", "1", "--tolerance", "0"],
    "EM, n = 16, 16 restarts": ["--learner", "em", "-n", "16", "--restarts", "16", "--tolerance", "0"],
    "gradient, n = 16, w = 2, batch 256": ["-n", "16", "-w", "2", "--batch-size", str(BATCH), "--chunk-length", "0",
                                           "--burn-in", "0"],
}


EM, RESTARTS, GRADIENT = WORK
ITERATIONS = {EM: 60, RESTARTS: 4}  # one is over before it can be measured


def write_data(path, symbols, seed):
    """Once: uniform symbols, as good as any for the time that they take."""
    if path.exists():
        return path
    rng = random.Random(seed)
    with open(path, "w") as out:
        for _ in range(max(1, symbols // LENGTH)):
            out.write(" ".join(map(str, rng.choices(range(SYMBOLS), k=LENGTH))) + "\n")
    return path


class Bench:
    def __init__(self, binary, folder):
        self.binary, self.folder = os.path.abspath(binary), folder
        self.validation = write_data(self.folder / "validation.txt", 3 * LENGTH, 1)
        self.shim = None
        self.hashes = {}

    def seconds(self, work, data, ranks, epochs=1, **shim):
        """Of training for so many epochs, without starting and reading."""
        out = self.folder / "model.h5"
        extra = environment()
        extra["OMPI_MCA_hwloc_base_binding_policy"] = "none"
        if shim:
            extra |= {"LD_PRELOAD": str(self.message_shim()), **{name: str(value) for name, value in shim.items()}}
        done = subprocess.run([*mpirun(ranks), self.binary, "train", data, "--validation", self.validation, *WORK[work],
                               "--epochs", str(epochs), "--threads", "1", "--quiet", "--json", "-o", out],
                              env=extra, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, text=True)
        key = (work, str(data), epochs)
        if self.hashes.setdefault(key, out.read_bytes()) != out.read_bytes():
            sys.exit(f"{work}: {ranks} ranks give another model")
        return json.loads(done.stdout)["seconds"]

    def message_shim(self):
        if self.shim is None:
            self.shim = self.folder / "messages.so"
            subprocess.run(["mpicc", "-shared", "-fPIC", "-O1", pathlib.Path(__file__).parent / "messages.c", "-o", self.shim],
                           check=True)
        return self.shim

    def bytes_of_update(self, work, data, updates):
        """What rank 0 sends and rank 1 answers in an update: what an epoch of so many adds to one of none."""
        name = self.folder / "bytes"
        sent = []
        for epochs in (1, 2):
            self.seconds(work, data, 2, epochs, HQMM_BYTES=name)
            sent.append([int(pathlib.Path(f"{name}.{rank}").read_text()) for rank in (0, 1)])
        return {side: (sent[1][rank] - sent[0][rank]) / updates for rank, side in enumerate(("bytes_down", "bytes_up"))}


def up_and_down(ranks):
    """Messages in a row on the longest way down the tree of ranks and up again."""
    return 2 * math.ceil(math.log2(ranks)) if ranks > 1 else 0


class Parts:
    """Each measures something and keeps it in `found`."""

    def __init__(self, bench, symbols, found):
        self.bench, self.symbols, self.found = bench, symbols, found
        found |= {"symbols": symbols, "length": LENGTH, "cores": os.cpu_count()}
        self.time = found.setdefault("seconds", {})

    def data(self):
        self.whole = write_data(self.bench.folder / f"{self.symbols}.txt", self.symbols, 2)
        self.half = write_data(self.bench.folder / f"{self.symbols}-half.txt", self.symbols // 2, 3)
        self.few = write_data(self.bench.folder / "few.txt", UPDATES * BATCH * LENGTH, 4)

    def em(self):
        for work, iterations in ITERATIONS.items():
            for ranks, name in ((1, "whole"), (2, "whole"), (1, "half")):
                self.time[f"{work}, {ranks}, {name}"] = self.bench.seconds(work, getattr(self, name), ranks, iterations)

    def one(self):
        self.time[f"{GRADIENT}, 1, whole"] = self.bench.seconds(GRADIENT, self.whole, 1)

    def two(self):
        self.time[f"{GRADIENT}, 2, whole"] = self.bench.seconds(GRADIENT, self.whole, 2)

    def weak(self):
        self.time[f"{GRADIENT}, 1, half"] = self.bench.seconds(GRADIENT, self.half, 1)

    def delayed(self):
        """Messages that take their time, against what the model says they add: hops × delay for every request."""
        rows = self.found["delayed"] = []
        for ranks in (2, 4, 8):
            base = self.bench.seconds(GRADIENT, self.few, ranks)
            for delay in (20_000, 100_000):
                slowed = self.bench.seconds(GRADIENT, self.few, ranks, HQMM_DELAY_US=delay)
                # the updates, and the scores of the model at the start and of the candidate
                rows.append({"ranks": ranks, "delay_us": delay, "measured": slowed - base,
                             "model": (UPDATES + 2) * up_and_down(ranks) * delay * 1e-6})

    def bytes(self):
        self.found["bytes"] = self.bench.bytes_of_update(GRADIENT, self.few, UPDATES)


def extrapolate(gradient_seconds, symbols, bytes_up, bytes_down, latency, bandwidth):
    """An epoch of 10^12 symbols, batches that grow with the ranks so that each has the work of one batch of 256 alone."""
    per_symbol = gradient_seconds / symbols
    rows = []
    for ranks in (1, 10, 100, 1000):
        compute = per_symbol * BATCH * LENGTH
        levels = math.ceil(math.log2(ranks)) if ranks > 1 else 0
        talk = levels * (2 * latency + (bytes_up + bytes_down) / bandwidth)
        updates = 1e12 / (BATCH * LENGTH * ranks)
        rows.append({"ranks": ranks, "gradient_ms": compute * 1e3, "talk_ms": talk * 1e3, "efficiency": compute / (compute + talk),
                     "epoch_hours": updates * (compute + talk) / 3600})
    return rows


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + " --- |" * len(head),
                      *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def pages(found):
    time = found["seconds"]
    strong, weak = [], []
    for work in WORK:
        one, two, half = (time.get(f"{work}, {key}") for key in ("1, whole", "2, whole", "1, half"))
        if one and two:
            strong.append([work, f"{one:.2f}", f"{two:.2f}", f"{one / two:.2f}"])
        if half and two:
            weak.append([work, f"{half:.2f}", f"{two:.2f}", f"{half / two:.2f}"])
    yield "measured", table(["work", "one rank, s", "two ranks, s", "speed-up"], strong)
    yield "weak", table(["work", "one rank, half the data, s", "two ranks, all of it, s", "efficiency"], weak)
    yield "delayed", table(
        ["ranks", "delay of a message, ms", "added, measured, s", "added, model, s"],
        [[r["ranks"], f"{r['delay_us'] / 1000:.0f}", f"{r['measured']:.2f}", f"{r['model']:.2f}"]
         for r in found.get("delayed", [])])
    sent = found.get("bytes")
    if not sent:
        return
    yield "bytes", table(["of an update", "bytes"], [["the request, to every rank", f"{sent['bytes_down']:.0f}"],
                                                  ["the answer, of every rank", f"{sent['bytes_up']:.0f}"]])
    if one := time.get(f"{GRADIENT}, 1, whole"):
        yield "model", table(
            ["ranks", "gradient, ms", "messages, ms", "efficiency", "epoch of 10¹² symbols, hours"],
            [[r["ranks"], f"{r['gradient_ms']:.0f}", f"{r['talk_ms']:.2f}", f"{r['efficiency']:.3f}", f"{r['epoch_hours']:.2f}"]
             for r in extrapolate(one, found["symbols"], sent["bytes_up"], sent["bytes_down"], LATENCY, BANDWIDTH)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--symbols", type=float, default=1e7)
    options = parser.parse_args()
    folder = options.results.parent / "ranks"
    folder.mkdir(parents=True, exist_ok=True)
    found = json.loads(options.results.read_text()) if options.results.exists() and options.parts else {}
    parts = Parts(Bench(options.binary, folder), int(options.symbols), found)
    parts.data()
    for name in options.parts or ["em", "one", "two", "weak", "delayed", "bytes"]:
        getattr(parts, name)()
        options.results.write_text(json.dumps(found, indent=1) + "\n")
    for name, text in pages(found):
        print(f"{name}\n{text}\n")
        if options.write:
            options.write.write_text(re.sub(rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda m: f"{m[1]}{text}\n{m[2]}",
                                            options.write.read_text(), flags=re.S))


if __name__ == "__main__":
    main()
