"""Where the time of a case goes, by perf, for the bars that are missed."""
import os
import re
import shutil
import subprocess

# Making the work is part of the process, not of what is timed.
SETUP = re.compile(r"random|benchmark::|_dl_|do_lookup")
KERNEL = re.compile(r"page|_raw_spin|rmqueue|lru|folio|cgroup|vm_|mmap|pte_|tlb")


def short_name(symbol):
    """`hqmm::N_AVX3::(anonymous namespace)::tile<4, false, 1>` is `tile<4, false, 1>`."""
    symbol = re.sub(r"^std::_Function_handler<void \([^)]*\), ", "", symbol)
    symbol = re.sub(r"hqmm::|\(anonymous namespace\)::|N_\w+::|Eigen::internal::", "", symbol)
    match = re.match(r"[\w:~]+(?:<[^<>(){}]*>?)?", symbol)
    name = match[0] if match else symbol
    if "<" in name and not name.endswith(">"):
        name += "…>"
    rest = re.match(r"::[\w:]+", symbol[len(name):]) if match else None
    return name + (rest[0] if rest else "")


def record(program, case, folder):
    """[(share, function)], the largest first; None without a perf that works here."""
    if shutil.which("perf") is None:
        return None
    data = os.path.join(folder, "perf.data")
    command = ["perf", "record", "-q", "-o", data, program, f"--benchmark_filter=^{case}/", "--benchmark_min_time=0.4"]
    environment = {**os.environ, "HQMM_BENCH_UNCHECKED": "1"}
    if subprocess.run(command, env=environment, capture_output=True, check=False).returncode != 0:
        return None
    report = ["perf", "report", "-i", data, "--stdio", "-q", "--sort=symbol", "-F", "overhead,symbol"]
    text = subprocess.run(report, capture_output=True, text=True, check=False).stdout
    os.remove(data)
    found = re.findall(r"^\s*([\d.]+)%\s+\[.\]\s+(.+?)\s*$", text, flags=re.MULTILINE)
    shares = {}
    for share, symbol in found:
        name = "the kernel's page faults" if KERNEL.search(symbol) else f"`{short_name(symbol)}`"
        if not SETUP.search(symbol):
            shares[name] = shares.get(name, 0.0) + float(share)
    total = sum(shares.values())
    ordered = sorted(((share / total, name) for name, share in shares.items()), reverse=True)
    return [(share, name) for share, name in ordered[:5] if share >= 0.03]
