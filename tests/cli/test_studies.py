"""The studies' own arithmetic, the dna study in small on made-up bases, and pages that say what the results say."""

import json
import math
import pathlib
import random
import re
import subprocess
import sys

import pytest

from conftest import BINARY, OK, hqmm, hqmm_json

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "studies"))
import common  # noqa: E402
import defaults  # noqa: E402
import frontier  # noqa: E402
import protein  # noqa: E402
import text  # noqa: E402


def test_blocks_are_dealt_once():
    sequence = "".join(chr(ord("a") + k) * 10 for k in range(20))
    parts = common.deal(sequence, 10, (5, 4, 3), seed=1)
    assert [len(part) for part in parts] == [5, 4, 3]
    blocks = [block for part in parts for block in part]
    assert len(set(blocks)) == 12 and all(len(set(block)) == 1 for block in blocks)
    assert common.deal(sequence, 10, (5, 4, 3), seed=1) == parts != common.deal(sequence, 10, (5, 4, 3), seed=2)
    with pytest.raises(SystemExit, match="21 blocks"):
        common.deal(sequence, 10, (10, 11), seed=1)


def test_paired_differences():
    one = [{"symbols": 10, "log_likelihood": -10 * math.log(2)}, {"symbols": 10, "log_likelihood": -20 * math.log(2)}]
    other = [{"symbols": 10, "log_likelihood": -8 * math.log(2)}, {"symbols": 10, "log_likelihood": -16 * math.log(2)}]
    mean, error = common.paired(one, other)
    assert mean == pytest.approx(0.3)  # 2 and 4 bits more on 10 symbols each
    assert error == pytest.approx(0.1)  # 0.2 and 0.4: their standard deviation over √2


def test_equal_parameters_are_those_that_hqmm_counts(tmp_path):
    (tmp_path / "data.txt").write_text("0 1 2 0 1 2 2 1 0 1\n0 2 1 1 0\n")
    for emission, count in (("state", common.hmm_parameters), ("edge", common.edge_parameters)):
        model = tmp_path / f"{emission}.h5"
        hqmm_json("train", tmp_path / "data.txt", "--learner", "em", "--emission", emission, "-n", 3, "--epochs", 1,
                  "--restarts", 1, "-o", model)
        assert hqmm_json("inspect", model)["parameters"] == count(3, 3)
    n = common.states_with(881, common.hmm_parameters, 4)
    assert abs(common.hmm_parameters(n, 4) - 881) <= min(abs(common.hmm_parameters(m, 4) - 881) for m in (n - 1, n + 1))


def test_compressors_see_the_training_part():
    rng = random.Random(1)
    train = "".join(rng.choices("ACGT", k=4000))
    bits = common.compressed_bits([train], [train])  # what is known already costs next to nothing
    assert bits["gzip -9"] < 0.2 and bits["xz -9e"] < 0.2
    assert 1.9 < common.compressed_bits([train], ["".join(rng.choices("ACGT", k=4000))])["bzip2 -9"] < 3


def test_proteins_are_dealt_once():
    lengths = {f"p{k}": 10 + k for k in range(30)}
    parts = protein.deal_proteins(list(lengths), lengths, (100, 50, 200), seed=1)
    assert all(sum(lengths[name] for name in part) >= share for part, share in zip(parts, (100, 50, 200)))
    dealt = [name for part in parts for name in part]
    assert len(dealt) == len(set(dealt))
    with pytest.raises(SystemExit, match="too few"):
        protein.deal_proteins(list(lengths), lengths, (10_000,), seed=1)


def test_text_is_letters_and_spaces(tmp_path):
    path = tmp_path / "verses.txt"
    path.write_text("Ge1:1 In the beginning God created the heaven\nGe1:2 And the earth: void, and -- dark\n")
    assert text.read_letters(path) == "in_the_beginning_god_created_the_heaven_and_the_earth_void_and_dark_"


@pytest.fixture(scope="module")
def quick_dna(tmp_path_factory):
    """A genome of codons whose three places prefer different bases."""
    folder = tmp_path_factory.mktemp("dna")
    rng = random.Random(5)
    bases = "".join(rng.choices("ACGT", weights)[0] for _ in range(34_000) for weights in ((6, 1, 1, 1), (1, 6, 1, 1), (1, 1, 4, 4)))
    (folder / "genome.fna").write_text(">made up\n" + bases + "\n")
    done = subprocess.run([sys.executable, ROOT / "studies" / "dna.py", BINARY, folder / "genome.fna", folder / "pages",
                           "--work", folder / "work", "--quick"], capture_output=True, text=True, check=False)
    assert done.returncode == OK, done.stderr
    return folder


def test_a_study_reports_what_its_models_score(quick_dna):
    content = json.loads((quick_dna / "pages" / "dna.json").read_text())
    rows = content["tables"]["dna"]
    work = quick_dna / "work"
    scored = hqmm_json("score", work / content["model"], work / "test.fasta", "--alphabet", "dna", "--burn-in", 100)
    assert rows[0]["bits"] == scored["bits_per_symbol"] and rows[0]["difference"] is None
    names = [row["model"] for row in rows]
    assert {"HQMM, real, state", "HQMM, complex, edge", "HMM, EM", "Mealy HMM, EM", "HMM, EM, equal parameters",
            "Mealy HMM, EM, equal parameters", "gzip -9", "bzip2 -9", "xz -9e", "zpaq -m5",
            *(f"Markov chain, order {k}" for k in range(8))} == set(names)
    chain = next(row for row in rows if row["model"] == "Markov chain, order 2")
    assert chain["difference"] == pytest.approx(chain["bits"] - rows[0]["bits"], abs=1e-9)
    page = (quick_dna / "pages" / "dna.md").read_text()
    assert "not to be quoted" in page and f"{rows[0]['bits']:.4f}" in page
    for figure in ("dna.svg", "dna-spectrum.svg"):
        assert (quick_dna / "pages" / figure).read_text().startswith("<svg")


def test_the_first_row_is_chosen_on_validation(quick_dna):
    content = json.loads((quick_dna / "pages" / "dna.json").read_text())
    rows = content["tables"]["dna"]
    several = [row for row in rows if row["model"].startswith("HQMM") and "halved" in row["starts"]]
    assert len(several) == 3 and rows[0]["validation_bits"] == min(row["validation_bits"] for row in several)
    for duel in content["duels"]:
        assert duel["model"]["bits"] == rows[0]["bits"]
        assert duel["difference"] == pytest.approx(duel["anchor"]["bits"] - rows[0]["bits"], abs=1e-9)


def test_parameters_of_every_kind_are_those_that_hqmm_counts(tmp_path):
    (tmp_path / "data.txt").write_text("0 1 2 0 1 2 2 1 0 1\n0 2 1 1 0\n")
    for field in ("complex", "real"):
        for emission in ("edge", "state"):
            hqmm_json("train", tmp_path / "data.txt", "--field", field, "--emission", emission, "-n", 4, "-w", 2, "--epochs", 1,
                      "-o", tmp_path / "m.h5")
            counted = hqmm_json("inspect", tmp_path / "m.h5")["parameters"]
            assert common.hqmm_parameters(field, emission, 4, 2, 3) == counted


def test_figure_has_a_line_for_each_kind():
    rows = [{"model": "HQMM, real, state", "parameters": 10, "bits": 2.0, "validation_bits": 2.0},
            {"model": "HQMM, real, state", "parameters": 100, "bits": 1.5, "validation_bits": 1.6},
            {"model": "HQMM, real, state", "parameters": 100, "bits": 1.4, "validation_bits": 1.7},
            {"model": "HMM, EM, equal parameters", "parameters": 90, "bits": 1.8, "validation_bits": 1.8},
            {"model": "Markov chain, order 7", "parameters": 5000, "bits": 1.0, "validation_bits": None},
            {"model": "xz -9e", "parameters": None, "bits": 1.0, "validation_bits": None}]
    assert frontier.lines_of(rows, 1000) == {"HQMM, real, state": [(10, 2.0), (100, 1.5)], "HMM, EM": [(90, 1.8)]}
    drawn = frontier.figure("title", "symbol", rows, 1000)
    assert drawn.count("<polyline") == 2 and drawn.count("<circle") == 3 and drawn == frontier.figure("title", "symbol", rows, 1000)


@pytest.mark.parametrize("name", ["dna", "text", "protein"])
def test_pages_show_their_results(name):
    content = json.loads((ROOT / "docs" / "studies" / f"{name}.json").read_text())
    page = (ROOT / "docs" / "studies" / f"{name}.md").read_text()
    assert "not to be quoted" not in page
    for rows in content["tables"].values():
        assert common.table(rows) in page
    duels = content["duels"].values() if isinstance(content["duels"], dict) else [content["duels"]]
    for one in duels:
        assert common.versus(one) in page


def test_the_page_of_defaults_shows_its_results():
    tables = json.loads((ROOT / "docs" / "studies" / "defaults.json").read_text())["tables"]
    page = (ROOT / "docs" / "studies" / "defaults.md").read_text()
    assert "not to be quoted" not in page
    for table in tables.values():
        assert defaults.as_markdown(table) in page
    assert defaults.what_follows(tables) in page


def test_the_defaults_are_those_that_the_page_says():
    shown = " ".join(hqmm("train", "--help").stdout.split())
    for option in ("--latent-dim N=4", "--kraus-rank W=2", "--field F=complex", "--emission E=edge", "--step-size X=0.2",
                   "--batch-size N=4", "--restarts R=1 "):
        assert option in shown


def test_settings_are_compared_on_every_data_set():
    table = {"a": {"x": 1.0, "y": 2.5}, "b": {"x": 1.5, "y": 2.0}, "c": {"x": 1.1, "y": 2.1}}
    assert defaults.behind(table) == pytest.approx({"a": 0.25, "b": 0.25, "c": 0.1})
    assert "| **c** | 1.1000 | 2.1000 | 0.1000 |" in defaults.as_markdown(table)


def test_sizes_of_equal_parameters():
    complex_edge = common.hqmm_parameters("complex", "edge", 4, 2, 4)
    n = defaults.size_with(complex_edge, "real, state", 2, 4)
    assert complex_edge == 209 and n == 11


def test_readme_quotes_the_dna_study():
    rows = json.loads((ROOT / "docs" / "studies" / "dna.json").read_text())["tables"]["dna"]
    readme = (ROOT / "README.md").read_text()
    quoted = re.findall(r"^\| (.+?) \| ([0-9.]+) \| ([0-9,]+|–) \|$", readme, re.MULTILINE)
    assert len(quoted) >= 5
    known = {(f"{row['bits']:.4f}", "–" if row["parameters"] is None else f"{row['parameters']:,}") for row in rows}
    for label, bits, parameters in quoted:
        assert (bits, parameters) in known, label


def test_the_large_model_of_the_text_study(tmp_path):
    rng = random.Random(5)
    blocks = ["".join(rng.choices(text.LETTERS, k=200)) for _ in range(6)]
    found = text.large_model(common.Hqmm(BINARY, tmp_path), blocks[:4], {"validation": blocks[4:5], "test": blocks[5:]}, "cpu", True)
    assert found["symbols"] == 800 and found["n"] == 8 and found["device"] == "the CPU" and 2 < found["bits"] < 8
    assert found["command"].startswith("hqmm train large-train.txt") and "--device cpu" in found["command"]
    kept = tmp_path / "performance-cuda.json"
    kept.write_text('{"cases": []}')
    text.keep_large(kept, found)
    assert json.loads(kept.read_text()) == {"cases": [], "text": found}
