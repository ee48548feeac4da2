"""Breaks runs in every way it knows, goes on with them, and compares what comes out with the unbroken run.

    python3 tests/faults/run.py HQMM SHIM [--trials 100] [--seed N] [--keep]

A trial takes a command that keeps a run, begins it, and does it harm until it is through: kills at random moments and
before random calls, disks that are full or fail, writes that are short, an fsync that fails, calls that take long, bits
flipped in what is kept. After each the run goes on, on another number of threads. It must end with the bytes of the
unbroken run; on the way every failure is one line with the code it should have, and nothing hangs. Exits with 1 and the
seed of the trial where that is not so. ./dev test faults runs it; the suite runs a few trials of fixed seeds.
"""
import argparse
import errno
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BAD_DATA, CANNOT_WRITE = 65, 73
PATIENCE = 120  # seconds: a command of these takes one or two
MOST_HARM = 12  # per trial; after that the run may end

SMALL = ["-n", "2", "-w", "1"]
COMMANDS = {
    "train": (["train"], "train.txt", [*SMALL, "--epochs", "12"], "model.h5"),
    "restarts": (["train"], "train.txt", [*SMALL, "--epochs", "6", "--restarts", "3", "--halving"], "model.h5"),
    "em": (["train"], "train.txt", ["--learner", "em", "-n", "3", "--epochs", "15", "--tolerance", "0"], "model.h5"),
    "warm": (["train"], "train.txt", ["-n", "2", "--warm-start", "em", "--epochs", "3"], "model.h5"),
    "select": (["select"], "train.txt", ["-n", "1,2", "-w", "1,2", "--epochs", "5"], "model.h5"),
    "fit": (["classify", "fit"], "labelled.txt", [*SMALL, "--epochs", "3", "--members", "2", "--inner-folds", "1"], "classifier.h5"),
    "cross-validate": (["classify", "cross-validate"], "labelled.txt",
                       [*SMALL, "--epochs", "3", "--folds", "3", "--inner-folds", "1", "--grid", "dropout=0.3,0.5"], None),
}


class Wrong(Exception):
    """Something that must not happen did."""


class Subject:
    """A command: how it begins and resumes, and what its unbroken run leaves."""

    def __init__(self, hqmm, shim, folder, name):
        self.hqmm, self.shim = hqmm, shim
        self.command, data, self.options, self.result = COMMANDS[name]
        self.data = folder / data
        self.name = name
        run = folder / f"{name}-whole"
        start = time.monotonic()
        code, _, said = self.go(run, 1, {"HQMM_FAULT_FOLDER": run, "HQMM_FAULT_LOG": folder / "log"})
        self.seconds = time.monotonic() - start
        if code != 0:
            raise Wrong(f"the unbroken run failed: {said}")
        self.calls = len((folder / "log").read_text().splitlines())
        (folder / "log").unlink()
        self.whole = self.outcome(run)

    def args(self, run, threads):
        begun = (run / "config.json").exists()
        args = [*self.command, "--resume", run] if begun else [*self.command, self.data, *self.options, "--run", run]
        return [self.hqmm, *map(str, args), "--threads", str(threads), "--quiet", "--json"]

    def go(self, run, threads, faults=None, kill_after=None):
        """The exit code, what came on stdout and on stderr."""
        environment = {**os.environ, **{key: str(value) for key, value in (faults or {}).items()}}
        if faults:
            environment["LD_PRELOAD"] = str(self.shim)
        process = subprocess.Popen(self.args(run, threads), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=environment)
        try:
            told, said = process.communicate(timeout=kill_after if kill_after is not None else PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            told, said = process.communicate()
            if kill_after is None:
                raise Wrong("it hangs") from None
        self.told = told
        return process.returncode, told, said

    def outcome(self, run):
        """What the last command told, without the time it took, and the bytes of the result."""
        told = json.loads(self.told)
        for one in [told, *told.get("models", [])]:
            one.pop("seconds", None)
            one.pop("model", None)
        return told, (run / self.result).read_bytes() if self.result else None


class Trial:
    def __init__(self, subject, run, seed):
        self.subject, self.run, self.chance = subject, run, random.Random(seed)
        self.done = []

    def go(self):
        for _ in range(self.chance.randrange(1, MOST_HARM)):
            harm = self.chance.choice([self.kill_at_a_moment, self.kill_at_a_call, self.fail_a_call, self.full_disk, self.failing_sync,
                                       self.short_writes, self.delays, self.flip_a_bit])
            self.done.append(harm.__name__)
            harm()
        code, _, said = self.subject.go(self.run, self.threads())
        if code != 0:
            raise Wrong(f"the last resume ended with {code}: {said}")
        if self.subject.outcome(self.run) != self.subject.whole:
            raise Wrong("the result is not that of the unbroken run")
        left = [path for path in self.run.rglob("*") if path.name.startswith(".hqmm-") or path.name == ".lock"]
        if left:
            raise Wrong(f"left behind: {left}")

    def threads(self):
        return self.chance.choice([1, 2, 3])

    def faulty(self, mode, at=0, error=0, allowed=()):
        """Goes on with this fault, and looks at how that ended."""
        faults = {"HQMM_FAULT_FOLDER": self.run, "HQMM_FAULT_MODE": mode, "HQMM_FAULT_AT": at, "HQMM_FAULT_ERRNO": error}
        code, _, said = self.subject.go(self.run, self.threads(), faults)
        self.require(code, said, allowed)

    def require(self, code, said, allowed):
        errors = [line for line in said.splitlines() if line.startswith("hqmm: error: ")]
        if code not in (0, *allowed):
            raise Wrong(f"ended with {code}: {said}")
        if code > 0 and len(errors) != 1:
            raise Wrong(f"ended with {code} and {len(errors)} lines of error: {said}")

    def a_call(self):
        return self.chance.randrange(1, self.subject.calls + 1)

    def kill_at_a_moment(self):
        code, _, said = self.subject.go(self.run, self.threads(), kill_after=self.chance.random() * self.subject.seconds)
        self.require(code, said, (-signal.SIGKILL,))

    def kill_at_a_call(self):
        self.faulty("kill", self.a_call(), allowed=(-signal.SIGKILL,))

    def fail_a_call(self):
        self.faulty("fail", self.a_call(), self.chance.choice([errno.ENOSPC, errno.EIO, errno.EDQUOT]), (CANNOT_WRITE,))

    def full_disk(self):
        self.faulty("full", self.a_call(), errno.ENOSPC, (CANNOT_WRITE,))

    def failing_sync(self):
        self.faulty("sync", self.a_call(), errno.EIO, (CANNOT_WRITE,))

    def short_writes(self):
        self.faulty(self.chance.choice(["short", "interrupt"]))

    def delays(self):
        self.faulty("delay", 1000)

    def flip_a_bit(self):
        """Noticed: the run resumes from the checkpoint before, does the cell again, or refuses the file by name."""
        kept = [path for path in self.run.rglob("*") if path.is_file() and path.name.startswith(("checkpoint", "fold", "member"))]
        if not kept:
            return
        path = self.chance.choice(sorted(kept))
        whole = path.read_bytes()
        flipped = bytearray(whole)
        flipped[self.chance.randrange(len(whole))] ^= 1 << self.chance.randrange(8)
        path.write_bytes(flipped)
        code, _, said = self.subject.go(self.run, self.threads())
        self.require(code, said, (BAD_DATA,))
        if code == BAD_DATA:
            if path.name not in said:
                raise Wrong(f"a flipped bit in {path.name} is told as: {said}")
            path.write_bytes(whole)


def write_data(folder):
    chance = random.Random(1)
    (folder / "train.txt").write_text("".join(" ".join(chance.choice("0110111") for _ in range(30)) + "\n" for _ in range(30)))
    rows = [f"{label}\t{''.join(chance.choice('ACGT') for _ in range(6))}{letter}\n" for label, letter in ("aA", "bC") * 8]
    (folder / "labelled.txt").write_text("".join(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("hqmm", type=pathlib.Path)
    parser.add_argument("shim", type=pathlib.Path)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=None, help="of the first trial; the next ones count on")
    parser.add_argument("--keep", action="store_true", help="leave the folder of a trial that failed")
    options = parser.parse_args()
    first = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hqmm-faults-"))
    write_data(folder)
    hqmm, shim = options.hqmm.resolve(), options.shim.resolve()
    harms = 0
    try:
        subjects = [Subject(hqmm, shim, folder, name) for name in COMMANDS]
        for seed in range(first, first + options.trials):
            subject = subjects[seed % len(subjects)]
            trial = Trial(subject, folder / "run", seed)
            try:
                trial.go()
            except Wrong as wrong:
                sys.exit(f"faults: trial of seed {seed}, {subject.name}, after {', '.join(trial.done)}: {wrong}"
                         + (f" ({folder})" if options.keep else ""))
            harms += len(trial.done)
            shutil.rmtree(folder / "run")
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    print(f"faults: {options.trials} runs were broken {harms} times and ended as if they had not been (seeds from {first})")


if __name__ == "__main__":
    main()
