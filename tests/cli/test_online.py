"""docs/online.md: the commands that it shows are run, and say what it says."""

import os
import re
import subprocess

import pytest

from conftest import BINARY, SOURCE


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page's text, and what each of its commands wrote."""
    folder = tmp_path_factory.mktemp("online")
    (folder / "bin").mkdir()
    (folder / "bin" / "hqmm").symlink_to(BINARY)
    text = (SOURCE / "docs" / "online.md").read_text()
    program, = re.findall(r"```awk\n(.*?)```", text, re.DOTALL)
    (folder / "calls.awk").write_text(program)
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "LC_ALL": "C"}
    written = [subprocess.run(["bash", "-eo", "pipefail", "-c", block], cwd=folder, env=environment, text=True, check=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=120).stdout
               for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)]
    return folder, text, written


def test_the_threshold_is_above_what_is_ordinary(page):
    _, text, (_, largest, _) = page
    said, = re.findall(r"The largest is about ([\d.]+) bits", text)
    assert float(largest) == pytest.approx(float(said), abs=0.1) and float(largest) < 2


def test_the_alarm_is_at_the_odd_request(page):
    folder, text, (_, _, alarms) = page
    calls = (folder / "tuesday.log").read_text().split()
    unknown = calls.index("execve")
    first, over = (line.split("\t") for line in alarms.splitlines())
    assert (first[0], over[0]) == ("alarm", "over")
    assert unknown - 16 <= int(first[2]) <= unknown and over[2:] == [str(unknown), "inf", "execve"]
    shown, = re.findall(r"```\n(alarm\t.*?)```", text, re.DOTALL)
    assert [line.split("\t")[:3] for line in shown.splitlines()] == [first[:3], over[:3]]
    assert float(first[3]) == pytest.approx(float(shown.split("\t")[3]), abs=0.1)
