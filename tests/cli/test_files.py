"""Model files, conversion, generation, sampling, inspection; output that fails half-way."""

import json
import math
import os
import pathlib
import subprocess

import h5py
import numpy as np
import pytest

from conftest import (BAD_DATA, BINARY, CANNOT_WRITE, NO_INPUT, OK, SOURCE, USAGE, fails, hqmm, hqmm_json,
                      random_kraus, write_hqmm)


@pytest.mark.parametrize("kind", ["synthetic-hmm", "synthetic-hqmm", "even", "fanizza"])
def test_generate_is_reproducible_and_complete(tmp_path, kind):
    for folder, threads in (("a", 1), ("b", 2)):
        assert hqmm("generate", kind, "-o", tmp_path / folder, "--threads", threads).returncode == OK
    names = sorted(p.name for p in (tmp_path / "a").iterdir())
    assert names == ["test.txt", "train.txt", "true_model.h5", "true_model.json", "validation.txt"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    rows = [line.split() for line in (tmp_path / "a" / "train.txt").read_text().splitlines()]
    assert len(rows) == 20 and all(len(row) == 3000 for row in rows)
    assert set().union(*rows) == set("012345" if kind.startswith("synthetic") else "01")
    hqmm("generate", kind, "-o", tmp_path / "c", "--seed", 2)
    assert (tmp_path / "a" / "test.txt").read_bytes() != (tmp_path / "c" / "test.txt").read_bytes()


@pytest.mark.parametrize("kind", ["synthetic-hmm", "synthetic-hqmm"])
def test_round_trips_keep_every_byte(tmp_path, kind):
    hqmm("generate", kind, "-o", tmp_path)
    path = tmp_path / "true_model.h5"
    for via in ("json", "mat"):
        assert hqmm("convert", path, tmp_path / f"x.{via}").returncode == OK
        assert hqmm("convert", tmp_path / f"x.{via}", tmp_path / "back.h5").returncode == OK
        assert (tmp_path / "back.h5").read_bytes() == path.read_bytes(), via


def test_h5py_reads_our_models_as_complex(tmp_path):
    hqmm("generate", "synthetic-hqmm", "-o", tmp_path)
    with h5py.File(tmp_path / "true_model.h5") as f:
        assert f.attrs["format"] == "hqmm-model" and f.attrs["version"] == 1 and f.attrs["kind"] == "hqmm"
        kraus = f["kraus"][...]
        assert kraus.shape == (6, 1, 2, 2) and kraus.dtype == np.complex128
        assert f["initial_state"][...].dtype == np.complex128
        assert list(f["alphabet"].asstr()[...]) == list("012345")
        assert json.loads(f["provenance"].asstr()[()])["seed"] == 1
    gram = np.einsum("yqij,yqik->jk", kraus.conj(), kraus)
    np.testing.assert_allclose(gram, np.eye(2), atol=1e-14)
    with h5py.File(tmp_path / "hmm.h5", "w") as f:
        pass
    hqmm("generate", "synthetic-hmm", "-o", tmp_path)
    with h5py.File(tmp_path / "true_model.h5") as f:
        assert f["transition"].shape == (6, 6) and f["emission"].shape == (6, 6) and f["initial"].shape == (6,)
        np.testing.assert_allclose(f["transition"][...].sum(axis=0), 1.0)


@pytest.mark.parametrize("how", ["rank-one", "cyclic"])
def test_embedded_hmm_scores_the_same(tmp_path, how):
    hqmm("generate", "synthetic-hmm", "-o", tmp_path)
    assert hqmm("convert", tmp_path / "true_model.h5", tmp_path / "q.h5", "--embed", how).returncode == OK
    a = hqmm_json("score", tmp_path / "true_model.h5", tmp_path / "test.txt")
    b = hqmm_json("score", tmp_path / "q.h5", tmp_path / "test.txt")
    assert b["log_likelihood"] == pytest.approx(a["log_likelihood"], rel=1e-12)
    fails(USAGE, "convert", tmp_path / "q.h5", tmp_path / "r.h5", "--embed", how, says="HQMM already")


def test_position_dependent_models_score(tmp_path):
    kraus = np.stack([random_kraus(2, 1, 2, seed=i) for i in range(3)])
    model = write_hqmm(tmp_path / "m.h5", kraus)
    text = "\n".join(f"{y:04b}".replace("", " ").strip() for y in range(16))
    score = hqmm_json("score", model, "-", "--per-sequence", stdin=text)
    assert sum(math.exp(o["log_likelihood"]) for o in score["per_sequence"]) == pytest.approx(1.0, abs=1e-12)
    assert hqmm_json("inspect", model)["stationary"] is False
    hqmm("convert", model, tmp_path / "m.json")
    hqmm("convert", tmp_path / "m.json", tmp_path / "back.h5")
    assert hqmm_json("score", tmp_path / "back.h5", "-", stdin=text)["log_likelihood"] == score["log_likelihood"]


def test_sampling_depends_on_the_seed_alone(model):
    one = hqmm("sample", model, "--count", 50, "--length", 40, "--threads", 1).stdout
    assert one == hqmm("sample", model, "--count", 50, "--length", 40, "--threads", 2).stdout
    assert one != hqmm("sample", model, "--count", 50, "--length", 40, "--seed", 2).stdout
    assert one.startswith(hqmm("sample", model, "--count", 3, "--length", 40).stdout)
    document = hqmm_json("sample", model, "--count", 2, "--length", 40)
    assert [" ".join(y) for y in document["sequences"]] == one.splitlines()[:2]
    assert hqmm("score", model, "-", stdin=one).returncode == OK


@pytest.mark.parametrize("process, bits", [("golden-mean", 2 / 3), ("nemo", 3 / 4), ("mess3", None)])
def test_generate_tells_the_entropy_rate(tmp_path, process, bits):
    rate = hqmm_json("generate", process, "-o", tmp_path)["entropy_rate"]
    assert rate["exact"] is (bits is not None)
    if bits is not None:
        assert rate["bits"] == pytest.approx(bits, abs=1e-12)
    scored = hqmm_json("score", tmp_path / "true_model.h5", tmp_path / "test.txt")
    assert scored["bits_per_symbol"] == pytest.approx(rate["bits"], abs=0.01)
    narrated = hqmm("generate", process, "-o", tmp_path).stderr
    said = f"{bits:.6f} bits per symbol, exactly" if bits else f"{rate['bits']:.5f} ± "
    assert f"entropy rate {said}" in narrated


def test_every_process_is_described(tmp_path):
    listed = hqmm("generate", "--help").stdout.split("Processes:\n")[1].split("\n\n")[0]
    page = (SOURCE / "docs/zoo.md").read_text(encoding="utf-8")
    names = [line.split()[0] for line in listed.splitlines()]
    assert len(names) == 10 and all(f"| `{name}` |" in page and f"**{name}**" in page for name in names)


def test_inspect_tells_what_the_stern_gerlach_model_does(tmp_path):
    hqmm("generate", "synthetic-hqmm", "-o", tmp_path)
    found = hqmm_json("inspect", tmp_path / "true_model.h5")
    assert found["kind"] == "hqmm" and (found["latent_dim"], found["kraus_rank"]) == (2, 1)
    assert found["feasibility_residual"] < 1e-12 and found["mixing_rate"] == pytest.approx(1 / 3)
    np.testing.assert_allclose(np.array(found["fixed_point"])[..., 0], np.eye(2) / 2, atol=1e-12)
    exact = -(1 / 3) * math.log(1 / 3) - (4 / 6) * math.log(1 / 6)
    assert found["entropy_rate"]["nats"] == pytest.approx(exact, abs=1e-9)
    assert "entropy rate" in hqmm("inspect", tmp_path / "true_model.h5").stdout


def test_infeasible_is_marked_wherever_it_is_shown(tmp_path):
    model = write_hqmm(tmp_path / "m.h5", 1.1 * random_kraus(2, 1, 2))
    assert hqmm_json("inspect", model)["feasible"] is False
    assert "INFEASIBLE" in hqmm("inspect", model).stdout
    assert "not trace preserving" in hqmm("sample", model).stderr


# Models that are wrong

def edit(path, change):
    with h5py.File(path, "r+") as f:
        change(f)
    return path


def put(name, value):
    def change(f):
        del f[name]
        f[name] = value
    return change


BROKEN = {
    "not a number": (put("kraus", np.full((3, 2, 2, 2), np.nan + 0j)), ["kraus[0,0,0,0]", "finite"]),
    "n of zero": (put("kraus", np.zeros((3, 2, 0, 0), complex)), ["kraus", "zero"]),
    "w of zero": (put("kraus", np.zeros((3, 0, 2, 2), complex)), ["kraus", "zero"]),
    "not square": (put("kraus", np.zeros((3, 2, 2, 3), complex)), ["kraus", "(3, 2, 2, 3)"]),
    "wrong rank": (put("kraus", np.zeros((2, 2), complex)), ["kraus"]),
    "text for numbers": (put("kraus", "hello"), ["kraus", "expected"]),
    "state of another size": (put("initial_state", np.eye(3, dtype=complex) / 3), ["3×3", "2×2"]),
    "state of trace two": (put("initial_state", np.eye(2, dtype=complex)), ["trace 2"]),
    "state not Hermitian": (put("initial_state", np.array([[.5, .3], [0, .5]], complex)), ["Hermitian"]),
    "negative state": (put("initial_state", np.array([[1.5, 0], [0, -.5]], complex)), ["eigenvalue -0.5"]),
    "short alphabet": (lambda f: f.create_dataset("alphabet", data=["a", "b"]), ["alphabet has 2", "3"]),
    "alphabet twice": (lambda f: f.create_dataset("alphabet", data=["a", "b", "a"]), ["twice"]),
    "other format": (lambda f: f.attrs.__setitem__("format", "keras"), ["format", "hqmm-model", "keras"]),
    "no format": (lambda f: f.attrs.__delitem__("format"), ["format", "missing"]),
    "newer version": (lambda f: f.attrs.__setitem__("version", 99), ["version 99"]),
    "other kind": (lambda f: f.attrs.__setitem__("kind", "rnn"), ["rnn"]),
    "no kraus": (lambda f: f.__delitem__("kraus"), ["kraus", "missing"]),
    "map to nowhere": (lambda f: f.create_dataset("position_map", data=[0, 5]), ["position_map", "set 5"]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_model_gets_one_clear_line(model, data, name):
    change, says = BROKEN[name]
    edit(model, change)
    for command in (["score", model, data], ["inspect", model], ["sample", model]):
        fails(BAD_DATA, *command, says=[str(model), *says])


def test_damaged_model_files(tmp_path, model, data):
    whole = model.read_bytes()
    for name, content in {"half": whole[: len(whole) // 2], "empty": b"", "junk": os.urandom(4096),
                          "json": b'{"kraus": [[1, 2', "foreign": b"PK\x03\x04" + b"\0" * 100}.items():
        path = tmp_path / f"{name}.h5"
        path.write_bytes(content)
        fails(BAD_DATA, "score", path, data, says=str(path))
    with h5py.File(tmp_path / "other.h5", "w") as f:
        f["weights"] = np.ones(3)
    fails(BAD_DATA, "score", tmp_path / "other.h5", data, says="format")


def test_truncated_anywhere_is_bad_data_never_a_crash(tmp_path, model, data):
    whole = model.read_bytes()
    path = tmp_path / "cut.h5"
    for size in range(0, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:size])
        assert hqmm("score", path, data).returncode in (OK, BAD_DATA), size


@pytest.mark.skipif(bool(os.environ.get("HQMM_SANITIZE")), reason="skipped: a sanitizer ends at HDF5's own faults")
def test_flipped_bytes_are_never_a_crash(tmp_path, model, data):
    whole = bytearray(model.read_bytes())
    rng = np.random.default_rng(0)
    path = tmp_path / "flipped.h5"
    for _ in range(80):
        bad = whole.copy()
        for position in rng.integers(len(whole), size=rng.integers(1, 6)):
            bad[position] = rng.integers(256)
        path.write_bytes(bad)
        done = hqmm("score", path, data, timeout=20)
        assert done.returncode in (OK, BAD_DATA), (done.returncode, done.stderr)


@pytest.mark.parametrize("hmm, says", [
    ({"transition": [[0.5, 0.1], [0.5, 0.8]]}, ["column 1 of transition sums to 0.9"]),
    ({"transition": [[1.5, 0.0], [-0.5, 1.0]]}, ["transition[1,0]", "negative"]),
    ({"emission": [[1.0], [0.0]]}, ["emission"]),
    ({"initial": [0.2, 0.2]}, ["initial", "0.4"]),
    ({"emission": [["a", "b"], [0, 1]]}, ["emission", "numbers"]),
])
def test_broken_hmm_gets_one_clear_line(tmp_path, data, hmm, says):
    path = tmp_path / "hmm.json"
    whole = {"transition": [[0.5, 0.2], [0.5, 0.8]], "emission": [[0.1, 0.9], [0.9, 0.1]], "initial": [1, 0]}
    path.write_text(json.dumps({**whole, **hmm}))
    fails(BAD_DATA, "score", path, data, says=[str(path), *says])


def test_missing_inputs(tmp_path, model, data):
    fails(NO_INPUT, "score", tmp_path / "none.h5", data, says=["none.h5", "no such file"])
    fails(NO_INPUT, "score", model, tmp_path / "none.txt", says="none.txt")
    fails(NO_INPUT, "score", model, tmp_path, says="directory")


# Output that cannot be written

def test_unwritable_output(tmp_path, model, data):
    fails(CANNOT_WRITE, "convert", model, tmp_path / "no" / "such" / "x.h5", says="x.h5")
    fails(CANNOT_WRITE, "generate", "synthetic-hmm", "-o", data, says=str(data))
    with open("/dev/full", "w") as full:
        done = subprocess.run([BINARY, "sample", str(model)], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == CANNOT_WRITE and b"stdout" in done.stderr


def test_full_disk_leaves_the_previous_file(tmp_path, model):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("skipped: mounting a small tmpfs needs root")
    try:
        small = disk / "model.h5"
        assert hqmm("convert", model, small).returncode == OK
        before = small.read_bytes()
        big = write_hqmm(tmp_path / "big.h5", random_kraus(20, 2, 12))
        fails(CANNOT_WRITE, "convert", big, small, says=["model.h5", "No space left"])
        assert small.read_bytes() == before and [p.name for p in disk.iterdir()] == ["model.h5"]
    finally:
        subprocess.run(["umount", disk], check=True)
