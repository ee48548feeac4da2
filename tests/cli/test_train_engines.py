"""hqmm train --engine, and HQMM_SIMD: what is chosen, what is refused, what is kept of the choice."""

import json

import pytest

from conftest import OK, USAGE, fails, hqmm, hqmm_json
from test_train import SMALL, arrays, benchmark, data, provenance, train  # noqa: F401

PURE = ["-n", 2, "-w", 1, "--epochs", 3, "--initial-state", "pure"]
ENGINES = ["auto", "naive", "factor", "pure", "lanes", "superoperator", "kraus"]


@pytest.mark.parametrize("learner", ["ns-ris", "cosm"])
def test_engines_agree(tmp_path, data, learner):
    scores = {}
    for engine in ENGINES:
        out = train(data, tmp_path / "m.h5", *PURE, "--learner", learner, "--engine", engine)
        scores[engine] = out["validation"]["log_likelihood"]
        assert provenance(tmp_path / "m.h5")["options"]["engine"] == engine
    assert scores == pytest.approx({engine: scores["naive"] for engine in ENGINES}, rel=1e-9)


@pytest.mark.parametrize("args, says", [
    (["--engine", "turbo"], ["--engine", "superoperator", "turbo"]),
    (["--engine", "factor", "-w", 2], ["engine factor", "Kraus rank of 1", "auto"]),
    (["--engine", "pure", "-w", 1], ["engine pure", "not pure"]),
    (["--engine", "lanes", "-n", 3], ["engine lanes", "n = 2"]),
    (["--engine", "lanes", "-n", 2, "--retraction", "literal"], ["engine lanes", "feasible"]),
    (["--engine", "kraus", "--learner", "em"], ["--engine", "em"]),
    (["--engine", "kraus", "--learner", "givens"], ["--engine", "givens"]),
], ids=lambda value: " ".join(map(str, value)))
def test_engines_that_do_not_fit_are_wrong_usage(tmp_path, data, args, says):
    fails(USAGE, "train", data, "-o", tmp_path / "m.h5", "--run", tmp_path / "run", "--quiet", *args, says=says)
    assert list(tmp_path.iterdir()) == []


def test_engines_that_do_not_fit_the_data(tmp_path):
    (tmp_path / "d.txt").write_text("0 1 ? 0 1 1\n1 0 1 ? 0\n0 ? 1 1\n")
    args = ["train", tmp_path / "d.txt", "-o", tmp_path / "m.h5", "--run", tmp_path / "run", "--quiet"]
    fails(USAGE, *args, *PURE, "--engine", "factor", says=["engine factor", "missing symbols"])
    assert [p.name for p in tmp_path.iterdir()] == ["d.txt"]


def test_the_engine_of_a_run_is_kept(tmp_path, data):
    run = tmp_path / "run"
    train(data, tmp_path / "m.h5", *SMALL, "--engine", "kraus", "--run", run)
    config = json.loads((run / "config.json").read_text())
    assert config["options"]["engine"] == "kraus" and config["simd"] in ("avx512", "avx2", "sse4", "scalar")
    assert hqmm_json("inspect", run)["simd"] == config["simd"]
    assert "engine kraus" in hqmm("inspect", run).stdout
    model = (tmp_path / "m.h5").read_bytes()
    for name in ("checkpoint.h5", "checkpoint-before.h5"):
        (run / name).unlink()
    assert hqmm("train", "--resume", run).returncode == OK
    assert (tmp_path / "m.h5").read_bytes() == model
    fails(USAGE, "train", "--resume", run, "--engine", "naive", says="--engine")


def test_simd_targets_agree_and_are_told(tmp_path, data, monkeypatch):
    run = tmp_path / "run"
    for target in ("scalar", "sse4"):
        monkeypatch.setenv("HQMM_SIMD", target)
        scores = [train(data, tmp_path / name, *SMALL)["validation"]["log_likelihood"] for name in ("a.h5", "b.h5")]
        assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()
        assert provenance(tmp_path / "a.h5")["simd"] == target
    monkeypatch.delenv("HQMM_SIMD")
    assert train(data, tmp_path / "c.h5", *SMALL)["validation"]["log_likelihood"] == pytest.approx(scores[0], rel=1e-9)
    # a run that goes on on another one says so, once
    monkeypatch.setenv("HQMM_SIMD", "scalar")
    train(data, tmp_path / "m.h5", *SMALL, "--run", run)
    assert hqmm("train", "--resume", run, "--quiet").stderr == ""
    monkeypatch.setenv("HQMM_SIMD", "sse4")
    done = hqmm("train", "--resume", run, "--quiet")
    assert done.returncode == OK and "began on scalar" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("args", [["train", "d.txt", "-o", "m.h5"], ["score", "m.h5", "d.txt"], ["sample", "m.h5"]])
def test_wrong_simd_targets_are_wrong_usage(tmp_path, monkeypatch, args):
    monkeypatch.setenv("HQMM_SIMD", "nonsense")
    fails(USAGE, *args, says=["HQMM_SIMD", "nonsense", "avx512, avx2, sse4 or scalar"], cwd=tmp_path)
    assert hqmm("--help").returncode == OK
