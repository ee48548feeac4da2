"""hqmm report: what stands in the document of a page. (report/tests looks at the page itself, in a browser.)"""

import json
import math
import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest

from conftest import BINARY, SOURCE, USAGE, BAD_DATA, NO_INPUT, fails, hqmm

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("report")
    (path / "train.txt").write_text("0 1 0 2 1 0 1 0 2\n1 0 2 0 1 0 1 2 0\n" * 6)
    (path / "test.txt").write_text("0 1 0 2 1 0\n1 0 2 0 1 1\n0 1 0 1 0 1\n")
    for name, words in (("a", ["--restarts", "2"]), ("b", ["-w", "1"])):
        hqmm("train", path / "train.txt", "--validation", path / "test.txt", "-n", 2, "--epochs", 3, *words,
             "--run", path / name, "-o", path / f"{name}.h5", "--quiet")
    return path


def document(*words):
    return json.loads(hqmm("report", *words, "--json").stdout)


def test_a_run_is_its_history(folder):
    (run,) = document(folder / "a")["items"]
    lines = [json.loads(line) for line in (folder / "a" / "history.jsonl").read_text().splitlines()]
    for restart in run["restarts"]:
        own = [line for line in lines if line["restart"] == restart["restart"]]
        assert restart["epoch"] == [line["epoch"] for line in own]
        expected = [-line["validation"]["log_likelihood"] / line["validation"]["symbols"] / math.log(2) for line in own]
        assert restart["validation_bits"] == pytest.approx(expected, rel=1e-12)
    assert run["best"]["validation_bits"] == min(min(r["validation_bits"]) for r in run["restarts"])
    assert run["epochs_done"] == 6 and run["unfinished"] is False
    assert run["other_than_default"].keys() == {"latent_dim", "epochs", "restarts"} - (
        {"latent_dim"} - run["other_than_default"].keys())
    assert run["model"]["kind"] == "model"


def test_models_scored_on_the_same_sequences(folder):
    words = (folder / "a", folder / "b.h5", "--data", folder / "test.txt")
    found = document(*words, "--truth", folder / "b.h5")
    rows = found["scores"]["rows"]
    assert [row["name"] for row in rows] == ["a", "b.h5", "true model"]
    score = json.loads(hqmm("score", folder / "b.h5", folder / "test.txt", "--json").stdout)
    assert rows[1]["bits_per_symbol"] == pytest.approx(score["bits_per_symbol"], rel=1e-12)
    assert len(rows[1]["per_sequence"]) == 3
    # The run was validated on these sequences: the true model is a line in its curves.
    assert found["items"][0]["truth"]["bits_per_symbol"] == rows[2]["bits_per_symbol"]
    walk = found["scores"]["walks"][0]
    assert walk["came"] == [0, 1, 0, 2, 1, 0]
    assert [sum(row) for row in walk["probabilities"]] == pytest.approx([1.0] * 6, abs=1e-12)


def test_a_model_is_its_operators(folder):
    (model,) = document(folder / "b.h5")["items"]
    n = 2
    gram = [[sum(o["re"][k][i] * o["re"][k][j] + o["im"][k][i] * o["im"][k][j]
                 for o in model["operators"] for k in range(n)) for j in range(n)] for i in range(n)]
    assert [x for row in gram for x in row] == pytest.approx([1, 0, 0, 1], abs=1e-12)
    assert sum(model["choi"]["re"][i][i] for i in range(n * n)) == pytest.approx(n, abs=1e-12)
    assert model["eigenvalues"][0]["modulus"] == pytest.approx(1.0, abs=1e-9)
    weights = [point["weight"] for point in model["bloch"][1:]]
    assert sum(weights) == pytest.approx(1.0, abs=1e-9)
    assert all(p["x"] ** 2 + p["y"] ** 2 + p["z"] ** 2 <= 1 + 1e-9 for p in model["bloch"])


def test_things_are_told_apart_and_named_apart(folder, tmp_path):
    study = tmp_path / "study.json"
    study.write_text(json.dumps({"tables": {"t": []}}))
    found = document(folder / "a", folder / "a", study)
    assert [item["kind"] for item in found["items"]] == ["run", "run", "study"]
    assert [item["name"] for item in found["items"]] == ["a", "a (2)", "study.json"]
    assert found["title"] == "a and 2 more"


def test_a_run_that_has_not_ended(folder, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "config.json").write_bytes((folder / "b" / "config.json").read_bytes())
    (item,) = document(run)["items"]
    assert item["status"] == "stopped before its end" and item["unfinished"] and item["best"] is None
    # Somebody holds the lock: it is being trained.
    held = subprocess.Popen(["flock", run / ".lock", "sh", "-c", "echo held; read -r _"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    assert held.stdout.readline() == "held\n"
    (item,) = document(run)["items"]
    inspected = json.loads(hqmm("inspect", run, "--json").stdout)
    held.communicate("\n")
    assert item["status"] == "training now" and inspected["training_now"]
    assert "stopped before its end" in hqmm("inspect", run).stdout


def drawn(svg):
    """(points of every curve, circles) of a figure, in its coordinates."""
    curves = [[tuple(map(float, point.split(","))) for point in line.get("points").split()] for line in svg.iter(f"{SVG}polyline")]
    curves = [curve for curve in curves if len(curve) > 1]  # one point: the best epoch
    return curves, [(float(c.get("cx")), float(c.get("cy"))) for c in svg.iter(f"{SVG}circle")]


def test_a_figure_of_a_run_for_people_without_a_browser(folder, tmp_path):
    run = tmp_path / "<run> & \"me\""
    shutil.copytree(folder / "a", run)
    assert hqmm("inspect", run, "--figure", tmp_path / "a.svg").returncode == 0
    svg = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert svg.find(f"{SVG}text").text == f"Training – {run.name}"
    curves, circles = drawn(svg)
    assert len(curves) == 3, "training and validation of the best start, validation of the other"
    assert all(0 <= x <= 800 and 0 <= y <= 400 for curve in curves for x, y in curve)
    # The best epoch: the lowest point of the validation, which y turns around.
    (item,) = document(run)["items"]
    ours = item["restarts"][item["best"]["restart"]]
    (best,) = circles
    assert best == max(curves[2], key=lambda point: point[1])
    where = ours["epoch"].index(item["best"]["epoch"]) - len(ours["epoch"])
    assert best == curves[2][where]
    assert f"best: {item['best']['validation_bits']:.5f} in epoch {item['best']['epoch']}" in [t.text for t in svg.iter(f"{SVG}text")]
    first = (tmp_path / "a.svg").read_bytes()
    hqmm("inspect", run, "--figure", tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_bytes() == first


def test_a_start_that_is_far_is_off_the_axis_of_a_figure(folder, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "config.json").write_bytes((folder / "b" / "config.json").read_bytes())
    fails(BAD_DATA, "inspect", run, "--figure", tmp_path / "r.svg", says="no epoch yet")
    epoch = json.loads((folder / "b" / "history.jsonl").read_text().splitlines()[-1])

    def write(bits):
        lines = []
        for number, value in enumerate(bits):
            figures = {**epoch["validation"], "log_likelihood": -value * math.log(2) * epoch["validation"]["symbols"]}
            lines.append(json.dumps({**epoch, "epoch": number, "train": None, "validation": figures, "best": number == 1}))
        (run / "history.jsonl").write_text("\n".join(lines) + "\n")
        assert hqmm("inspect", run, "--figure", tmp_path / "r.svg").returncode == 0
        return drawn(ElementTree.parse(tmp_path / "r.svg").getroot())[0]

    assert [len(curve) for curve in write([9.0, 1.5, 1.6])] == [2]
    assert [len(curve) for curve in write([1.55, 1.5, 1.6])] == [3]
    (curve,) = write([1.5 + 0.1 * (k % 7) for k in range(20000)])
    assert 100 < len(curve) <= 501, "a long history is thinned"
    history = (run / "history.jsonl").read_bytes()
    fails(USAGE, "inspect", run, "--figure", run / "history.jsonl", says="would overwrite")
    assert (run / "history.jsonl").read_bytes() == history


def test_what_is_not_ours_is_refused(folder, tmp_path):
    other = tmp_path / "other.json"
    other.write_text("{\"a\": 1}")
    fails(BAD_DATA, "report", other, "--json", says="neither a model")
    fails(NO_INPUT, "report", tmp_path / "none.h5", "--json")
    fails(NO_INPUT, "report", tmp_path, "--json")
    fails(USAGE, "report", folder / "a", "--truth", folder / "b.h5", "--json", says="--data")
    wide = tmp_path / "wide.txt"
    wide.write_text("0 1 2 3 4\n")
    fails(BAD_DATA, "report", folder / "b.h5", "--data", wide, "--json", says="5 symbols")
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "config.json").write_bytes((folder / "b" / "config.json").read_bytes())
    (damaged / "history.jsonl").write_text('{"restart": 0}\n')
    fails(BAD_DATA, "report", damaged, "--json", says="history.jsonl")


def test_the_page_holds_the_document_as_data(folder, tmp_path):
    page = tmp_path / "page.html"
    out = subprocess.run([BINARY, "report", folder / "a", "--title", "</script><b>", "-o", page], capture_output=True,
                         text=True, check=False)
    if "without npm" in out.stderr:
        assert out.returncode == USAGE
        pytest.skip("this build has no page")
    assert out.returncode == 0, out.stderr
    text = page.read_text()
    held = re.search(r'<script type="application/json" id="document">(.*?)</script>', text, re.S).group(1)
    assert json.loads(held)["title"] == "</script><b>"
    assert len(page.read_bytes()) < 2_000_000
    assert "http://www.w3.org" in text and not re.search(r"""(src|href)=["']?https?:""", text)


def test_methods_have_one_colour():
    here = dict(re.findall(r'\{"([a-z-]+)", "(#[0-9a-f]{6})"\}', (SOURCE / "hqmm/report/palette.cpp").read_text()))
    text = (SOURCE / "report/src/palette.ts").read_text()
    there = {name: colour for name, colour in re.findall(r"^  '?([a-z-]+)'?: \{name: .*?colour: '(#[0-9a-f]{6})'", text, re.M)}
    assert len(here) == 9 and here == there
