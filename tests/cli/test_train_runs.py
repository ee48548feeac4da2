"""hqmm train --run and --resume: what a run keeps, where it goes on, and what it refuses."""

import json
import os
import random
import re
import signal
import subprocess

import h5py
import pytest

from conftest import BAD_DATA, BINARY, CANNOT_WRITE, NO_INPUT, OK, USAGE, fails, hqmm, hqmm_json, on_terminal
from run_directories import history, run, wait_for_epochs  # noqa: F401
from test_train import INTERRUPTED, QUICK, SMALL, arrays, assert_sound, benchmark, data, train  # noqa: F401


# What a run keeps

def test_a_run_keeps_config_history_and_checkpoint(run):
    assert {p.name for p in run.iterdir()} == {"config.json", "history.jsonl", "checkpoint.h5", "checkpoint-before.h5", "summary.json"}
    assert json.loads((run / "config.json").read_text())["options"]["epochs"] == 3
    records = history(run)
    assert [record["epoch"] for record in records] == [0, 1, 2, 3]
    for record in records[1:]:
        assert record["train"]["log_likelihood"] < 0 and record["validation"]["da"] is not None
        assert record["feasibility_residual"] < 1e-12 and record["gradient_nuclear_norm"] > 0
        assert record["step_size"] > 0 and record["seconds"] >= 0
    assert h5py.is_hdf5(run / "checkpoint.h5")


def test_without_an_output_the_model_is_in_the_run(tmp_path, data):
    hqmm("train", data, *SMALL, "--run", tmp_path / "a")
    assert_sound(tmp_path / "a" / "model.h5")
    model = (tmp_path / "a" / "model.h5").read_bytes()
    assert hqmm("train", data, *SMALL, "--run", tmp_path / "b", "-o", tmp_path / "b" / "model.h5").returncode == OK
    assert (tmp_path / "b" / "model.h5").read_bytes() == model
    # and it moves with it
    (tmp_path / "a" / "model.h5").unlink()
    (tmp_path / "a").rename(tmp_path / "c")
    assert hqmm("train", "--resume", tmp_path / "c").returncode == OK
    assert (tmp_path / "c" / "model.h5").read_bytes() == model


@pytest.mark.parametrize("learner", ["ns-ris", "cosm", "givens", "em"])
def test_a_finished_run_resumes_to_the_same_bytes(tmp_path, data, learner):
    run = tmp_path / "run"
    first = train(data, tmp_path / "m.h5", *QUICK, "--learner", learner, "--run", run)
    model, before = (tmp_path / "m.h5").read_bytes(), (run / "history.jsonl").read_bytes()
    again = hqmm_json("train", "--resume", run, "-o", tmp_path / "again.h5")
    assert (tmp_path / "again.h5").read_bytes() == (tmp_path / "m.h5").read_bytes() == model
    assert (run / "history.jsonl").read_bytes() == before
    for key in ("status", "restarts", "train", "validation", "best_epoch", "epochs_run"):
        assert again[key] == first[key]
    # and from nothing but its configuration
    for name in ("checkpoint.h5", "checkpoint-before.h5", "history.jsonl"):
        (run / name).unlink()
    assert hqmm("train", "--resume", run).returncode == OK
    assert (run / "model.h5").read_bytes() == model


def test_a_resume_writes_where_it_is_told(tmp_path, data, run):
    """Whoever hands a folder over does not choose what is overwritten."""
    model = (tmp_path / "m.h5").read_bytes()
    (tmp_path / "m.h5").write_text("something else by now")
    done = hqmm("train", "--resume", run)
    assert done.returncode == OK and (run / "model.h5").read_bytes() == model
    assert (tmp_path / "m.h5").read_text() == "something else by now"
    assert f"the model is now written to {run / 'model.h5'}; the run began with -o {tmp_path / 'm.h5'}" in done.stderr
    assert str(run / "model.h5") in done.stdout
    assert hqmm_json("inspect", run)["model"] == str(run / "model.h5")
    done = hqmm("train", "--resume", run, "-o", tmp_path / "m.h5")
    assert done.returncode == OK and (tmp_path / "m.h5").read_bytes() == model and "the run began with" not in done.stderr


def test_a_run_writes_through_no_link(tmp_path, data, run):
    (tmp_path / "mine").write_text("precious")
    for name in ("checkpoint.h5", "checkpoint-before.h5", "history.jsonl", "model.h5", "summary.json"):
        kept = (run / name).read_bytes() if (run / name).exists() else None
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(tmp_path / "mine")
        fails(USAGE, "train", "--resume", run, says=[name, "is a link"])
        (run / name).unlink()
        if kept is not None:
            (run / name).write_bytes(kept)
    assert (tmp_path / "mine").read_text() == "precious"
    assert hqmm("train", "--resume", run).returncode == OK


def test_a_resume_that_cannot_begin_keeps_the_summary(tmp_path, benchmark):
    (tmp_path / "train.txt").write_bytes((benchmark / "train.txt").read_bytes())
    train(tmp_path / "train.txt", tmp_path / "m.h5", *SMALL, "--run", tmp_path / "run")
    (tmp_path / "train.txt").unlink()
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    fails(NO_INPUT, "train", "--resume", tmp_path / "run", says="train.txt")
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before


def test_resume_takes_no_other_options(tmp_path, data, run):
    fails(USAGE, "train", data, *SMALL, "--run", run, says=["holds a run already", f"--resume {run}"])
    for option in (["-n", 3], ["--seed", 2], ["--learner", "em"], ["--validation", data], ["--warm-start", "em"],
                   ["--preset", "paper"], ["--run", tmp_path / "other"], ["--alphabet", 7], ["--stationarity"]):
        fails(USAGE, "train", "--resume", run, *option, says=["own data and options"])
    fails(USAGE, "train", data, "--resume", run, says="DATA")
    fails(NO_INPUT, "train", "--resume", tmp_path / "none", says="none")
    fails(NO_INPUT, "train", "--resume", tmp_path, says="config.json")


def test_a_run_out_of_time_gets_more(tmp_path, data):
    args = ["-n", 2, "-w", 1, "--epochs", 12, "--run", tmp_path / "run"]
    assert train(data, tmp_path / "m.h5", *args, "--time-limit", 1e-9)["status"] == "time-limit"
    assert hqmm_json("train", "--resume", tmp_path / "run", "--time-limit", 100)["status"] == "max-epochs"
    train(data, tmp_path / "whole.h5", *args[:-2])
    assert arrays(tmp_path / "run" / "model.h5")["kraus"].tobytes() == arrays(tmp_path / "whole.h5")["kraus"].tobytes()


def test_a_resume_shows_the_best_so_far_at_once(tmp_path, data):
    run = tmp_path / "run"
    process = subprocess.Popen([BINARY, "train", str(data), "-n", "2", "-w", "1", "--epochs", "100000000", "--run", str(run)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_epochs(process, run, 3)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == INTERRUPTED
    code, seen = on_terminal("train", "--resume", run, "--time-limit", 1e-9)  # not one more epoch
    best = [record["validation"]["da"] for record in history(run) if record["best"]][-1]
    assert code == OK and f"best {best:.4f}" in seen and "best –" not in seen, seen
    assert re.search(r"epoch \d+/100000000  validation DA –", seen), seen


def test_warm_starts_are_kept_with_the_run(tmp_path, data):
    train(data, tmp_path / "em.h5", "-n", 2, "--learner", "em", "--epochs", 5)
    for name, warm in (("a", "em"), ("b", tmp_path / "em.h5")):
        run = tmp_path / name
        train(data, tmp_path / "m.h5", "-n", 2, "--epochs", 2, "--restarts", 2, "--warm-start", warm, "--run", run)
        model = (tmp_path / "m.h5").read_bytes()
        for one in ("checkpoint.h5", "checkpoint-before.h5"):
            (run / one).unlink()
        (tmp_path / "em.h5").unlink(missing_ok=warm == "em")
        assert hqmm("train", "--resume", run).returncode == OK
        assert (run / "model.h5").read_bytes() == model
        train(data, tmp_path / "em.h5", "-n", 2, "--learner", "em", "--epochs", 5)


# Runs that cannot go on

def test_unwritable_run_directories(tmp_path, data):
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        fails(CANNOT_WRITE, "train", data, "--run", place, says=str(place))
    assert (tmp_path / "file").read_text() == "mine"
    (tmp_path / "closed").mkdir(mode=0o500)
    if os.geteuid() == 0:
        return  # root may write anywhere
    fails(CANNOT_WRITE, "train", data, "--run", tmp_path / "closed", says="closed")
    fails(CANNOT_WRITE, "train", data, "--run", tmp_path / "closed" / "run", says="run")


def test_paths_that_json_cannot_hold(tmp_path, data):
    path = os.fsencode(tmp_path) + b"/d\xff.txt"
    with open(path, "wb") as file:
        file.write(data.read_bytes())
    args = [BINARY, "train", path, "-n", "2", "--epochs", "1", "--quiet"]
    done = subprocess.run([*args, "--run", tmp_path / "run"], capture_output=True)
    assert done.returncode == USAGE and b"UTF-8" in done.stderr
    assert subprocess.run([*args, "-o", tmp_path / "m.h5"], capture_output=True).returncode == OK


def test_damaged_checkpoints(run):
    checkpoint = run / "checkpoint.h5"
    whole = checkpoint.read_bytes()
    resume = ["train", "--resume", run, "-o", run.parent / "m.h5"]
    (run / "checkpoint-before.h5").unlink()
    for damage in (b"", b"junk" * 1000, whole[: len(whole) // 2], whole[:-100], whole[:64] + b"\xff" * 64 + whole[128:]):
        checkpoint.write_bytes(damage)
        fails(BAD_DATA, *resume, "--quiet", says=["checkpoint.h5"])
    for size in range(0, len(whole), len(whole) // 12):
        checkpoint.write_bytes(whole[:size])
        fails(BAD_DATA, *resume, "--quiet", says=["checkpoint.h5"])
    chance = random.Random(1)
    model = (run.parent / "m.h5").read_bytes()
    for _ in range(40):
        flipped = bytearray(whole)
        flipped[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        checkpoint.write_bytes(flipped)
        done = hqmm(*resume)
        assert done.returncode in (OK, BAD_DATA), done.stderr
        assert (run.parent / "m.h5").read_bytes() == model
    checkpoint.write_bytes(whole)
    assert hqmm(*resume).returncode == OK


def test_the_checkpoint_before_stands_in_for_a_damaged_one(run):
    checkpoint, before, model = run / "checkpoint.h5", run / "checkpoint-before.h5", run.parent / "m.h5"
    resume = ["train", "--resume", run, "-o", model]
    whole, older = checkpoint.read_bytes(), before.read_bytes()
    assert hqmm(*resume).returncode == OK
    bytes_of_the_model, epochs_of_the_run = model.read_bytes(), len(history(run))
    checkpoint.write_bytes(whole[:-100])
    before.write_bytes(older)
    done = hqmm(*resume)
    assert done.returncode == OK and "continuing from the checkpoint before it" in done.stderr, done.stderr
    assert model.read_bytes() == bytes_of_the_model and len(history(run)) == epochs_of_the_run
    assert checkpoint.exists() and before.read_bytes() == older
    checkpoint.unlink()  # killed between the two renames
    assert hqmm(*resume).returncode == OK and model.read_bytes() == bytes_of_the_model
    checkpoint.write_bytes(whole[:-100])
    before.write_bytes(older[:-100])
    fails(BAD_DATA, *resume, "--quiet", says=["checkpoint.h5", "damaged"])


def test_a_checkpoint_of_another_run(tmp_path, data, run):
    train(data, tmp_path / "other.h5", *SMALL, "--seed", 2, "--run", tmp_path / "other")
    (run / "checkpoint.h5").write_bytes((tmp_path / "other" / "checkpoint.h5").read_bytes())
    (run / "checkpoint-before.h5").unlink()
    fails(BAD_DATA, "train", "--resume", run, "--quiet", says=["checkpoint.h5", "another run"])


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"options": 3}', "\x00\xff", '{"train": 1}'])
def test_damaged_configurations(run, content):
    (run / "config.json").write_text(content)
    fails(BAD_DATA, "train", "--resume", run, says="config.json")
    fails(BAD_DATA, "inspect", run, says="config.json")


@pytest.mark.parametrize("key, value", [("learner", "wat"), ("momentum", "wat"), ("momentum", 5), ("epochs", -1),
                                        ("latent_dim", 0), ("batch_size", None)])
def test_configurations_with_a_wrong_value(run, key, value):
    whole = json.loads((run / "config.json").read_text())
    whole["options"][key] = value
    (run / "config.json").write_text(json.dumps(whole))
    fails(BAD_DATA, "train", "--resume", run, says="config.json")


def test_changed_data_is_noticed(tmp_path, benchmark):
    for name in ("train", "validation"):
        for other in ("train", "validation"):
            (tmp_path / f"{other}.txt").write_bytes((benchmark / f"{other}.txt").read_bytes())
        run = tmp_path / name
        train(tmp_path / "train.txt", tmp_path / "m.h5", *SMALL, "--validation", tmp_path / "validation.txt", "--run", run)
        with open(tmp_path / f"{name}.txt", "a") as file:
            file.write("0 1 2 3\n")
        fails(BAD_DATA, "train", "--resume", run, says=[f"{name}.txt", "changed"])
        (tmp_path / f"{name}.txt").unlink()
        fails(NO_INPUT, "train", "--resume", run, says=f"{name}.txt")
