"""Times of two runs of the benchmark program beside each other.

usage: compare.py BEFORE.json AFTER.json
Each is a file of Google Benchmark with repetitions, such as build/bench/results/cases.json. A case is slower when its best time
is more than 5 % above the best time before, beyond the noise of both: how far the middle repetition of each lies above its best.
Returns 1 when one is.
"""
import json
import statistics
import sys

from results import case_name, case_seconds

ALLOWED = 0.05


def times(content):
    """[seconds of each repetition], by case."""
    out = {}
    for entry in content["benchmarks"]:
        if entry.get("run_type") == "iteration" and not entry.get("error_occurred"):
            out.setdefault(case_name(entry), []).append(case_seconds(entry))
    return out


def noise(seconds):
    return statistics.median(seconds) / min(seconds) - 1.0


def compare(before, after):
    """(case, ratio of the best times, noise of both, whether it is slower), in the order of the cases."""
    old, new = times(before), times(after)
    rows = []
    for name in new:
        if name not in old:
            continue
        ratio = min(new[name]) / min(old[name])
        both = noise(old[name]) + noise(new[name])
        rows.append((name, ratio, both, ratio - 1.0 > ALLOWED + both))
    return rows


def lines(before, after):
    rows = compare(before, after)
    if not rows:
        raise SystemExit("compare: the two files have no case in common")
    width = max(len(row[0]) for row in rows)
    out = [f"{'case':<{width}}  time, new / old   noise"]
    for name, ratio, both, slower in rows:
        out.append(f"{name:<{width}}  {ratio:>15.3f}  {both:>5.1%}{'  SLOWER' if slower else ''}")
    mean = statistics.geometric_mean(row[1] for row in rows)
    slower = sum(row[3] for row in rows)
    out.append(f"{len(rows)} cases, geometric mean {mean:.3f}, {slower} slower by more than {ALLOWED:.0%} beyond the noise")
    gone = sorted(set(times(before)) - set(times(after)))
    if gone:
        out.append("not measured now: " + ", ".join(gone))
    return out, slower


def main():
    contents = []
    for path in sys.argv[1:3]:
        try:
            with open(path, encoding="utf-8") as file:
                contents.append(json.load(file))
        except (OSError, ValueError) as error:
            raise SystemExit(f"compare: {path}: {error}") from None
        if "benchmarks" not in contents[-1]:
            raise SystemExit(f"compare: {path}: expected results of the benchmark program, such as build/bench/results/cases.json")
    text, slower = lines(*contents)
    print("\n".join(text))
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
