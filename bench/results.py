"""What run.py measured, by name: the best of the repetitions, because noise only ever adds."""
import json
import os
import re

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def case_name(entry):
    return re.sub(r"/(iterations:\d+|process_time|real_time)", "", entry.get("run_name", entry["name"]))


def case_seconds(entry):
    """Processor time of the whole process where one thread works; the clock on the wall where several do."""
    column = "real_time" if entry["name"].endswith("/real_time") else "cpu_time"
    return entry[column] * UNITS[entry["time_unit"]]


class Results:
    def __init__(self, folder):
        self.folder = folder
        self.cases, self.failures, self.context = {}, {}, {}
        for part in ("cases", "threads", "long", "scaling", "reading"):
            self._take(self._load(part))
        self.machine = self._load("machine") or {}
        self.peers = self._load("peers") or []
        self.training = self._load("training") or {}
        self.users = self._load("users") or {}
        self.hot_spots = self._load("hot_spots") or {}
        self.targets = {}
        for target in ("avx512", "avx2", "sse4", "scalar"):
            content = self._load("target-" + target)
            if content:
                self.targets[target] = (content["context"].get("simd", "?"), self._best(content))

    def _load(self, name):
        try:
            with open(os.path.join(self.folder, name + ".json"), encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def _best(self, content):
        best = {}
        for entry in content["benchmarks"]:
            if entry.get("run_type") != "iteration":
                continue
            if entry.get("error_occurred"):
                self.failures[case_name(entry)] = entry["error_message"]
                continue
            seconds = case_seconds(entry)
            known = best.get(case_name(entry))
            if known is None or seconds < known["seconds"]:
                best[case_name(entry)] = {**entry, "seconds": seconds}
        return best

    def _take(self, content):
        if content:
            self.context.update(content["context"])
            self.cases.update(self._best(content))

    # ---- asking -----------------------------------------------------------------------------------

    def seconds(self, name):
        """None when the case was not run or failed."""
        return self.cases[name]["seconds"] if name in self.cases else None

    def rate(self, name):
        """Symbols per second."""
        case = self.cases.get(name)
        return case["symbols"] / case["seconds"] if case else None

    def label(self, name):
        return self.cases[name].get("label", "") if name in self.cases else ""

    def ratio(self, slow, fast):
        """How many times longer `slow` takes than `fast`."""
        a, b = self.seconds(slow), self.seconds(fast)
        return a / b if a and b else None

    def dgemm(self):
        """The yardstick in operations per second, the best of its sizes."""
        rates = [case["flop/s"] for name, case in self.cases.items() if name.startswith("dgemm/")]
        return max(rates, default=None)

    def share_of_dgemm(self, name, form, n, w):
        rate, dgemm = self.rate(name), self.dgemm()
        return 2.0 * operations(form, n, w) * rate / dgemm if rate and dgemm else None


def operations(form, n, w):
    """Multiply-adds per symbol of loss and gradient, as the form is written down: no fused grams, no symmetry saved."""
    real = {"superoperator": 3 * n**4, "lanes": 3 * n**4}
    counts = {**real, "kraus": 20 * w * n**3, "factor": 12 * n**3, "pure": 12 * n**2}
    return counts[form.split(",")[0]]
