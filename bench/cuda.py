"""The GPU engine's figures: docs/performance-cuda.json, which docs/performance.md shows whether or not there is a GPU.

usage: cuda.py BUILD_FOLDER [--program FILE] [--keep FILE]

Runs bench/hqmm_bench_cuda of the build and peers/torch_cuda.py beside it, on the machine's GPU. The figures of the text
study that are in the file stay; `./dev study text --device cuda` puts them there.
"""
import argparse
import datetime
import json
import os
import platform
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = os.path.join(HERE, "..", "docs", "performance-cuda.json")
TEXT_BITS, TEXT_SECONDS, TEXT_TORCH = 2.15, 100.0, 336.0


def kept(path=KEPT):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def keep(content, path=KEPT):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.write("\n")


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def measure(program, folder, python):
    """Ours, and PyTorch's on the same work."""
    os.makedirs(folder, exist_ok=True)
    done = subprocess.run([program, folder], check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    with open(os.path.join(folder, "cuda.json"), encoding="utf-8") as file:
        out = json.load(file)
    torch = os.path.join(HERE, "peers", "torch_cuda.py")
    peer = subprocess.run([python, torch, folder], stdout=subprocess.PIPE, text=True, check=False)
    out["torch"] = json.loads(peer.stdout) if peer.returncode == 0 else [{"missing": "PyTorch failed"}]
    out["cpu"] = cpu_name()
    out["date"] = datetime.date.today().isoformat()
    return out


# ---- the page --------------------------------------------------------------------------------------


def torch_row(content, case):
    return next((row for row in content.get("torch", []) if row.get("case") == case), {})


def bars_of(content):
    """(case, what, measured or None, bar, unit): every bar of the file."""
    out = []
    for case in content.get("cases", []):
        bars, seconds = case["bars"], case["seconds"]
        torch = torch_row(content, case["case"]).get("seconds")
        measured = {"share_of_dgemm": case.get("share_of_dgemm"), "against_core": case["core_seconds"] / seconds,
                    "against_torch": torch / seconds if torch else None}
        names = {"share_of_dgemm": "share of dgemm", "against_core": "times a core", "against_torch": "times PyTorch"}
        out += [(case, names[key], measured[key], bars[key], "%" if key == "share_of_dgemm" else "×")
                for key in names if bars[key] > 0]
    return out


def figure(value, unit):
    if value is None:
        return "–"
    return f"{100 * value:.0f}%" if unit == "%" else f"{value:.3g}{unit}"


def shape_text(case):
    return f"{case['field']}, {case['emission']}, n = {case['n']}, w = {case['w']}, batch {case['batch']}"


def cases_table(content):
    lines = ["| model and batch | a gradient | TFLOP/s | of dgemm | PyTorch | one core | agrees to | bar |",
             "|---|---|---|---|---|---|---|---|"]
    bars = bars_of(content)
    for case in content["cases"]:
        own = [f"{what} ≥ {figure(bar, unit)}: {'met' if measured is not None and measured >= bar else 'MISSED' if measured is not None else '–'}"
               for of, what, measured, bar, unit in bars if of is case]
        torch = torch_row(content, case["case"]).get("seconds")
        seconds = case["seconds"]
        cells = [shape_text(case), f"{1e3 * seconds:.3g} ms", f"{case['flop_per_second'] / 1e12:.3g}",
                 figure(case.get("share_of_dgemm"), "%"),
                 f"{1e3 * torch:.3g} ms ({torch / seconds:.3g}×)" if torch else "–",
                 f"{case['core_seconds']:.3g} s ({case['core_seconds'] / seconds:.3g}×)", f"{case['error']:.0e}", "; ".join(own)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def text_lines(text):
    met = "met" if text["seconds"] <= TEXT_SECONDS and text["bits"] <= TEXT_BITS else "MISSED"
    return (f"The text study's model of n = {text['n']}, w = {text['w']} (real, emission on states, {text['parameters']:,} parameters), "
            f"{text['symbols']:,} characters, {text['epochs']} epochs: **{text['seconds']:.0f} s and {text['bits']:.3f} bits** per character of the "
            f"test blocks (at most {TEXT_SECONDS:.0f} s and {TEXT_BITS} bits: {met}; plain PyTorch took {TEXT_TORCH:.0f} s), on {text['device']}.\n\n"
            f"    {text['command']}\n")


def section(content):
    """What docs/performance.md says of the GPU."""
    if not content.get("cases") and not content.get("text"):
        return "Not measured yet: `./dev bench cuda` on a machine with a GPU.\n"
    out = []
    if content.get("cases"):
        torch = next((row["peer"] for row in content.get("torch", []) if "peer" in row), "PyTorch was not there")
        out.append(f"{content['device']}; cuBLAS's dgemm reaches {content['dgemm'] / 1e12:.1f} TFLOP/s in the same run; {torch}; one core "
                   f"of {content['cpu']} ({content['simd']}); {content['date']}.\n")
        out.append(cases_table(content) + "\n")
    if content.get("text"):
        out.append(text_lines(content["text"]))
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="folder of a build with HQMM_BUILD_BENCH")
    parser.add_argument("--program", help="hqmm_bench_cuda, where it lies elsewhere")
    parser.add_argument("--keep", default=KEPT, help="the file of the figures")
    options = parser.parse_args()
    program = options.program or os.path.join(options.build, "bench", "hqmm_bench_cuda")
    if not os.path.exists(program):
        print("skipped: no GPU engine (it is built where the CUDA toolkit is, 12 or later)")
        return
    content = measure(program, os.path.join(options.build, "results", "cuda"), sys.executable)
    text = kept(options.keep).get("text")
    keep({**content, **({"text": text} if text else {})}, options.keep)
    for case, what, measured, bar, unit in bars_of(content):
        verdict = "–" if measured is None else "met" if measured >= bar else "MISSED"
        print(f"{shape_text(case):<52} {what:<16} {figure(measured, unit):>7}  ≥ {figure(bar, unit):<5} {verdict}")


if __name__ == "__main__":
    main()
