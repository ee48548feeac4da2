"""Runs everything that is measured and keeps it as JSON; then report.py makes one table and docs/performance.md of it.

usage: run.py BUILD_FOLDER [--only PART…] [--no-report | --compare FILE]
Parts: cases threads scaling reading targets peers training users hot_spots. Results of parts left out stay as they were.
--compare measures the cases anew and sets them beside an earlier cases.json; docs/ stays as it is.
"""
import argparse
import datetime
import filecmp
import json
import os
import platform
import subprocess
import sys
import time

from bars import all_bars, verdict
from hot_spots import record
from results import Results
from timed import timed
import users

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = ("numpy_gradient", "torch_gradient", "ghmm_em", "pomegranate_em", "hmmlearn_em")
TARGETS = ("avx512", "avx2", "sse4", "scalar")
CASES = "^(dgemm|gradient|em|update|newton_schulz|jacobi_svd)"
TARGET_CASES = "^gradient/auto/(n=2/w=1|n=6/w=1|n=6/w=4|n=16/w=1)/B=20/"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
# OpenBLAS does not know every processor and may pick a kernel of half the speed. The yardstick is its best.
BLAS_KERNELS = (None, "SapphireRapids", "Cooperlake", "SkylakeX", "Haswell", "Zen")


def busy_cores():
    """How many cores others keep busy, looked at for a second. (The load average still remembers our own compiling.)"""

    def idle():
        with open("/proc/stat", encoding="utf-8") as file:
            return sum(int(x) for x in file.readline().split()[4:6]) / os.sysconf("SC_CLK_TCK")

    try:
        start, before = time.perf_counter(), idle()
        time.sleep(1.0)
        return max(0.0, os.cpu_count() - (idle() - before) / (time.perf_counter() - start))
    except OSError:
        return 0.0


def separate_cores():
    """Of the processors that we may use, one of every core: two that share a core are no two cores to a measurement."""
    out, taken = [], set()
    for processor in sorted(os.sched_getaffinity(0)):
        try:
            path = f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list"
            with open(path, encoding="utf-8") as file:
                siblings = file.read().strip()
        except OSError:
            siblings = str(processor)
        if siblings not in taken:
            taken.add(siblings)
            out.append(processor)
    return out


class Runner:
    def __init__(self, build):
        self.program = os.path.join(build, "bench", "hqmm_bench")
        self.export = os.path.join(build, "bench", "hqmm_bench_export")
        self.ghmm = os.path.join(build, "bench", "hqmm_bench_ghmm")
        self.hqmm = os.path.join(build, "hqmm")
        self.folder = os.path.join(build, "results")
        os.makedirs(self.folder, exist_ok=True)
        self.blas = self.best_blas_kernel()

    def keep(self, name, content):
        with open(os.path.join(self.folder, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)

    def best_blas_kernel(self):
        """The setting that makes OpenBLAS's dgemm fastest on this machine: {} is its own choice."""
        best, most = {}, 0.0
        self.blas = {}
        for kernel in BLAS_KERNELS:
            setting = {"OPENBLAS_CORETYPE": kernel} if kernel else {}
            try:
                self.google("dgemm", "^dgemm/512", repetitions=3, min_time=0.03, environment=setting)
            except SystemExit:  # a kernel for instructions that the processor does not have
                continue
            with open(os.path.join(self.folder, "dgemm.json"), encoding="utf-8") as file:
                rate = max(case["flop/s"] for case in json.load(file)["benchmarks"] if "flop/s" in case)
            if rate > 1.05 * most:
                best, most = setting, rate
        return best

    def google(self, name, cases, *, repetitions, min_time, interleave=True, environment=None):
        """One process of the benchmark program; its JSON becomes NAME.json."""
        out = os.path.join(self.folder, name + ".json")
        command = [self.program, f"--benchmark_filter={cases}", f"--benchmark_out={out}", "--benchmark_out_format=json"]
        command += [f"--benchmark_repetitions={repetitions}", f"--benchmark_min_time={min_time}"]
        command += [f"--benchmark_enable_random_interleaving={'true' if interleave else 'false'}"]
        # Its own table is long and ours says more.
        done = subprocess.run(
            command, env={**os.environ, **ONE_THREAD, **self.blas, **(environment or {})}, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, check=False,
        )
        if done.returncode != 0:
            sys.exit(f"bench: {' '.join(command)} failed:\n{done.stderr}")

    # ---- parts ------------------------------------------------------------------------------------

    def cases(self):
        # Interleaved, so that a slow minute of the machine hits both sides of a ratio.
        self.google("cases", CASES, repetitions=5, min_time=0.03)

    def compare(self, earlier):
        """The cases again, as many times over that the middle one tells the noise, beside an earlier run of them."""
        self.google("compared", CASES, repetitions=9, min_time=0.03)
        files = [earlier, os.path.join(self.folder, "compared.json")]
        return subprocess.run([sys.executable, os.path.join(HERE, "compare.py"), *files], check=False).returncode

    def threads(self):
        # a second of work each time: what a training run does, in which helpers are awake
        self.google("threads", "^threads/", repetitions=5, min_time=1.0)

    def long(self):
        self.google("long", "^long/", repetitions=5, min_time=0.3)

    def scaling(self):
        self.google("scaling", "^scaling/", repetitions=2, min_time=0.05, interleave=False)

    def reading(self):
        # Alone in its process: it reports the high-water mark of memory.
        self.google("reading", "^read_", repetitions=1, min_time=0.05, interleave=False)

    def targets(self):
        for target in TARGETS:
            limit = {"HQMM_SIMD": target}
            self.google("target-" + target, TARGET_CASES, repetitions=3, min_time=0.03, environment=limit)

    def peers(self):
        subprocess.run([self.export, self.folder], check=True)
        environment = {**os.environ, **ONE_THREAD, "HQMM_BENCH_GHMM": self.ghmm}
        rows = []
        for peer in PEERS:
            command = [sys.executable, os.path.join(HERE, "peers", peer + ".py"), self.folder]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                rows += json.loads(done.stdout)
            else:
                last = (done.stderr.strip().splitlines() or ["no message"])[-1]
                rows.append({"peer": peer.split("_")[0], "missing": "failed: " + last})
        self.keep("peers", rows)

    def training(self):
        self.keep("training", Training(self.hqmm, os.path.join(self.folder, "training")).measure())

    def users(self):
        self.keep("users", users.measure(self.hqmm, self.ghmm, os.path.join(self.folder, "users")))

    def hot_spots(self):
        missed = {bar.case for bar in all_bars(Results(self.folder)) if bar.case and verdict(bar) == "MISSED"}
        self.keep("hot_spots", {
            case: spots for case in sorted(missed) if (spots := record(self.program, case, self.folder))
        })

    def machine(self):
        cpu = platform.processor() or platform.machine()
        try:
            with open("/proc/cpuinfo", encoding="utf-8") as file:
                cpu = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
        except (OSError, StopIteration):
            pass
        self.keep("machine", {
            "cpu": cpu,
            "processors": os.cpu_count(),
            "cores": len(os.sched_getaffinity(0)),
            "system": platform.freedesktop_os_release().get("PRETTY_NAME", platform.system()),
            "date": datetime.date.today().isoformat(),
            "busy": busy_cores(),
        })


class Training:
    """Training runs of the command line: the defaults against the naive engine, and restarts on two threads."""

    def __init__(self, hqmm, folder):
        self.hqmm, self.folder = hqmm, folder
        os.makedirs(folder, exist_ok=True)
        self.data = os.path.join(folder, "data")
        self.run("generate", "synthetic-hmm", "-o", self.data)

    def run(self, *arguments):
        """(processor seconds, wall seconds) of one command."""
        return timed(self.hqmm, *arguments, "--quiet")[:2]

    def train(self, out, *arguments):
        files = [os.path.join(self.data, "train.txt"), "--validation", os.path.join(self.data, "validation.txt")]
        return self.run("train", *files, "-o", os.path.join(self.folder, out), *arguments)

    def measure(self):
        out = {}
        out["default"] = min(self.train("default.h5", "--threads", "1")[0] for _ in range(3))
        try:
            naive = ("--threads", "1", "--engine", "naive")
            short = min(self.train("naive.h5", *naive, "--epochs", "1")[0] for _ in range(2))
            longer = min(self.train("naive.h5", *naive, "--epochs", "6")[0] for _ in range(2))
            out["naive"] = short + 59 * (longer - short) / 5
        except RuntimeError as error:
            out["naive_failed"] = str(error)
        restarts = ("--restarts", "8", "--epochs", "20")
        self.on_two_threads(out, "restarts", lambda name, threads: self.train(name, *restarts, *threads))
        files = [os.path.join(self.data, "train.txt"), "--validation", os.path.join(self.data, "validation.txt")]
        grid = ("-n", "2,3,4", "-w", "1,2", "--epochs", "100")
        self.on_two_threads(out, "grid", lambda name, threads: self.run(
            "select", *files, *grid, "-o", os.path.join(self.folder, name), *threads))
        return out

    def on_two_threads(self, out, what, command):
        """Wall seconds on one thread and on two, the best of five in turn, and whether the models have the same bytes."""
        names = [f"{what}{threads}.h5" for threads in "12"]
        runs = [[command(name, ("--threads", threads))[1] for name, threads in zip(names, "12")] for _ in range(5)]
        out[what + "1"], out[what + "2"] = (min(times) for times in zip(*runs))
        out[what + "_same_bytes"] = filecmp.cmp(*(os.path.join(self.folder, name) for name in names), shallow=False)


def main():
    parts = ("cases", "threads", "long", "scaling", "reading", "targets", "peers", "training", "users", "hot_spots")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    parser.add_argument("--no-report", action="store_true")
    parser.add_argument("--compare", metavar="FILE")
    arguments = parser.parse_args()
    if arguments.compare and not os.path.isfile(arguments.compare):
        sys.exit(f"bench: {arguments.compare}: no such file; keep build/bench/results/cases.json of an earlier run")
    os.sched_setaffinity(0, separate_cores())
    runner = Runner(arguments.build)
    if arguments.compare:
        return runner.compare(arguments.compare)
    runner.machine()
    for part in arguments.only:
        start = time.perf_counter()
        getattr(runner, part)()
        print(f"bench {part}: done ({time.perf_counter() - start:.0f} s)", file=sys.stderr)
    if arguments.no_report:
        return 0
    return subprocess.run([sys.executable, os.path.join(HERE, "report.py"), runner.folder], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
