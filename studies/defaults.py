"""What `hqmm train` should do when nothing is said: kinds, Kraus ranks, steps, batches and restarts on all our data sets.

Every model is trained on training data and compared on validation; nothing here looks at a test part. Writes defaults.json
and defaults.md. DATA is a folder with NC_008253.fna.gz or NC_008253.fna (dna), bible.txt (text) and DB.fasta.gz or DB.fasta
(protein); a set that is not there is an error.
"""
import json
import os

import dna
import protein
import text
from common import Hqmm, arguments, commands, deal, hqmm_parameters, kind_flags, quick_note, write_fasta, write_page

KINDS = ("complex, edge", "complex, state", "real, edge", "real, state")
SEED = 1


class DataSet:
    def __init__(self, name, symbols, train, *options):
        self.name, self.symbols = name, symbols
        self.words = (train, *options)


def find(folder, name):
    for path in (os.path.join(folder, name), os.path.join(folder, name + ".gz")):
        if os.path.exists(path):
            return path
    raise SystemExit(f"{folder} has no {name}")


def prepare(hqmm, folder, quick):
    """Training and validation files of every data set, in the folder of the study."""
    out = []
    for name in ("synthetic-hmm", "synthetic-hqmm"):
        hqmm.run("generate", name, "-o", name)
        out.append(DataSet(name, 6, f"{name}/train.txt", "--validation", f"{name}/validation.txt"))
    plan = dna.Protocol(quick)
    parts = deal(dna.read_bases(find(folder, "NC_008253.fna"), plan.bases), dna.BLOCK, plan.blocks, dna.SPLIT_SEED)
    for name, blocks in zip(("train", "validation"), parts):
        write_fasta(os.path.join(hqmm.folder, f"dna-{name}.fasta"), blocks)
    out.append(DataSet("dna", 4, "dna-train.fasta", "--validation", "dna-validation.fasta", "--alphabet", "dna",
                       "--validation-burn-in", dna.BURN_IN))
    letters = text.read_letters(find(folder, "bible.txt"))
    for name, blocks in zip(("train", "validation"), deal(letters, text.BLOCK, (10, 10), text.SPLIT_SEED)):
        text.write_blocks(os.path.join(hqmm.folder, f"text-{name}.txt"), blocks)
    out.append(DataSet("text", 27, "text-train.txt", "--validation", "text-validation.txt", "--alphabet", ",".join(text.LETTERS),
                       "--validation-burn-in", text.BURN_IN))
    proteins = protein.read_proteins(find(folder, "DB.fasta"), 400 if quick else 4000)
    lengths = {name: len(sequence) for name, sequence in proteins.items()}
    names = protein.representatives(proteins, hqmm.folder)
    dealt = protein.deal_proteins(names, lengths, (20_000, 10_000) if quick else (100_000, 50_000), protein.SPLIT_SEED)
    for name, part in zip(("train", "validation"), dealt):
        write_fasta(os.path.join(hqmm.folder, f"protein-{name}.fasta"), [proteins[one] for one in part])
    out.append(DataSet("protein", 20, "protein-train.fasta", "--validation", "protein-validation.fasta", "--alphabet", "protein",
                       "--validation-burn-in", protein.BURN_IN))
    return out


def bits(hqmm, data, n, w, kind, *options):
    """Validation bits per symbol of one training run."""
    done = hqmm.run("train", *data.words, "-n", n, "-w", w, *kind_flags(kind), *options, "--seed", SEED, "-o", "model.h5")
    return done["validation"]["bits_per_symbol"]


def size_with(parameters, kind, w, symbols):
    return min(range(2, 200), key=lambda n: abs(hqmm_parameters(*kind.split(", "), n, w, symbols) - parameters))


def measure(hqmm, sets, epochs):
    """Tables: settings by data sets."""
    def each(settings):
        return {label: {data.name: one(data) for data in sets} for label, one in settings.items()}

    base = ("--epochs", epochs)
    equal_n = each({f"{kind}, w = {w}": lambda data, kind=kind, w=w: bits(hqmm, data, 4, w, kind, *base)
                    for kind in KINDS for w in (1, 2, 3)})
    equal_size = each({kind: lambda data, kind=kind: bits(
        hqmm, data, size_with(hqmm_parameters("complex", "edge", 4, 2, data.symbols), kind, 2, data.symbols), 2, kind, *base)
                       for kind in KINDS})
    steps = each({f"step size {step}, batch {batch}": lambda data, step=step, batch=batch: bits(
        hqmm, data, 4, 2, KINDS[0], *base, "--step-size", step, "--batch-size", batch)
                  for step in (0.05, 0.1, 0.2) for batch in (4, 16)})
    starts = {"1 start": (), "4 starts, halved": ("--restarts", 4, "--halving"), "8 starts, halved": ("--restarts", 8, "--halving"),
              "8 starts": ("--restarts", 8)}
    restarts = each({label: lambda data, more=more: bits(hqmm, data, 4, 2, KINDS[0], *base, *more)
                     for label, more in starts.items()})
    return {"equal n": equal_n, "equal parameters": equal_size, "steps": steps, "restarts": restarts}


def behind(table):
    """Bits more than the best setting of each data set, on average over the sets."""
    names = list(next(iter(table.values())))
    least = {name: min(row[name] for row in table.values()) for name in names}
    return {label: sum(row[name] - least[name] for name in names) / len(names) for label, row in table.items()}


def as_markdown(table):
    names = list(next(iter(table.values())))
    mean = behind(table)
    first = min(mean, key=mean.get)
    lines = ["| setting | " + " | ".join(names) + " | more than the best, on average |", "|---|" + "--:|" * (len(names) + 1)]
    for label, row in table.items():
        shown = f"**{label}**" if label == first else label
        lines.append(f"| {shown} | " + " | ".join(f"{row[name]:.4f}" for name in names) + f" | {mean[label]:.4f} |")
    return "\n".join(lines) + "\n"


def what_follows(tables):
    """What the tables say about the settings that `hqmm train` has: n = 4, complex, edge, w = 2, step 0.2, batch 4, one start."""
    kinds, sizes, steps, starts = (behind(tables[name]) for name in ("equal n", "equal parameters", "steps", "restarts"))
    gain = starts["1 start"] - starts["8 starts"]
    lines = [
        f"""- **Kind.** People choose n, so kinds are compared at equal n first. There complex operators for each symbol with w = 2
  take {kinds['complex, edge, w = 2']:.4f} bits more than the best of each set on average; real operators take {kinds['real, edge, w = 2']:.4f},
  emission on states {min(kinds[f'{field}, state, w = 2'] for field in ('complex', 'real')):.4f} or more. They are the default.""",
        f"""- **Kind, if parameters are what counts.** At equal parameters real operators with emission on states are ahead
  ({sizes['real, state']:.4f} against {sizes['complex, edge']:.4f}), because n may then be larger. `--field real --emission state` with
  n = 16 or more is for data that has room for it: [text](text.md), [dna](dna.md).""",
        f"""- **Kraus rank.** w = 1 costs {kinds['complex, edge, w = 1'] - kinds['complex, edge, w = 2']:.4f} bits, w = 3 gains nothing
  ({kinds['complex, edge, w = 3']:.4f}). w = 2 is the default.""",
        f"""- **Steps and batches.** All six are within {max(steps.values()):.4f} bits of the best of each set. Which of eight starts one gets
  matters {'more' if gain > max(steps.values()) - min(steps.values()) else 'as much'}. Step 0.2 and batch 4 stay.""",
        f"""- **Restarts.** The best of eight starts gains {gain:.4f} bits on average for eight times the work, and eight that are halved
  {round(starts['1 start'] - starts['8 starts, halved'], 4) + 0.0:.4f}. One start is the default; larger models have more to gain ([dna](dna.md)).""",
    ]
    return "\n".join(lines) + "\n"


def page(tables, calls, quick):
    return f"""# Defaults: what hqmm train does when nothing is said
{quick_note(quick)}Written by `./dev study defaults`; do not edit.

Bits per symbol on validation, seed {SEED}; lower is better. The sets are the two synthetic benchmarks, the DNA of the
[dna study](dna.md), 20,000 characters of the [text study](text.md) and 100,000 residues like those of the
[protein study](protein.md). In bold the setting that is least behind on average.

## What follows
{what_follows(tables)}
## Kinds and Kraus ranks at n = 4
{as_markdown(tables['equal n'])}
## Kinds at equal parameters
As many as complex operators for each symbol have at n = 4; w = 2.

{as_markdown(tables['equal parameters'])}
## Steps and batches
Complex, emission on edges, n = 4, w = 2.

{as_markdown(tables['steps'])}
## Restarts
The same model; steps and batches as they are by default.

{as_markdown(tables['restarts'])}
{commands('defaults', calls)}"""


def main():
    options = arguments(__doc__)
    hqmm = Hqmm(options.hqmm, options.work)
    tables = measure(hqmm, prepare(hqmm, options.data, options.quick), 2 if options.quick else 60)
    with open(os.path.join(options.pages, "defaults.json"), "w", encoding="utf-8") as file:
        json.dump({"tables": tables}, file, indent=1, ensure_ascii=False)
        file.write("\n")
    write_page(options.pages, "defaults", page(tables, hqmm.calls, options.quick))


if __name__ == "__main__":
    main()
