"""hqmm reproduce: results, resuming, and what is missing."""

import csv
import json
import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from conftest import BAD_DATA, BINARY, CANNOT_WRITE, NO_INPUT, OK, USAGE, fails, hqmm, hqmm_json, shared

INTERRUPTED = 130


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch):
    monkeypatch.delenv("HQMM_DATA", raising=False)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The published layout, with little in it."""
    root = tmp_path_factory.mktemp("published")
    for study in ["synthetic-hmm", "synthetic-hqmm"]:
        assert hqmm("generate", study, "-o", root / study, "--quiet").returncode == OK
        for name in ["train", "validation", "test"]:
            path = root / study / f"{name}.txt"
            lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
            path.write_text("".join(" ".join(line.split()[:1100]) + "\n" for line in lines[:3]))
    return root


def reproduce(which, small, out, *more, **kwargs):
    return hqmm("reproduce", which, "--quick", "--data", small, "-o", out, *more, **kwargs)


@pytest.fixture(scope="module")
def done(small, tmp_path_factory):
    """One whole run."""
    out = tmp_path_factory.mktemp("reproduction") / "out"
    run = reproduce("synthetic-hqmm", small, out, "--threads", "2")
    assert run.returncode == OK, run.stderr
    return out, run


def test_leaves_results_a_report_and_figures(done):
    out, run = done
    rows = list(csv.DictReader((out / "results.csv").open()))
    assert {row["method"] for row in rows} == {
        "ns-ris-literal", "ns-ris-paper", "ns-ris", "ns-ris-warm", "cosm", "givens", "em"}
    for row in rows:
        assert (row["test_da_raw"] != "") == (row["method"] == "ns-ris-literal")
    results = json.loads((out / "results.json").read_text())
    provenance = results["provenance"]
    assert provenance["command"].startswith("hqmm reproduce synthetic-hqmm --quick")
    for key in ["version", "seed", "simd", "machine", "data_hash"]:
        assert provenance[key]
    assert len(results["cells"]) == len(rows) == len(list((out / "cells").glob("*.json")))
    assert results["true_models"]["synthetic-hqmm"]["test_da"] == float(rows[0]["true_model_test_da"])
    assert "true model" in run.stdout and "0.1536" in run.stdout
    assert "the ceiling" in (out / "first-look.md").read_text()
    report = (out / "report.md").read_text()
    for figure in re.findall(r"\]\((figures/[^)]*)\)", report):
        ElementTree.parse(out / figure)
    assert "hqmm-comparison.svg" in report and provenance["command"] in report


def test_does_not_depend_on_the_thread_count(done, small, tmp_path):
    assert reproduce("synthetic-hqmm", small, tmp_path / "one", "--threads", "1").returncode == OK
    for name in ["results.csv"]:
        assert (tmp_path / "one" / name).read_bytes() == (done[0] / name).read_bytes()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_goes_on_after_an_interruption(done, small, tmp_path, how):
    out = tmp_path / "out"
    process = subprocess.Popen(
        [BINARY, "reproduce", "synthetic-hqmm", "--quick", "--data", small, "-o", out, "--threads", "1"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.time() + 60
    while not list(out.glob("cells/*.json")) and process.poll() is None and time.time() < deadline:
        time.sleep(0.002)
    process.send_signal(how)
    stderr = process.communicate(timeout=60)[1].decode()
    cells = {path: path.read_bytes() for path in out.glob("cells/*.json")}
    if process.returncode != OK:  # it may have been done before the signal came
        assert process.returncode == (INTERRUPTED if how == signal.SIGINT else -how)
        assert how == signal.SIGKILL or "the same command continues" in stderr
        assert not (out / "results.csv").exists()
    assert cells
    again = reproduce("synthetic-hqmm", small, out)
    assert again.returncode == OK, again.stderr
    for path, content in cells.items():
        assert path.read_bytes() == content  # not done again
    assert (out / "results.csv").read_bytes() == (done[0] / "results.csv").read_bytes()


def copied(done, tmp_path):
    out = tmp_path / "out"
    subprocess.run(["cp", "-r", done[0], out], check=True)
    return out


def test_does_a_damaged_cell_again(done, small, tmp_path):
    out = copied(done, tmp_path)
    cell = out / "cells" / "synthetic-hqmm_ns-ris_n2_w1_seed1.json"
    cell.write_text(cell.read_text()[:100])
    run = reproduce("synthetic-hqmm", small, out)
    assert run.returncode == OK and "damaged" in run.stderr
    assert (out / "results.csv").read_bytes() == (done[0] / "results.csv").read_bytes()


def test_does_not_mix_data(done, tmp_path):
    out = copied(done, tmp_path)
    fails(USAGE, "reproduce", "synthetic-hqmm", "--quick", "-o", out, "--quiet", says="other data")


def test_json_is_the_results_file(done, small, tmp_path):
    out = copied(done, tmp_path)
    run = reproduce("synthetic-hqmm", small, out, "--json", "--quiet")
    assert run.returncode == OK and run.stderr == ""
    assert json.loads(run.stdout) == json.loads((out / "results.json").read_text())


def test_writes_the_page_with_figures_beside_it(done, small, tmp_path):
    out = copied(done, tmp_path)
    page = tmp_path / "docs" / "reproduction.md"
    assert reproduce("synthetic-hqmm", small, out, "--write-docs", page).returncode == OK
    for figure in re.findall(r"\]\(([^)]*\.svg)\)", page.read_text()):
        assert figure.startswith("reproduction/") and (page.parent / figure).exists()


def test_all_goes_on_without_splice(small, tmp_path):
    run = reproduce("all", small, tmp_path / "out", timeout=300)
    assert run.returncode == OK, run.stderr
    assert run.stderr.count("splice is skipped") == 1 and "splice: skipped" in run.stdout
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert "splice" in results["provenance"]["skipped"]


def test_a_quick_look_at_splice_says_what_it_found(tmp_path, monkeypatch):
    """Of made-up rows; nothing was drawn from a model, and nothing is said of the synthetic sets."""
    rows = []
    for i in range(60):
        name = ("EI", "IE", "N")[i % 3]
        rows.append(f"{name}, ROW-{i}, " + "".join("ACGT"[(i * k + i % 3 * k * k + k // 3) % 4] for k in range(1, 21)) + "\n")
    (tmp_path / "splice.data").write_text("".join(rows))
    monkeypatch.setenv("HQMM_DATA", str(tmp_path))
    run = hqmm("reproduce", "splice", "--quick", "-o", tmp_path / "out")
    assert run.returncode == OK and "data: splice.data of $HQMM_DATA" in run.stderr, run.stderr
    report = (tmp_path / "out" / "report.md").read_text()
    short = report.split("## In short\n\n")[1].split("\n\n")[0]
    assert short.startswith("- **Splice, n = 2:**") and len(re.findall(r"\b[01]\.\d{3}\b", short)) == 10, short
    for wrong in ("true model", "drawn", "over seeds, ±", "3000 symbols"):
        assert wrong not in report, wrong


def test_splice_alone_needs_its_data(tmp_path, monkeypatch):
    says = "hqmm data splice"
    fails(NO_INPUT, "reproduce", "splice", "-o", tmp_path / "out", says=says)
    monkeypatch.setenv("HQMM_DATA", str(tmp_path))
    fails(NO_INPUT, "reproduce", "splice", "-o", tmp_path / "out", says=says)
    (tmp_path / "splice.data").write_text("this is not data\n")
    assert hqmm("reproduce", "splice", "-o", tmp_path / "out").returncode == BAD_DATA
    assert not (tmp_path / "out").exists()


def test_wrong_usage_is_one_line(small, tmp_path):
    out = tmp_path / "out"
    fails(USAGE, "reproduce", "hmm", says="synthetic-hmm")
    fails(USAGE, "reproduce", "all", "--seeds", "0")
    fails(USAGE, "reproduce", "all", "--time-limit", "-1")
    fails(NO_INPUT, "reproduce", "all", "--data", tmp_path / "nowhere", "-o", out)
    fails(NO_INPUT, "reproduce", "synthetic-hmm", "--data", tmp_path, "-o", out, says="train.txt")
    (tmp_path / "file").write_text("")
    fails(CANNOT_WRITE, "reproduce", "synthetic-hqmm", "--quick", "--data", small, "-o",
          tmp_path / "file" / "out", "--quiet")
    short = tmp_path / "short" / "synthetic-hmm"
    os.makedirs(short)
    for name in ["train", "validation", "test"]:
        (short / f"{name}.txt").write_text("0 1 2 3 4 5\n")
    fails(BAD_DATA, "reproduce", "synthetic-hmm", "--data", tmp_path / "short", "-o", out,
          says="too short")


@pytest.mark.skipif(bool(os.environ.get("HQMM_SANITIZE")), reason="skipped: the same code as above on more data")
def test_published_data(tmp_path):
    """The true model's score is the known one; raw claims lie above it, honest figures do not."""
    data = shared("data/synthetic-hqmm/train.txt").parents[1]
    run = hqmm("reproduce", "synthetic-hqmm", "--quick", "--data", data, "-o", tmp_path / "out",
               "--json", timeout=300)
    assert run.returncode == OK, run.stderr
    results = json.loads(run.stdout)
    truth = results["true_models"]["synthetic-hqmm"]["test_da"]
    assert abs(truth - 0.1296) < 5e-5
    tests = {(one["method"], one["n"]): one["outcome"]["test"] for one in results["cells"]}
    assert tests["ns-ris-literal", 2]["raw_da"] > truth > tests["ns-ris-literal", 2]["da"]
    assert abs(tests["ns-ris", 2]["da"] - 0.1295) < 0.0015
    assert results["above_true_model"] == []


# The words are filled in at run time, and the rarer ones by runs of hours only: every call must name a section that is
# there and give all that it asks for.
REPRODUCE = Path(__file__).resolve().parents[2] / "tools" / "hqmm" / "reproduce"


def sections():
    text = "".join((REPRODUCE / name).read_text() for name in ("page.md", "terminal.md"))
    parts = re.split(r"^<!-- (.*) -->\n", text, flags=re.MULTILINE)
    return {name: body for name, body in zip(parts[1::2], parts[2::2]) if " " not in name}


def calls():
    """(the sections that a call may name, what it gives), for every call that fills words in."""
    for source in sorted(REPRODUCE.glob("*.cpp")):
        code = source.read_text()
        for call in re.finditer(r"\b(?:prose|line|paragraph|say)\(", code):
            depth, end, own = 1, call.end(), ""
            while depth > 0:  # up to the call's own closing bracket, without calls inside it
                inner = re.match(r"\bprose\(", code[end:])
                if inner:
                    level, end = 1, end + inner.end()
                    while level > 0:
                        level += {"(": 1, ")": -1}.get(code[end], 0)
                        end += 1
                    continue
                depth += {"(": 1, ")": -1}.get(code[end], 0)
                own += code[end]
                end += 1
            names = set(re.findall(r'"([a-z-]+)"', own.split("fmt::arg", 1)[0]))
            if names:
                yield source.name, names, set(re.findall(r'fmt::arg\("(\w+)"', own))


def test_every_section_is_asked_for_with_all_that_it_asks_for():
    known = sections()
    asked = set()
    for source, names, given in calls():
        for name in names:
            assert name in known, (source, name)
            wanted = set(re.findall(r"{(\w+)", known[name]))
            assert wanted == given, (source, name)
        asked |= names
    assert set(known) - asked == {"table-hmm", "table-hqmm"}  # named by a variable; the quick run writes them


def test_zoo_finds_the_smallest_models(tmp_path):
    docs = tmp_path / "docs.md"
    found = hqmm_json("reproduce", "zoo", "--quick", "-o", tmp_path / "out", "--write-docs", docs)
    assert json.loads((tmp_path / "out/zoo.json").read_text()) == found
    rows = {row["process"]: row for row in found["processes"]}
    assert set(rows) == {"golden-mean", "even", "fanizza"}
    golden = rows["golden-mean"]
    assert golden["exact"] and golden["entropy_rate_bits"] == pytest.approx(2 / 3)
    assert golden["hmm"]["smallest"]["n"] == 2 and golden["hmm"]["smallest"]["excess_bits"] <= 1e-3
    for row in found["processes"]:
        for kind in ("hqmm", "hmm"):
            tried, smallest = row[kind]["tried"], row[kind]["smallest"]
            assert all(model["excess_bits"] > 1e-3 for model in tried[:-1])
            assert (smallest == tried[-1]) if smallest else tried[-1]["excess_bits"] > 1e-3
    page = docs.read_text(encoding="utf-8")
    assert page == (tmp_path / "out/zoo.md").read_text(encoding="utf-8")
    assert "hqmm reproduce zoo --quick" in page and "| golden-mean" in page
    fails(USAGE, "reproduce", "zoo", "--data", tmp_path, says=("--data",))
