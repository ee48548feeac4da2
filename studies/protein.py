"""Proteins, one of each family: the data on which any model has least to find.

Families are clusters of MMseqs2, of which one member stands for all: no family is on two sides of the split, and none counts
more than another. Proteins are dealt to training, validation and test; everything is selected on validation. Writes
protein.json, protein.csv, protein.md and protein.svg (bits against parameters).
"""
import gzip
import os
import shutil
import subprocess

import numpy as np

import frontier
from common import (Hqmm, Study, arguments, best, commands, how_to_read, quick_note, table,
                    versus, write_fasta, write_page, write_results, write_svg)

BURN_IN = 20
SPLIT_SEED = 1
IDENTITY, COVERAGE = 0.3, 0.5
ALPHABET = 20


class Protocol:
    """How much of everything; the quick one is for trying the script."""

    def __init__(self, quick):
        self.proteins = 400 if quick else None
        self.residues = (20_000, 10_000, 20_000) if quick else (200_000, 100_000, 1_000_000)  # training, validation, test
        self.seeds = (1, 2) if quick else (1, 2, 3)
        self.restarts, self.epochs = (2, 3) if quick else (8, 30)
        # Kinds with about as many parameters as each other, each with the n and w it has them at.
        self.equal = ((("real, state", 4, 2), ("complex, edge", 2, 1)) if quick else
                      (("real, state", 22, 2), ("real, edge", 5, 2), ("complex, edge", 4, 2), ("complex, state", 16, 2)))
        self.repeated = ("real, state", "complex, edge")  # with every seed, the others with the first
        # Sizes to draw lines with: one start each.
        self.grids = ((("real, state", (3,), (2,)),) if quick else
                      (("complex, edge", (2, 4, 8), (1, 2)), ("real, edge", (3, 8), (2,)), ("real, state", (8, 16), (2,))))
        self.hmm_dims, self.mealy_dims = ((4,), (2,)) if quick else ((4, 8, 16), (2, 4))
        self.hmm_restarts, self.hmm_iterations = (1, 5) if quick else (8, 500)


def read_proteins(path, count):
    """Sequences by the name MMseqs2 gives them: the accession of a UniProt header, else the first word."""
    opener = gzip.open if path.endswith(".gz") else open
    out, name = {}, None
    with opener(path, "rt", encoding="ascii") as file:
        for line in file:
            if line.startswith(">"):
                if len(out) == count:
                    break
                word = line[1:].split()[0]
                name = word.split("|")[1] if word.count("|") == 2 else word
                out[name] = ""
            else:
                out[name] += line.strip().upper()
    return out


def representatives(proteins, folder):
    """Names of one protein for each family, by MMseqs2: a family shares enough of its residues."""
    if shutil.which("mmseqs") is None:
        raise SystemExit("mmseqs is needed to find families (Debian's package mmseqs2)")
    with open(os.path.join(folder, "all.fasta"), "w", encoding="ascii") as file:
        file.writelines(f">{name}\n{sequence}\n" for name, sequence in proteins.items())
    subprocess.run(["mmseqs", "easy-cluster", "all.fasta", "families", "mmseqs-work", "--min-seq-id", str(IDENTITY), "-c",
                    str(COVERAGE), "--threads", "1", "-v", "1"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(os.path.join(folder, "mmseqs-work"), ignore_errors=True)
    with open(os.path.join(folder, "families_cluster.tsv"), encoding="ascii") as file:
        return sorted({line.split()[0] for line in file})


def deal_proteins(names, lengths, shares, seed):
    """Proteins in random order: each part takes them until it has its share of residues."""
    order = iter(np.random.default_rng(seed).permutation(len(names)))
    out = []
    for share in shares:
        part, residues = [], 0
        while residues < share:
            name = next(order, None)
            if name is None:
                raise SystemExit(f"the data has too few residues for {shares}")
            part.append(names[name])
            residues += lengths[part[-1]]
        out.append(part)
    return out


def page(content, calls, quick):
    rows = content["tables"]["protein"]
    first, chain = rows[0], best(rows, "Markov")
    letters = next(row for row in rows if row["model"].endswith("order 0"))["bits"]
    rank_one = min((row for row in rows if row["w"] == 1), key=lambda row: row["bits"])
    parts = ", ".join(f"{name} {part['proteins']} with {part['residues']:,} residues"
                      for name, part in content["parts"].items())
    return f"""# Proteins: little to find
{quick_note(quick)}Written by `./dev study protein`; do not edit.

The {content['proteins']:,} proteins of Debian's `mmseqs2-examples` are of {content['families']:,} families by MMseqs2
(`easy-cluster --min-seq-id {IDENTITY} -c {COVERAGE}`). One of each is dealt (seed {SPLIT_SEED}): {parts}. No family is on two sides.
The first row is the model that validation puts first among all seeds of the four kinds of HQMM with about {first['parameters']:,}
parameters.

![bits against parameters](protein.svg)

{how_to_read('residue', BURN_IN, content['cores'])}

{table(rows)}
Against HMMs with as many parameters; positive numbers are in the HQMM's favour:

{versus(content['duels'])}

Single letters alone take {letters:.4f} bits; everything a model finds is below that. The first row finds {letters - first['bits']:.4f}, the
best Markov chain (order {chain['model'].split()[-1]}, picked on the test part) {letters - chain['bits']:.4f}, the best HQMM with w = 1
{letters - rank_one['bits']:.4f}: what is nearly noise wants w ≥ 2.

{commands('protein', calls)}"""


def main():
    options = arguments(__doc__)
    protocol = Protocol(options.quick)
    proteins = read_proteins(options.data, protocol.proteins)
    lengths = {name: len(sequence) for name, sequence in proteins.items()}
    names = representatives(proteins, options.work)
    parts = [[proteins[name] for name in part] for part in deal_proteins(names, lengths, protocol.residues, SPLIT_SEED)]
    summary = {}
    for name, sequences in zip(("train", "validation", "test"), parts):
        write_fasta(os.path.join(options.work, name + ".fasta"), sequences)
        summary[name] = {"proteins": len(sequences), "residues": sum(map(len, sequences))}
    hqmm = Hqmm(options.hqmm, options.work)
    study = Study(hqmm, ".fasta", ("--alphabet", "protein"), BURN_IN)
    chosen = study.kinds(protocol, ALPHABET)
    study.chains()
    study.compressors(parts[0], parts[2])
    content = {"proteins": len(proteins), "families": len(names), "parts": summary, "cores": os.cpu_count(),
               "duels": study.duels(), "tables": {"protein": study.results.finish(chosen)}}
    write_results(options.pages, "protein", content)
    write_svg(options.pages, "protein", frontier.figure("Proteins, one of each family", "residue", content["tables"]["protein"], 8000))
    write_page(options.pages, "protein", page(content, hqmm.calls, options.quick))


if __name__ == "__main__":
    main()
