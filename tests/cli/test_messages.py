"""Messages speak the words of whoever reads them."""

import pathlib
import re

import pytest

from conftest import SOURCE, USAGE, fails, hqmm

FLAG_OR_COMMAND = re.compile(r"""--[a-z]|(?<![\w}-])-[a-z](?![\w-])|'hqmm [a-z]""")
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')


def strings(path):
    """The string literals of a source file, with their lines; comments are for programmers."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        code = line.split("//")[0] if "://" not in line else line
        for found in TEXT.findall(code):
            yield number, found


def test_the_library_names_no_flag_and_no_command():
    sources = [p for p in (SOURCE / "hqmm").rglob("*") if p.suffix in (".hpp", ".cpp")]
    assert len(sources) > 100
    named = [f"{path.relative_to(SOURCE)}:{number}: {text}" for path in sources
             for number, text in strings(path) if FLAG_OR_COMMAND.search(text)]
    assert not named, "\n".join(named)


@pytest.mark.parametrize("text", ['"use --burn-in 0"', '"needs -w 4"', "\"go on with 'hqmm train'\""])
def test_a_flag_would_be_found(text):
    assert FLAG_OR_COMMAND.search(text)


@pytest.fixture
def data(tmp_path):
    path = pathlib.Path(tmp_path / "d.txt")
    path.write_text("0 1 0 1 1\n1 0 0 1 0\n" * 3)
    return path


@pytest.mark.parametrize("args, says", [
    (["-n", 0], "--latent-dim: expected a whole number from 1 to 4096, found '0'"),
    (["--momentum", 1], "--momentum: expected a number in [0, 1), found '1'"),
    (["--step-size", "x"], "--step-size: expected a number ≥ 0, found 'x'"),
    (["--schedule", "wild"], "--schedule: expected cosine or geometric or constant, found 'wild'"),
    (["--burn-in", 50, "--chunk-length", 50], "--burn-in 50 leaves nothing to score in chunks of 50 symbols"),
    (["--retraction", "literal", "--average", 0.5], "--average cannot be combined with --retraction literal"),
    (["--learner", "givens", "--initial-state", "learned"], "use another --initial-state than learned"),
    (["--engine", "kraus", "--learner", "em"], "--engine applies to the gradients"),
])
def test_the_command_line_speaks_of_flags(tmp_path, data, args, says):
    fails(USAGE, "train", data, "-o", tmp_path / "m.h5", "--quiet", *args, says=says)


def test_the_help_of_all_commands_has_the_text_of_an_option():
    for command in (["train"], ["select"], ["classify", "fit"], ["classify", "cross-validate"]):
        shown = " ".join(hqmm(*command, "--help").stdout.split())
        assert "Kraus operators per symbol" in shown and "--step-size X" in shown, command
    shown = " ".join(hqmm("train", "--help").stdout.split())
    assert "--epochs N=60 (givens 15, em 600)" in shown


def test_advice_names_flags(tmp_path):
    labelled = tmp_path / "l.txt"
    labelled.write_text("a\tACGT\na\tACG\nb\tTGCA\nb\tTGC\n" * 5)
    done = hqmm("classify", "fit", labelled, "-o", tmp_path / "c.h5", "--epochs", 1, "--grid", "none")
    assert "(--positions to change)" in done.stderr, done.stderr
