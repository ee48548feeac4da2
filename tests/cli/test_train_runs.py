"""hqmm train --run and --resume: runs that survive kills, damage and full disks; hqmm inspect RUN."""

import fcntl
import json
import os
import random
import re
import signal
import subprocess
import time

import h5py
import pytest

from conftest import BAD_DATA, BINARY, CANNOT_WRITE, NO_INPUT, OK, USAGE, fails, hqmm, hqmm_json, on_terminal
from test_train import INTERRUPTED, QUICK, SMALL, arrays, assert_sound, benchmark, data, train  # noqa: F401

KILLS = 6


def history(run):
    return [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]


def epochs(run):
    """The history without what differs from one unbroken run to the next."""
    return [{key: value for key, value in record.items() if key != "seconds"} for record in history(run)]


def wait_for_epochs(process, run, count):
    """Until the run's history has that many lines, or the process is gone."""
    path = run / "history.jsonl"
    while process.poll() is None and not (path.exists() and path.read_bytes().count(b"\n") >= count):
        time.sleep(0.001)


class Unbroken:
    """A run that nothing disturbs, and how long it takes."""

    def __init__(self, folder, benchmark):
        self.args = ["train", benchmark / "train.txt", "--validation", benchmark / "validation.txt",
                     "-n", 3, "--restarts", 2, "--epochs", 40, "--initial-state", "learned", "--quiet", "--threads", 1]
        start = time.monotonic()
        assert hqmm(*self.args, "--run", folder / "run").returncode == OK
        self.seconds = time.monotonic() - start
        self.model = (folder / "run" / "model.h5").read_bytes()
        self.epochs = epochs(folder / "run")

    def start(self, *args):
        return subprocess.Popen([BINARY, *map(str, args)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def assert_same(self, run):
        assert (run / "model.h5").read_bytes() == self.model
        assert epochs(run) == self.epochs
        assert not list(run.glob(".hqmm-*")), "half-written files are cleared away"


@pytest.fixture(scope="session")
def unbroken(tmp_path_factory, benchmark):
    return Unbroken(tmp_path_factory.mktemp("unbroken"), benchmark)


@pytest.fixture
def run(tmp_path, data):
    """A finished run with a model beside it."""
    train(data, tmp_path / "m.h5", *SMALL, "--run", tmp_path / "run")
    return tmp_path / "run"


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
    assert f"the model goes to {run / 'model.h5'} now; -o {tmp_path / 'm.h5'}, as the run began" in done.stderr
    assert str(run / "model.h5") in done.stdout
    assert hqmm_json("inspect", run)["model"] == str(run / "model.h5")
    done = hqmm("train", "--resume", run, "-o", tmp_path / "m.h5")
    assert done.returncode == OK and (tmp_path / "m.h5").read_bytes() == model and "as the run began" not in done.stderr


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
    assert done.returncode == OK and "going on from the checkpoint before it" in done.stderr, done.stderr
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


# Kills

@pytest.mark.parametrize("moment", range(KILLS))
def test_killed_at_a_random_moment_and_resumed(tmp_path, unbroken, moment):
    delay = (moment + random.Random(moment).random()) / KILLS * unbroken.seconds
    process = unbroken.start(*unbroken.args, "--run", tmp_path / "run")
    time.sleep(delay)
    process.kill()
    process.communicate()
    if not (tmp_path / "run" / "config.json").exists():  # killed before it began
        assert hqmm(*unbroken.args, "--run", tmp_path / "run").returncode == OK
    else:
        done = hqmm("train", "--resume", tmp_path / "run")
        assert done.returncode == OK, done.stderr
    unbroken.assert_same(tmp_path / "run")


def test_killed_again_and_again(tmp_path, unbroken):
    run = tmp_path / "run"
    args = [*unbroken.args, "--run", run]
    chance = random.Random(5)
    whole = len(unbroken.epochs)
    for part in range(1, 9):  # each is killed in its own eighth of the history
        process = unbroken.start(*args)
        wait_for_epochs(process, run, whole * (part - 1) // 8 + chance.randrange(1, whole // 8))
        process.kill()
        process.communicate()
        args = ["train", "--resume", run]
    assert hqmm(*args).returncode == OK
    unbroken.assert_same(run)


@pytest.mark.parametrize("args", [["--learner", "cosm"], ["--learner", "givens"], ["--learner", "em", "--tolerance", 0],
                                  ["--retraction", "literal"]], ids=lambda args: args[1])
def test_other_learners_killed_and_resumed(tmp_path, data, args):
    args = ["train", data, "-n", 2, "-w", 1, "--epochs", 20, "--restarts", 2, "--quiet", *args]
    assert hqmm(*args, "--run", tmp_path / "whole").returncode == OK
    process = subprocess.Popen([BINARY, *map(str, args), "--run", tmp_path / "run"])
    wait_for_epochs(process, tmp_path / "run", 27)  # in the second restart
    process.kill()
    process.wait()
    assert hqmm("train", "--resume", tmp_path / "run").returncode == OK
    assert (tmp_path / "run" / "model.h5").read_bytes() == (tmp_path / "whole" / "model.h5").read_bytes()
    assert epochs(tmp_path / "run") == epochs(tmp_path / "whole")


def test_interrupted_during_the_warm_start(tmp_path, data):
    args = ["train", data, "-n", 4, "--epochs", 1, "--warm-start", "em", "--quiet"]
    process = subprocess.Popen([BINARY, *map(str, args), "--run", tmp_path / "run"], stderr=subprocess.PIPE)
    while process.poll() is None and not (tmp_path / "run" / "config.json").exists():
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    assert b"--resume" in process.communicate()[1] and process.returncode == INTERRUPTED
    assert hqmm("train", "--resume", tmp_path / "run").returncode == OK
    assert hqmm(*args, "-o", tmp_path / "m.h5").returncode == OK
    assert (tmp_path / "run" / "model.h5").read_bytes() == (tmp_path / "m.h5").read_bytes()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_and_resumed(tmp_path, unbroken, how):
    run = tmp_path / "run"
    process = unbroken.start(*unbroken.args, "--run", run)
    wait_for_epochs(process, run, 20)
    process.send_signal(how)
    stderr = process.communicate(timeout=60)[1].decode()
    assert process.returncode == INTERRUPTED
    assert stderr.count("\n") == 1 and f"--resume {run}" in stderr
    assert_sound(run / "model.h5")
    assert hqmm_json("inspect", run)["status"] == "interrupted"
    assert hqmm("train", "--resume", run).returncode == OK
    unbroken.assert_same(run)


def test_one_process_per_run(tmp_path, data):
    run = tmp_path / "run"
    process = subprocess.Popen([BINARY, "train", data, "--epochs", "1000000", "--run", run, "--quiet"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_epochs(process, run, 3)
        fails(USAGE, "train", "--resume", run, says="another hqmm")
        assert hqmm_json("inspect", run)["status"] is None
        assert "training now" in hqmm("inspect", run).stdout
    finally:
        process.kill()
        process.wait()


def test_started_at_once_on_one_folder(tmp_path, data):
    """One of them trains, and the others say why they do not."""
    args = ["train", data, "-n", 1, "-w", 1, "--epochs", 1, "--quiet", "--threads", 1]
    assert hqmm(*args, "--run", tmp_path / "alone").returncode == OK
    model, names = (tmp_path / "alone" / "model.h5").read_bytes(), {p.name for p in (tmp_path / "alone").iterdir()}
    for attempt in range(30):
        run = tmp_path / f"run{attempt}"
        # The seed tells whose folder it is.
        started = [subprocess.Popen([BINARY, *map(str, args), "--run", run, "--seed", str(seed)], text=True,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for seed in (1, 2, 3)]
        said = [process.communicate()[1] for process in started]
        codes = [process.returncode for process in started]
        assert sorted(codes) == [OK, USAGE, USAGE], (codes, said)
        for code, text in zip(codes, said):
            if code == USAGE:
                assert text.count("\n") == 1 and ("another hqmm" in text or "holds a run already" in text), text
        assert {p.name for p in run.iterdir()} == names
        assert json.loads((run / "config.json").read_text())["options"]["seed"] == 1 + codes.index(OK)
        assert len(history(run)) == 2
        if codes[0] == OK:
            assert (run / "model.h5").read_bytes() == model
        # The checkpoint is of the same run, or this would be refused.
        if attempt % 10 == 0:
            whole = (run / "model.h5").read_bytes()
            resumed = [subprocess.Popen([BINARY, "train", "--resume", run, "--quiet"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL) for _ in range(3)]
            assert OK in {process.wait() for process in resumed} <= {OK, USAGE}
            assert (run / "model.h5").read_bytes() == whole


def test_the_loser_changes_nothing(tmp_path, data):
    run = tmp_path / "run"
    run.mkdir()
    with open(run / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fails(USAGE, "train", data, *SMALL, "--run", run, "--quiet", says=["another hqmm", str(run)])
        assert {p.name for p in run.iterdir()} == {".lock"}
    assert hqmm("train", data, *SMALL, "--run", run).returncode == OK
    before = {p.name: p.read_bytes() for p in run.iterdir()}
    with open(run / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fails(USAGE, "train", "--resume", run, says=["another hqmm", str(run)])
        assert hqmm_json("inspect", run)["status"] == "max-epochs"
    (run / ".lock").unlink()
    assert {p.name: p.read_bytes() for p in run.iterdir()} == before


# Full disks

@pytest.fixture
def disk(tmp_path):
    """A disk of 64 kB, and a way to enlarge it."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("skipped: mounting a small tmpfs needs root")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_full_disk_under_a_run(tmp_path, data, disk):
    args = ["train", data, "-n", 2, "-w", 1, "--epochs", 300, "--schedule", "constant", "--quiet"]
    fails(CANNOT_WRITE, *args, "--run", disk / "run", says=[str(disk), "--resume"])
    assert not list((disk / "run").glob(".hqmm-*"))
    subprocess.run(["mount", "-o", "remount,size=4m", disk], check=True)
    assert hqmm("train", "--resume", disk / "run").returncode == OK
    assert hqmm(*args, "-o", tmp_path / "m.h5").returncode == OK
    assert (disk / "run" / "model.h5").read_bytes() == (tmp_path / "m.h5").read_bytes()
    assert [r["epoch"] for r in history(disk / "run")] == list(range(301))


def test_full_disk_under_the_model(tmp_path, data, disk, monkeypatch):
    model = disk / "m.h5"
    model.write_text("the previous one")
    (disk / "filler").write_bytes(b"0" * 56 * 1024)
    args = ["train", data, *SMALL, "--quiet", "-o", model]
    fails(CANNOT_WRITE, *args, "--run", tmp_path / "run", says=["m.h5", "No space left", "--resume"])
    assert hqmm("train", "--resume", tmp_path / "run", "-o", tmp_path / "m.h5").returncode == OK
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    fails(CANNOT_WRITE, *args, says=["m.h5", "No space left", f"the model is in {tmp_path}"])
    rescued, = tmp_path.glob("hqmm-*.h5")
    assert rescued.read_bytes() == (tmp_path / "m.h5").read_bytes()
    assert model.read_text() == "the previous one" and {p.name for p in disk.iterdir()} == {"m.h5", "filler"}


# The theorem as a measurement, and inspection

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
    # a finished run keeps its measurement; one that was broken off measures again from its beginning
    assert hqmm("train", "--resume", run).returncode == OK
    assert json.loads((run / "stationarity.json").read_text()) == found
    (run / "stationarity.json").unlink()
    done = hqmm("train", "--resume", run)
    assert "from its beginning" in done.stderr
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
