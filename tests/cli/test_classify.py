"""hqmm classify: learning, predicting, judging and taking apart, on small made-up data."""

import json
import math
import signal
import subprocess
import time

import h5py
import numpy as np
import pytest

from conftest import BAD_DATA, BINARY, CANNOT_WRITE, NO_INPUT, OK, USAGE, fails, hqmm, hqmm_json, shared, wait_until_busy

QUICK = ("--epochs", 2, "-n", 2, "-w", 1, "--grid", "none")
AMINO = "ACDEFGHIKLMNPQRSTVWY"


def marked(rng, letter, length=20, letters="ACGT"):
    """Random letters with three of its own in the middle, mostly."""
    row = [str(x) for x in rng.choice(list(letters), size=length)]
    for t in range(length // 2, min(length, length // 2 + 3)):
        if rng.random() < 0.9:
            row[t] = letter
    return "".join(row)


def write_rows(path, rows):
    path.write_text("".join(f"{label}\t{sequence}\n" for label, sequence in rows))
    return path


@pytest.fixture
def two_classes(tmp_path):
    rng = np.random.default_rng(1)
    rows = [("yes", marked(rng, "A")) for _ in range(60)] + [("no", marked(rng, "C")) for _ in range(40)]
    return write_rows(tmp_path / "two.txt", rows)


@pytest.fixture
def classifier(tmp_path, two_classes):
    path = tmp_path / "clf.h5"
    done = hqmm("classify", "fit", two_classes, "-o", path, "--prior", "empirical", *QUICK)
    assert done.returncode == OK, done.stderr
    return path


@pytest.mark.parametrize("positions", ["stationary", "window:8-12,tie=4"])
@pytest.mark.parametrize("objective", ["discriminative", "generative"])
def test_structured_classes(tmp_path, two_classes, positions, objective):
    for field in ("complex", "real"):
        for emission in ("edge", "state"):
            path = tmp_path / f"{field}-{emission}.h5"
            done = hqmm("classify", "fit", two_classes, "-o", path, "--epochs", 8, "-n", 2, "-w", 1, "--grid", "none", "--field",
                        field, "--emission", emission, "--positions", positions, "--objective", objective)
            assert done.returncode == OK, done.stderr
            rows = hqmm_json("classify", "predict", path, two_classes)["rows"]
            assert all(abs(sum(row["posteriors"].values()) - 1) < 1e-9 for row in rows)
            part = tmp_path / "part.h5"
            assert hqmm("classify", "extract", path, "--class", "yes", "-o", part).returncode == OK
            assert hqmm_json("inspect", part, "--entropy-symbols", 64)["field"] == field


def test_posteriors_are_those_of_the_scores_of_the_parts(tmp_path, two_classes, classifier):
    predicted = hqmm_json("classify", "predict", classifier, two_classes)
    assert predicted["classes"] == ["no", "yes"]
    priors = {"no": 0.4, "yes": 0.6}
    joint = []
    for name in predicted["classes"]:
        part = tmp_path / f"{name}.h5"
        assert hqmm("classify", "extract", classifier, "--class", name, "-o", part).returncode == OK
        score = hqmm_json("score", part, two_classes, "--per-sequence")
        assert score["feasibility_residual"] < 1e-12
        joint.append([one["log_likelihood"] + math.log(priors[name]) for one in score["per_sequence"]])
    joint = np.array(joint).T
    expected = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
    found = np.array([[row["posteriors"][name] for name in predicted["classes"]] for row in predicted["rows"]])
    assert np.abs(found - expected).max() < 1e-9
    assert predicted["errors"]["mean_class_error"] < 0.1


def test_predict_prints_a_line_per_row(two_classes, classifier):
    lines = hqmm("classify", "predict", classifier, two_classes).stdout.splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    assert rows[0] == ["name", "class", "P(no)", "P(yes)"]
    assert len(rows) == 101
    for row in rows[1:]:
        assert float(row[2]) + float(row[3]) == pytest.approx(1, abs=1e-5)
        assert row[1] == ("yes" if float(row[3]) > 0.5 else "no")
    assert any(line.startswith("#") and "mean of the classes" in line for line in lines)


def test_unlabelled_and_missing_symbols(classifier):
    done = hqmm("classify", "predict", classifier, "-", "--format", "text",
                stdin=f"ACGTACGTACAAAACGTACG\n{20 * '?'}\nNNNNNNNNNNCCCNNNNNNN\n")
    assert done.returncode == OK, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4 and not done.stdout.count("#")
    # Nothing known: the prior is all there is.
    assert float(lines[2].split("\t")[2]) == pytest.approx(0.4, abs=1e-6)


def test_threshold_abstains(two_classes, classifier):
    every = hqmm_json("classify", "predict", classifier, two_classes, "--threshold", 0.999)
    unsure = [row for row in every["rows"] if max(row["posteriors"].values()) < 0.999]
    assert unsure and all(row["class"] is None for row in unsure)
    answered = every["errors"]["abstention"]["answered"]
    assert answered == pytest.approx(1 - len(unsure) / 100)
    text = hqmm("classify", "predict", classifier, two_classes, "--threshold", 0.999).stdout
    assert "\t?\t" in text and "answered" in text


def test_explain_points_at_the_mark(two_classes, classifier):
    predicted = hqmm_json("classify", "predict", classifier, two_classes, "--explain")
    means = np.mean([row["contributions"] for row in predicted["rows"]], axis=0)
    assert set(np.argsort(means)[-3:]) == {10, 11, 12}
    text = hqmm("classify", "predict", classifier, two_classes, "--explain").stdout
    assert "most for it" in text.splitlines()[0]


def test_cross_validate_has_the_contract_s_keys(two_classes):
    found = hqmm_json("classify", "cross-validate", two_classes, "--epochs", 2, "-n", 2, "-w", 1,
                      "--grid", "smoothing=0.01,0.9", "--inner-folds", 2, "--explain")
    assert {"folds", "mean_class_error", "class_error", "overall_error", "confusion"} <= found.keys()
    assert found["classes"] == ["no", "yes"] and set(found["class_error"]) == {"no", "yes"}
    assert len(found["folds"]) == 5 and sum(fold["rows"] for fold in found["folds"]) == 100
    confusion = np.array(found["confusion"])
    assert confusion.sum() == 100 and confusion.sum(axis=1).tolist() == [40, 60]
    rates = 1 - np.diag(confusion) / confusion.sum(axis=1)
    assert found["mean_class_error"] == pytest.approx(rates.mean())
    assert found["mean_class_error"] < 0.15
    assert all(fold["setting"] == "smoothing=0.01" and len(fold["inner"]) == 2 for fold in found["folds"])
    assert [one["name"] for one in found["baselines"]] == [
        "position weight matrix", "first-order positional chain", "order-3 Markov chain"]
    assert found["baselines"][0]["mean_class_error"] < 0.15
    assert 0 <= found["calibration"]["expected_calibration_error"] < 0.3
    strongest = {one["position"] for one in found["explanation"]["classes"]["yes"]["strongest"][:3]}
    assert strongest == {10, 11, 12}
    assert "threads" not in json.dumps(found["provenance"])


def test_cross_validate_for_people(tmp_path, two_classes):
    report = tmp_path / "report.md"
    table = tmp_path / "rows.tsv"
    done = hqmm("classify", "cross-validate", two_classes, *QUICK, "--folds", 3,
                "--report", report, "--predictions", table)
    assert done.returncode == OK, done.stderr
    for text in ["mean of the classes", "true class", "expected calibration error", "position weight matrix",
                 "selected inside the other folds", "±"]:
        assert text in done.stdout, text
    assert "their own Kraus sets" in done.stderr
    assert "## What the decisions rest on" in report.read_text() and str(tmp_path) not in report.read_text()
    assert len(table.read_text().splitlines()) == 101


def test_the_same_bytes_at_any_thread_count(tmp_path, two_classes):
    found = []
    for threads in (1, 2):
        path = tmp_path / f"{threads}.h5"
        assert hqmm("classify", "fit", two_classes, "-o", path, "--epochs", 2, "-n", 2, "--members", 2,
                    "--grid", "dropout=0.1,0.5", "--threads", threads).returncode == OK
        result = hqmm_json("classify", "cross-validate", two_classes, *QUICK, "--threads", threads)
        del result["seconds"]
        found.append((path.read_bytes(), result))
    assert found[0] == found[1]
    assert b"two.txt" not in found[0][0] and str(tmp_path).encode() not in found[0][0]


def test_twenty_ragged_protein_families(tmp_path):
    rng = np.random.default_rng(2)
    rows = []
    for k, letter in enumerate(AMINO):
        for _ in range(6):
            composition = np.full(20, 1.0)
            composition[k] = 20.0
            length = int(rng.integers(15, 60))
            rows.append((f"family {k}", "".join(rng.choice(list(AMINO), p=composition / composition.sum(), size=length))))
    data = write_rows(tmp_path / "families.txt", rows)
    done = hqmm("classify", "cross-validate", data, "--alphabet", "protein", *QUICK, "--folds", 3, "--json")
    assert done.returncode == OK, done.stderr
    assert "different lengths" in done.stderr
    found = json.loads(done.stdout)
    assert len(found["classes"]) == 20
    assert found["mean_class_error"] < 0.3
    assert found["baselines"][2]["mean_class_error"] < 0.9


def test_anchored_at_the_end(tmp_path):
    rng = np.random.default_rng(3)
    rows = []
    for label, tail in (("a", "GGG"), ("b", "TTT")):
        for _ in range(20):
            rows.append((label, "".join(rng.choice(list("ACGT"), size=int(rng.integers(3, 15)))) + tail))
    data = write_rows(tmp_path / "tails.txt", rows)
    options = (*QUICK, "--positions", "each", "--explain")
    found = hqmm_json("classify", "cross-validate", data, *options, "--anchor", "end")
    assert found["mean_class_error"] < 0.1
    strongest = {one["position"] for one in found["explanation"]["classes"]["a"]["strongest"][:3]}
    assert strongest == {-1, -2, -3}


def test_a_class_with_one_member(tmp_path):
    rng = np.random.default_rng(4)
    rows = [("a", marked(rng, "A")) for _ in range(15)] + [("b", marked(rng, "C")) for _ in range(15)]
    rows.append(("lonely", marked(rng, "G")))
    data = write_rows(tmp_path / "lonely.txt", rows)
    done = hqmm("classify", "cross-validate", data, *QUICK, "--json")
    assert done.returncode == OK, done.stderr
    assert "class lonely is in one fold only" in done.stderr
    found = json.loads(done.stdout)
    assert found["class_error"]["lonely"] == 1
    assert sum(fold["unlearned_classes"] == ["lonely"] for fold in found["folds"]) == 1
    assert hqmm("classify", "fit", data, "-o", tmp_path / "c.h5", *QUICK).returncode == OK


def test_labels_with_odd_characters(tmp_path):
    rng = np.random.default_rng(5)
    names = ["a/b", "é ü", 'x"y\\z', "=,;", "?"]
    rows = [(name, marked(rng, "ACGTA"[k])) for k, name in enumerate(names) for _ in range(8)]
    data = write_rows(tmp_path / "odd.txt", rows)
    clf = tmp_path / "odd.h5"
    prior = ",".join(f"{name}=0.2" for name in names)
    assert hqmm("classify", "fit", data, "-o", clf, *QUICK, "--prior", prior).returncode == OK
    found = hqmm_json("classify", "predict", clf, data)
    assert found["classes"] == sorted(names, key=str.encode)
    for name in names:
        part = tmp_path / "part.h5"
        assert hqmm("classify", "extract", clf, "--class", name, "-o", part).returncode == OK
        assert hqmm_json("inspect", part)["kind"] == "hqmm"
    assert hqmm("classify", "predict", clf, data).stdout.count("\n") >= 41


def test_what_smoothing_makes_of_w_is_said(tmp_path, two_classes):
    path = tmp_path / "c.h5"
    args = ["classify", "fit", two_classes, "-o", path, "--epochs", 1, "-n", 3, "-w", 2, "--grid", "none"]
    s = 4
    note = f"w = {2 * s}: of the 2 operators per symbol that were learned, --smoothing 0.01 makes {2 * s}"
    for shown in (hqmm(*args).stdout, hqmm("inspect", path).stdout):
        assert note in shown and "--smoothing 0 leaves w = 2" in shown and f"w = {2 * s}, " in shown, shown
    found = hqmm_json(*args)
    assert (found["kraus_rank"], found["latent_dim"], found["options"]["kraus_rank"]) == (2 * s, 3, 2)
    for shown in (hqmm(*args, "--smoothing", 0).stdout, hqmm("inspect", path).stdout):
        assert "w = 2, " in shown and "operators per symbol" not in shown, shown


def test_help_shows_the_defaults_of_sizes_and_what_becomes_of_w():
    for command in ("fit", "cross-validate"):
        shown = " ".join(hqmm("classify", command, "--help").stdout.split())
        for text in ("--latent-dim N=4", "--kraus-rank W=2", "--smoothing X=0.01", "--members N=1", "--epochs N=20",
                     "--batch-size N Sequences"):
            assert text in shown, text
        assert "per symbol during learning" in shown
    assert "-w 2 and four symbols make w = 8" in " ".join(hqmm("classify", "fit", "--help").stdout.split())


def test_inspect_and_other_commands_know_a_classifier(two_classes, classifier):
    shown = hqmm_json("inspect", classifier)
    assert shown["kind"] == "classifier"
    assert [one["class"] for one in shown["classes"]] == ["no", "yes"]
    assert [one["prior"] for one in shown["classes"]] == pytest.approx([0.4, 0.6])
    assert all(one["feasibility_residual"] < 1e-12 for one in shown["classes"])
    assert "classify extract" in hqmm("inspect", classifier).stdout
    for command in (["score", classifier, two_classes], ["sample", classifier], ["predict", classifier, two_classes]):
        fails(BAD_DATA, *command, says=["is a classifier", "hqmm classify extract"])


def test_h5py_reads_what_the_interface_says(classifier):
    with h5py.File(classifier) as f:
        assert f.attrs["format"] == "hqmm-model" and f.attrs["version"] == 1 and f.attrs["kind"] == "classifier"
        assert [name.decode() for name in f["classes"]] == ["no", "yes"]
        assert f["priors"][:].sum() == pytest.approx(1)
        kraus = f["0/kraus"][:]
        assert kraus.dtype == complex and f["0"].attrs["kind"] == "hqmm"
        for one in kraus:
            gamma = one.reshape(-1, one.shape[-1])
            assert np.abs(gamma.conj().T @ gamma - np.eye(gamma.shape[1])).max() < 1e-12
        provenance = json.loads(f["provenance"][()])
        assert {"options", "seed", "data", "version"} <= provenance.keys()


def damage(path, change):
    with h5py.File(path, "r+") as f:
        change(f)


@pytest.mark.parametrize("change, says", [
    (lambda f: f.attrs.modify("version", 3), "version"),
    (lambda f: f.__delitem__("priors"), "'priors'"),
    (lambda f: f["priors"].__setitem__(0, 0.9), "sum to"),
    (lambda f: f.__delitem__("classes"), "'classes'"),
    (lambda f: f.__delitem__("1"), "'1'"),
    (lambda f: f["1"].__delitem__("kraus"), "class 'yes': 'kraus'"),
    (lambda f: f["1/initial_state"].__setitem__((0, 0), np.nan), "class 'yes'"),
    (lambda f: f["0"].attrs.modify("kind", "cat"), "class 'no'"),
    (lambda f: f["1/position_map"].__setitem__(0, 1000), "class 'yes': 'position_map'"),
])
def test_damaged_classifier_files(two_classes, classifier, change, says):
    damage(classifier, change)
    fails(BAD_DATA, "classify", "predict", classifier, two_classes, says=[says, "clf.h5"])


def test_cut_and_foreign_classifier_files(tmp_path, two_classes, classifier, model):
    whole = classifier.read_bytes()
    for keep in (0, 50, len(whole) // 2):
        (tmp_path / "cut.h5").write_bytes(whole[:keep])
        fails(BAD_DATA, "classify", "predict", tmp_path / "cut.h5", two_classes, says="cut.h5")
    fails(BAD_DATA, "classify", "predict", model, two_classes, says="expected a classifier")
    fails(NO_INPUT, "classify", "predict", tmp_path / "none.h5", two_classes, says="none.h5")


@pytest.mark.parametrize("options, says", [
    (["--grid", "dropuot=1"], "dropuot"),
    (["--grid", "dropout=x"], "expected a number"),
    (["--positions", "middle"], "window:A-B"),
    (["--positions", "window:5-99,tie=2"], ""),
    (["--prior", "yes=0.5"], "class 'no'"),
    (["--prior", "yes=0.5,no=0.6"], "sum to"),
    (["--prior", "maybe=1"], "--prior"),
    (["--prior", "yes=x,no=1"], "positive number"),
    (["--group", "family"], "group"),
    (["--objective", "both"], "discriminative"),
    (["--epochs", "many"], "whole number"),
    (["--dropout", "1.5"], "dropout"),
    (["--seed", "-1"], "--seed"),
])
def test_wrong_options(two_classes, options, says):
    fails(USAGE, "classify", "cross-validate", two_classes, "--quiet", *options, says=says)


def test_wrong_usage(tmp_path, two_classes, classifier):
    fails(USAGE, "classify", says="hqmm classify --help")
    fails(USAGE, "classify", "ft", two_classes, says="did you mean 'fit'?")
    fails(USAGE, "classify", "fit", two_classes, says="-o")
    fails(USAGE, "classify", "fit", two_classes, "-o", two_classes, says="overwrite")
    fails(USAGE, "classify", "extract", classifier, "--class", "maybe", "-o", tmp_path / "x.h5", says="no, yes")
    fails(USAGE, "classify", "cross-validate", two_classes, "--folds", 101, "--quiet", says="")
    fails(CANNOT_WRITE, "classify", "fit", two_classes, "-o", tmp_path / "none" / "x.h5", says="no folder")
    fails(CANNOT_WRITE, "classify", "cross-validate", two_classes, "--report", tmp_path, says="cannot be written")
    unlabelled = tmp_path / "u.txt"
    unlabelled.write_text("0 1 0\n1 1 0\n")
    fails(BAD_DATA, "classify", "fit", unlabelled, "-o", tmp_path / "u.h5", says=["u.txt", "no classes"])
    one = write_rows(tmp_path / "one.txt", [("a", "ACGT"), ("a", "AAAA")])
    fails(BAD_DATA, "classify", "cross-validate", one, says=["one.txt", "class 'a'"])


def test_a_position_map_from_a_file(tmp_path, two_classes):
    (tmp_path / "map.txt").write_text("\n".join(["0"] * 10 + ["1", "2", "3"] + ["0"] * 7))
    clf = tmp_path / "m.h5"
    done = hqmm("classify", "fit", two_classes, "-o", clf, *QUICK, "--positions", f"map:{tmp_path / 'map.txt'}")
    assert done.returncode == OK, done.stderr
    assert hqmm_json("inspect", clf)["classes"][0]["kraus_sets"] == 4
    assert str(tmp_path).encode() not in clf.read_bytes()
    (tmp_path / "map.txt").write_text("0 1 x")
    fails(BAD_DATA, "classify", "fit", two_classes, "-o", clf, "--positions", f"map:{tmp_path / 'map.txt'}",
          "--quiet", says=["map.txt", "byte 4"])


def test_splice_junctions_are_explained_by_gt_and_ag(tmp_path):
    data = shared("data/splice/splice.data")
    clf = tmp_path / "splice.h5"
    assert hqmm("classify", "fit", data, "-o", clf, *QUICK, "--ambiguous", "drop").returncode == OK
    rows = hqmm_json("classify", "predict", clf, data, "--explain", "--ambiguous", "drop")["rows"]
    for name, positions in (("EI", {30, 31}), ("IE", {28, 29})):
        own = [row["contributions"] for row in rows if row["true_class"] == row["class"] == name]
        assert set(np.argsort(np.mean(own, axis=0))[-2:]) == positions, name


def test_ctrl_c_is_one_line(two_classes):
    run = subprocess.Popen([BINARY, "classify", "cross-validate", str(two_classes), "--epochs", "100000", "--quiet"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until_busy(run)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=20)
    assert run.returncode == 130 and out == b""
    assert err.decode().count("\n") == 1 and "interrupted" in err.decode()


def without_seconds(told):
    return {key: value for key, value in told.items() if key not in ("seconds", "model")}


@pytest.mark.parametrize("command, more", [("fit", ["--members", 3]), ("cross-validate", ["--folds", 3, "--prior", "yes=0.3,no=0.7"])])
def test_a_run_goes_on_where_it_was_stopped(tmp_path, two_classes, command, more):
    args = ["classify", command, two_classes, "-n", 3, "-w", 1, "--epochs", 15, *more, "--json", "--quiet"]
    run = tmp_path / "run"
    process = subprocess.Popen([BINARY, *map(str, args), "--run", run], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not list(run.glob("cells/*.json")) and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130 and f"resume with 'hqmm classify {command} --resume {run}'" in said, said
    assert "parts done" in hqmm("inspect", run).stdout
    out = tmp_path / "out"
    resumed = hqmm("classify", command, "--resume", run, "--json", "--threads", 1, "-o", out)
    assert resumed.returncode == OK and "were done before" in resumed.stderr, resumed.stderr
    whole = hqmm(*args, "-o", tmp_path / "whole")
    assert whole.returncode == OK
    if command == "fit":
        assert out.read_bytes() == (tmp_path / "whole").read_bytes()
    else:
        assert without_seconds(json.loads(out.read_text())) == without_seconds(json.loads((tmp_path / "whole").read_text()))


def test_a_run_takes_the_data_it_began_with(tmp_path, two_classes):
    run = tmp_path / "run"
    args = ["classify", "fit", two_classes, *QUICK, "--quiet"]
    assert hqmm(*args, "--run", run).returncode == OK
    assert (run / "classifier.h5").exists()
    fails(USAGE, *args, "--run", run, says="holds a run already")
    fails(USAGE, "classify", "fit", "--resume", run, "--epochs", 3, says="--epochs")
    fails(BAD_DATA, "classify", "cross-validate", "--resume", run, says="classify fit")
    fails(BAD_DATA, "train", "--resume", run, says="config.json")
    fails(NO_INPUT, "classify", "fit", "--resume", tmp_path / "nowhere", says="not a run directory")
    fails(USAGE, "classify", "fit", "-", *QUICK, "--quiet", "--run", tmp_path / "stdin", stdin=two_classes.read_text(), says="data in a file")
    two_classes.write_text(two_classes.read_text() + "yes\tACGT\n")
    fails(BAD_DATA, "classify", "fit", "--resume", run, "--quiet", says=["two.txt", "changed"])
    two_classes.unlink()
    fails(NO_INPUT, "classify", "fit", "--resume", run, says="two.txt")


def test_a_run_notices_another_position_map(tmp_path, two_classes):
    positions, run = tmp_path / "map.txt", tmp_path / "run"
    positions.write_text(" ".join("0" * 20) + "\n")
    done = hqmm("classify", "fit", two_classes, *QUICK, "--positions", f"map:{positions}", "--run", run)
    assert done.returncode == OK, done.stderr
    positions.write_text(" ".join("0" * 10 + "1" * 10) + "\n")
    fails(BAD_DATA, "classify", "fit", "--resume", run, "--quiet", says="settings")
