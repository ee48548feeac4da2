"""hqmm inspect RUN, and the theorem as a measurement: train --stationarity."""

import json

import pytest

from conftest import BAD_DATA, NO_INPUT, OK, fails, hqmm, hqmm_json
from run_directories import epochs, history, run  # noqa: F401
from test_train import QUICK, SMALL, benchmark, data, train  # noqa: F401

TERMS = ["descent", "smoothness", "retraction", "tracking"]
QUANTITIES = ["steps", "samples", "step_size", "momentum", "batch_size", "latent_dim", "epsilon", "rho_mean",
              "rho_mean_square", "sigma", "gradient_bound", "lipschitz", "descent", "momentum_mismatch",
              "largest_feasibility_residual", "measured", "bound"]


def test_every_term_of_the_bound(tmp_path, data):
    run = tmp_path / "run"
    train(data, tmp_path / "m.h5", *SMALL, "--run", run, "--stationarity")
    found = json.loads((run / "stationarity.json").read_text())
    assert all(isinstance(found[key], (int, float)) for key in QUANTITIES)
    assert sum(found["terms"][key] for key in TERMS) == pytest.approx(found["bound"], rel=1e-12)
    assert found["holds"] is (found["measured"] <= found["bound"])
    assert found["assumptions"] == {"constant_step_size": True, "on_manifold": True, "direction_error_below_one": True}
    assert found["largest_feasibility_residual"] < 1e-12
    assert {r["step_size"] for r in history(run)[1:]} == {0.2}  # constant
    shown = hqmm("inspect", run).stdout
    for text in ("D/(η(1−ε)K)", "L(1+ε)²η/(1−ε)", "(2G₁ρ̄ + Lq̄)/(η(1−ε))", "2𝒯/(1−ε)", "≤", "σ", "G₁", "holds"):
        assert text in shown
    assert "VIOLATED" not in shown
    assert hqmm_json("inspect", run)["stationarity"] == found
    # a finished run keeps its measurement; one that was broken off measures again from the beginning
    assert hqmm("train", "--resume", run).returncode == OK
    assert json.loads((run / "stationarity.json").read_text()) == found
    (run / "stationarity.json").unlink()
    done = hqmm("train", "--resume", run)
    assert "from the beginning" in done.stderr
    assert json.loads((run / "stationarity.json").read_text()) == found


def test_a_bound_out_of_time_is_measured_again_from_the_beginning(tmp_path, data):
    args = ["train", data, "-n", 2, "-w", 1, "--stationarity", "--epochs", 4, "--quiet"]
    hqmm(*args, "--run", tmp_path / "a", "--time-limit", 1e-9)
    assert json.loads((tmp_path / "a" / "stationarity.json").read_text())["steps"] == 0
    assert hqmm("inspect", tmp_path / "a").returncode == OK  # with little to say
    assert hqmm("train", "--resume", tmp_path / "a", "--time-limit", 100).returncode == OK
    assert hqmm(*args, "--run", tmp_path / "b").returncode == OK
    a, b = ((tmp_path / name / "stationarity.json").read_bytes() for name in "ab")
    assert a == b and epochs(tmp_path / "a") == epochs(tmp_path / "b")


def test_literal_runs_violate_an_assumption_and_inspect_says_which(tmp_path, data):
    run = tmp_path / "run"
    train(data, tmp_path / "m.h5", *SMALL, "--run", run, "--stationarity", "--retraction", "literal")
    shown = hqmm("inspect", run).stdout
    line, = [line for line in shown.splitlines() if "VIOLATED" in line]
    assert "Γ_{k+1} ∈ St" in line and "INFEASIBLE" in shown and "raw" in shown
    assert hqmm_json("inspect", run)["stationarity"]["assumptions"]["on_manifold"] is False


def test_stationarity_without_a_run_is_beside_the_model(tmp_path, data):
    train(data, "m.h5", *SMALL, "--stationarity", cwd=tmp_path)
    assert json.loads((tmp_path / "stationarity.json").read_text())["steps"] > 0


def test_inspect_tells_what_a_run_is(tmp_path, data):
    run = tmp_path / "run"
    out = train(data, tmp_path / "m.h5", *QUICK, "--momentum", 0.8, "--run", run)
    shown = hqmm("inspect", run)
    assert shown.returncode == OK and shown.stderr == ""
    for text in ("ns-ris (feasible), n = 2, w = 1, seed 1", "epochs 3", "momentum 0.8", str(data), "share of 0.2",
                 "3 of 3 of 2 restarts", f"epoch {out['best_epoch']} of restart {out['best_restart'] + 1}",
                 "ran all ", "restart 1", "restart 2", str(tmp_path / "m.h5")):
        assert text in shown.stdout, text
    found = hqmm_json("inspect", run)
    assert found["other_than_default"] == {"epochs": 3, "momentum": 0.8, "restarts": 2}
    assert found["best"]["validation"]["da"] == pytest.approx(out["validation"]["da_mean"], rel=1e-9)
    assert found["best"]["epoch"] == out["best_epoch"] and found["status"] == "max-epochs"
    assert found["stationarity"] is None and found["epochs_done"] == 3
    hqmm("inspect", run, "-o", tmp_path / "shown.txt")
    assert (tmp_path / "shown.txt").read_text() == shown.stdout


def test_inspect_of_damaged_runs(tmp_path, run):
    fails(NO_INPUT, "inspect", tmp_path, says="config.json")
    (run / "history.jsonl").write_text((run / "history.jsonl").read_text() + '{"restart":0,"epo')  # cut by a kill
    assert hqmm_json("inspect", run)["epochs_done"] == 3
    for name in ("summary.json", "stationarity.json"):
        (run / name).write_text('{"status": ')
        fails(BAD_DATA, "inspect", run, says=name)
        (run / name).write_text("{}")
        fails(BAD_DATA, "inspect", run, says=name)
        (run / name).unlink()
    (run / "history.jsonl").unlink()
    (run / "checkpoint.h5").unlink()
    assert hqmm_json("inspect", run)["best"] is None
    assert hqmm("inspect", run).returncode == OK
