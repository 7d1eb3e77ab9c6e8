"""API reference: pages of public names, by module of the library."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from itertools import pairwise
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import warpdyn as wd
import warpdyn.algorithms
from ros2_node.laws import admittance, cartesian_impedance, joint_impedance, teaching

from . import function_matrix

ROOMS = {
    "model": "Robots as data",
    "formats": "Robots from files",
    "robots": "Robots that come with warpdyn",
    "execution": "Calls",
    "user_kernels": "Kernels of your own",
}
"""Rooms whose public names share a page, and its titles. The room of functions has a page for each
module. The order of the reference is that of `wd.__all__`."""

FUNCTIONS = "functions"

TITLES = {
    "com": "Centre of mass",
    "screws": "Products of exponentials",
    "group": "Groups of robots",
}
"""Pages of functions whose titles are not their modules' names."""

NAMESPACES = {
    "warpdyn.convert": "warpdyn.convert: conversions",
    "warpdyn.description": "warpdyn.description: parts of links and joints",
    "warpdyn.kernels": "warpdyn.kernels: your own kernels, and compiling ahead",
    "warpdyn.loops": "warpdyn.loops: closed loops",
    "warpdyn.random": "warpdyn.random: random numbers",
    "warpdyn.results": "warpdyn.results: types of results",
    "warpdyn.runtime": "warpdyn.runtime: threads and memory",
}
"""Modules of `wd.__all__` that hold public names themselves, and the titles of their pages."""

TOP = "warpdyn"

PLACES = {
    "KINDS": "warpdyn.model.joints",
    "ContactPoint": "warpdyn.functions.simulation.contact_points",
    "config": "warpdyn.execution.config",
    "TASKS": "warpdyn.rl.tasks",
}
"""Modules of names that are not filed under the one that defines them."""

OTHER_MODULES = {
    "warpdyn.labels": ("labels", "warpdyn.labels: labels of logs"),
    "warpdyn.rl": ("reinforcement_learning", "warpdyn.rl: reinforcement learning"),
    "warpdyn.rl.terms": ("learning_terms", "warpdyn.rl.terms: terms of learning tasks"),
    "warpdyn.viewer": ("viewer", "warpdyn.viewer: robots in the browser"),
}
"""Public modules in addition to `wd.__all__`, their pages and titles."""

LAWS = (joint_impedance, cartesian_impedance, admittance, teaching)
"""Modules of the ROS 2 node's laws; a law has its module's name."""


def pages() -> dict[str, str]:
    """Source of each page by file name, including the index."""
    written: dict[str, str] = {}
    for module, names in families().items():
        if module in NAMESPACES:
            written[module.rpartition(".")[2]] = _of_module(module, NAMESPACES[module])
            continue
        stem = module.rpartition(".")[2]
        # "(API)" distinguishes the page from the guide with the same title in search results.
        heading, blocks = f"{title(module)} (API)", map(directive, in_order(names, stem))
        written[stem] = _page(heading, sentence_of(module), blocks)
    for module, (page, heading) in OTHER_MODULES.items():
        written[page] = _of_module(module, heading)
    laws = [f"{each.__name__}.{each.__name__.rpartition('.')[2]}" for each in LAWS]
    written["ros2_laws"] = _page(
        "Laws of the ROS 2 node (API)",
        sentence_of("ros2_node.laws"),
        (f".. autofunction:: {law}\n" for law in laws),
    )
    written |= {f"text_{name}": _source_page(name) for name in algorithm_modules()}
    written["matrix"] = function_matrix.page()
    written["index"] = _index()
    return written


def title(module: str) -> str:
    """Title of a module's page, without "(API)". It is also a comment of `wd.__all__`."""
    room, stem = module.split(".")[1], module.rpartition(".")[2]
    return ROOMS.get(room) or TITLES.get(stem) or stem.replace("_", " ").capitalize()


@cache
def algorithm_modules() -> dict[str, str]:
    """Modules of the algorithms by name, including those of inner rooms: `warpdyn.algorithms.rnea`."""
    start = "warpdyn.algorithms."
    found = walk_packages(warpdyn.algorithms.__path__, start)
    modules = sorted(module.name for module in found if not module.ispkg)
    return {name.rpartition(".")[2]: name for name in modules}


def families() -> dict[str, list[str]]:
    """Public names by the module whose page has them, in the order of `wd.__all__`."""
    found: dict[str, list[str]] = {}
    for name, thing in public().items():
        module = home(name, thing)
        room = ".".join(module.split(".")[:2])
        found.setdefault(module if room.endswith(FUNCTIONS) else room, []).append(name)
    return found


def in_order(names: Iterable[str], stem: str) -> list[str]:
    """Names in the order of a page: the name of the page, functions, and the classes of their results."""
    return sorted(names, key=lambda name: (name != stem, not name.islower()))


def public() -> dict[str, Any]:
    """Public objects of `wd.__all__` by name."""
    return {name: getattr(wd, name) for name in wd.__all__}


def names_of_namespaces() -> list[tuple[str, str, Any]]:
    """Module, name and object of each public name, at the top level and in the namespaces."""
    modules = [import_module(name) for name in (TOP, *NAMESPACES)]
    return [(m.__name__, name, getattr(m, name)) for m in modules for name in m.__all__]


def home(name: str, thing: Any) -> str:
    """Module that defines a name; its page has the name."""
    defines = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", "")
    return PLACES.get(name) or str(defines)


def directive(name: str) -> str:
    """Lines of the autodoc directive for a public name of warpdyn."""
    return _directive(f"warpdyn.{name}", public()[name])


def sentence_of(module: str) -> str:
    """First sentence of a module's docstring."""
    return (inspect.getdoc(import_module(module)) or "").split("\n\n")[0].replace("\n", " ")


def value_docstring(data: str) -> str:
    """Docstring below the value of a name of `PLACES` in its module; "" for other names."""
    name = data.rpartition(".")[2]
    if name not in PLACES:
        return ""
    lines = ast.parse(inspect.getsource(import_module(PLACES[name]))).body
    for line, after in pairwise(lines):
        named = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
        if name in (getattr(each, "id", "") for each in named) and isinstance(after, ast.Expr):
            return str(ast.literal_eval(after.value))
    return ""


def _directive(path: str, thing: Any) -> str:
    if isinstance(thing, ModuleType):
        return f".. automodule:: {thing.__name__}\n   :members:\n"
    if inspect.isclass(thing):
        return f".. autoclass:: {path}\n   :members:\n"
    if callable(thing):
        return f".. autofunction:: {path}\n"
    return f".. autodata:: {path}\n   :no-value:\n"


def _of_module(module: str, title: str) -> str:
    """Page of a module with all its public names."""
    thing = import_module(module)
    blocks = (_directive(f"{module}.{name}", getattr(thing, name)) for name in thing.__all__)
    return _page(title, sentence_of(module), blocks)


def _page(title: str, sentence: str, directives: Iterable[str]) -> str:
    blocks = "\n".join(f"```{{eval-rst}}\n{each}```\n" for each in directives)
    return f"# {title}\n\n{sentence}\n\n{blocks}"


def _source_page(name: str) -> str:
    """Page with the source of an algorithm."""
    module = algorithm_modules()[name]
    sentence = sentence_of(module)
    place = f"../../{module.replace('.', '/')}.py"
    return f"# {name}.py\n\n{sentence}\n\n```{{literalinclude}} {place}\n```\n"


def _index() -> str:
    pages_of: dict[str, list[str]] = {}
    for module in families():
        pages_of.setdefault(section(module), []).append(module.rpartition(".")[2])
    others = [*(page for page, _ in OTHER_MODULES.values()), "ros2_laws"]
    return (
        "# API reference\n\n"
        "Every public name, with shapes, units, frames, the source of its formula, and an example that tests run. "
        "Examples assume `import numpy as np` and `import warpdyn as wd`, so `warpdyn.rnea` is `wd.rnea` there.\n\n"
        + _tree("Which arrays, devices and gradients", ["matrix"])
        + "".join(_tree(title, names) for title, names in pages_of.items())
        + _tree("Learning, labels, viewing, ROS 2", others)
        + _tree("Source of the algorithms", [f"text_{name}" for name in algorithm_modules()])
    )


def section(module: str) -> str:
    """Heading of a page in the index."""
    if module in NAMESPACES:
        return "Namespaces"
    _, room, *inner = module.split(".")
    if room == FUNCTIONS:
        return "Simulation" if inner[0] == "simulation" else "Functions"
    return "Calls and kernels" if room in ("execution", "user_kernels") else "Robots"


def _tree(title: str, names: list[str]) -> str:
    entries = "\n".join(names)
    return f"## {title}\n\n```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```\n\n"
