"""Files made to do harm: each gives a right answer or one clear line, never a crash."""

import bz2
import gzip
import json
import lzma
import os
import threading

import pytest

from conftest import BAD_DATA, OK, SOURCE, fails, hqmm, hqmm_json, random_kraus, shared, write_hqmm

HOSTILE = sorted((SOURCE / "tests" / "formats" / "hostile").glob("*.json"))
COMMANDS = [("score", "{model}", "{data}"), ("sample", "{model}", "--count", "2", "--length", "5"),
            ("predict", "{model}", "{data}"), ("inspect", "{model}"), ("inspect", "{model}", "--json"),
            ("convert", "{model}", "{out}.h5"), ("convert", "{model}", "{out}.json")]


def one_symbol_twice(path):
    """Two symbols of the model's alphabet, where it can be told."""
    try:
        found = json.loads(path.read_bytes().decode(errors="replace"))
        tokens = found.get("alphabet") or ["0"]
    except (ValueError, RecursionError):
        tokens = ["0"]
    return f"{tokens[0]} {tokens[-1]}\n"


def run_all(path, tmp_path):
    data = tmp_path / "data.txt"
    data.write_text(one_symbol_twice(path))
    for command in COMMANDS:
        args = [part.format(model=path, data=data, out=tmp_path / "out") for part in command]
        yield hqmm(*args)


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: path.stem)
def test_hostile_models_are_bad_data(path, tmp_path):
    for done in run_all(path, tmp_path):
        assert done.returncode == BAD_DATA, (done.args, done.stderr)
        assert done.stderr.count("\n") == 1, done.stderr


def test_known_attacks_are_answered(tmp_path):
    for path in sorted(shared("attack").glob("*.json")):
        for done in run_all(path, tmp_path):
            assert done.returncode in (OK, BAD_DATA), (done.args, done.stderr)
            assert done.stderr.count("\n") <= 3, (done.args, done.stderr)
            assert "weight of" not in done.stderr or "nan" not in done.stderr, (done.args, done.stderr)


def test_deep_provenance_of_hdf5_is_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = write_hqmm(tmp_path / "deep.h5", random_kraus(2, 1, 2))
    with h5py.File(path, "a") as f:
        f["provenance"] = "[" * 65_000 + "]" * 65_000
    fails(BAD_DATA, "inspect", path, says=["provenance", "JSON"])


def test_probabilities_near_the_least_double_are_answered(tmp_path):
    model = tmp_path / "tiny.json"
    eye = lambda x: [[[x, 0.0], [0.0, 0.0]], [[0.0, 0.0], [x, 0.0]]]
    model.write_text(json.dumps({"kraus": [[eye(1.0)], [eye(1e-160)]]}))
    data = tmp_path / "data.txt"
    data.write_text("1 1 0\n0 1\n")
    assert hqmm_json("score", model, data)["log_likelihood"] == pytest.approx(3 * -736.8272408909739)
    assert hqmm("predict", model, data).returncode == OK


def test_json_cannot_hold_tokens_that_are_no_utf8(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = write_hqmm(tmp_path / "latin1.h5", random_kraus(2, 1, 2))
    with h5py.File(path, "a") as f:
        f.create_dataset("alphabet", data=[b"caf\xe9", b"b"], dtype=h5py.string_dtype())
    says = ["caf\\xe9", "not UTF-8"]
    fails(BAD_DATA, "convert", path, tmp_path / "out.json", says=[*says, ".h5"])
    fails(BAD_DATA, "sample", path, "--json", "--length", 5, says=[*says, "--json"])
    assert not (tmp_path / "out.json").exists()


def test_inspect_reads_a_pipe_once(tmp_path):
    source = write_hqmm(tmp_path / "model.h5", random_kraus(2, 1, 2))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(source.read_bytes()))
    writer.start()
    done = hqmm("inspect", pipe)
    writer.join()
    assert done.returncode == OK, done.stderr
    assert "HQMM, n = 2" in done.stdout


@pytest.mark.parametrize("module", [gzip, lzma, bz2])
def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path, module):
    path = tmp_path / "bomb.txt.packed"
    with module.open(path, "wb") as f:
        for _ in range(70):
            f.write(b"0 1 " * (1 << 18) + b"\n")
    assert path.stat().st_size * 500 < 70 << 20
    model = write_hqmm(tmp_path / "model.h5", random_kraus(2, 1, 2))
    if "built without" in hqmm("score", model, path).stderr:
        pytest.skip("this build lacks the library")
    fails(BAD_DATA, "score", model, path, says=["more than 500 times its size", "--max-ratio"])
    fails(BAD_DATA, "inspect", path, says=["more than 500 times its size", "unpack it first"])
    fails(BAD_DATA, "score", model, path, "--max-ratio", 600, says="more than 600 times")


def test_a_class_of_a_hundred_kilobytes_is_refused_without_printing_it(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("x" * 100_000 + "\t0 1 2\ny\t0 1 2\n")
    done = fails(BAD_DATA, "convert", path, tmp_path / "out.txt", says="more than 65536 bytes")
    assert len(done.stderr) < 400


def test_a_class_that_text_cannot_hold_is_refused(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('class,a,b\n"two\nlines",0,1\nplain,1,1\n')
    fails(BAD_DATA, "convert", path, tmp_path / "out.txt", "--label-column", "class",
          says=["two\\u000alines", "cannot be written as text"])
    assert not (tmp_path / "out.txt").exists()
