"""The first megabase of an E. coli genome: hidden quantum Markov models of four kinds, and what they are up against.

Contiguous blocks are dealt to training, validation and test; everything is selected on validation. Writes dna.json,
dna.csv, dna.md, dna.svg (bits against parameters) and dna-spectrum.svg.
"""
import gzip
import os
import shutil

import frontier
from common import (Hqmm, Study, arguments, best, commands, deal, how_to_read, quick_note, table,
                    versus, write_fasta, write_page, write_results, write_svg)

BLOCK = 5000
BURN_IN = 100
SPLIT_SEED = 1
ALPHABET = 4


class Protocol:
    """How much of everything; the quick one is for trying the script."""

    def __init__(self, quick):
        self.bases = 100_000 if quick else 1_000_000
        self.blocks = (8, 4, 8) if quick else (40, 20, 140)  # training, validation, test
        self.seeds = (1, 2) if quick else (1, 2, 3)
        self.restarts, self.epochs = (2, 4) if quick else (8, 60)
        # Kinds with about as many parameters as each other, each with the n and w it has them at.
        self.equal = ((("real, state", 4, 2), ("complex, edge", 2, 2)) if quick else
                      (("real, state", 23, 2), ("real, edge", 11, 2), ("complex, edge", 8, 2), ("complex, state", 16, 2)))
        self.repeated = ("real, state", "real, edge")  # with every seed, the others with the first
        # Sizes to draw lines with: one start each.
        self.grids = ((("real, state", (3,), (2,)),) if quick else
                      (("complex, edge", (2, 4, 8), (1, 2)), ("complex, state", (4, 8), (2,)), ("real, edge", (4, 8, 16), (2,)),
                       ("real, state", (4, 8, 16), (2,))))
        self.hmm_dims, self.mealy_dims = ((4,), (2,)) if quick else ((2, 4, 8, 16), (2, 4, 8))
        self.hmm_restarts, self.hmm_iterations = (1, 10) if quick else (8, 1000)


def read_bases(path, count):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="ascii") as file:
        bases = "".join(line.strip() for line in file if not line.startswith(">"))[:count].upper()
    if len(bases) < count:
        raise SystemExit(f"{path} has {len(bases)} bases, {count} are wanted")
    return bases


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
    first, chain = rows[0], best(rows, "Markov")
    turns = "\n".join(describe_turn(seed, pair) for seed, pair in content["leading_pairs"].items())
    return f"""# DNA: fewer bits than HMMs with as many parameters
{quick_note(quick)}Written by `./dev study dna`; do not edit.

The first {content['bases']} bases of *E. coli* (NC_008253, from Debian's `bowtie-examples`) in blocks of {BLOCK}, dealt at random
(seed {SPLIT_SEED}) to training ({content['blocks'][0]} blocks), validation ({content['blocks'][1]}) and test
({content['blocks'][2]}). The first row is the model that validation puts first among all seeds of the four kinds of HQMM with about
{first['parameters']} parameters.

![bits against parameters](dna.svg)

{how_to_read('base', BURN_IN, content['cores'])}

{table(rows)}
Against HMMs with as many parameters; positive numbers are in the HQMM's favour:

{versus(content['duels'])}

The best Markov chain (order {chain['model'].split()[-1]}, picked on the test blocks) takes {chain['bits'] - first['bits']:+.4f} bits more than the
first row.

## What it found
![eigenvalues of the channel in the unit disc](dna-spectrum.svg)

The eigenvalues of the first row's channel (`hqmm inspect {content['model']} --figure dna-spectrum.svg`). The leading pair
that is not real says what a model keeps count of; for each seed of this kind:

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
    chosen = study.kinds(protocol, ALPHABET)
    study.chains()
    study.compressors(parts[0], parts[2])
    same = {row["seed"]: row["file"] for row in study.results.rows
            if (row["model"], row.get("n"), row.get("parameters")) == (chosen["model"], chosen["n"], chosen["parameters"])}
    pairs = {seed: leading_pair(hqmm, model) for seed, model in same.items()}
    leading_pair(hqmm, chosen["file"], "--figure", "dna-spectrum.svg")
    shutil.copy(os.path.join(options.work, "dna-spectrum.svg"), options.pages)
    content = {"bases": protocol.bases, "blocks": protocol.blocks, "cores": os.cpu_count(), "leading_pairs": pairs,
               "model": chosen["file"], "duels": study.duels(), "tables": {"dna": study.results.finish(chosen)}}
    write_results(options.pages, "dna", content)
    write_svg(options.pages, "dna", frontier.figure("E. coli, one megabase", "base", content["tables"]["dna"], 4000))
    write_page(options.pages, "dna", page(content, hqmm.calls, options.quick))


if __name__ == "__main__":
    main()
