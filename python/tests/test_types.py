"""Type stubs: they name what the module has, and mypy agrees with them."""

import ast
import pathlib

import pytest

from hqmm import _core

PYTHON = pathlib.Path(__file__).resolve().parents[1]


def public(names):
    kept = ("__init__", "__len__", "__version__")
    return {name for name in names if not name.startswith("_") or name in kept}


def test_the_stub_names_what_the_module_has():
    stub = ast.parse((PYTHON / "hqmm" / "_core.pyi").read_text())
    found = {node.name if hasattr(node, "name") else node.target.id: node for node in stub.body
             if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AnnAssign))}
    assert set(found) == public(vars(_core))
    for name, node in found.items():
        if isinstance(node, ast.ClassDef):
            members = {part.name for part in node.body}
            assert members - {"__init__"} == public(vars(getattr(_core, name))) - {"__init__"}, name


def mypy(*args):
    api = pytest.importorskip("mypy.api", reason="skipped: mypy is not installed")
    out, errors, status = api.run(["--ignore-missing-imports", "--no-incremental", "--cache-dir=/dev/null",
                                   *map(str, args)])
    return status, out + errors


def test_the_package_type_checks():
    status, text = mypy(PYTHON / "hqmm")
    assert status == 0, text


def test_a_program_type_checks(tmp_path, monkeypatch):
    monkeypatch.setenv("MYPYPATH", str(PYTHON))
    program = tmp_path / "program.py"
    program.write_text("import numpy as np\nimport hqmm\n"
                       "model: hqmm.HQMM = hqmm.HQMM(2).fit([[0, 1]])\n"
                       "kraus: np.ndarray = model.kraus_\n"
                       "edges: np.ndarray = hqmm.HMM(2, emission='edge').fit([[0, 1]]).edges_\n"
                       "score: float = model.score([0])\n")
    status, text = mypy(program)
    assert status == 0, text
    program.write_text("import hqmm\nhqmm.HQMM('two')\nhqmm.HQMM(colour=1)\n"
                       "text: str = hqmm.HMM().fit([[0]]).score([0])\n")
    status, text = mypy(program)
    assert status == 1 and text.count("error:") == 3, text
