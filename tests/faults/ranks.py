#!/usr/bin/env python3
"""Kills ranks of a job at random moments and goes on with what is left, on another number of ranks.

usage: ranks.py HQMM [KILLS [SEED]]

Every time a training with --run is started under mpirun, one of its ranks gets SIGKILL at a random moment, and the run goes
on until it ends. What must hold: all ranks end by themselves (no hang); there is one line from us, or the one of mpirun
where nobody of us was left or ready to speak; no file is damaged; and the model has the bytes of the unbroken run.

Should mpirun itself stay after the last of its ranks, it is ended, and that is counted apart.
"""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HANG = 60  # seconds after which a job hangs: these take three
ALONE = 15  # seconds that mpirun gets after its last rank


STUCK = "mpirun waits for nobody"


def environment():
    """Tests run as root in containers, and on fewer cores than ranks."""
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def mpirun(count, quiet=True):
    return ["mpirun", *(["-q"] if quiet else []), "--oversubscribe", "-n", str(count)]


def write_data(folder):
    rng = random.Random(11)
    lines = [" ".join(str(rng.choice((0, 0, 1, 2))) for _ in range(60)) for _ in range(400)]
    path = folder / "data.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


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


def one_kill(command, count, rng, longest):
    """Starts the job, kills one of its ranks, and says how it ended: exit status, stderr, or None for a hang."""
    job = subprocess.Popen(mpirun(count, quiet=False) + command, env=environment(), stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    moment = time.monotonic() + rng.uniform(0.0, longest)
    victim = rng.randrange(count)
    while time.monotonic() < moment and job.poll() is None:
        time.sleep(0.001)
    pid = None
    while pid is None and job.poll() is None:
        pid = ranks_of(job).get(victim)
    if pid is not None:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pid = None
    alone = end = time.monotonic()
    while True:
        try:
            _, said = job.communicate(timeout=1)
            return job.returncode, said, pid is not None, victim
        except subprocess.TimeoutExpired:
            left = ranks_of(job)
        if left:
            alone = time.monotonic()
        if time.monotonic() - alone > ALONE:
            job.kill()
            return STUCK, job.communicate()[1], True, victim
        if time.monotonic() - end > HANG:
            for other in left.values():
                os.kill(other, signal.SIGKILL)
            job.kill()
            job.communicate()
            return None


def faults_of_words(said):
    """One clear line: ours, or mpirun's where none of us could speak."""
    ours = [line for line in said.splitlines() if line.startswith("hqmm: error:")]
    theirs = [line for line in said.splitlines() if "mpirun noticed that process rank" in line]
    if len(ours) > 1:
        return [f"{len(ours)} lines: {ours}"]
    return [] if ours or theirs else [f"no line: {said!r}"]


def kill_ranks(binary, folder, kills, seed=1, tell=lambda text: None):
    """The faults that were found."""
    rng = random.Random(seed)
    folder = pathlib.Path(folder)
    data = write_data(folder)
    options = {"ns-ris": ["-n", "3", "-w", "2", "--epochs", "12", "--batch-size", "64"],
               "em": ["--learner", "em", "-n", "4", "--epochs", "60"],
               "restarts": ["-n", "2", "-w", "2", "--epochs", "12", "--restarts", "4", "--halving"]}
    faults, spoken, stuck, done = [], 0, 0, 0
    expected = {}
    for kind, words in options.items():
        out = folder / f"{kind}.h5"
        subprocess.run([binary, "train", data, *words, "--threads", "1", "--quiet", "-o", out], check=True,
                       stdout=subprocess.DEVNULL)
        expected[kind] = out.read_bytes()
    while done < kills:
        kind = rng.choice(sorted(options))
        run, out = folder / "run", folder / "run.h5"
        shutil.rmtree(run, ignore_errors=True)
        begin = [binary, "train", str(data), *options[kind], "--threads", "1", "--quiet", "--run", str(run), "-o", str(out)]
        while True:
            going_on = [binary, "train", "--resume", str(run), "-o", str(out), "--threads", "1", "--quiet"]
            command = going_on if (run / "config.json").exists() else begin
            if done >= kills:
                last = subprocess.run(mpirun(rng.randrange(1, 5)) + command, env=environment(), stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=HANG)
                ended = (last.returncode, last.stderr, False, 0)
            else:
                ended = one_kill(command, rng.randrange(2, 5), rng, 2.0)
            if ended is None:
                return [*faults, f"{kind}: hangs"]
            status, said, killed, victim = ended
            if killed:
                done += 1
                spoken += "hqmm: error:" in said
            if status == 0:
                break
            if status == STUCK:
                stuck += 1
                continue
            if not killed:
                return [*faults, f"{kind}: exit status {status} without a kill: {said}"]
            faults += [f"{kind}, rank {victim}: {fault}" for fault in faults_of_words(said)]
            tell(f"{done} of {kills} kills, {spoken} of them spoken of by hqmm, {len(faults)} faults, mpirun stuck {stuck} times")
        if out.read_bytes() != expected[kind]:
            faults.append(f"{kind}: another model than that of the unbroken run")
    return faults


def main():
    binary, kills, seed = sys.argv[1], int((sys.argv[2:] or ["200"])[0]), int((sys.argv[3:] or ["1"])[0])
    with tempfile.TemporaryDirectory() as folder:
        found = kill_ranks(os.path.abspath(binary), folder, kills, seed, lambda text: print(text, flush=True))
    for fault in found:
        print("FAULT", fault)
    print(f"{kills} kills of ranks: {len(found)} faults")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
