"""Out of core: one epoch on a text file of two gigabytes, without a limit of memory and with one.

usage: memory.py HQMM [--memory SIZE] [--megabytes N] [--threads N] [--data FILE]

Prints the lines of the table in docs/scaling.md. FILE is written where it is not there, and stays; without one the text
is written to the scratch folder and removed.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

LENGTH = 500  # symbols of a sequence
MODEL = ["-n", "4", "-w", "2", "--epochs", "1", "--batch-size", "64", "--json", "--quiet"]


def write_text(path, megabytes):
    """Digits 0 to 3 with a blank between; each is a step from the last more often than not."""
    rng = random.Random(1)
    pool, last = bytearray(), 0
    for value in rng.randbytes(8_000_000):
        last = (last + 1) % 4 if value < 140 else value % 4
        pool.append(48 + last)
    with open(path, "wb") as out:
        for _ in range(megabytes * 1_000_000 // (2 * LENGTH)):
            at = rng.randrange(len(pool) - LENGTH)
            line = bytearray(b" " * (2 * LENGTH))
            line[0::2], line[-1:] = pool[at:at + LENGTH], b"\n"
            out.write(line)


# A process of its own, because a peak is that of all that a process has begun.
MEASURED = "import resource,subprocess,sys; r=subprocess.run(sys.argv[1:]).returncode; " \
           "u=resource.getrusage(resource.RUSAGE_CHILDREN); " \
           "print(u.ru_maxrss//1024, u.ru_utime+u.ru_stime, file=sys.stderr); sys.exit(r)"


def train(binary, data, model, threads, memory):
    """Seconds of the whole command, of processors for it, of the epoch, the peak in megabytes, and the model's bytes."""
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        command = [binary, "train", str(data), *MODEL, "--threads", str(threads), "--memory", memory, "--run", str(run),
                   "-o", str(model)]
        start = time.monotonic()
        done = subprocess.run([sys.executable, "-c", MEASURED, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
        seconds = time.monotonic() - start
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        epoch = json.loads(done.stdout)["seconds"]
        peak, processors = done.stderr.split()[-2:]
        return seconds, float(processors), epoch, int(peak), model.read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--memory", default="512M")
    parser.add_argument("--megabytes", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--data", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        data = options.data or pathlib.Path(folder) / "data.txt"
        if not data.exists():
            write_text(data, options.megabytes)
        print("| `--memory` | peak memory | the epoch | the whole command | its processor time |\n| --- | --- | --- | --- | --- |",
              flush=True)
        found = []
        for memory in (options.memory, "0"):
            seconds, processors, epoch, peak, model = train(options.binary, data, pathlib.Path(folder) / "model.h5",
                                                            options.threads, memory)
            found.append((epoch, model))
            print(f"| {'none' if memory == '0' else memory} | {peak} MB | {epoch:.1f} s | {seconds:.1f} s | {processors:.1f} s |",
                  flush=True)
        if found[0][1] != found[1][1]:
            raise SystemExit("the models differ")
        print(f"\nthe same bytes; the epoch at {found[1][0] / found[0][0]:.0%} of the speed without a limit")


if __name__ == "__main__":
    main()
