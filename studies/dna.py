"""The first megabase of an E. coli genome: what a hidden quantum Markov model finds in DNA, and against what.

Contiguous blocks are dealt to training, validation and test; everything is selected on validation. Writes dna.json,
dna.csv, dna.md and dna-spectrum.svg.
"""
import gzip
import os
import shutil

from common import (Hqmm, Study, arguments, best, commands, deal, how_to_read, quick_note, table, write_fasta, write_page,
                    write_results)

BLOCK = 5000
BURN_IN = 100
SPLIT_SEED = 1
BATCH = ("--batch-size", 16, "--step-size", 0.1)  # for more data than a few thousand symbols
ALPHABET = 4


class Protocol:
    """How much of everything; the quick one is for trying the script."""

    def __init__(self, quick):
        self.bases = 100_000 if quick else 1_000_000
        self.blocks = (8, 4, 8) if quick else (40, 20, 140)  # training, validation, test
        self.latent_dims = (2, 4) if quick else (2, 4, 8, 16)
        self.kraus_ranks = (1, 2) if quick else (1, 2, 3, 4)
        self.seeds = (1,) if quick else (1, 2, 3)
        self.headline = (4, 2) if quick else (8, 2)
        self.epochs = 4 if quick else 60
        self.budget = (lambda n: (1, 10)) if quick else (lambda n: (4, 1000))


def read_bases(path, count):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="ascii") as file:
        bases = "".join(line.strip() for line in file if not line.startswith(">"))[:count].upper()
    if len(bases) < count:
        raise SystemExit(f"{path} has {len(bases)} bases, {count} are wanted")
    return bases


def run(study, protocol, parts):
    n, w = protocol.headline
    options = ("--epochs", protocol.epochs, *BATCH)
    for seed in protocol.seeds:
        first = seed == protocol.seeds[0]
        parameters = study.learn("HQMM", f"hqmm-seed{seed}.h5", *options, n=n, w=w, seed=seed, starts=f"1 × {protocol.epochs}",
                                 reference=first)
    ranked = study.grid(protocol.latent_dims, protocol.kraus_ranks, *options, skip={protocol.headline})
    study.hmms(protocol.latent_dims, parameters, ALPHABET, protocol.budget)
    study.chains()
    study.compressors(parts[0], parts[2])
    return ranked


def leading_pair(hqmm, model, *figure):
    """The largest eigenvalue that is not real: what turns, and how fast."""
    eigenvalues = hqmm.run("inspect", model, *figure)["eigenvalues"]
    return next((one for one in eigenvalues if abs(one["im"]) > 1e-6), None)


def describe_turn(seed, pair):
    if pair is None:
        return f"- seed {seed}: no oscillating mode among the leading eigenvalues"
    turns = abs(pair["phase_turns"])
    return f"- seed {seed}: modulus {pair['modulus']:.4f}, {turns:.4f} of a circle per base, a period of {1 / turns:.3f} bases"


def page(content, calls, quick):
    rows = content["tables"]["dna"]
    chain, state, edge = best(rows, "Markov"), best(rows, "HMM"), best(rows, "Mealy")
    ranking = ", ".join(f"n = {one['latent_dim']}, w = {one['kraus_rank']} ({one['validation_bits_per_symbol']:.4f})"
                        for one in content["ranking"][:3])
    turns = "\n".join(describe_turn(seed, pair) for seed, pair in content["leading_pairs"].items())
    return f"""# DNA: the codon's period, found by itself
{quick_note(quick)}Written by `./dev study dna`; do not edit.

The first {content['bases']} bases of *E. coli* (NC_008253, from Debian's `bowtie-examples`) in blocks of {BLOCK}, dealt at random
(seed {SPLIT_SEED}) to training ({content['blocks'][0]} blocks), validation ({content['blocks'][1]}) and test
({content['blocks'][2]}).

{how_to_read('base', BURN_IN, content['cores'])}

{table(rows)}
- Bits more than the first row, positive in its favour: the best Markov chain (order {chain['model'].split()[-1]}, picked on the test
  blocks) {chain['bits'] - rows[0]['bits']:+.4f}; the best HMM here (n = {state['n']}, {state['parameters']} parameters)
  {state['bits'] - rows[0]['bits']:+.4f}; the best Mealy HMM (n = {edge['n']}, {edge['parameters']} parameters) {edge['bits'] - rows[0]['bits']:+.4f}.
- Ranked by validation, `hqmm select` puts first: {ranking}.

## What it found
![eigenvalues of the channel in the unit disc](dna-spectrum.svg)

The eigenvalues of the first model's channel (`hqmm inspect hqmm-seed1.h5 --figure dna-spectrum.svg`). The leading pair that is
not real says what the model keeps count of:

{turns}

Codons have three bases; nothing told the model.

{commands('dna', calls)}"""


def main():
    options = arguments(__doc__)
    protocol = Protocol(options.quick)
    parts = deal(read_bases(options.data, protocol.bases), BLOCK, protocol.blocks, SPLIT_SEED)
    for name, blocks in zip(("train", "validation", "test"), parts):
        write_fasta(os.path.join(options.work, name + ".fasta"), blocks)
    hqmm = Hqmm(options.hqmm, options.work)
    study = Study(hqmm, ".fasta", ("--alphabet", "dna"), BURN_IN)
    ranking = run(study, protocol, parts)
    pairs = {seed: leading_pair(hqmm, f"hqmm-seed{seed}.h5") for seed in protocol.seeds}
    leading_pair(hqmm, "hqmm-seed1.h5", "--figure", "dna-spectrum.svg")
    shutil.copy(os.path.join(options.work, "dna-spectrum.svg"), options.pages)
    content = {"bases": protocol.bases, "blocks": protocol.blocks, "cores": os.cpu_count(), "leading_pairs": pairs,
               "ranking": [{key: one[key] for key in ("latent_dim", "kraus_rank", "parameters", "validation_bits_per_symbol")}
                           for one in ranking],
               "tables": {"dna": study.results.finish()}}
    write_results(options.pages, "dna", content)
    write_page(options.pages, "dna", page(content, hqmm.calls, options.quick))


if __name__ == "__main__":
    main()
