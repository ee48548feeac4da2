"""The King James Bible in 27 letters: how far a small state carries, and where tables win.

Contiguous blocks are dealt to training (three sizes, each part of the next), validation and test; everything is selected on
validation. Writes text.json, text.csv, text.md and text.svg (bits against parameters). DATA is the text as the program
`bible -f` prints it.

With --device cuda it trains the large model alone, which is for a GPU, and puts what came of it into performance-cuda.json in
the folder above PAGES: ./dev bench shows it in docs/performance.md.
"""
import json
import os
import re
import time

import frontier
from common import (Hqmm, Study, arguments, best, commands, deal, first_by_validation, how_to_read, kind_flags, quick_note, table,
                    versus, write_page, write_results, write_svg)

BLOCK = 2000
BURN_IN = 100
SPLIT_SEED = 1
LETTERS = "_abcdefghijklmnopqrstuvwxyz"  # _ is the space
PURE = ("--initial-state", "pure", "--step-size", 0.1)
LARGE = {"n": 180, "w": 2, "epochs": 50, "batch": 64}  # at 200,000 training characters
DRAWN = "200000"  # the training characters of the figure


class Size:
    """What is done with one amount of training text."""

    def __init__(self, symbols, *, epochs, batch, models, pure_dims=(), grids=(), hmm_dims=(), budget):
        self.symbols = symbols
        self.epochs, self.batch = epochs, batch
        self.models = models        # n and seeds of the real models with emission on states and w = 2
        self.pure_dims = pure_dims  # complex, w = 1, from a pure state
        self.grids = grids          # kinds and their n, at w = 2
        self.hmm_dims = hmm_dims
        self.budget = budget        # starts and iterations of EM by the number of states


def sizes(quick):
    if quick:
        return [Size(4_000, epochs=2, batch=4, models={6: (1, 2), 8: (1,)}, pure_dims=(4,), grids=(("complex, edge", (2,)),),
                     hmm_dims=(4,), budget=lambda n: (1, 3))]
    grids = (("complex, edge", (4, 8)), ("real, edge", (4, 8)), ("real, state", (8, 16)))
    return [
        Size(20_000, epochs=40, batch=4, models={16: (1, 2, 3), 39: (1,)}, pure_dims=(8, 32), grids=grids, hmm_dims=(8, 16, 32),
             budget=lambda n: (4, 500)),
        Size(200_000, epochs=40, batch=16, models={39: (1, 2, 3), 64: (1,)}, pure_dims=(8, 32), grids=grids, hmm_dims=(8, 16, 32),
             budget=lambda n: (4, 500)),
        Size(1_000_000, epochs=10, batch=16, models={39: (1,)}, budget=lambda n: (1, 100)),
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
    batch = ("--batch-size", size.batch)
    chosen = []
    for n, seeds in size.models.items():
        rows = [study.hqmm_of("real, state", n, 2, *kind_flags("real, state"), *batch, restarts=1, epochs=size.epochs, seed=seed)
                for seed in seeds]
        chosen.append(first_by_validation(rows))
        study.equal_hmms(chosen[-1], len(LETTERS), *size.budget(n))
    for n in size.pure_dims:
        study.learn("HQMM, pure", f"pure-n{n}.h5", "--epochs", size.epochs, *batch, *PURE, n=n, w=1, starts=f"1 × {size.epochs}")
    for kind, latent_dims in size.grids:
        study.grid(latent_dims, (2,), *kind_flags(kind), "--epochs", size.epochs, *batch, "--step-size", 0.1,
                   label=f"HQMM, {kind}")
    for n in size.hmm_dims:
        study.hmm("state", n, *size.budget(n))
    study.chains()
    study.compressors(parts["train"], parts["test"])
    return study.duels(), study.results.finish(first_by_validation(chosen))


def verdict(rows, duels):
    first, chain, compressor = rows[0], best(rows, "Markov"), best(rows, ("gzip", "bzip2", "xz", "zpaq"))
    return f"""Against HMMs with as many parameters; positive numbers are in the HQMM's favour:

{versus(duels)}

More than the first row: the best Markov chain ({chain['model'].split(', ')[1]}, picked on the test blocks, {chain['parameters']:,} parameters)
{chain['bits'] - first['bits']:+.3f} bits, the best compressor ({compressor['model']}) {compressor['bits'] - first['bits']:+.3f}.
"""


def page(content, calls, quick):
    tables = "\n".join(f"## {int(symbols):,} training characters\n{table(rows)}\n{verdict(rows, content['duels'][symbols])}"
                       for symbols, rows in content["tables"].items())
    return f"""# English text: fewer bits than HMMs, more than tables
{quick_note(quick)}Written by `./dev study text`; do not edit.

The King James Bible (Debian's `bible-kjv-text`, printed by `bible-kjv`) as a–z and space: {content['characters']:,} characters in
blocks of {BLOCK}, dealt at random (seed {SPLIT_SEED}) to training, validation ({content['blocks']['validation']} blocks) and test
({content['blocks']['test']}); the smaller training sets are parts of the larger. "Pure" models are complex, have w = 1 and a pure
initial state: the state is a vector, and a step costs n² instead of n³. The first row is the model that validation puts first.

![bits against parameters](text.svg)

{how_to_read('character', BURN_IN, content['cores'])}

{tables}
{commands('text', calls)}"""


def large_model(hqmm, train, rest, device, quick):
    """Trains and scores the model that is for a GPU: what docs/performance.md says of it."""
    shape = {**LARGE, "n": 8, "epochs": 1} if quick else LARGE
    for name, blocks in {"train": train, **rest}.items():
        write_blocks(os.path.join(hqmm.folder, f"large-{name}.txt"), blocks)
    letters = ("--alphabet", ",".join(LETTERS))
    start = time.perf_counter()
    hqmm.run("train", "large-train.txt", "--validation", "large-validation.txt", *letters, "--validation-burn-in", BURN_IN,
             *kind_flags("real, state"), "-n", shape["n"], "-w", shape["w"], "--epochs", shape["epochs"], "--batch-size",
             shape["batch"], "--seed", 1, "--device", device, "-o", "large.h5")
    seconds = time.perf_counter() - start
    command = hqmm.calls[-1]
    scored = hqmm.run("score", "large.h5", "large-test.txt", *letters, "--burn-in", BURN_IN, "--device", device)
    known = hqmm.run("inspect", "large.h5", "--entropy-symbols", 2048)
    return {**shape, "symbols": sum(map(len, train)), "seconds": seconds, "bits": scored["bits_per_symbol"],
            "parameters": known["parameters"], "device": known["provenance"].get("device", "the CPU"), "command": command}


def keep_large(path, found):
    content = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    content["text"] = found
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.write("\n")


def main():
    options = arguments(__doc__, devices=True)
    plan = sizes(options.quick)
    text = read_letters(options.data)
    steps = [0, *(size.symbols // BLOCK for size in plan)]
    blocks = {"validation": 4, "test": 8} if options.quick else {"validation": 50, "test": 500}
    dealt = deal(text, BLOCK, (*(b - a for a, b in zip(steps, steps[1:])), blocks["validation"], blocks["test"]), SPLIT_SEED)
    hqmm = Hqmm(options.hqmm, options.work)
    if options.device == "cuda":
        train = [block for part in dealt[:2] for block in part]
        found = large_model(hqmm, train, {"validation": dealt[-2], "test": dealt[-1]}, "cuda", options.quick)
        keep_large(os.path.join(options.pages, "..", "performance-cuda.json"), found)
        print(f"{found['seconds']:.0f} s, {found['bits']:.4f} bits")
        return
    duels, tables = {}, {}
    for k, size in enumerate(plan):
        train = [block for part in dealt[:k + 1] for block in part]
        symbols = str(size.symbols)
        duels[symbols], tables[symbols] = run(hqmm, size, {"train": train, "validation": dealt[-2], "test": dealt[-1]})
    content = {"characters": len(text), "blocks": blocks, "cores": os.cpu_count(), "duels": duels, "tables": tables}
    write_results(options.pages, "text", content)
    drawn = DRAWN if DRAWN in tables else next(iter(tables))
    write_svg(options.pages, "text", frontier.figure(f"King James Bible, {int(drawn):,} characters to learn from", "character",
                                                     tables[drawn], 60_000))
    write_page(options.pages, "text", page(content, hqmm.calls, options.quick))


if __name__ == "__main__":
    main()
