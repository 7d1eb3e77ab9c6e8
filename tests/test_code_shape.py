"""scripts/code_shape.py counts correctly, fails if a bound is exceeded, and runs with lint."""

from __future__ import annotations

import ast
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SPEC = spec_from_file_location("code_shape", ROOT / "scripts/code_shape.py")
assert SPEC is not None and SPEC.loader is not None
code_shape = module_from_spec(SPEC)
SPEC.loader.exec_module(code_shape)


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("return x", 1),
        ("return x and y or z", 3),
        ("return x if y else z", 2),
        ("return [a for a in x if a if y]", 4),
        ("for a in x:\n        if a:\n            break\n    else:\n        return y", 3),
        ("try:\n        return x\n    except OSError:\n        return y", 2),
        (
            "match x:\n        case 1:\n            return y\n        case _:\n            return z",
            3,
        ),
        ("def inner():\n        return x and y\n    return inner", 1),
    ],
)
def test_complexity_counts_decisions(body: str, wanted: int) -> None:
    """Each decision and each operand counts one. A nested function is counted separately."""
    (function, *_) = code_shape.functions(ast.parse(f"def f(x, y, z):\n    {body}\n"))
    assert code_shape.complexity(function) == wanted


def test_only_comments_written_for_readers_count(tmp_path: Path) -> None:
    lines = "".join(f"    x = {k}\n" for k in range(30))
    file = tmp_path / "file.py"
    sources = {
        f"def f():\n{lines}": [True],
        f"def f():\n{lines}    x = 1  # type: ignore\n": [True],
        f'def f():\n    """# no comment"""\n{lines}': [True],
        f"def f():\n    # Why.\n{lines}": [False],
        f"def f():\n{lines}    x = 1  # why\n": [False],
        "def f():\n    return 1\n": [],
    }
    for source, wanted in sources.items():
        file.write_text(source)
        assert list(code_shape.long_bodies(file, ast.parse(source))) == wanted


def test_code_shape_runs_after_prose_in_both_lint_forms() -> None:
    lines = [line.strip() for line in (ROOT / "scripts/test.sh").read_text().splitlines()]
    after = [lines[k + 1] for k, x in enumerate(lines) if x == "python scripts/prose.py"]
    assert after == ["python scripts/code_shape.py"] * 2
