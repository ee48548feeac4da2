"""One table on the terminal, and docs/performance.md with its figures from performance.template.md.

usage: report.py RESULTS_FOLDER [DOCS_FOLDER]
"""
import os
import re
import sys

import cuda
from bars import SHAPES, SVD_SHAPES, all_bars, figure, shape_points, symbol_points, verdict, LINEAR_SHAPES
from plot import log_log
from results import Results
import users

HERE = os.path.dirname(os.path.abspath(__file__))


def markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def mega(rate):
    return "–" if rate is None else f"{rate / 1e6:.3g}"


def micro(seconds):
    return "–" if seconds is None else f"{seconds * 1e6:.3g}"


def target_of(bar):
    return f"{bar.relation} {figure(bar.bar, bar.unit)}"


# ---- the parts of the page -------------------------------------------------------------------------


def cores_text(machine):
    cores, processors = machine.get("cores", "?"), machine.get("processors")
    if processors in (None, cores):
        return f"{cores} cores"
    return f"{cores} cores used, of each one processor of the machine's {processors}"


def machine(results):
    m, context = results.machine, results.context
    dgemm = results.dgemm()
    words = context.get("blas", "no OpenBLAS").split()
    kernel = [word for word in words if word in ("SkylakeX", "Haswell", "Zen", "Cooperlake", "Sapphirerapids", "Sandybridge")]
    blas = " ".join(words[:2]) + "".join(f", its {word} kernels" for word in kernel)
    lines = [
        f"- Processor: {m.get('cpu', '?')}, {cores_text(m)}; kernels ran on {context.get('simd', '?')}",
        f"- System: {m.get('system', '?')}; compiler {context.get('compiler', '?')}",
        f"- {blas}" + (f", one thread: {dgemm / 1e9:.1f} GFLOP/s in dgemm" if dgemm else ""),
        f"- Date: {m.get('date', '?')}",
    ]
    if m.get("busy", 0.0) > 0.1:
        lines.append(f"- **Other work was running** ({m['busy']:.1f} cores of it at the start): handle with care")
    return "\n".join(lines)


def bars_table(bars):
    rows, last = [], None
    for bar in bars:
        group = bar.group if bar.group != last else ""
        last = bar.group
        rows.append([group, bar.what, figure(bar.measured, bar.unit), target_of(bar), verdict(bar), bar.note])
    return markdown(["", "", "measured", "bar", "", ""], rows)


def summary(bars):
    verdicts = [verdict(bar) for bar in bars]
    met, missed, unknown = (verdicts.count(name) for name in ("met", "MISSED", "–"))
    return f"{met} of {len(bars)} bars met, {missed} missed, {unknown} could not be measured here."


def missed(bars):
    groups = {}
    for bar in bars:
        if verdict(bar) == "MISSED":
            groups.setdefault(bar.group, []).append(f"{bar.what} {figure(bar.measured, bar.unit)} ({target_of(bar)})")
    return "\n".join(f"- {group}: " + "; ".join(items) for group, items in groups.items()) or "None."


def kernels(results):
    rows = []
    for n, w in SHAPES:
        row = [f"{n}, {w}"]
        row += [mega(results.rate(f"gradient/{name}/n={n}/w={w}/B=20")) for name in ("eigen_native", "eigen", "naive")]
        for batch in (1, 20, 200):
            case = f"gradient/auto/n={n}/w={w}/B={batch}"
            ratio = results.ratio(f"gradient/eigen_native/n={n}/w={w}/B={batch}", case)
            row.append(mega(results.rate(case)) + (f" ({figure(ratio, '×')})" if ratio else ""))
        row.append(results.label(f"gradient/auto/n={n}/w={w}/B=20"))
        rows.append(row)
    header = ["n, w", "Eigen, `-march=native`", "Eigen, our flags", "`--engine naive`"]
    return markdown([*header, "one sequence", "batch 20", "batch 200", "form at batch 20"], rows)


def engines(results):
    forms = ("factor", "lanes", "superoperator", "kraus")
    rows = []
    for n, w in SHAPES:
        cells = []
        for form in forms:
            name = f"gradient/{form}/n={n}/w={w}/B=20"
            share = results.share_of_dgemm(name, form, n, w)
            cells.append(mega(results.rate(name)) + (f" ({figure(share, '%')})" if share else ""))
        rows.append([f"{n}, {w}", *cells, mega(results.rate(f"gradient/auto/n={n}/w={w}/B=20"))])
    return markdown(["n, w", *forms, "auto"], rows)


def peers(results):
    rows = []
    for row in results.peers:
        if "missing" in row:
            rows.append([row["peer"], "", row["missing"], "", "", ""])
            continue
        ours = results.seconds(row["case"])
        case = row["case"].replace("gradient/auto/", "loss and gradient, ").replace("em/", "Baum–Welch, ")
        case = case.replace("/", " ")
        if "seconds" not in row:
            rows.append([row["peer"], case, "answers differ", "", "", f"{row['error']:.0e}"])
            continue
        ratio = row["seconds"] / ours if ours else None
        times = [f"{1e3 * row['seconds']:.3g} ms", f"{1e3 * ours:.3g} ms" if ours else "–"]
        rows.append([row["peer"], case, *times, figure(ratio, "×"), f"{row['error']:.0e}"])
    return markdown(["peer", "work", "its time", "ours", "ratio", "answers agree to"], rows)


def updates(results):
    rows = []
    for n, w in ((2, 1), (4, 1), (4, 2), (4, 4), *SVD_SHAPES):
        names = ("newton_schulz", "jacobi_svd_native", "jacobi_svd", "update")
        row = [f"{n}, {w}", *(micro(results.seconds(f"{name}/n={n}/w={w}")) for name in names)]
        row += [micro(results.seconds(f"gradient/auto/n={n}/w={w}/B={batch}")) for batch in (1, 20)]
        rows.append(row)
    header = ["n, w", "five Newton–Schulz steps", "JacobiSVD, `-march=native`", "JacobiSVD, our flags"]
    return markdown([*header, "whole update", "gradient of one sequence", "of 20"], rows)


def targets(results):
    names = sorted({name for _, cases in results.targets.values() for name in cases})
    rows = []
    for target, (got, cases) in results.targets.items():
        rates = [cases[n]["symbols"] / cases[n]["seconds"] if n in cases else None for n in names]
        rows.append([f"`HQMM_SIMD={target}`", got, *(mega(rate) for rate in rates)])
    shapes = [name.split("/", 2)[2].replace("/", " ") for name in names]
    return markdown(["limit", "runs on", *shapes], rows)


def reading(results):
    rows = []
    for name, what in (("read_text", "reading text"), ("read_and_score", "reading and scoring, n = 2")):
        case = results.cases.get(name)
        if case:
            rows.append([what, f"{case['MB/s']:.0f} MB/s", f"{case['peak_MB']:.0f} MB"])
    return markdown(["", "speed", "peak memory"], rows)


def profiles(results):
    if not results.hot_spots:
        return ""
    rows = [
        [f"`{case}`", ", ".join(f"{100 * share:.0f}% {name}" for share, name in spots)]
        for case, spots in results.hot_spots.items()
    ]
    return "Where the time of these cases goes, by `perf`:\n\n" + markdown(["case", "functions"], rows)


def figures(results, folder):
    """Writes the plots; returns nothing to put into the page, which names them."""
    os.makedirs(folder, exist_ok=True)
    series = [(f"n={n} w={w}", symbol_points(results, n, w)) for n, w in LINEAR_SHAPES]
    series = [(name, points) for name, points in series if points]
    if series:
        first = series[0][1][len(series[0][1]) // 2]
        guide = ("slope 1", lambda x: first[1] / first[0] * x)
        svg = log_log("Loss and gradient of one batch, one core", "symbols", "seconds", series, [guide])
        write(os.path.join(folder, "scaling-symbols.svg"), svg)
    by_form = {form: [p[:2] for p in points] for form, points in shape_points(results).items()}
    dgemm = results.dgemm()
    if by_form:
        series = [(form, [(x, 1e9 * y) for x, y in points]) for form, points in by_form.items()]
        guides = [("at dgemm's speed", lambda x: 2e9 * x / dgemm)] if dgemm else []
        title = "Cost of a symbol against its form's operations, batch 20"
        svg = log_log(title, "multiply-adds per symbol", "ns per symbol", series, guides)
        write(os.path.join(folder, "scaling-shape.svg"), svg)


def write(path, content):
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)


# ---- output ----------------------------------------------------------------------------------------


def terminal(results, bars):
    last = None
    for bar in bars:
        if bar.group != last:
            print(f"\n{bar.group}")
        last = bar.group
        columns = f"{bar.what:<34}{figure(bar.measured, bar.unit):>8}  {target_of(bar):>8}  {verdict(bar):<6}"
        print(f"  {columns}  {bar.note}".rstrip())
    print("\npeers, identical work on one thread, answers compared first")
    for row in results.peers:
        ours = results.seconds(row.get("case", ""))
        if "missing" in row:
            said = row["missing"]
        elif "seconds" not in row:
            said = f"answers differ by {row['error']:.1e}"
        else:
            said = figure(row["seconds"] / ours, "×") if ours else "–"
        print(f"  {row['peer']:<38}{row.get('case', ''):<32}{said:>10}")
    for name, message in results.failures.items():
        print(f"  not timed: {name}: {message}")
    print("\n" + summary(bars))


def main():
    results = Results(sys.argv[1])
    docs = sys.argv[2] if len(sys.argv) > 2 else os.path.join(HERE, "..", "docs")
    bars = all_bars(results)
    terminal(results, bars)
    parts = {
        "machine": machine(results), "bars": bars_table(bars), "summary": summary(bars), "missed": missed(bars),
        "profiles": profiles(results), "kernels": kernels(results), "engines": engines(results),
        "peers": peers(results), "updates": updates(results), "targets": targets(results), "reading": reading(results),
        "users": markdown(*users.rows(results.users)), "cuda": cuda.section(cuda.kept()).rstrip(),
    }
    figures(results, os.path.join(docs, "figures"))
    with open(os.path.join(HERE, "performance.template.md"), encoding="utf-8") as file:
        template = re.sub(r"\A<!--.*?-->\n", "", file.read(), flags=re.DOTALL)
    page = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)
    write(os.path.join(docs, "performance.md"), page)
    # A wrong answer is a failure; a missed bar is news.
    wrong = [row for row in results.peers if "error" in row and "seconds" not in row]
    wrong += [message for message in results.failures.values() if "differs" in message or "bytes" in message]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
