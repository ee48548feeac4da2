"""write_stub.py FOLDER: writes _parameters.pyi beside hqmm._core in FOLDER; the build calls it.

hqmm/__init__.py is not run: what it imports need not be there when the package is built.
"""

import pathlib
import sys
import types

sys.dont_write_bytecode = True
folder = pathlib.Path(sys.argv[1])
package = types.ModuleType("hqmm")
package.__path__ = [str(folder), str(pathlib.Path(__file__).resolve().parent / "hqmm")]
sys.modules["hqmm"] = package

from hqmm import _parameters  # noqa: E402

(folder / "_parameters.pyi").write_text(_parameters.stub(), encoding="utf-8")
