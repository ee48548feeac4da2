"""The first megabase of an E. coli genome: what a hidden quantum Markov model finds in DNA, and against what.

usage: dna.py HQMM GENOME.fna PAGES [--work FOLDER] [--quick]

Contiguous blocks are dealt to training, validation and test; everything is selected on validation, and every
number is of the test blocks behind a burn-in. Writes dna.json, dna.csv, dna.md and dna-spectrum.svg to PAGES.
--quick takes a slice and a fraction of the iterations: to see that everything works, not to be quoted.
"""
import argparse
import gzip
import os
import shutil
import time

from common import Hqmm, Results, compressed_bits, deal, table, write_fasta, write_results

BLOCK = 5000
BURN_IN = 100
SPLIT_SEED = 1
BATCH = ("--batch-size", 16, "--step-size", 0.1)  # for more data than a few thousand symbols
HEADLINE = (8, 2)


class Protocol:
    """How much of everything; the quick one is for trying the script."""

    def __init__(self, quick):
        self.bases = 100_000 if quick else 1_000_000
        self.blocks = (8, 4, 8) if quick else (40, 20, 140)  # training, validation, test
        self.latent_dims = (2, 4) if quick else (2, 4, 8, 16)
        self.kraus_ranks = (1, 2) if quick else (1, 2, 4)
        self.seeds = (1,) if quick else (1, 2, 3)
        self.headline = (4, 2) if quick else HEADLINE
        self.epochs = 5 if quick else 60
        self.em = ("--restarts", 2, "--epochs", 20) if quick else ("--restarts", 8, "--epochs", 1000, "--tolerance", 1e-6)
        self.orders = range(8)


def read_bases(path, count):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="ascii") as file:
        bases = "".join(line.strip() for line in file if not line.startswith(">"))[:count].upper()
    if len(bases) < count:
        raise SystemExit(f"{path} has {len(bases)} bases, {count} are wanted")
    return bases


def states_with(parameters, count):
    """The number of states whose parameter count comes closest to `parameters`."""
    return min(range(1, 200), key=lambda n: abs(count(n) - parameters))


def hmm_parameters(n):
    return n * (n - 1) + 3 * n + n - 1


def edge_parameters(n):
    return 3 * n * n + n - 1


class Study:
    def __init__(self, hqmm, protocol):
        self.hqmm = hqmm
        self.protocol = protocol
        self.results = Results()

    def score(self, model):
        return self.hqmm.run("score", model, "test.fasta", "--alphabet", "dna", "--burn-in", BURN_IN, "--per-sequence")

    def train(self, label, out, *options, n, w=None, seed=1, reference=False):
        """Trains, scores on the test blocks, adds a row."""
        sizes = ("-n", n) if w is None else ("-n", n, "-w", w)
        start = time.perf_counter()
        self.hqmm.run("train", "train.fasta", "--validation", "validation.fasta", "--alphabet", "dna", *sizes, *options,
                      "--validation-burn-in", BURN_IN, "--seed", seed, "-o", out)
        seconds = time.perf_counter() - start
        scored = self.score(out)
        parameters = self.hqmm.run("inspect", out, "--entropy-symbols", 2048)["parameters"]
        self.results.add(label, n=n, w=w, parameters=parameters, bits=scored["bits_per_symbol"],
                         per_sequence=scored["per_sequence"], seconds=seconds, seed=seed, reference=reference)
        return parameters

    def hqmms(self):
        """The headline first: the others are compared with it."""
        n, w = self.protocol.headline
        options = ("--epochs", self.protocol.epochs, *BATCH)
        for seed in self.protocol.seeds:
            first = seed == self.protocol.seeds[0]
            parameters = self.train("HQMM" if first else f"HQMM, seed {seed}", f"hqmm-{n}-{w}-{seed}.h5", *options, n=n, w=w,
                                    seed=seed, reference=first)
        for other_n in self.protocol.latent_dims:
            for other_w in self.protocol.kraus_ranks:
                if (other_n, other_w) != (n, w):
                    self.train("HQMM", f"hqmm-{other_n}-{other_w}-1.h5", *options, n=other_n, w=other_w)
        return parameters

    def hmms(self, parameters):
        """At equal n, and at the headline's number of parameters."""
        for name, emission, count in (("HMM", "state", hmm_parameters), ("Mealy HMM", "edge", edge_parameters)):
            equal = states_with(parameters, count)
            for n in sorted({*self.protocol.latent_dims, equal}):
                label = f"{name}, EM" + (", the HQMM's parameters" if n == equal else "")
                self.train(label, f"hmm-{emission}-{n}.h5", "--learner", "em", "--emission", emission, *self.protocol.em, n=n)

    def select(self):
        """The grid again by one command, for the page: the same models, ranked by validation."""
        sizes = [",".join(map(str, list)) for list in (self.protocol.latent_dims, self.protocol.kraus_ranks)]
        return self.hqmm.run("select", "train.fasta", "--validation", "validation.fasta", "--alphabet", "dna", "-n", sizes[0],
                             "-w", sizes[1], "--epochs", self.protocol.epochs, *BATCH, "--validation-burn-in", BURN_IN,
                             "-o", "best.h5")

    def chains(self):
        found = self.hqmm.run("baseline", "train.fasta", "test.fasta", "--alphabet", "dna", "--order",
                              ",".join(map(str, self.protocol.orders)), "--burn-in", BURN_IN, "--per-sequence")
        for chain in found["chains"]:
            self.results.add(f"Markov chain, order {chain['order']}", parameters=chain["parameters"],
                             bits=chain["bits_per_symbol"], per_sequence=chain["per_sequence"])

    def compressors(self, train, test):
        for name, bits in compressed_bits(train, test, sum(map(len, test))).items():
            self.results.add(name, bits=bits)

    def spectrum(self, pages):
        n, w = self.protocol.headline
        figure = "dna-spectrum.svg"
        found = self.hqmm.run("inspect", f"hqmm-{n}-{w}-{self.protocol.seeds[0]}.h5", "--figure", figure)
        shutil.copy(os.path.join(self.hqmm.folder, figure), pages)
        return found["eigenvalues"]


def leading_pair(eigenvalues):
    """The largest eigenvalue that is not real: what turns, and how fast."""
    return next((one for one in eigenvalues if abs(one["im"]) > 1e-6), None)


def page(content, calls, quick):
    pair = content["leading_pair"]
    turns = "The channel has no oscillating mode among its leading eigenvalues."
    if pair:
        turns = (f"The leading oscillating pair of the first model's channel has modulus {pair['modulus']:.4f} and turns by "
                 f"{abs(pair['phase_turns']):.4f} of a circle per base: a period of {1 / abs(pair['phase_turns']):.3f} bases. "
                 "Codons have three.")
    best_chain = min((row for row in content["rows"] if row["model"].startswith("Markov")), key=lambda row: row["bits"])
    first = content["rows"][0]
    ranking = ", ".join(f"n = {one['latent_dim']}, w = {one['kraus_rank']} ({one['validation_bits_per_symbol']:.4f})"
                        for one in content["selected"][:3])
    quick_note = "**A quick run on a slice: not to be quoted.**\n\n" if quick else ""
    return f"""# DNA
{quick_note}Made by `./dev study dna`; do not edit.

{content['bases']} bases of *E. coli* (NC_008253, Debian's `bowtie-examples`) in blocks of {BLOCK}, dealt at random to training
({content['blocks'][0]} blocks), validation ({content['blocks'][1]}) and test ({content['blocks'][2]}). Epochs and restarts are
selected on validation. Bits per base on the test blocks behind {BURN_IN} bases; differences are paired over blocks. Compressors get
the test blocks alone or behind the training blocks, whichever is shorter. Seconds are wall clock, on {content['cores']} cores.
EM: `{content['em']}`. A Mealy HMM has one free matrix per symbol (`--emission edge`).

{table(content['rows'])}
The first row's bits are {best_chain['bits'] - first['bits']:.4f} fewer than those of the best Markov chain (order
{best_chain['model'].split()[-1]}, chosen on the test blocks, in its favour).

![eigenvalues of the channel](dna-spectrum.svg)

{turns}

Ranked by validation, `hqmm select` puts first: {ranking}.

## Commands
```
{chr(10).join(calls)}
```
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hqmm")
    parser.add_argument("genome")
    parser.add_argument("pages")
    parser.add_argument("--work", default="study-output/dna")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    protocol = Protocol(options.quick)
    for folder in (options.work, options.pages):
        os.makedirs(folder, exist_ok=True)

    parts = deal(read_bases(options.genome, protocol.bases), BLOCK, protocol.blocks, SPLIT_SEED)
    for name, blocks in zip(("train", "validation", "test"), parts):
        write_fasta(os.path.join(options.work, name + ".fasta"), blocks)

    hqmm = Hqmm(options.hqmm, options.work)
    study = Study(hqmm, protocol)
    study.hmms(study.hqmms())
    study.chains()
    study.compressors(parts[0], parts[2])
    selected = study.select()
    eigenvalues = study.spectrum(options.pages)
    content = {"bases": protocol.bases, "blocks": protocol.blocks, "cores": os.cpu_count(),
               "em": " ".join(map(str, protocol.em)), "leading_pair": leading_pair(eigenvalues), "selected": selected["models"],
               "rows": study.results.finish()}
    write_results(options.pages, "dna", content)
    with open(os.path.join(options.pages, "dna.md"), "w", encoding="utf-8") as file:
        file.write(page(content, hqmm.calls, options.quick))


if __name__ == "__main__":
    main()
