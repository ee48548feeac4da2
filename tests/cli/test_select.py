"""hqmm select and hqmm baseline, and HMMs that emit on their edges through every command."""

import json
import math
import pathlib
import random
import shutil
import signal
import subprocess
import time

import h5py
import numpy as np
import pytest

from conftest import BAD_DATA, BINARY, OK, USAGE, fails, hqmm, hqmm_json

SMALL = ["-n", "1,2", "-w", "1,2", "--epochs", 2]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The even process: ones come in runs of even length."""
    folder = tmp_path_factory.mktemp("even")
    rng = np.random.default_rng(3)
    for name, rows in (("train", 12), ("validation", 6)):
        lines = []
        for _ in range(rows):
            line = []
            while len(line) < 60:
                line += [0] if rng.random() < 0.5 else [1, 1]
            lines.append(" ".join(map(str, line[:60])))
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def edge(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("edge") / "edge.h5"
    done = hqmm("train", data / "train.txt", "--validation", data / "validation.txt", "--learner", "em", "--emission", "edge",
                "-n", 2, "--restarts", 4, "--epochs", 100, "-o", path, "--quiet")
    assert done.returncode == OK, done.stderr
    return path


def test_ranks_by_validation_and_keeps_the_best(data, tmp_path):
    out = tmp_path / "best.h5"
    found = hqmm_json("select", data / "train.txt", "--validation", data / "validation.txt", *SMALL, "-o", out, "--quiet")
    models = found["models"]
    assert sorted((m["latent_dim"], m["kraus_rank"]) for m in models) == [(1, 1), (1, 2), (2, 1), (2, 2)]
    bits = [m["validation_bits_per_symbol"] for m in models]
    assert bits == sorted(bits)
    assert {(m["latent_dim"], m["kraus_rank"]): m["parameters"] for m in models} == {
        (1, 1): 1, (1, 2): 1, (2, 1): 7, (2, 2): 17}
    score = hqmm_json("score", out, data / "validation.txt")
    assert score["bits_per_symbol"] == pytest.approx(bits[0], rel=1e-12)
    assert models[0]["behind_best"] == 0 and models[1]["behind_best_standard_error"] >= 0


def test_a_size_is_what_train_makes_of_it(data, tmp_path):
    args = [data / "train.txt", "--validation", data / "validation.txt", "-n", 2, "-w", 2, "--epochs", 2, "--quiet"]
    hqmm("select", *args, "-o", tmp_path / "a.h5")
    hqmm("train", *args, "-o", tmp_path / "b.h5")
    with h5py.File(tmp_path / "a.h5") as a, h5py.File(tmp_path / "b.h5") as b:
        assert np.array_equal(a["kraus"][...], b["kraus"][...])


def test_the_threads_change_nothing(data, tmp_path):
    for threads in (1, 2):
        hqmm("select", data / "train.txt", *SMALL, "--threads", threads, "-o", tmp_path / f"{threads}.h5", "--quiet")
    assert (tmp_path / "1.h5").read_bytes() == (tmp_path / "2.h5").read_bytes()


def test_shows_a_table_and_writes_nothing_without_o(data, tmp_path):
    done = hqmm("select", data / "train.txt", "--learner", "em", "-n", "1,2", "--restarts", 2, "--epochs", 5, cwd=tmp_path)
    assert done.returncode == OK, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3 and "parameters" in lines[0] and "bits/symbol" in lines[0]
    assert not list(tmp_path.iterdir())


def test_a_selection_goes_on_where_it_was_stopped(data, tmp_path):
    args = ["select", data / "train.txt", "--validation", data / "validation.txt", "-n", "2,6", "-w", 2, "--epochs", 120,
            "--threads", 2, "--json", "--quiet"]
    run, out = tmp_path / "run", tmp_path / "best.h5"
    process = subprocess.Popen([BINARY, *map(str, args), "--run", run], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not (run / "cells" / "n6-w2" / "checkpoint.h5").exists() and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130 and f"resume with 'hqmm select --resume {run}'" in said, said
    assert "of 2" in hqmm("inspect", run).stdout
    resumed = hqmm_json("select", "--resume", run, "-o", out, "--threads", 1, "--quiet")
    whole = hqmm_json(*args[:-2], "-o", tmp_path / "whole.h5", "--quiet")
    for found in (resumed, whole):
        for model in found["models"]:
            del model["seconds"]
    assert resumed["models"] == whole["models"]
    assert out.read_bytes() == (tmp_path / "whole.h5").read_bytes()
    assert hqmm("train", "--resume", run).returncode == BAD_DATA, "it is a selection"
    fails(USAGE, "select", "--resume", run, "--epochs", 3, says="--epochs")
    fails(USAGE, *args[:-2], "--run", run, says="holds a run already")


def test_a_selection_of_someone_else_chooses_no_file(data, tmp_path):
    run = tmp_path / "run"
    assert hqmm("select", data / "train.txt", *SMALL, "--run", run, "--quiet").returncode == OK
    config = json.loads((run / "config.json").read_text())
    config["cells"][0]["name"] = "../../elsewhere"
    (run / "config.json").write_text(json.dumps(config))
    fails(BAD_DATA, "select", "--resume", run, says="config.json")
    shutil.move(run / "cells", tmp_path / "cells")
    (run / "cells").symlink_to(tmp_path / "cells")
    fails(USAGE, "select", "--resume", run, says="is a link")


def test_select_refuses_what_is_about_one_run(data):
    fails(USAGE, "select", data / "train.txt", "--live", says="--live")
    fails(USAGE, "select", data / "train.txt", "-n", "2,x", says="x")


def test_edges_are_columns_that_sum_to_one(edge):
    with h5py.File(edge) as f:
        assert f.attrs["kind"] in ("hmm", b"hmm")
        edges = f["edges"][...]
    assert edges.shape == (2, 2, 2)
    assert np.allclose(edges.sum(axis=(0, 1)), 1, atol=1e-12)


def test_edges_beat_states_where_symbols_belong_to_moves(data, edge, tmp_path):
    out = tmp_path / "state.h5"
    hqmm("train", data / "train.txt", "--validation", data / "validation.txt", "--learner", "em", "-n", 2, "--restarts", 4,
         "--epochs", 100, "-o", out, "--quiet")
    found = hqmm_json("score", edge, data / "validation.txt")["bits_per_symbol"]
    assert found < hqmm_json("score", out, data / "validation.txt")["bits_per_symbol"] - 0.02
    assert found == pytest.approx(2 / 3, abs=0.08)  # one fair bit in every 1.5 symbols


def test_every_command_takes_edges(data, edge, tmp_path):
    seen = hqmm_json("inspect", edge, "--figure", tmp_path / "spectrum.svg")
    assert (seen["kind"], seen["emission"], seen["parameters"]) == ("hmm", "edge", 5)
    assert "<svg" in (tmp_path / "spectrum.svg").read_text()
    bits = hqmm_json("score", edge, data / "validation.txt")["bits_per_symbol"]
    for name in ("same.json", "same.mat"):
        assert hqmm("convert", edge, tmp_path / name).returncode == OK
        assert hqmm_json("score", tmp_path / name, data / "validation.txt")["bits_per_symbol"] == bits
    for how in ("rank-one", "cyclic"):
        assert hqmm("convert", edge, tmp_path / "hqmm.h5", "--embed", how).returncode == OK
        assert hqmm_json("score", tmp_path / "hqmm.h5", data / "validation.txt")["bits_per_symbol"] == pytest.approx(bits, abs=1e-9)
    done = hqmm("sample", edge, "--count", 3, "--length", 50)
    assert done.returncode == OK and len(done.stdout.splitlines()) == 3
    after = hqmm("predict", edge, stdin="0 1 1 0 \n")
    assert all(abs(sum(map(float, line.split())) - 1) < 1e-12 for line in after.stdout.splitlines())


def test_a_run_of_edges_goes_on(data, tmp_path):
    args = ["--learner", "em", "--emission", "edge", "-n", 2, "--restarts", 1, "--epochs", 4, "--quiet"]
    hqmm("train", data / "train.txt", *args, "--run", tmp_path / "run")
    assert json.loads((tmp_path / "run" / "config.json").read_text())["options"]["emission"] == "edge"
    first = (tmp_path / "run" / "model.h5").read_bytes()
    assert hqmm("train", "--resume", tmp_path / "run", "--quiet").returncode == OK
    assert (tmp_path / "run" / "model.h5").read_bytes() == first


def test_damaged_edges_are_named(edge, tmp_path):
    bad = tmp_path / "bad.h5"
    bad.write_bytes(edge.read_bytes())
    with h5py.File(bad, "r+") as f:
        f["edges"][0, 0, 0] = -1
    fails(BAD_DATA, "inspect", bad, says="edges[0][0,0] = -1 is negative")


def test_baseline_counts(tmp_path):
    (tmp_path / "train.txt").write_text("0 0 0 1\n")
    (tmp_path / "test.txt").write_text("1 0\n0 1\n")
    found = hqmm_json("baseline", tmp_path / "train.txt", tmp_path / "test.txt", "--order", "0,1", "--pseudo-count", 1)
    zero, one = found["chains"]
    p = [4 / 6, 2 / 6]  # counts 3 and 1, each with one more
    assert zero["bits_per_symbol"] == pytest.approx(-(math.log2(p[0]) + math.log2(p[1])) / 2)
    after = [[(2 + 2 * p[0]) / 5, (1 + 2 * p[1]) / 5], p]  # nothing ever followed a 1
    expected = -(math.log2(p[1] * after[1][0]) + math.log2(p[0] * after[0][1])) / 4
    assert one["bits_per_symbol"] == pytest.approx(expected)
    assert (zero["parameters"], one["parameters"]) == (1, 1)  # nothing followed a 1


def test_baseline_says_when_an_order_is_too_large(tmp_path):
    path = tmp_path / "many.txt"
    path.write_text(" ".join(map(str, range(40))) + "\n")
    fails(USAGE, "baseline", path, path, "--order", "3,30", says="too large: at most 10")


def test_baseline_chooses_the_smoothing_by_validation(tmp_path):
    rng = random.Random(3)
    for name, lines in (("train", 2), ("validation", 5), ("test", 5)):
        (tmp_path / f"{name}.txt").write_text("".join(" ".join(rng.choices("0123", k=60)) + "\n" for _ in range(lines)))
    files = [tmp_path / f"{name}.txt" for name in ("train", "test", "validation")]
    chosen = hqmm_json("baseline", files[0], files[1], "--validation", files[2], "--order", "3")["chains"][0]
    # Noise: the more smoothing the better.
    assert chosen["pseudo_count"] == 1024
    given = hqmm_json("baseline", files[0], files[1], "--pseudo-count", 1024, "--order", "3")["chains"][0]
    assert given["bits_per_symbol"] == chosen["bits_per_symbol"]


def test_select_keeps_every_model(data, tmp_path):
    found = hqmm_json("select", data / "train.txt", "-n", "2,3", "-w", "1", "--epochs", 2, "--models", tmp_path / "all",
                      "-o", tmp_path / "best.h5")
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["n2-w1.h5", "n3-w1.h5"]
    best = found["models"][0]
    assert best["model"].endswith(f"n{best['latent_dim']}-w1.h5")
    assert (tmp_path / "best.h5").read_bytes() == pathlib.Path(best["model"]).read_bytes()
    fails(USAGE, "select", data / "train.txt", "-n", "2", "-w", "1", "--models", tmp_path / "best.h5", says="folder")


def test_structure_can_vary(tmp_path, data):
    found = hqmm_json("select", data / "train.txt", "--validation", data / "validation.txt", "-n", 2, "-w", 1, "--epochs", 2,
                      "--field", "complex,real", "--emission", "edge,state", "--models", tmp_path / "models",
                      "-o", tmp_path / "best.h5")
    kinds = {(one["field"], one["emission"]): one for one in found["models"]}
    assert set(kinds) == {(f, e) for f in ("complex", "real") for e in ("edge", "state")}
    assert kinds["real", "state"]["parameters"] < kinds["complex", "edge"]["parameters"]
    names = sorted(path.name for path in (tmp_path / "models").iterdir())
    assert names == ["n2-w1-complex-edge.h5", "n2-w1-complex-state.h5", "n2-w1-real-edge.h5", "n2-w1-real-state.h5"]
    best = found["models"][0]
    shown = hqmm_json("inspect", tmp_path / "best.h5", "--entropy-symbols", 256)
    assert (shown["field"], shown["emission"]) == (best["field"], best["emission"])


def test_an_hmm_has_no_field(data):
    run = hqmm("select", data / "train.txt", "--learner", "em", "--field", "real")
    assert run.returncode == USAGE and "--field" in run.stderr
