"""Kills training runs on a GPU, goes on with them, and compares what comes out with the unbroken run, byte by byte.

    python3 tests/cuda/kills.py HQMM

One model for each of the engine's passes. A run is killed (SIGKILL) three times, each time when its history has reached
a random epoch of its third, and then goes on to its end. `./dev test cuda` runs this; it needs nothing but Python.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile
import time

KILLS = 3
# the small pass, the tiles and the large states of hqmm/engine/cuda/cuda_engine.hpp; epochs: about a second of each
MODELS = {"small": ["-n", "3", "-w", "2", "--epochs", "400"],
          "tile": ["-n", "24", "-w", "2", "--epochs", "60"],
          "large": ["-n", "100", "-w", "2", "--field", "real", "--emission", "state", "--epochs", "12"]}


def write_data(path):
    chance = random.Random(3)
    with open(path, "w", encoding="ascii") as file:
        for _ in range(400):
            file.write(" ".join(chance.choice("0123") for _ in range(120)) + "\n")


def lines_of(history):
    return history.read_bytes().count(b"\n") if history.exists() else 0


def kill_at(command, history, lines):
    """Whether it was still running when its history had so many lines."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and lines_of(history) < lines:
        time.sleep(0.0005)
    process.kill()
    return process.wait() < 0


def finish(command):
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)


def kills_of(hqmm, folder, name):
    """How many kills hit a running program; stops where the bytes are not those of the unbroken run."""
    whole, cut = folder / f"{name}-whole", folder / f"{name}-cut"
    begin = [hqmm, "train", folder / "data.txt", *MODELS[name], "--batch-size", "40", "--seed", "1", "--device", "cuda", "--quiet"]
    finish([*begin, "--run", whole])
    epochs, chance, kills = lines_of(whole / "history.jsonl"), random.Random(name), 0
    command = [*begin, "--run", cut]
    for part in range(KILLS):
        at = epochs * part // KILLS + chance.randrange(1, epochs // KILLS)
        kills += kill_at(command, cut / "history.jsonl", at)
        command = [hqmm, "train", "--resume", cut, "--quiet"]
    finish(command)
    if (cut / "model.h5").read_bytes() != (whole / "model.h5").read_bytes():
        sys.exit(f"{name}: another model after {kills} kills")
    return kills


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("hqmm", type=pathlib.Path)
    hqmm = parser.parse_args().hqmm.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_data(folder / "data.txt")
        for model in MODELS:
            kills = kills_of(hqmm, folder, model)
            print(f"{model}: killed {kills} times, the same bytes")
            if kills == 0:
                sys.exit(f"{model}: it was through before it could be killed")


if __name__ == "__main__":
    main()
