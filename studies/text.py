"""The King James Bible in 27 letters: where a pure-state model of 32 dimensions stands, and what beats it.

Contiguous blocks are dealt to training (three sizes, each part of the next), validation and test; everything is selected on
validation. Writes text.json, text.csv and text.md. DATA is the text as the program `bible -f` prints it.
"""
import os
import re

from common import Hqmm, Study, arguments, best, commands, deal, how_to_read, quick_note, table, write_page, write_results

BLOCK = 2000
BURN_IN = 100
SPLIT_SEED = 1
LETTERS = "_abcdefghijklmnopqrstuvwxyz"  # _ is the space
PURE = ("--initial-state", "pure", "--step-size", 0.1)


class Size:
    """What is done with one amount of training text."""

    def __init__(self, symbols, *, epochs, batch, headline, pure_dims, mixed_dims, hmm_dims, budget, seeds=(1,)):
        self.symbols = symbols
        self.epochs, self.batch = epochs, batch
        self.headline = headline    # n, at w = 1
        self.pure_dims = pure_dims  # w = 1 from a pure state
        self.mixed_dims = mixed_dims  # w = 2
        self.hmm_dims, self.budget = hmm_dims, budget
        self.seeds = seeds


def sizes(quick):
    if quick:
        return [Size(4_000, epochs=2, batch=4, headline=8, pure_dims=(4,), mixed_dims=(2,), hmm_dims=(4, 8), budget=lambda n: (1, 3))]
    return [
        Size(20_000, epochs=60, batch=4, headline=32, pure_dims=(4, 8, 16), mixed_dims=(4, 8), hmm_dims=(4, 8, 16, 32),
             budget=lambda n: (4, 500) if n < 32 else (2, 300)),
        Size(200_000, epochs=60, batch=16, headline=32, pure_dims=(4, 8, 16, 64), mixed_dims=(4, 8), hmm_dims=(4, 8, 16, 32),
             budget=lambda n: (4, 500) if n < 32 else (2, 300) if n < 100 else (1, 300), seeds=(1, 2, 3)),
        Size(1_000_000, epochs=30, batch=16, headline=32, pure_dims=(16,), mixed_dims=(), hmm_dims=(32,),
             budget=lambda n: (1, 100) if n < 100 else (1, 60)),
    ]


def read_letters(path):
    """Lower-case letters, everything between them one space; without the references of the verses."""
    with open(path, encoding="latin-1") as file:
        verses = [line.split(" ", 1)[1] for line in file if " " in line]
    return re.sub("[^a-z]+", "_", " ".join(verses).lower())


def write_blocks(path, blocks):
    with open(path, "w", encoding="ascii") as file:
        file.writelines(" ".join(block) + "\n" for block in blocks)


def run(hqmm, size, parts):
    prefix = f"{size.symbols}-"
    for name, blocks in parts.items():
        write_blocks(os.path.join(hqmm.folder, f"{prefix}{name}.txt"), blocks)
    study = Study(hqmm, ".txt", ("--alphabet", ",".join(LETTERS)), BURN_IN, prefix)
    options = ("--epochs", size.epochs, "--batch-size", size.batch)
    for seed in size.seeds:
        parameters = study.learn("HQMM, pure", f"hqmm-seed{seed}.h5", *options, *PURE, n=size.headline, w=1, seed=seed,
                                 starts=f"1 × {size.epochs}", reference=seed == size.seeds[0])
    study.grid(size.pure_dims, (1,), *options, *PURE, label="HQMM, pure")
    if size.mixed_dims:
        study.grid(size.mixed_dims, (2,), *options, "--step-size", 0.1)
    study.hmms(size.hmm_dims, parameters, len(LETTERS), size.budget)
    study.chains()
    study.compressors(parts["train"], parts["test"])
    return study.results.finish()


def verdict(rows):
    first = rows[0]
    anchors = [("an HMM of as many states", next(row for row in rows if row["model"] == "HMM, EM" and row["n"] == first["n"])),
               ("a Mealy HMM of as many states", next((row for row in rows if row["model"] == "Mealy HMM, EM"
                                                       and row["n"] == first["n"]), None)),
               ("an HMM with as many parameters", next(row for row in rows if row["model"] == "HMM, EM, equal parameters")),
               ("a Mealy HMM with as many parameters",
                next(row for row in rows if row["model"] == "Mealy HMM, EM, equal parameters")),
               ("the best Markov chain (" + best(rows, "Markov")["model"].split(", ")[1] + ")", best(rows, "Markov")),
               ("xz", best(rows, "xz"))]
    lines = []
    for name, row in anchors:
        if row is not None:
            more = row["bits"] - first["bits"]
            lines.append(f"- {'wins' if more > 0 else '**loses**'} against {name}: {abs(more):.3f} bits "
                         f"{'fewer' if more > 0 else 'more'}")
    return "\n".join(lines)


def page(content, calls, quick):
    tables = "\n".join(f"## {int(symbols):,} training characters\n{table(rows)}\nThe first row\n{verdict(rows)}\n"
                       for symbols, rows in content["tables"].items())
    return f"""# English text: a small state against large tables
{quick_note(quick)}Written by `./dev study text`; do not edit.

The King James Bible (Debian's `bible-kjv-text`, printed by `bible-kjv`) as a–z and space: {content['characters']:,} characters in
blocks of {BLOCK}, dealt at random (seed {SPLIT_SEED}) to training, validation ({content['blocks']['validation']} blocks) and test
({content['blocks']['test']}); the smaller training sets are parts of the larger. "Pure" models have w = 1 and a pure initial
state: the state is a vector, and a step costs n² instead of n³.

{how_to_read('character', BURN_IN, content['cores'])}

{tables}
{commands('text', calls)}"""


def main():
    options = arguments(__doc__)
    plan = sizes(options.quick)
    text = read_letters(options.data)
    steps = [0, *(size.symbols // BLOCK for size in plan)]
    blocks = {"validation": 4, "test": 8} if options.quick else {"validation": 50, "test": 500}
    dealt = deal(text, BLOCK, (*(b - a for a, b in zip(steps, steps[1:])), blocks["validation"], blocks["test"]), SPLIT_SEED)
    hqmm = Hqmm(options.hqmm, options.work)
    tables = {}
    for k, size in enumerate(plan):
        train = [block for part in dealt[:k + 1] for block in part]
        tables[str(size.symbols)] = run(hqmm, size, {"train": train, "validation": dealt[-2], "test": dealt[-1]})
    content = {"characters": len(text), "blocks": blocks, "cores": os.cpu_count(), "tables": tables}
    write_results(options.pages, "text", content)
    write_page(options.pages, "text", page(content, hqmm.calls, options.quick))


if __name__ == "__main__":
    main()
