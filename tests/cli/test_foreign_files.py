"""HDF5 and MATLAB files from anywhere: they reach no other file, crash nothing, and cost what their size explains."""

import h5py
import numpy as np
import pytest

from conftest import BAD_DATA, OK, fails, hqmm

SECRET = b"\x00\x01\x02\x03\x01\x00\x02\x01"


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(SECRET)
    return path


# A file that keeps its data elsewhere

def external(f, secret, name, shape, dtype):
    f.create_dataset(name, shape, dtype, external=[(str(secret), 0, h5py.h5f.UNLIMITED)])


def virtual(f, secret, name, shape, dtype):
    source = secret.with_suffix(".h5")
    with h5py.File(source, "w") as other:
        other.create_dataset("d", data=np.ones(shape, dtype))
    layout = h5py.VirtualLayout(shape, dtype)
    layout[...] = h5py.VirtualSource(source, "d", shape)
    f.create_virtual_dataset(name, layout)


def linked(f, secret, name, shape, dtype):
    source = secret.with_suffix(".h5")
    with h5py.File(source, "w") as other:
        other.create_dataset("d", data=np.ones(shape, dtype))
    f[name] = h5py.ExternalLink(str(source), "/d")


def linked_twice(f, secret, name, shape, dtype):
    linked(f, secret, "away", shape, dtype)
    f[name] = h5py.SoftLink("/away")


ELSEWHERE = [external, virtual, linked, linked_twice]


@pytest.mark.parametrize("how", ELSEWHERE)
def test_sequences_of_other_files_are_not_read(tmp_path, secret, how):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as f:
        how(f, secret, "sequences", (2, 4), "int8")
    fails(BAD_DATA, "baseline", path, path, says=str(path))
    fails(BAD_DATA, "baseline", path, path, "--variable", "sequences", says=str(path))


@pytest.mark.parametrize("how", ELSEWHERE)
@pytest.mark.parametrize("item", ["kraus", "alphabet", "provenance"])
def test_models_of_other_files_are_not_read(tmp_path, model, data, secret, how, item):
    shape, dtype = {"kraus": ((3, 2, 2, 2), complex), "alphabet": ((3,), "S2"), "provenance": ((1,), "S8")}[item]
    with h5py.File(model, "r+") as f:
        if item in f:
            del f[item]
        how(f, secret, item, shape, dtype)
    done = fails(BAD_DATA, "score", model, data, says=[str(model), item])
    if how is not linked_twice:
        assert "other file" in done.stderr or "another file" in done.stderr


@pytest.mark.parametrize("how", [external, linked])
def test_classifiers_of_other_files_are_not_read(tmp_path, secret, how):
    rows = tmp_path / "rows.txt"
    rows.write_text("".join(f"{c}\t0 1 1 0 {i % 2}\n" for i in range(6) for c in "ab"))
    path = tmp_path / "c.h5"
    assert hqmm("classify", "fit", rows, "-n", 1, "-w", 1, "--epochs", 1, "-o", path).returncode == OK
    for item, shape, dtype in (("priors", (2,), float), ("classes", (2,), "S2")):
        with h5py.File(path, "r+") as f:
            del f[item]
            how(f, secret, item, shape, dtype)
        fails(BAD_DATA, "classify", "predict", path, rows, says=[str(path), item])


def test_links_inside_the_file_are_followed(tmp_path, model, data):
    expected = hqmm("score", model, data).stdout
    with h5py.File(model, "r+") as f:
        f["kept"] = f["kraus"]
        del f["kraus"]
        f["kraus"] = h5py.SoftLink("/kept")
    assert hqmm("score", model, data).stdout == expected


# What reading may cost

def test_a_data_set_that_announces_more_than_it_holds(tmp_path):
    path = tmp_path / "hollow.h5"
    with h5py.File(path, "w") as f:
        rows = f.create_dataset("rows", (1_000_000, 1000), "int8", chunks=(100, 1000))
        rows[0, :] = 1
    done = fails(BAD_DATA, "baseline", path, path, says=[str(path), "rows", "--max-ratio"])
    assert len(done.stderr) < 400


def test_compressed_data_sets_are_read(tmp_path):
    path = tmp_path / "packed.h5"
    with h5py.File(path, "w") as f:
        f.create_dataset("rows", data=np.arange(200_000, dtype="int8").reshape(200, 1000) % 3, compression="gzip")
    assert hqmm("baseline", path, path).returncode == OK
