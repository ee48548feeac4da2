"""Tables as TSV, log-odds against a background, and FASTA out."""

import csv
import io
import math

import pytest

from conftest import OK, USAGE, fails, hqmm, hqmm_json

QUICK = ("--epochs", 2, "-n", 2, "-w", 1)


def rows_of(*args, **kwargs):
    """The rows of a TSV as dictionaries; every row has as many cells as the head."""
    done = hqmm(*args, "--tsv", **kwargs)
    assert done.returncode == OK, done.stderr
    head, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert all(len(row) == len(head) for row in rows), done.stdout
    return [dict(zip(head, row)) for row in rows]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(">one\nACGTACGGNA\n>two\nTTGACA\n>three\nGGNCATTA\n")
    return path


@pytest.fixture
def model(tmp_path, data):
    path = tmp_path / "m.h5"
    assert hqmm("train", data, "-o", path, *QUICK).returncode == OK
    return path


def test_scores_as_a_table(model, data):
    rows = rows_of("score", model, data, "--background", "uniform")
    assert [row["name"] for row in rows] == ["one", "two", "three"]
    assert [(row["length"], row["scored"]) for row in rows] == [("10", "9"), ("6", "6"), ("8", "7")]
    score = hqmm_json("score", model, data, "--per-sequence", "--background", "uniform")
    for row, one in zip(rows, score["per_sequence"]):
        assert float(row["log_likelihood"]) == one["log_likelihood"]
        assert float(row["bits"]) == pytest.approx(-one["log_likelihood"] / math.log(2))
        assert float(row["bits_per_symbol"]) == pytest.approx(float(row["bits"]) / int(row["scored"]))
        assert float(row["log_odds"]) == pytest.approx(one["log_likelihood"] + int(row["scored"]) * math.log(4))
        assert float(row["log_odds"]) == one["log_odds"]
    assert score["background"]["log_odds"] == pytest.approx(sum(float(row["log_odds"]) for row in rows))
    assert "log_odds" not in rows_of("score", model, data)[0]
    text = hqmm("score", model, data, "--per-sequence", "--background", "uniform").stdout
    assert "log-odds" in text and text.splitlines()[-1].split()[-1] == "three"
    fails(USAGE, "score", model, data, "--tsv", "--json", says="--json")


def test_backgrounds(tmp_path, model, data):
    letters = "ACGTACGGATTGACAGGCATTA"
    expected = sum(math.log(letters.count(letter) / len(letters)) for letter in letters)
    found = hqmm_json("score", model, data, "--background", "frequencies")["background"]
    assert found["log_likelihood"] == pytest.approx(expected)
    assert all(float(row["log_odds"]) == 0 for row in rows_of("score", model, data, "--background", model))
    later = rows_of("score", model, data, "--background", "uniform", "--burn-in", 5)
    assert [row["scored"] for row in later] == ["4", "1", "3"]
    assert float(later[1]["log_odds"]) == pytest.approx(float(later[1]["log_likelihood"]) + math.log(4))
    numbers = tmp_path / "numbers.txt"
    numbers.write_text("0 1 0 1\n")
    other = tmp_path / "other.h5"
    assert hqmm("train", numbers, "-o", other, *QUICK).returncode == OK
    fails(USAGE, "score", model, data, "--background", other, says=["other.h5", "alphabet"])


def test_other_tables(tmp_path, model, data):
    picked = rows_of("select", data, "-n", "2,3", "-w", 1, "--epochs", 2)
    assert sorted(row["n"] for row in picked) == ["2", "3"] and picked[0]["standard_error"] in ("NA", "0")
    chains = rows_of("baseline", data, data, "--order", "0,1")
    found = hqmm_json("baseline", data, data, "--order", "0,1")["chains"]
    assert [float(row["bits_per_symbol"]) for row in chains] == [one["bits_per_symbol"] for one in found]
    predicted = rows_of("predict", model, data)
    assert [row["name"] for row in predicted] == ["one"] * 10 + ["two"] * 6 + ["three"] * 8
    assert [row["symbol"] for row in predicted[:10]] == ["A", "C", "G", "T", "A", "C", "G", "G", "NA", "A"]
    assert predicted[10]["position"] == "0"
    assert sum(float(predicted[3][f"P({letter})"]) for letter in "ACGT") == pytest.approx(1)
    live = rows_of("predict", model, stdin="A C\nG\n")
    assert [(row["name"], row["position"], row["symbol"]) for row in live] == [("0", "0", "A"), ("0", "1", "C"), ("1", "0", "G")]
    assert float(rows_of("inspect", model, "--entropy-symbols", 64)[0]["modulus"]) == pytest.approx(1)


def test_tables_of_classifiers(tmp_path):
    labelled = tmp_path / "all.csv"
    rows = ["ACGTAAAA", "ACGAAAAT", "CCGTAAAA", "AAGAAAAT"], ["ACGTCCCC", "ACGCCCCT", "CCCTCACC", "ACGCCCAT"]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["class", "sequence"])
    for name, those in zip(["a\tb", "plain\\"], rows):  # a TAB and a backslash in the names of classes
        writer.writerows([name, row] for row in those)
    labelled.write_text(text.getvalue())
    how = ("--label-column", "class", "--alphabet", "dna")
    clf = tmp_path / "clf.h5"
    quick = ("--grid", "none", "--epochs", 2, "-n", 2, "-w", 1)
    done = hqmm("classify", "fit", labelled, *how, "-o", clf, *quick)
    assert done.returncode == OK, done.stderr
    predicted = rows_of("classify", "predict", clf, labelled, *how)
    assert [row["true_class"] for row in predicted] == ["a\\tb"] * 4 + ["plain\\\\"] * 4
    assert float(predicted[0]["P(a\\tb)"]) + float(predicted[0]["P(plain\\\\)"]) == pytest.approx(1)
    unsure = rows_of("classify", "predict", clf, labelled, *how, "--threshold", 1)
    assert {row["class"] for row in unsure} == {"NA"}
    errors = rows_of("classify", "cross-validate", labelled, *how, "--folds", 2, *quick)
    assert [row["class"] for row in errors] == ["a\\tb", "plain\\\\", "mean of the classes", "all rows"]
    assert errors[3]["rows"] == "8"
    assert [row["class"] for row in rows_of("inspect", clf)] == ["a\\tb", "plain\\\\"]


def test_samples_as_fasta(tmp_path, model):
    text = hqmm("sample", model, "--count", 3, "--length", 70).stdout
    fasta = hqmm("sample", model, "--count", 3, "--length", 70, "--format", "fasta").stdout
    lines = fasta.splitlines()
    assert lines[0::3] == [">sequence1", ">sequence2", ">sequence3"] and len(lines[1]) == 60
    assert [a + b for a, b in zip(lines[1::3], lines[2::3])] == text.replace(" ", "").splitlines()
    out = tmp_path / "made.fa"
    assert hqmm("sample", model, "--count", 3, "--length", 70, "-o", out).returncode == OK
    assert out.read_text() == fasta
    assert hqmm("sample", model, "--count", 3, "--length", 70, "-o", out, "--format", "text").returncode == OK
    assert out.read_text() == text
    fails(USAGE, "sample", model, "--format", "fasta", "--json", says="--json and FASTA")
    numbers = tmp_path / "numbers.txt"
    numbers.write_text("0 1 0 1\n")
    other = tmp_path / "other.h5"
    assert hqmm("train", numbers, "-o", other, *QUICK).returncode == OK
    fails(USAGE, "sample", other, "-o", out, says="FASTA holds letters, but the alphabet is integers 0..1")
    assert out.read_text() == text


def test_convert_writes_fasta_that_is_read_back(tmp_path, data):
    out = tmp_path / "out.fa"
    assert hqmm("convert", data, out).returncode == OK
    assert out.read_text() == ">one\nACGTACGGNA\n>two\nTTGACA\n>three\nGGNCATTA\n"
    uci = tmp_path / "splice.data"
    uci.write_text("EI, A NAME, CCAGCTGCATCAC\nIE, B, GGDCAGTCTAGCA\n")
    assert hqmm("convert", uci, out, "--alphabet", "dna").returncode == OK
    assert out.read_text() == ">A_NAME class=EI\nCCAGCTGCATCAC\n>B class=IE\nGGNCAGTCTAGCA\n"
    back = tmp_path / "back.txt"
    assert hqmm("convert", out, back).returncode == OK
    assert back.read_text() == "C C A G C T G C A T C A C\nG G ? C A G T C T A G C A\n"
