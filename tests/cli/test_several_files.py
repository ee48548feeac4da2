"""Several files as one set, a file per class, and records that are empty."""

import json

import pytest

from conftest import BAD_DATA, OK, USAGE, fails, hqmm, hqmm_json

QUICK = ("--epochs", 2, "-n", 2, "-w", 1)


@pytest.fixture
def parts(tmp_path):
    """Two files, and one that holds what both do."""
    texts = ["0 1 2 1\n2 2 0 1\n0 1 2 2\n", "3 0 1 1\n0 3 3 1\n1 1 0 2\n"]
    paths = []
    for i, text in enumerate(texts):
        path = tmp_path / f"part{i}.txt"
        path.write_text(text)
        paths.append(path)
    whole = tmp_path / "whole.txt"
    whole.write_text("".join(texts))
    return paths, whole


def test_several_files_are_the_file_with_all_of_them(tmp_path, parts):
    paths, whole = parts
    models = []
    for name, data in (("parts", paths), ("whole", [whole])):
        model = tmp_path / f"{name}.h5"
        validation = [x for path in data for x in ("--validation", path)]
        done = hqmm("train", *data, *validation, "-o", model, *QUICK)
        assert done.returncode == OK, done.stderr
        models.append(model)
    assert models[0].read_bytes() == models[1].read_bytes()  # with the hash of the data in it
    model = models[0]
    assert hqmm_json("score", model, *paths) == hqmm_json("score", model, whole)
    assert hqmm("predict", model, *paths).stdout == hqmm("predict", model, whole).stdout
    assert hqmm("baseline", whole, *paths).stdout == hqmm("baseline", whole, whole).stdout
    picks = [hqmm_json("select", *data, "-n", 2, "-w", 1, "--epochs", 2) for data in (paths, [whole])]
    for pick in picks:
        del pick["models"][0]["seconds"]
    assert picks[0] == picks[1]


def test_a_run_goes_on_with_all_of_its_files(tmp_path, parts):
    paths, _ = parts
    run = tmp_path / "run"
    assert hqmm("train", *paths, "--run", run, *QUICK).returncode == OK
    assert json.loads((run / "config.json").read_text())["train"] == [str(path) for path in paths]
    (run / "summary.json").unlink()
    assert hqmm("train", "--resume", run).returncode == OK
    paths[1].write_text("0 1 2 3\n")
    fails(BAD_DATA, "train", "--resume", run,
          says=["the data has changed since the run began", "part0.txt", "part1.txt"])


def test_an_error_names_the_file(tmp_path, parts):
    paths, _ = parts
    bad = tmp_path / "bad.txt"
    bad.write_text("0 1 x\n")
    fails(BAD_DATA, "train", *paths, bad, "-o", tmp_path / "m.h5", says="bad.txt:1:5")
    fails(USAGE, "train", "-", "-", "-o", tmp_path / "m.h5", says="only one input can come from stdin")
    fails(USAGE, "train", *paths, "-o", paths[1], says="would overwrite DATA")


def test_alphabets_are_told_from_all_files(tmp_path):
    dna, rna, protein = tmp_path / "dna.fa", tmp_path / "rna.fa", tmp_path / "protein.fa"
    dna.write_text(">a\nACGTACGT\n>b\nTTGACA\n")
    rna.write_text(">c\nACGUUUGC\n>d\nUUGACA\n")
    protein.write_text(">p\nMKVLAAGIVGLLLAQW\n")
    model = tmp_path / "m.h5"
    assert hqmm("train", dna, rna, "-o", model, *QUICK).returncode == OK
    assert hqmm_json("inspect", model)["alphabet"] == list("ACGT")
    fails(USAGE, "train", dna, protein, "-o", model, says="protein.fa: the alphabet is protein")
    assert hqmm("train", dna, protein, "--alphabet", "protein", "-o", model, *QUICK).returncode == OK


def test_a_file_per_class(tmp_path):
    rows = {"yes": ["ACGTAAAA", "ACGAAAAT", "CCGTAAAA", "AAGAAAAT"],
            "no": ["ACGTCCCC", "ACGCCCCT", "CCCTCACC", "ACGCCCAT"]}
    labelled = tmp_path / "all.txt"
    labelled.write_text("".join(f"{name}\t{row}\n" for name, all_rows in rows.items() for row in all_rows))
    options = []
    for name, all_rows in rows.items():
        for half in (0, 1):  # a class may come from several files
            path = tmp_path / f"{name}{half}.fa"
            path.write_text("".join(f">{name}{i}\n{row}\n" for i, row in enumerate(all_rows[2 * half:2 * half + 2])))
            options += ["--class", f"{name}={path}"]
    quick = ("--grid", "none", "--epochs", 2, "-n", 2, "-w", 1)
    clf = tmp_path / "clf.h5"
    done = hqmm("classify", "fit", *options, "-o", clf, *quick)
    assert done.returncode == OK, done.stderr
    same = tmp_path / "same.h5"
    assert hqmm("classify", "fit", labelled, "-o", same, *quick).returncode == OK
    assert clf.read_bytes() == same.read_bytes()
    found = hqmm_json("classify", "cross-validate", *options, "--folds", 2, *quick)
    assert sum(map(sum, found["confusion"])) == 8
    predicted = hqmm_json("classify", "predict", clf, tmp_path / "yes0.fa", tmp_path / "no1.fa")
    assert [row["name"] for row in predicted["rows"]] == ["yes0", "yes1", "no0", "no1"]

    fails(USAGE, "classify", "fit", labelled, *options, "-o", clf, says="not both")
    fails(USAGE, "classify", "fit", "-o", clf, says="DATA is required, or --class")
    fails(USAGE, "classify", "fit", "--class", "yes", "-o", clf, says="expected NAME=FILE")
    fails(USAGE, "classify", "fit", "--class", f"x={labelled}", "-o", clf, says="already has classes")
    fails(USAGE, "classify", "fit", *options, "-o", tmp_path / "yes0.fa", says="would overwrite --class")


def test_scores_of_files_with_and_without_classes(tmp_path, parts):
    paths, whole = parts
    model = tmp_path / "m.h5"
    assert hqmm("train", whole, "-o", model, *QUICK).returncode == OK
    labelled = tmp_path / "labelled.txt"
    labelled.write_text("yes\t0 1 2 1\n")
    rows = hqmm_json("score", model, paths[0], labelled, "--per-sequence")["per_sequence"]
    assert [row.get("class") for row in rows] == [None, None, None, "yes"]
    assert "–" in hqmm("score", model, paths[0], labelled, "--per-sequence").stdout


def test_an_empty_record_is_skipped_with_a_warning(tmp_path):
    model = tmp_path / "m.h5"
    data = tmp_path / "x.fa"
    data.write_text(">one\nACGT\n>two\n>three\nACGA\n\n>four\n")
    done = hqmm("train", data, "-o", model, *QUICK)
    assert done.returncode == OK
    assert "x.fa: 2 records are empty and were skipped, the first 'two' in line 3\n" in done.stderr
    rows = hqmm_json("score", model, data, "--per-sequence")["per_sequence"]
    assert [row["name"] for row in rows] == ["one", "three"]
    reads = tmp_path / "x.fq"
    reads.write_text("@a\nACGT\n+\nIIII\n@b\n\n+\n\n@c\nAC\n+\nII\n")
    done = hqmm("score", model, reads, "--quiet")
    assert "x.fq: record 'b' in line 5 is empty and was skipped" in done.stderr
    assert done.returncode == OK
    data.write_text(">one\n>two\n")
    done = hqmm("score", model, data)
    assert done.returncode == BAD_DATA and "x.fa: the input holds no sequences" in done.stderr
