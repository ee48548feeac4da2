"""The commands of docs/tutorial.md and README.md do what the pages say.

`HQMM_BINARY=build/release/hqmm python3 tests/cli/test_tutorial.py` writes the outputs of the tutorial anew.
"""

import os
import re
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

from conftest import BINARY, OK, SOURCE, hqmm, hqmm_json, wait_until_caught

TUTORIAL = SOURCE / "docs" / "tutorial.md"
# A command of the page, and the output below it if there is one.
BLOCK = re.compile(r"```sh\n(.*?)```\n(?:```text\n(.*?)```\n)?", re.DOTALL)
NUMBER = re.compile(r"[-+−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def shell(script, cwd):
    """Runs lines of bash with hqmm on the path; variables live from one block to the next in a file."""
    path = f"{os.path.dirname(os.path.abspath(BINARY))}{os.pathsep}{os.environ['PATH']}"
    kept = cwd / ".variables"
    kept.touch()
    return subprocess.run(["bash", "-euc", f"source {kept}\n{script}\ndeclare -p classes > {kept} 2>/dev/null || true"],
                          cwd=cwd, env={**os.environ, "PATH": path, "LC_ALL": "C"}, capture_output=True, text=True, timeout=300)


def has_report_page():
    done = hqmm("report", "nothing.h5", "-o", "nothing.html")
    return "npm" not in done.stderr


def words_and_numbers(text):
    """Lines without their numbers, blanks as one; and the numbers that have a point."""
    text = re.sub(r"in [\d.]+ seconds", "in a while", text)
    lines = [" ".join(NUMBER.sub("#", line).split()) for line in text.splitlines()]
    return lines, [float(n.replace("−", "-")) for n in NUMBER.findall(text) if "." in n]


def same_figures(found, told):
    found, told = words_and_numbers(found), words_and_numbers(told)
    assert found[0] == told[0]
    assert np.allclose(found[1], told[1], rtol=0.02, atol=0.02), (found[1], told[1])


def run_blocks(folder):
    for script, told in BLOCK.findall(TUTORIAL.read_text()):
        if "hqmm report" in script and not has_report_page():
            continue
        done = shell(script, folder)
        assert done.returncode == OK, (script, done.stderr)
        yield script, told, done.stdout


@pytest.mark.skipif(bool(os.environ.get("HQMM_SANITIZE")), reason="skipped: other tests run the same code on less")
def test_the_tutorial_says_what_its_commands_print(tmp_path):
    folder = tmp_path / "tutorial"
    shutil.copytree(SOURCE / "docs" / "tutorial", folder)
    blocks = list(run_blocks(folder))
    assert len(blocks) >= 10
    simd = hqmm_json("inspect", folder / "donors.h5")["provenance"]["simd"]
    for script, told, found in blocks:
        if told and simd == "avx512":  # with other instructions training ends elsewhere
            same_figures(found, told)
        elif told:
            assert len(found.splitlines()) == len(told.splitlines()), script


# Commands of README.md that a test cannot run: one needs the network, one hours.
NOT_RUN = {"hqmm data splice", "hqmm reproduce all"}


def readme_commands():
    """The lines of README's code blocks that call hqmm, without their comments."""
    blocks = re.findall(r"```\n(.*?)```", (SOURCE / "README.md").read_text(), re.DOTALL)
    lines = [re.sub(r"\s+#.*", "", line) for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith(("hqmm ", "printf "))]


def write_readme_data(folder):
    """Small files of the names that README uses."""
    assert hqmm("generate", "synthetic-hmm", "-o", folder / "made").returncode == OK
    long = (folder / "made/train.txt").read_text().splitlines()
    (folder / "train.txt").write_text("\n".join(line[:401] for line in long[:8]) + "\n")
    (folder / "val.txt").write_text("\n".join(line[:201] for line in long[8:10]) + "\n")
    (folder / "test.txt").write_text(long[10] + "\n")
    (folder / "events.log").write_text("\n".join(long[11].split()) + "\n")
    (folder / "new.fa").write_text(">one\nCAGGTAAGTACCTTAA\n>two\nTTTTCCACAGGTGGCC\n")
    rows, genome = [], ""
    for name, kind in {"donors": "EI", "acceptors": "IE", "others": "N"}.items():
        bases = [line[22:38] for line in (SOURCE / f"docs/tutorial/{name}.fa").read_text().splitlines()[1:24:2]]
        rows += [f"{kind}, {kind}-{i}, {row}" for i, row in enumerate(bases)]
        genome += "".join(bases)
    (folder / "splice.data").write_text("\n".join(rows) + "\n")
    (folder / "genome.fa").write_text(f">genome\n{genome}\n")


@pytest.mark.skipif(bool(os.environ.get("HQMM_SANITIZE")), reason="skipped: other tests run the same code on less")
def test_the_commands_of_the_readme_run(tmp_path):
    write_readme_data(tmp_path)
    commands = readme_commands()
    assert len(commands) > 20 and NOT_RUN < set(commands)
    for command in commands:
        if command in NOT_RUN or (command.startswith("hqmm report") and not has_report_page()):
            continue
        if "--follow" in command:  # until somebody ends it
            process = subprocess.Popen([BINARY, *command.split()[1:]], cwd=tmp_path, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            wait_until_caught(process, signal.SIGINT)
            process.send_signal(signal.SIGINT)
            assert process.communicate()[1] and process.returncode == 130, command
        else:
            done = shell(command, tmp_path)
            assert done.returncode == OK, (command, done.stderr)


def test_dev_has_the_commands_that_pages_name():
    told = subprocess.run([SOURCE / "dev", "help"], capture_output=True, text=True, check=True).stdout
    for page in ["README.md", *map(str, (SOURCE / "docs").glob("*.md"))]:
        for name in re.findall(r"\./dev ([a-z]+)", (SOURCE / page).read_text()):
            assert re.search(rf"^  {name}\b", told, re.MULTILINE), (page, name)


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md", "docs/glossary.md"])
def test_links_lead_somewhere(page):
    path = SOURCE / page
    for link in re.findall(r"(?:\]\(|src=\")([^)#\"]+)", path.read_text()):
        assert link.startswith("https://") or (path.parent / link).exists(), link


def write_outputs():
    import pathlib
    import tempfile
    with tempfile.TemporaryDirectory() as root:
        folder = pathlib.Path(root) / "tutorial"
        shutil.copytree(SOURCE / "docs" / "tutorial", folder)
        text = TUTORIAL.read_text()
        for script, told, found in run_blocks(folder):
            before = f"```sh\n{script}```\n```text\n"
            text = text.replace(f"{before}{told}```\n", f"{before}{found}```\n")
    TUTORIAL.write_text(text)


if __name__ == "__main__":
    sys.exit(write_outputs())
