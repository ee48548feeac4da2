"""hqmm scan: hits of classifiers and models in long sequences, and how they are written."""

import gzip
import math
import re

import h5py
import numpy as np
import pytest

from conftest import BAD_DATA, OK, SOURCE, USAGE, fails, hqmm, hqmm_json, random_kraus, write_hqmm

PAIRS = str.maketrans("ACGT", "TGCA")


def turned(letters):
    return letters.translate(PAIRS)[::-1]


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    """Sequences of 20 bases, with TTAA or GGCA in the middle or with neither, and a classifier of them."""
    folder = tmp_path_factory.mktemp("sites")
    rng = np.random.default_rng(4)
    rows = []
    for label, middle in (("left", "TTACA"), ("right", "GGCAG"), ("none", None)):
        for _ in range(150):
            row = "".join(rng.choice(list("ACGT"), 20))
            rows.append(f"{label}\t{row[:8] + middle + row[13:] if middle else row}\n")
    (folder / "rows.txt").write_text("".join(rows))
    done = hqmm("classify", "fit", folder / "rows.txt", "-o", folder / "sites.h5", "--positions", "each", "--epochs", 30,
                "-n", 2, "-w", 1, "--grid", "none")
    assert done.returncode == OK, done.stderr
    return folder / "sites.h5"


@pytest.fixture
def genome(tmp_path):
    """Two records with a site each, of either strand; the second in lower case, with a code in it."""
    rng = np.random.default_rng(5)
    one, two = ("".join(rng.choice(list("ACGT"), 300)) for _ in range(2))
    one = one[:108] + "TTACA" + one[113:]
    two = two[:208] + turned("GGCAG") + two[213:]
    path = tmp_path / "genome.fa"
    path.write_text(f">chr1 the first\n{one}\n>chr;2=x\n{two[:150].lower()}NN{two[152:]}\n")
    return path


def table(text):
    head, *lines = [line.split("\t") for line in text.splitlines()]
    return [dict(zip(head, line)) for line in lines]


def test_the_best_hits_are_the_sites(sites, genome):
    done = hqmm("scan", sites, genome, "--class", "left,right", "--top", 1)
    assert done.returncode == OK, done.stderr
    hits = table(done.stdout)
    assert [(h["sequence"], h["begin"], h["end"], h["strand"], h["class"]) for h in hits] == [
        ("chr1", "100", "120", "+", "left"), ("chr;2=x", "201", "221", "-", "right")]
    assert "1124 windows of 20 symbols in 2 sequences; hits: 1 of left, 1 of right" in done.stderr


def test_posteriors_are_those_of_predict(tmp_path, sites, genome):
    found = hqmm_json("scan", sites, genome, "--threshold", 0, "--step", 9)
    assert found["window"] == 20 and found["sequences"] == 2
    letters = {}
    for record in genome.read_text().split(">")[1:]:
        head, sequence = record.split("\n", 1)
        letters[head.split()[0]] = sequence.replace("\n", "").upper()
    windows = tmp_path / "windows.fa"
    hits = found["hits"]
    assert len(hits) == 3 * found["windows"] == 3 * 2 * 2 * 32
    cut = [letters[h["sequence"]][h["begin"]:h["end"]] for h in hits]
    cut = [turned(c) if h["strand"] == "-" else c for c, h in zip(cut, hits)]
    windows.write_text("".join(f">{i}\n{c}\n" for i, c in enumerate(cut)))
    rows = hqmm_json("classify", "predict", sites, windows)["rows"]
    for hit, row in zip(hits, rows):
        p = row["posteriors"][hit["class"]]
        assert hit["posterior"] == pytest.approx(p, abs=1e-10)
        if 1e-6 < p < 1 - 1e-6:
            assert hit["log_odds"] == pytest.approx(math.log2(p / (1 - p)), abs=1e-8)


def test_formats(tmp_path, sites, genome):
    args = ("scan", sites, genome, "--class", "right", "--threshold", 0.5, "--distinct")
    hits = hqmm_json(*args)["hits"]
    assert hits
    bed = [line.split("\t") for line in hqmm(*args, "--format", "bed").stdout.splitlines()]
    gff = hqmm(*args, "--format", "gff3").stdout.splitlines()
    assert gff[0] == "##gff-version 3"
    gff = [line.split("\t") for line in gff[1:]]
    assert len(bed) == len(gff) == len(hits)
    for hit, b, g in zip(hits, bed, gff):
        assert b[:3] == [hit["sequence"], str(hit["begin"]), str(hit["end"])]
        assert b[3:6] == ["right", str(round(1000 * hit["posterior"])), hit["strand"]]
        assert float(b[6]) == pytest.approx(hit["log_odds"], abs=1e-4)
        assert g[0] == {"chr1": "chr1", "chr;2=x": "chr%3B2%3Dx"}[hit["sequence"]]
        assert g[1:5] == ["hqmm", "sequence_feature", str(hit["begin"] + 1), str(hit["end"])]
        assert float(g[5]) == pytest.approx(hit["log_odds"], abs=1e-4) and g[6:8] == [hit["strand"], "."]
        assert re.fullmatch(r"ID=hit\d+;Name=right;posterior=[01]\.\d{6}", g[8])
    out = tmp_path / "hits.bed"
    assert hqmm(*args, "--format", "bed", "-o", out, "--quiet").stderr == ""
    assert [line.split("\t") for line in out.read_text().splitlines()] == bed


def test_a_track_of_log_odds(sites, genome):
    best = {}
    for hit in hqmm_json("scan", sites, genome, "--class", "left", "--threshold", 0)["hits"]:
        key = hit["sequence"], hit["begin"] + 10
        best[key] = max(best.get(key, -math.inf), hit["log_odds"])
    lines = hqmm("scan", sites, genome, "--class", "left", "--format", "bedgraph").stdout.splitlines()
    assert lines[0] == 'track type=bedGraph name="left" description="log-odds in bits"'
    assert len(lines) == 1 + len(best)
    for line in lines[1:]:
        name, begin, end, value = line.split("\t")
        assert int(end) == int(begin) + 1
        assert float(value) == pytest.approx(best[name, int(begin)], abs=1e-4)
    fails(USAGE, "scan", sites, genome, "--format", "bedgraph", says="name it with --class")


def test_distinct_hits_do_not_overlap(sites, genome):
    every = hqmm_json("scan", sites, genome, "--class", "none", "--threshold", 0.5)["hits"]
    apart = hqmm_json("scan", sites, genome, "--class", "none", "--threshold", 0.5, "--distinct")["hits"]
    assert len(apart) < len(every) / 3
    for a, b in zip(apart, apart[1:]):
        assert a["sequence"] != b["sequence"] or b["begin"] >= a["end"]


def test_same_bytes_at_any_thread_count_and_from_any_source(tmp_path, sites, genome):
    args = ("--threshold", 0.01, "--json")
    expected = hqmm("scan", sites, genome, *args, "--threads", 1).stdout
    packed = tmp_path / "g.fa.gz"
    packed.write_bytes(gzip.compress(genome.read_bytes()))
    assert hqmm("scan", sites, genome, *args, "--threads", 3).stdout == expected
    assert hqmm("scan", sites, packed, *args).stdout == expected
    assert hqmm("scan", sites, "-", *args, stdin=genome.read_text()).stdout == expected


def test_a_model_against_a_background(tmp_path, genome):
    model = write_hqmm(tmp_path / "m.h5", random_kraus(4, 2, 2))
    even = write_hqmm(tmp_path / "even.h5", np.full((4, 1, 1, 1), 0.5))
    for path in (model, even):
        with h5py.File(path, "a") as f:
            f["alphabet"] = ["A", "C", "G", "T"]
    args = ("scan", model, genome, "--window", 30, "--step", 10, "--threshold", -1e9)
    uniform = hqmm_json(*args, "--background", "uniform")["hits"]
    by_file = hqmm_json(*args, "--background", even)["hits"]
    counted = hqmm_json(*args)["hits"]
    assert len(uniform) == 2 * 2 * 28
    assert [h["log_odds"] for h in uniform] == pytest.approx([h["log_odds"] for h in by_file], abs=1e-10)
    letters = "".join(line for line in genome.read_text().upper().splitlines() if line[0] != ">")
    counts = {c: letters.count(c) + letters.count(c.translate(PAIRS)) + 2 for c in "ACGT"}
    frequency = {c: n / sum(counts.values()) for c, n in counts.items()}
    first = letters[:30]
    shift = sum(math.log2(frequency[c] / 0.25) for c in first)
    assert counted[0]["begin"] == 0 and counted[0]["strand"] == "+"
    assert counted[0]["log_odds"] == pytest.approx(uniform[0]["log_odds"] - shift, abs=1e-9)
    assert "class" not in counted[0]
    fails(USAGE, "scan", model, genome, says="so it does not set the length of a window: give one with --window")
    fails(USAGE, "scan", model, "-", "--window", 9, stdin=">a\nACGT\n", says="--background uniform")
    fails(USAGE, "scan", model, genome, "--window", 9, "--class", "x", says="is a single model")


def test_codes_as_sets_on_both_strands(tmp_path, sites):
    (tmp_path / "codes.fa").write_text(">one\nACGTACGGRCAGTTACGGKV\n")
    (tmp_path / "turned.fa").write_text(">one\nBMCCGTAACTGYCCGTACGT\n")
    args = ("--ambiguous", "set", "--threshold", 0)
    forward = hqmm_json("scan", sites, tmp_path / "codes.fa", *args, "--strand", "forward")["hits"]
    reverse = hqmm_json("scan", sites, tmp_path / "turned.fa", *args, "--strand", "reverse")["hits"]
    assert [h["log_odds"] for h in forward] == pytest.approx([h["log_odds"] for h in reverse], abs=1e-10)
    found = hqmm_json("classify", "predict", sites, tmp_path / "codes.fa", "--ambiguous", "set")["rows"][0]["posteriors"]
    assert len(forward) == len(reverse) > 0
    for hit in forward:
        assert 1 / (1 + 2 ** -hit["log_odds"]) == pytest.approx(found[hit["class"]], abs=1e-9)


def test_other_alphabets_have_one_strand(tmp_path):
    model = write_hqmm(tmp_path / "m.h5", random_kraus(3, 2, 2))
    data = tmp_path / "d.txt"
    data.write_text("0 1 2 2 1 0\n1 ? 1\n")
    hits = hqmm_json("scan", model, data, "--window", 3)["hits"]
    assert [(h["sequence"], h["begin"], h["strand"]) for h in hits] == [
        ("0", 0, "."), ("0", 1, "."), ("0", 2, "."), ("0", 3, "."), ("1", 0, ".")]
    fails(USAGE, "scan", model, data, "--window", 3, "--strand", "both", says="--strand forward")


def test_what_does_not_fit_is_said(tmp_path, sites, genome):
    fails(USAGE, "scan", sites, genome, "--window", 21, says="made for windows of 20 symbols")
    fails(USAGE, "scan", sites, genome, "--class", "lft", says="did you mean 'left'?")
    fails(USAGE, "scan", sites, genome, "--threshold", 1.5, says="lowest posterior")
    fails(USAGE, "scan", sites, genome, "--background", "uniform", says="for a single model")
    fails(USAGE, "scan", sites, genome, "-o", genome, says="DATA")
    short = tmp_path / "short.fa"
    short.write_text(">a\nACGT\n")
    done = hqmm("scan", sites, short)
    assert done.returncode == OK and "as long as a window of 20 symbols" in done.stderr
    bad = tmp_path / "bad.fa"
    bad.write_text(">a\nACGT\nA1\n")
    fails(BAD_DATA, "scan", sites, bad, says="bad.fa:3:2")


def test_predict_refuses_lengths_that_the_classifier_is_not_made_for(tmp_path, sites, genome):
    fails(BAD_DATA, "classify", "predict", sites, genome,
          says=["record 'chr1'", "300 symbols", "sequences of 20", "'hqmm scan'"])
    short = tmp_path / "short.fa"
    short.write_text(">good\n" + "ACGTA" * 4 + "\n>brief\nACGT\n")
    done = fails(BAD_DATA, "classify", "predict", sites, short, says=["record 'brief'", "4 symbols"])
    assert "scan" not in done.stderr


def test_predict_takes_the_lengths_that_were_learned_from(tmp_path):
    rows = "".join(f"{label}\t{'ACGT' * 3}{'A' * k}{tail}\n" for label, tail in (("a", "GG"), ("b", "TT"))
                   for k in range(6))
    (tmp_path / "d.txt").write_text(rows)
    done = hqmm("classify", "fit", tmp_path / "d.txt", "-o", tmp_path / "c.h5", "--epochs", 2, "-n", 2, "-w", 1, "--grid",
                "none", "--positions", "each", "--anchor", "end")
    assert done.returncode == OK, done.stderr
    assert hqmm("classify", "predict", tmp_path / "c.h5", tmp_path / "d.txt").returncode == OK
    long = tmp_path / "long.fa"
    long.write_text(">x\n" + "A" * 20 + "\n")
    fails(BAD_DATA, "classify", "predict", tmp_path / "c.h5", long, says="made for sequences of 14 to 19")


def test_the_commands_of_the_page(tmp_path, sites, genome):
    """docs/scan.md's commands, on small files of the names that they have there."""
    (tmp_path / "splice.h5").write_bytes(sites.read_bytes())
    (tmp_path / "genome.fa").write_bytes(genome.read_bytes())
    (tmp_path / "contigs.fa.gz").write_bytes(gzip.compress(genome.read_bytes()))
    (tmp_path / "splice.data").write_bytes((sites.parent / "rows.txt").read_bytes())
    with h5py.File(write_hqmm(tmp_path / "model.h5", random_kraus(4, 2, 2)), "a") as f:
        f["alphabet"] = ["A", "C", "G", "T"]
    page = (SOURCE / "docs" / "scan.md").read_text()
    commands = [line for block in re.findall(r"```\n(.*?)```", page, re.S) for line in block.splitlines()
                if line.startswith("hqmm ")] + re.findall(r"`(hqmm (?:classify|scan) [^`]*\.(?:h5|fa)[^`]*)`", page)
    assert len(commands) == 7
    for command in commands:
        words = command.replace("/usr/share/doc/bowtie/examples/genomes/NC_008253.fna.gz", "genome.fa")
        words = words.replace("EI,IE", "left,right").replace("EI", "left").split()[1:]
        if words[:2] == ["classify", "fit"]:
            words += ["--epochs", "1"]
        done = hqmm(*words, cwd=tmp_path)
        assert done.returncode == OK, (command, done.stderr)
