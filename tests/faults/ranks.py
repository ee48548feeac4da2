#!/usr/bin/env python3
"""Harms ranks of jobs at random moments and goes on with what is left, on another number of ranks.

usage: ranks.py HQMM [--kills N] [--seed N] [--shim hqmm_faults.so]

A job is a command that keeps a run, under mpirun. While it works, one of its ranks is killed, or stopped and then killed,
or stopped for a while; with the shim, the disk of rank 0 is full from a random call on. After that the run goes on, until it
ends. What must hold: all ranks end by themselves; there is one line from us, or the one of mpirun where nobody of us was
left or ready to speak; a rank that is only late costs nothing but time; and the result is that of the unbroken run.

Should mpirun itself stay after the last of its ranks, it is ended, and that is counted apart.
"""
import argparse
import collections
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

CANNOT_WRITE = 73
HANG = 90  # seconds after which a job hangs: these take two
ALONE = 15  # seconds that mpirun gets after its last rank
CALLS = 60  # about as many change files in one of these runs

SMALL = ["-n", "2", "-w", "2"]
COMMANDS = {
    "ns-ris": (["train"], "data.txt", ["-n", "3", "-w", "2", "--epochs", "120", "--batch-size", "64"]),
    "em": (["train"], "data.txt", ["--learner", "em", "-n", "4", "--epochs", "90"]),
    "restarts": (["train"], "data.txt", [*SMALL, "--epochs", "100", "--restarts", "4", "--halving"]),
    "select": (["select"], "data.txt", ["-n", "2,3", "-w", "1,2", "--epochs", "20"]),
    "cross-validate": (["classify", "cross-validate"], "labelled.txt",
                       [*SMALL, "--epochs", "12", "--folds", "3", "--inner-folds", "2", "--grid", "dropout=0.3,0.5"]),
}


def environment():
    """Tests run as root in containers, and on fewer cores than ranks."""
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def mpirun(count, quiet=True):
    return ["mpirun", *(["-q"] if quiet else []), "--oversubscribe", "-n", str(count)]


def write_data(folder):
    rng = random.Random(11)
    lines = [" ".join(str(rng.choice((0, 0, 1, 2))) for _ in range(60)) for _ in range(400)]
    (folder / "data.txt").write_text("\n".join(lines) + "\n")
    rows = [f"{label}\t{''.join(rng.choice('ACGT') for _ in range(40))}{letter}\n" for label, letter in ("aA", "bC") * 40]
    (folder / "labelled.txt").write_text("".join(rows))


def ranks_of(job):
    """The processes of a job, by rank."""
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if int((process / "stat").read_text().rpartition(")")[2].split()[1]) != job.pid:
                continue
            words = (process / "environ").read_bytes().split(b"\0")
        except (OSError, ValueError, IndexError):
            continue
        for word in words:
            if word.startswith(b"OMPI_COMM_WORLD_RANK="):
                found[int(word.partition(b"=")[2])] = int(process.name)
    return found


def send(pid, *signals):
    """False where the process was gone."""
    try:
        for one in signals:
            os.kill(pid, one)
    except ProcessLookupError:
        return False
    return True


class Subject:
    """A command: how it begins and goes on, and what its unbroken run leaves."""

    def __init__(self, binary, folder, name):
        self.binary, self.name = binary, name
        self.command, data, self.options = COMMANDS[name]
        self.data = folder / data
        run = folder / f"{name}-whole"
        alone = subprocess.run(self.words(run), check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.whole = self.outcome(run, alone.stdout)
        start = time.monotonic()
        subprocess.run(mpirun(2) + self.words(folder / f"{name}-timed"), check=True, env=environment(), stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)
        self.seconds = time.monotonic() - start

    def words(self, run):
        begun = (run / "config.json").exists()
        words = [*self.command, "--resume", run] if begun else [*self.command, self.data, *self.options, "--run", run]
        return [self.binary, *map(str, words), "--threads", "1", "--quiet", "--json"]

    def outcome(self, run, told):
        """What was told, without the time it took, and the bytes of the model."""
        told = json.loads(told)
        for one in [told, *told.get("models", [])]:
            one.pop("seconds", None)
            one.pop("model", None)
        model = run / "model.h5"
        return told, model.read_bytes() if model.exists() else None


class Job:
    """One start under mpirun, until its end."""

    def __init__(self, subject, run, count, variables=None):
        given = [word for name, value in (variables or {}).items() for word in ("-x", f"{name}={value}")]
        self.process = subprocess.Popen(mpirun(count, quiet=False) + given + subject.words(run), env=environment(),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.told = self.said = ""
        self.hung = self.stuck = False

    def rank(self, number, moment):
        """The process of a rank, so many seconds from now; None when the job is over."""
        moment += time.monotonic()
        while time.monotonic() < moment and self.process.poll() is None:
            time.sleep(0.001)
        while self.process.poll() is None:
            if (pid := ranks_of(self.process).get(number)) is not None:
                return pid
        return None

    def wait(self):
        """The exit status."""
        begin = alone = time.monotonic()
        while True:
            try:
                self.told, self.said = self.process.communicate(timeout=1)
                return self.process.returncode
            except subprocess.TimeoutExpired:
                left, now = ranks_of(self.process), time.monotonic()
            if left:
                alone = now
            self.stuck, self.hung = now - alone > ALONE, now - begin > HANG
            if self.stuck or self.hung:
                for pid in (*left.values(), self.process.pid):
                    send(pid, signal.SIGKILL)
                self.told, self.said = self.process.communicate()
                return self.process.returncode


class Harness:
    def __init__(self, binary, folder, seed, names=tuple(COMMANDS), shim=None, tell=lambda text: None):
        self.folder, self.shim, self.tell = pathlib.Path(folder), shim, tell
        self.chance = random.Random(seed)
        write_data(self.folder)
        self.subjects = [Subject(binary, self.folder, name) for name in names]
        self.counts = collections.Counter()
        self.faults = []

    def run(self, kills):
        """What was found."""
        while self.counts["kills"] < kills and not self.faults:
            self.break_a_run(self.chance.choice(self.subjects), kills)
        return self.faults

    def break_a_run(self, subject, kills):
        """Until it ends; the last job is let alone when there were kills enough."""
        run = self.folder / "run"
        shutil.rmtree(run, ignore_errors=True)
        harms = [self.kill, self.kill, self.kill, self.drop, self.delay, *([self.fill_the_disk] if self.shim else [])]
        while True:
            harm = self.chance.choice(harms) if self.counts["kills"] < kills else self.leave_alone
            job = harm(subject, run)
            if job.hung:
                self.faults.append(f"{subject.name}: hangs after {harm.__name__}: {job.said!r}")
                return
            if job.stuck:
                continue
            self.tell(self.summary())
            if job.process.returncode != 0:
                if self.faults:
                    return
                continue
            if subject.outcome(run, job.told) != subject.whole:
                self.faults.append(f"{subject.name}: another result than that of the unbroken run")
            return

    def start(self, subject, run, variables=None):
        self.counts["jobs"] += 1
        count = self.chance.randrange(2, 5)
        return Job(subject, run, count, variables), self.chance.randrange(count), self.chance.uniform(0, subject.seconds)

    def leave_alone(self, subject, run):
        job, _, _ = self.start(subject, run)
        return self.must_end_well(subject, job)

    def kill(self, subject, run):
        job, victim, moment = self.start(subject, run)
        pid = job.rank(victim, moment)
        return self.after_a_kill(subject, job, pid is not None and send(pid, signal.SIGKILL))

    def drop(self, subject, run):
        """A rank that answers no more, and is gone a little later."""
        job, victim, moment = self.start(subject, run)
        pid = job.rank(victim, moment)
        killed = pid is not None and send(pid, signal.SIGSTOP)
        if killed:
            time.sleep(self.chance.uniform(0, 0.5))
            killed = send(pid, signal.SIGKILL)
        return self.after_a_kill(subject, job, killed)

    def after_a_kill(self, subject, job, killed):
        status = job.wait()
        self.counts["kills"] += killed
        self.counts["mpirun stuck"] += job.stuck
        if status == 0 or job.stuck or job.hung:
            return job
        ours = [line for line in job.said.splitlines() if line.startswith("hqmm: error:")]
        theirs = [line for line in job.said.splitlines() if "mpirun noticed that process rank" in line]
        self.counts["spoken of by hqmm"] += len(ours) > 0
        if not killed:
            self.faults.append(f"{subject.name}: exit status {status} without a kill: {job.said}")
        elif len(ours) > 1 or not (ours or theirs):
            self.faults.append(f"{subject.name}: {len(ours)} lines: {job.said!r}")
        return job

    def delay(self, subject, run):
        job, victim, moment = self.start(subject, run)
        pid = job.rank(victim, moment)
        if pid is not None and send(pid, signal.SIGSTOP):
            self.counts["delays"] += 1
            time.sleep(self.chance.uniform(0, 1))
            send(pid, signal.SIGCONT)
        return self.must_end_well(subject, job)

    def must_end_well(self, subject, job):
        status = job.wait()
        self.counts["mpirun stuck"] += job.stuck
        if status != 0 and not job.stuck and not job.hung:
            self.faults.append(f"{subject.name}: exit status {status} without a kill: {job.said}")
        return job

    def fill_the_disk(self, subject, run):
        faults = {"LD_PRELOAD": self.shim, "HQMM_FAULT_FOLDER": run, "HQMM_FAULT_MODE": "full",
                  "HQMM_FAULT_AT": self.chance.randrange(1, CALLS), "HQMM_FAULT_ERRNO": errno.ENOSPC}
        job, _, _ = self.start(subject, run, faults)
        status = job.wait()
        self.counts["mpirun stuck"] += job.stuck
        lines = job.said.count("hqmm: error:")
        if status == CANNOT_WRITE:
            self.counts["full disks"] += 1
        if not job.stuck and not job.hung and (status, lines) not in ((CANNOT_WRITE, 1), (0, 0)):
            self.faults.append(f"{subject.name}: exit status {status} on a full disk: {job.said!r}")
        return job

    def summary(self):
        return ", ".join(f"{self.counts[name]} {name}" for name in ("jobs", "kills", "spoken of by hqmm", "delays", "full disks",
                                                                   "mpirun stuck")) + f"; {len(self.faults)} faults"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("hqmm", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shim", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        harness = Harness(str(options.hqmm.resolve()), folder, options.seed, shim=options.shim and options.shim.resolve(),
                          tell=lambda text: print(text, flush=True))
        found = harness.run(options.kills)
    for fault in found:
        print("FAULT", fault)
    print(f"ranks: {harness.summary()}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
