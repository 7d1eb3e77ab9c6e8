"""Functions of a robot as a Python module that needs neither Warp nor warpdyn, for Python control
loops in which a call should cost less than a microsecond."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ...codegen.portable_style import Style
from ...codegen.python_wrapper import python_stub, python_wrapper
from ...model import Model
from ...model.model import check_model
from .compile_ahead import Precision
from .exporting import exported_functions, header_of
from .identifiers import identifier

COMPILERS = ("cc", "gcc", "clang")


def export_python(
    model: Model,
    calls: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]],
    folder: str | Path,
    *,
    name: str | None = None,
    dtype: Precision = "float64",
    overwrite: bool = False,
) -> Path:
    """Compile a module with these functions for a robot into a folder; returns the path of the
    module.

    Its functions take NumPy arrays, or other contiguous buffers, of `dtype`, results last:
    `rnea(q, v, a, tau)` for one robot, `rnea_batch(q, v, a, tau)` for rows of robots. An array
    ends in the dimensions of one robot's array or is flat; others raise ValueError. They hold the
    GIL. Any Python from 3.11 on imports the file, on the same platform and on a processor with the
    instructions of this one.

    calls: as in `export`. name: the module's name; by default the robot's.
    RuntimeError: there is no C compiler, or Python's headers are missing.
    """
    check_model(model)
    named = identifier(name or model.name)
    made = Path(folder) / f"{named}.abi3.so"
    if made.exists() and not overwrite:
        raise FileExistsError(f"{made} exists; overwrite=True replaces it")
    compiler = next((x for x in COMPILERS if shutil.which(x)), None)
    include = Path(sysconfig.get_path("include"))
    if compiler is None or not (include / "Python.h").exists():
        missing = "a C compiler" if compiler is None else "Python's headers"
        raise RuntimeError(
            f"{missing} is needed to make a module; on Debian and Ubuntu: "
            "apt-get install gcc python3-dev"
        )
    single = dtype == "float32"
    functions = exported_functions(model, calls, dtype)
    header = header_of(model, functions, Style("c", single, named))
    Path(folder).mkdir(parents=True, exist_ok=True)
    # The C source is needed only until the compiler has run.
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / f"{named}.h").write_text(header, encoding="utf-8")
        source = Path(work) / "module.c"
        source.write_text(python_wrapper(named, functions, single), encoding="utf-8")
        options = ["-std=c99", "-O3", "-march=native", "-shared", "-fPIC", "-fvisibility=hidden"]
        command = [compiler, *options, f"-I{include}", str(source), "-lm", "-o", str(made)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"{compiler} did not compile the module: {ran.stderr.strip()[:500]}")
    made.with_name(f"{named}.pyi").write_text(python_stub(named, functions), encoding="utf-8")
    return made
