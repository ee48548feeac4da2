"""What the studies share: running hqmm, dealing blocks, the anchors every study has, paired errors, tables, pages."""
import argparse
import bz2
import csv
import gzip
import json
import lzma
import math
import os
import shlex
import subprocess
import tempfile

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
        self.calls.append("hqmm " + shlex.join(words))
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


def zpaq(content):
    """An archive of one file; the strongest method, a mixture of context models."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "x"), "wb") as file:
            file.write(content)
        subprocess.run(["zpaq", "add", "x.zpaq", "x", "-method", "5"], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        with open(os.path.join(folder, "x.zpaq"), "rb") as file:
            return file.read()


def compressed_bits(train, test):
    """Bits per symbol of the test data by each compressor: alone, or after the training data, whichever is better."""
    before, both, alone = ("".join(part).encode() for part in (train, train + test, test))
    pack = {"gzip -9": lambda x: gzip.compress(x, 9), "bzip2 -9": lambda x: bz2.compress(x, 9),
            "xz -9e": lambda x: lzma.compress(x, preset=9 | lzma.PRESET_EXTREME), "zpaq -m5": zpaq}
    return {name: 8 * min(len(f(alone)), len(f(both)) - len(f(before))) / len(alone) for name, f in pack.items()}


def paired(row, reference):
    """Bits per symbol more than the reference, and the standard error of that over blocks."""
    symbols = np.array([one["symbols"] for one in row], float)
    more = np.array([b["log_likelihood"] - a["log_likelihood"] for a, b in zip(row, reference)]) / math.log(2)
    mean = more.sum() / symbols.sum()
    n = len(row)
    return mean, math.sqrt(n / (n - 1) * np.sum((more - mean * symbols) ** 2)) / symbols.sum()


class Results:
    """One row for each model; the others are compared with the reference."""

    FIELDS = ("model", "n", "w", "seed", "starts", "parameters", "validation_bits", "bits", "difference", "standard_error",
              "seconds")

    def __init__(self):
        self.rows = []

    def add(self, model, *, bits, per_sequence=None, **rest):
        self.rows.append({"model": model, "bits": bits, "per_sequence": per_sequence, **rest})

    def finish(self, reference):
        """The rows as they are written, the reference first: differences instead of what they were computed from."""
        self.rows.sort(key=lambda row: row is not reference)
        reference = self.rows[0]["per_sequence"]
        out = []
        for i, row in enumerate(self.rows):
            if i > 0 and row["per_sequence"] is not None:
                row["difference"], row["standard_error"] = paired(row["per_sequence"], reference)
            out.append({name: row.get(name) for name in self.FIELDS})
        return out


def hmm_parameters(n, s):
    return n * (n - 1) + n * (s - 1) + n - 1


def edge_parameters(n, s):
    return (s - 1) * n * n + n - 1


def states_with(parameters, count, s):
    """The number of states whose parameter count comes closest to `parameters`."""
    return min(range(1, 1000), key=lambda n: abs(count(n, s) - parameters))


def hqmm_parameters(field, emission, n, w, s):
    """What an HQMM is free to choose: without the constraints, and without what changes no probability."""
    if emission == "edge":
        return s * w * n * n - n * n - s * w * (w - 1) // 2 if field == "real" else 2 * (s * w - 1) * n * n + 1 - s * w * w
    if field == "real":
        return w * n * n - n * (n + 1) // 2 + (s - 1) * n - w * (w - 1) // 2
    return 2 * w * n * n - n * n + (s - 1) * n - (n - 1) - w * w


def kind_flags(kind):
    """"real, state" as options."""
    field, emission = kind.split(", ")
    return "--field", field, "--emission", emission


def shorter_steps(kind):
    """Options of a kind for more data than a few thousand symbols: shorter steps, larger batches."""
    emission_step = ("--emission-step", 0.1) if kind.endswith("state") else ()
    return (*kind_flags(kind), "--batch-size", 16, "--step-size", 0.1, *emission_step)


def halving(restarts, epochs):
    """Options of so many starts of which the better half goes on, and their label."""
    if restarts == 1:
        return ("--epochs", epochs), f"1 × {epochs}"
    return ("--epochs", epochs, "--restarts", restarts, "--halving"), f"{restarts}, halved, × {epochs}"


class Study:
    """Models trained on train, chosen on validation, scored on test: files of one folder."""

    def __init__(self, hqmm, suffix, flags, burn_in, prefix=""):
        self.hqmm = hqmm
        self.results = Results()
        self.flags = flags
        self.burn_in = burn_in
        self.train, self.validation, self.test = (f"{prefix}{part}{suffix}" for part in ("train", "validation", "test"))
        self.prefix = prefix
        self.pairs = []  # a model and an HMM with about as many parameters

    def data(self):
        return (self.train, "--validation", self.validation, *self.flags, "--validation-burn-in", self.burn_in)

    def score(self, label, model, **rest):
        scored = self.hqmm.run("score", model, self.test, *self.flags, "--burn-in", self.burn_in, "--per-sequence")
        self.results.add(label, file=model, bits=scored["bits_per_symbol"], per_sequence=scored["per_sequence"], **rest)

    def learn(self, label, out, *options, starts, n, w=None, seed=1):
        """Trains with all cores, scores on the test blocks, adds a row."""
        sizes = ("-n", n) if w is None else ("-n", n, "-w", w)
        done = self.hqmm.run("train", *self.data(), *sizes, *options, "--seed", seed, "-o", self.prefix + out)
        parameters = self.hqmm.run("inspect", self.prefix + out, "--entropy-symbols", 2048)["parameters"]
        self.score(label, self.prefix + out, n=n, w=w, seed=seed, starts=starts, parameters=parameters,
                   validation_bits=done["validation"]["bits_per_symbol"], seconds=done["seconds"])
        return self.results.rows[-1]

    def hqmm_of(self, kind, n, w, *options, restarts, epochs, seed=1):
        """An HQMM of a kind such as "real, state", which the options say too."""
        budget, starts = halving(restarts, epochs)
        out = f"{kind.replace(', ', '-')}-n{n}-w{w}-seed{seed}.h5"
        return self.learn(f"HQMM, {kind}", out, *budget, *options, n=n, w=w, seed=seed, starts=starts)

    def grid(self, latent_dims, kraus_ranks, *options, label, skip=()):
        """Sizes trained side by side, one core each; all are scored but those to skip. Ranked by validation."""
        starts = f"1 × {options[options.index('--epochs') + 1]}, side by side"
        folder = self.prefix + label.replace(", ", "-") + "-w" + "-".join(map(str, kraus_ranks))
        found = self.hqmm.run("select", *self.data(), "-n", ",".join(map(str, latent_dims)), "-w",
                              ",".join(map(str, kraus_ranks)), *options, "--seed", 1, "--models", folder)["models"]
        for one in sorted(found, key=lambda one: (one["latent_dim"], one["kraus_rank"])):
            if (one["latent_dim"], one["kraus_rank"]) not in skip:
                self.score(label, one["model"], n=one["latent_dim"], w=one["kraus_rank"], seed=1, starts=starts,
                           parameters=one["parameters"], validation_bits=one["validation_bits_per_symbol"],
                           seconds=one["seconds"])
        return found

    def hmm(self, emission, n, restarts, iterations, note=""):
        """An HMM by EM that emits on its states, or a Mealy HMM, which emits on its edges."""
        name = {"state": "HMM, EM", "edge": "Mealy HMM, EM"}[emission]
        return self.learn(name + note, f"hmm-{emission}-{n}.h5", "--learner", "em", "--emission", emission, "--restarts", restarts,
                          "--epochs", iterations, "--tolerance", 1e-6, "--patience", 50, n=n, starts=f"{restarts} × ≤ {iterations}")

    def equal_hmms(self, row, symbols, restarts, iterations):
        """HMMs of both types with about as many parameters as a model."""
        for emission, count in (("state", hmm_parameters), ("edge", edge_parameters)):
            n = states_with(row["parameters"], count, symbols)
            self.pairs.append((row, self.hmm(emission, n, restarts, iterations, ", equal parameters")))

    def duels(self):
        """What each HMM takes more than the model of its size, with paired errors."""
        out = []
        for row, anchor in self.pairs:
            difference, error = paired(anchor["per_sequence"], row["per_sequence"])
            model, other = ({key: one[key] for key in ("model", "n", "w", "seed", "parameters", "bits", "seconds")}
                            for one in (row, anchor))
            out.append({"model": model, "anchor": other, "difference": difference, "standard_error": error})
        return out

    def kinds(self, protocol, symbols):
        """Kinds of HQMM at equal size, HMMs of that size, other sizes of all; the row that validation puts first at equal size."""
        equal = [self.hqmm_of(kind, n, w, *shorter_steps(kind), restarts=protocol.restarts, epochs=protocol.epochs, seed=seed)
                 for kind, n, w in protocol.equal
                 for seed in (protocol.seeds if kind in protocol.repeated else protocol.seeds[:1])]
        chosen = first_by_validation(equal)
        self.equal_hmms(chosen, symbols, protocol.hmm_restarts, protocol.hmm_iterations)
        for kind, latent_dims, kraus_ranks in protocol.grids:
            self.grid(latent_dims, kraus_ranks, *shorter_steps(kind), "--epochs", protocol.epochs, label=f"HQMM, {kind}")
        for emission, sizes in (("state", protocol.hmm_dims), ("edge", protocol.mealy_dims)):
            for n in sizes:
                self.hmm(emission, n, min(4, protocol.hmm_restarts), protocol.hmm_iterations)
        return chosen

    def chains(self, orders=range(8)):
        found = self.hqmm.run("baseline", self.train, self.test, "--validation", self.validation, *self.flags, "--order",
                              ",".join(map(str, orders)), "--burn-in", self.burn_in, "--per-sequence")
        for chain in found["chains"]:
            self.results.add(f"Markov chain, order {chain['order']}", parameters=chain["parameters"],
                             bits=chain["bits_per_symbol"], per_sequence=chain["per_sequence"])

    def compressors(self, train, test):
        for name, bits in compressed_bits(train, test).items():
            self.results.add(name, bits=bits)


def write_results(folder, name, content):
    """`content["tables"]`: rows by table; the CSV has all of them."""
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1, ensure_ascii=False)
        file.write("\n")
    with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ("table", *Results.FIELDS), lineterminator="\n")
        writer.writeheader()
        for title, rows in content["tables"].items():
            writer.writerows({"table": title, **row} for row in rows)


def best(rows, start):
    """The row with the fewest bits among the models whose name starts so."""
    return min((row for row in rows if row["model"].startswith(start)), key=lambda row: row["bits"])


def first_by_validation(rows):
    return min(rows, key=lambda row: row["validation_bits"])


def versus(duels):
    """What each anchor takes more than the model it is an anchor of, as a list."""
    lines = []
    for duel in duels:
        one, anchor = duel["model"], duel["anchor"]
        lines.append(f"- {one['model']}, n = {one['n']} ({one['parameters']:,} parameters) against {anchor['model'].split(',')[0]} of "
                     f"{anchor['n']} states ({anchor['parameters']:,}): {duel['difference']:+.4f} ± {duel['standard_error']:.4f} bits")
    return "\n".join(lines)


def table(rows):
    """Rows as Markdown."""
    def cell(value, form=""):
        return "–" if value is None else format(value, form)

    lines = ["| model | n | w | seed | starts × epochs | parameters | bits/symbol | more than the first (± s.e.) | seconds |",
             "|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        difference = None
        if row["difference"] is not None:
            difference = f"{row['difference']:+.4f} ± {row['standard_error']:.4f}"
        cells = (row["model"], cell(row["n"]), cell(row["w"]), cell(row["seed"]), cell(row["starts"]), cell(row["parameters"]),
                 cell(row["bits"], ".4f"), cell(difference), cell(row["seconds"], ".1f"))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def how_to_read(unit, burn_in, cores):
    return f"""Bits per {unit} on the test part, after the first {burn_in} symbols of every sequence; lower is better. Differences and their
standard errors are paired over test sequences. Epochs, starts and smoothing are chosen on validation; "8, halved" are
eight starts of which the better half goes on, by validation, until one is left. Seconds are wall clock on
{cores} cores, or of one core for the models that `hqmm select` trained side by side. A Mealy
HMM has one free matrix per symbol (`--emission edge`). "Equal parameters": about as many as an HQMM of the table. Parameters of a
Markov chain are those of the contexts that occurred. Compressors get the test part alone or after the training part, whichever
is shorter. All numbers but the seconds come out again to the digit on processors with the same vector instructions."""


def commands(name, calls):
    return f"""## Commands
`./dev study {name}` runs all of them, in `study-output/{name}/`.
<details><summary>{len(calls)} commands</summary>

```
{chr(10).join(calls)}
```
</details>
"""


def arguments(doc, devices=False):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hqmm", help="the executable")
    parser.add_argument("data", help="the data file")
    parser.add_argument("pages", help="folder for the results")
    parser.add_argument("--work", default="study-output", help="folder to work in")
    parser.add_argument("--quick", action="store_true", help="a slice, to see that everything works; not to be quoted")
    if devices:
        parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu",
                            help="cuda: the large model alone, on a GPU, for docs/performance.md")
    options = parser.parse_args()
    for folder in (options.work, options.pages):
        os.makedirs(folder, exist_ok=True)
    return options


def quick_note(quick):
    return "**A quick run on a slice: not to be quoted.**\n\n" if quick else ""


def write_page(pages, name, text):
    with open(os.path.join(pages, name + ".md"), "w", encoding="utf-8") as file:
        file.write(text)


def write_svg(pages, name, text):
    with open(os.path.join(pages, name + ".svg"), "w", encoding="utf-8") as file:
        file.write(text)
