"""A model learned here and one learned by the command line have the same bytes."""

import numpy as np
import pytest

import hqmm
from conftest import write_text


@pytest.mark.parametrize("options, flags", [
    ({}, []),
    ({"n_kraus": 1, "step_size": 0.1, "momentum": 0.8}, ["--step-size", "0.1", "--momentum", "0.8"]),
    ({"learner": "cosm", "preset": "paper", "burn_in": 0, "validation_burn_in": 0, "chunk_length": 0},
     ["--learner", "cosm", "--preset", "paper", "--burn-in", 0, "--validation-burn-in", 0,
      "--chunk-length", 0]),
    ({"retraction": "literal"}, ["--retraction", "literal"]),
    ({"learner": "givens"}, ["--learner", "givens"]),
    ({"n_kraus": 2, "warm_start": "em"}, ["--warm-start", "em"]),
    ({"restarts": 2, "patience": 1, "initial_state": "learned"},
     ["--restarts", 2, "--patience", 1, "--initial-state", "learned"]),
])
@pytest.mark.parametrize("n_jobs", [None, -1])
def test_hqmm(tmp_path, cli, rows, options, flags, n_jobs):
    data = write_text(tmp_path / "data.txt", rows)
    sizes = ["-n", 2, *(["-w", options["n_kraus"]] if "n_kraus" in options else [])]
    cli("train", data, "-o", tmp_path / "cli.h5", *sizes, "--epochs", 3, "--seed", 7, *flags)
    model = hqmm.HQMM(2, epochs=3, random_state=7, n_jobs=n_jobs, **options).fit(rows)
    model.save(tmp_path / "python.h5")
    assert (tmp_path / "python.h5").read_bytes() == (tmp_path / "cli.h5").read_bytes()


def test_another_seed_gives_other_bytes(rows):
    one, two = (hqmm.HQMM(2, epochs=1, random_state=seed).fit(rows) for seed in (1, 2))
    assert one.model_.to_bytes() != two.model_.to_bytes()


@pytest.mark.parametrize("emission", ["state", "edge"])
def test_hmm(tmp_path, cli, rows, emission):
    data = write_text(tmp_path / "data.txt", rows)
    cli("train", data, "-o", tmp_path / "cli.h5", "-n", 3, "--learner", "em", "--restarts", 2,
        "--epochs", 10, "--emission", emission)
    model = hqmm.HMM(3, emission=emission, restarts=2, epochs=10, random_state=1).fit(rows)
    assert model.model_.to_bytes() == (tmp_path / "cli.h5").read_bytes()


def test_validation_file_and_tokens(tmp_path, cli, rows):
    letters = np.array(["x", "y", "z"])[rows]
    train = write_text(tmp_path / "train.txt", letters[:9])
    validation = write_text(tmp_path / "validation.txt", letters[9:])
    cli("train", train, "--validation", validation, "--alphabet", "x,y,z", "-o",
        tmp_path / "cli.h5", "-n", 2, "--epochs", 2)
    model = hqmm.HQMM(2, epochs=2, random_state=1).fit(letters[:9], validation=letters[9:])
    assert model.model_.to_bytes() == (tmp_path / "cli.h5").read_bytes()


@pytest.mark.parametrize("options, flags", [
    ({"epochs": 2}, ["--epochs", 2, "--grid", "none"]),
    ({"epochs": 2, "positions": "stationary", "prior": "empirical", "dropout": 0.25},
     ["--epochs", 2, "--grid", "none", "--positions", "stationary", "--prior", "empirical",
      "--dropout", 0.25]),
    ({"epochs": 1, "grid": "auto"}, ["--epochs", 1]),
    ({"learner": "em", "epochs": 3}, ["--learner", "em", "--epochs", 3, "--grid", "none"]),
])
def test_classifier(tmp_path, cli, rows, options, flags):
    labels = ["up" if i % 3 else "down" for i in range(len(rows))]
    data = tmp_path / "data.txt"
    data.write_text("".join(f"{label}\t{' '.join(map(str, row))}\n"
                            for label, row in zip(labels, rows)))
    cli("classify", "fit", data, "-o", tmp_path / "cli.h5", "-n", 2, "--seed", 3, *flags)
    model = hqmm.HQMMClassifier(2, random_state=3, **options).fit(rows, labels)
    assert model.model_.to_bytes() == (tmp_path / "cli.h5").read_bytes()


def test_classifier_with_a_position_map(tmp_path, cli, rows):
    sets = [i // 5 for i in range(20)]
    (tmp_path / "map.txt").write_text("\n".join(map(str, sets)))
    labels = ["up" if i % 3 else "down" for i in range(len(rows))]
    data = tmp_path / "data.txt"
    data.write_text("".join(f"{label}\t{' '.join(map(str, row))}\n"
                            for label, row in zip(labels, rows)))
    cli("classify", "fit", data, "-o", tmp_path / "cli.h5", "-n", 2, "--epochs", 2, "--grid", "none",
        "--anchor", "end", "--positions", f"map:{tmp_path / 'map.txt'}")
    model = hqmm.HQMMClassifier(2, epochs=2, random_state=1, positions=sets, anchor="end").fit(rows, labels)
    assert model.model_.to_bytes() == (tmp_path / "cli.h5").read_bytes()


def test_splice_classifier(tmp_path, cli, splice):
    """The real data: ambiguity codes and all."""
    lines = [line.split(",") for line in splice.read_text().split("\n") if line.strip()]
    sequences, labels = [line[2].strip() for line in lines], [line[0].strip() for line in lines]
    cli("classify", "fit", splice, "-o", tmp_path / "cli.h5", "-n", 2, "--epochs", 1, "--grid", "none")
    model = hqmm.HQMMClassifier(2, epochs=1, alphabet="dna", random_state=1).fit(sequences, labels)
    assert model.model_.to_bytes() == (tmp_path / "cli.h5").read_bytes()


def test_score_predict_and_sample_agree(tmp_path, cli, rows):
    import json

    model = hqmm.HQMM(2, epochs=2, random_state=1).fit(rows)
    path = tmp_path / "model.h5"
    model.save(path)
    data = write_text(tmp_path / "data.txt", rows)
    figures = json.loads(cli("score", path, data, "--json", "--burn-in", 2))
    assert model.evaluate(rows, burn_in=2) == figures
    text = cli("predict", path, data)
    printed = np.array([[float(x) for x in line.split()] for line in text.splitlines()])
    assert np.array_equal(model.predict_proba(rows), printed)
    drawn = cli("sample", path, "--count", 3, "--length", 7, "--seed", 9)
    assert model.sample(3, 7, random_state=9).tolist() == [
        [int(x) for x in line.split()] for line in drawn.splitlines()]
