"""What the studies share: running hqmm, dealing blocks, compressors, paired errors, tables."""
import bz2
import csv
import gzip
import json
import lzma
import math
import os
import subprocess

import numpy as np


class Hqmm:
    """The executable under study. Every call is kept, so that a page can show the commands it was made by."""

    def __init__(self, program, folder):
        self.program = os.path.abspath(program)
        self.folder = folder
        self.calls = []

    def run(self, *words):
        """A command with --json, run inside the study's folder; its answer."""
        words = [str(word) for word in words]
        self.calls.append("hqmm " + " ".join(words))
        done = subprocess.run([self.program, *words, "--json", "--quiet"], cwd=self.folder, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise SystemExit(f"failed with {done.returncode}: {self.calls[-1]}")
        return json.loads(done.stdout)


def deal(sequence, block, shares, seed):
    """Contiguous blocks of one sequence, dealt at random: for each share so many blocks, in the order of the sequence."""
    whole = [sequence[i:i + block] for i in range(0, len(sequence) - block + 1, block)]
    if sum(shares) > len(whole):
        raise SystemExit(f"{sum(shares)} blocks of {block} are wanted, the data has {len(whole)}")
    order = np.random.default_rng(seed).permutation(len(whole))
    out, begin = [], 0
    for share in shares:
        out.append([whole[i] for i in sorted(order[begin:begin + share])])
        begin += share
    return out


def write_fasta(path, blocks):
    with open(path, "w", encoding="ascii") as file:
        for i, block in enumerate(blocks):
            file.write(f">block{i}\n{block}\n")


def compressed_bits(train, test, symbols):
    """Bits per symbol of the test data by each compressor: alone, or behind the training data, whichever is better."""
    before, both = "".join(train).encode(), "".join(train + test).encode()
    alone = "".join(test).encode()
    pack = {"gzip -9": lambda x: gzip.compress(x, 9), "bzip2 -9": lambda x: bz2.compress(x, 9),
            "xz -9e": lambda x: lzma.compress(x, preset=9 | lzma.PRESET_EXTREME)}
    return {name: 8 * min(len(f(alone)), len(f(both)) - len(f(before))) / symbols for name, f in pack.items()}


def paired(row, reference):
    """Bits per symbol more than the reference, and the standard error of that over blocks."""
    symbols = np.array([one["symbols"] for one in row], float)
    more = np.array([b["log_likelihood"] - a["log_likelihood"] for a, b in zip(row, reference)]) / math.log(2)
    mean = more.sum() / symbols.sum()
    n = len(row)
    return mean, math.sqrt(n / (n - 1) * np.sum((more - mean * symbols) ** 2)) / symbols.sum()


class Results:
    """One row for each model; the first one marked is what the others are compared with."""

    FIELDS = ("model", "n", "w", "parameters", "bits", "difference", "standard_error", "seconds", "seed")

    def __init__(self):
        self.rows = []
        self.reference = None

    def add(self, model, *, bits, per_sequence=None, reference=False, **rest):
        self.rows.append({"model": model, "bits": bits, "per_sequence": per_sequence, **rest})
        if reference:
            self.reference = per_sequence

    def finish(self):
        """The rows as they are written: differences instead of what they were computed from."""
        out = []
        for row in self.rows:
            row = dict(row)
            blocks = row.pop("per_sequence")
            if blocks is not None and blocks is not self.reference:
                row["difference"], row["standard_error"] = paired(blocks, self.reference)
            out.append({name: row.get(name) for name in self.FIELDS})
        return out


def write_results(folder, name, content):
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.write("\n")
    with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, Results.FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(content["rows"])


def table(rows):
    """Rows as Markdown."""
    def cell(value, form):
        return "–" if value is None else format(value, form)

    lines = ["| model | n | w | parameters | bits/symbol | more than the first (± s.e.) | seconds |",
             "|---|---|---|---|---|---|---|"]
    for row in rows:
        difference = "–"
        if row["difference"] is not None:
            difference = f"{row['difference']:+.4f} ± {row['standard_error']:.4f}"
        lines.append(f"| {row['model']} | {cell(row['n'], 'd')} | {cell(row['w'], 'd')} | {cell(row['parameters'], 'd')} "
                     f"| {row['bits']:.4f} | {difference} | {cell(row['seconds'], '.1f')} |")
    return "\n".join(lines) + "\n"
