"""Random user kernels compared with plain NumPy: values and derivatives.

The same source runs on NumPy arrays in float64 and long double, and as a kernel. Kernels run statement by
statement. For one of ten groups of twenty texts, the values and both derivatives are compiled, too. If
NumPy's long double takes another branch, the environment is skipped. The tolerance grows with the
difference between float64 and long double.
"""

from __future__ import annotations

import linecache
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import numpy as np

import warpdyn as wd
from benchmarks.fuzzing.expression_texts import draw
from benchmarks.fuzzing.outcomes import Outcome
from warpdyn.execution.batched import describe_call
from warpdyn.execution.request.call import Call, derive, input_shapes
from warpdyn.execution.request.evaluate import record_call

SHAPES: Mapping[str, tuple[int, ...]] = {"x": (3,), "y": (3,), "M": (3, 3), "s": ()}
ENVIRONMENTS = 9
GROUP = 20
COMPILED = 10
"""One of this many groups is compiled."""

STEP = 1e-6
ROUNDING = 1e-9
"""Tolerance of values, and between the two derivatives, relative to the largest number."""
SLOPES_AGREE, DIFFERENCES = 1e-4, 1e-4
"""Tolerances: of one-sided slopes, for a function that counts as smooth, and of central differences."""
FAR = 1e6
"""Values above this size lose too many digits in differences."""

COARSE = 4
"""Environments up to this one have multiples of 1/4, which produce ties."""
CHOICES = (
    *("==", "!=", "<", ">", "%", "//", "np.logical_", "floor", "ceil", "rint", "sign"),
    *("where", "clip", "max", "min", "abs", "norm", "hypot"),
)
"""Functions with a kink or a jump. At a tie, kinks may cancel, and differences show a slope of no branch."""

Text = Callable[..., Any]
Arrays = dict[str, np.ndarray]

_texts = 0


def function_of(body: str) -> Text:
    """Function with this body."""
    global _texts
    _texts += 1
    file = f"<expression {_texts}>"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    source = f"def text(robot, x: (3,), y: (3,), M: (3, 3), s: (), *, repeat):\n{lines}"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names: dict[str, Any] = {"np": np}
    exec(compile(source, file, "exec", dont_inherit=True), names)
    text: Text = names["text"]
    return text


def python_repeat(n: int, step: Callable[[Any], Any], state: Any) -> Any:
    """Python version of `wd.kernels.repeat`."""
    for _ in range(n):
        state = step(state)
    return state


def random_environments(random: Random) -> list[Arrays]:
    """Random arrays of each environment: multiples of 1/4 with zeros and ties, finer ones, NaN and inf."""
    environments = []
    for k in range(ENVIRONMENTS):
        fine = 1024 if k > COARSE else 4
        one = {
            name: np.array(
                [random.randint(-3 * fine, 3 * fine) / fine for _ in range(int(np.prod(shape)))]
            ).reshape(shape)
            for name, shape in SHAPES.items()
        }
        if k == 1:
            one["y"] = one["x"].copy()
        if k == 2:
            one["x"] *= 0.0
            one["x"] += 0.0
        if k == 3:
            one["x"][random.randrange(3)] = -0.0
        if k >= ENVIRONMENTS - 2:
            odd = random.choice((np.nan, np.inf, -np.inf)) if k == ENVIRONMENTS - 1 else np.nan
            one[random.choice("xy")][random.randrange(3)] = odd
        environments.append(one)
    return environments


def by_numpy(text: Text, arrays: Arrays, dtype: Any = np.float64) -> Any:
    """Result of the source on NumPy arrays."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copies = {name: np.array(x, dtype=dtype) for name, x in arrays.items()}
        copies["s"] = copies["s"][()]  # a scalar, as in a kernel
        return np.asarray(text(None, *copies.values(), repeat=python_repeat), dtype=dtype)


def difference(
    body: str, text: Text, kernel: Any, random: Random, environments: list[Arrays]
) -> str | None:
    """Description of the first difference; None if all agree."""
    model = wd.load_robot("double_pendulum")
    batch = {name: np.stack([one[name] for one in environments]) for name in SHAPES}
    call = describe_call(kernel, (model, *batch.values()), {})
    program = statement_function(call)
    draws = np.random.default_rng(random.randrange(1 << 30))
    along = {name: draws.normal(size=x.shape) for name, x in batch.items()}
    tangents = statement_function(derive(call, "jvp", tuple(SHAPES), along))
    weights = {"out": draws.normal(size=(ENVIRONMENTS, 3))}
    adjoints = statement_function(derive(call, "vjp", tuple(SHAPES), weights))
    for k, arrays in enumerate(environments):
        inputs = {name: x.tolist() for name, x in arrays.items()}
        got = np.array(program(inputs)["out"])
        wanted, finer = by_numpy(text, arrays), by_numpy(text, arrays, np.longdouble)
        if not is_well_posed(text, arrays, wanted, finer):
            continue
        if not close(got, wanted, finer):
            return f"values: {got.tolist()} for NumPy's {wanted.tolist()} at {inputs}"
        # Derivatives are compared at finite inputs only.
        if not all(np.isfinite(x).all() for x in (got, *arrays.values())):
            continue
        step = {name: u[k] for name, u in along.items()}
        named = {f"{name} tangent": u for name, u in step.items()}
        moved = np.array(with_seeds(tangents, inputs, named)["out"])
        back = with_seeds(adjoints, inputs, {"out cotangent": weights["out"][k]})
        found = mode_difference(step, moved, weights["out"][k], back)
        if not found and (k > COARSE or not any(word in body for word in CHOICES)):
            found = slope_difference(text, arrays, step, moved)
        if found:
            return f"{found} at {inputs}"
    return None


def statement_function(call: Call) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    """Function that runs a call on numbers, statement by statement."""
    program = record_call(call, input_shapes(call), None)

    def run(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        return program.on_numbers({name: inputs[name] for name in program.inputs})

    run.names = tuple(program.inputs)  # type: ignore[attr-defined]
    return run


def with_seeds(run: Any, inputs: Mapping[str, Any], seeds: Mapping[str, Any]) -> Any:
    """Derivative at the inputs. Its seeds are the remaining inputs, in order."""
    left = [name for name in run.names if name not in inputs]
    values = [np.asarray(x).tolist() for x in seeds.values()]
    return run({**inputs, **dict(zip(left, values, strict=True))})


def is_well_posed(text: Text, arrays: Arrays, wanted: Any, finer: Any) -> bool:
    """False if rounding decides about NumPy's result: it differs with the precision.

    Single precision counts where results are NaN or infinite. A sum that would be zero without
    rounding may be positive in the two others by chance, and is then divided by zero.
    """
    coarser = by_numpy(text, arrays, np.float32)
    return same_kind(wanted, finer) and same_where_infinite(wanted, coarser)


def same_kind(a: Any, b: Any) -> bool:
    """True if both are NaN or infinite in the same places and close elsewhere."""
    if not same_where_infinite(a, b):
        return False
    a, b = a[np.isfinite(a)], b[np.isfinite(a)]
    return bool(np.all(np.abs(a - b) <= 1e-6 * (1 + np.abs(b))))


def same_where_infinite(a: Any, b: Any) -> bool:
    """True if both are NaN or infinite, with the same sign, in the same places."""
    same = (np.isnan(a) == np.isnan(b)) & (np.isinf(a) == np.isinf(b))
    return bool(same.all() and (np.sign(a) == np.sign(b))[np.isinf(a)].all())


def close(got: Any, wanted: Any, finer: Any) -> bool:
    """True if a result equals NumPy's up to rounding."""
    got, wanted, finer = np.broadcast_arrays(got, wanted, finer)
    odd = ~np.isfinite(wanted)
    if not np.array_equal(got[odd], wanted[odd], equal_nan=True):
        return False
    got, wanted, finer = got[~odd], wanted[~odd], np.asarray(finer, dtype=float)[~odd]
    bound = ROUNDING * (1 + np.abs(wanted)) + 1e3 * np.abs(wanted - finer)
    return bool(np.all(np.abs(got - wanted) <= bound))


def mode_difference(step: Arrays, moved: Any, weight: Any, back: Mapping[str, Any]) -> str | None:
    """Message if forward and reverse mode differ."""
    forward = float(np.sum(weight * moved))
    terms = [np.asarray(back[name]) * step[name] for name in SHAPES]
    reverse = float(sum(np.sum(x) for x in terms))
    largest = max(np.max(np.abs(weight * moved)), *(np.max(np.abs(x)) for x in terms))
    if np.isfinite(largest):
        agree = abs(forward - reverse) <= ROUNDING * (1 + largest)
    else:
        agree = np.isfinite(forward) == np.isfinite(reverse)
    return None if agree else f"jvp gives {forward}, vjp {reverse}"


def passes_infinity(text: Text, arrays: Arrays) -> bool:
    """True if NumPy divides by zero or overflows. Slopes through infinity are NaN, as in JAX and Torch."""
    try:
        with np.errstate(divide="raise", over="raise"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text(None, *(np.array(x)[()] for x in arrays.values()), repeat=python_repeat)
    except FloatingPointError:
        return True
    return False


def slope_difference(text: Text, arrays: Arrays, step: Arrays, moved: Any) -> str | None:
    """Message if forward mode differs from NumPy's finite differences where the function is smooth."""
    at = {
        h: by_numpy(text, {n: x + h * STEP * step[n] for n, x in arrays.items()})
        for h in (-2, -1, 0, 1, 2)
    }
    if not all(np.isfinite(x).all() for x in at.values()) or np.max(np.abs(at[0])) > FAR:
        return None
    sides = [(at[h] - at[0]) / (h * STEP) for h in (-2, -1, 1, 2)]
    central = sides[1] / 2 + sides[2] / 2
    smooth = np.max(np.abs(sides - central), axis=0) <= SLOPES_AGREE * (1 + np.abs(central))
    off = np.abs(moved - central) > DIFFERENCES * (1 + np.abs(central))
    if passes_infinity(text, arrays):
        smooth &= ~np.isnan(moved)
    if np.any(smooth & (off | ~np.isfinite(moved))):
        return f"jvp gives {moved.tolist()}, differences {central.tolist()}"
    return None


def reason_of(error: Exception) -> str:
    """A refusal without the names and numbers of its source."""
    message = re.sub(r"^<expression \d+>:\d+: ", "", str(error))
    return re.sub(r"\d+", "N", message)[:100]


def outcome(body: str, random: Random) -> tuple[Outcome, Any]:
    """Outcome of one source, and its kernel if the result is right."""
    text = function_of(body)
    environments = random_environments(random)
    show = f"{body}\n"
    try:
        by_numpy(text, environments[0])
    except TypeError as error:
        wanted: Exception | None = error
    else:
        wanted = None
    kernel = wd.kernel(with_repeat(text))
    try:
        found = difference(body, text, kernel, random, environments) if wanted is None else None
        if wanted is not None:
            describe_call(kernel, (wd.load_robot("double_pendulum"), *environments[0].values()), {})
            return Outcome(
                "different", "NumPy raises and the kernel does not", f"{show}{wanted}"
            ), None
    except wd.kernels.RecordingError as error:
        return Outcome("refused", reason_of(error), f"{show}{error}"), None
    except Exception as error:
        return Outcome("different", f"{type(error).__name__}", f"{show}{error}"), None
    if found is None:
        return Outcome("equal"), kernel
    return Outcome("different", found.split(":")[0].split(" ")[0], f"{show}{found}"), None


def with_repeat(text: Text) -> Text:
    """Kernel of a source, with warpdyn's loop."""

    def kernel(robot: Any, x: (3,), y: (3,), M: (3, 3), s: ()) -> Any:  # type: ignore[valid-type]
        return text(robot, x, y, M, s, repeat=wd.kernels.repeat)

    return kernel


def compiled_difference(kernels: list[Any], random: Random) -> str | None:
    """Message if the compiled kernel of many sources, or a derivative, differs from the statements."""
    model = wd.load_robot("double_pendulum")
    together = wd.kernel(combined_kernel([each.text for each in kernels]))
    environments = random_environments(random)
    batch = {name: np.stack([one[name] for one in environments]) for name in SHAPES}
    call = describe_call(together, (model, *batch.values()), {})
    with np.errstate(all="ignore"):
        values = np.asarray(together(model, *batch.values()))
    for k, one in enumerate(environments):
        for n, each in enumerate(kernels):
            text = each.text.__closure__[0].cell_contents
            wanted, finer = by_numpy(text, one), by_numpy(text, one, np.longdouble)
            well_posed = is_well_posed(text, one, wanted, finer)
            if well_posed and not close(values[k, n], wanted, finer):
                return f"compiled values: text {n}, {values[k, n].tolist()} for {wanted.tolist()} at {one}"
    draws = np.random.default_rng(random.randrange(1 << 30))
    along = {name: draws.normal(size=x.shape) for name, x in batch.items()}
    weights = draws.normal(size=values.shape)
    moved = wd.jvp(together, model, *batch.values(), tangents=along)
    statements = statement_function(derive(call, "jvp", tuple(SHAPES), along))
    back = wd.vjp(together, model, *batch.values(), cotangents=weights, wrt=tuple(SHAPES))
    backward = statement_function(derive(call, "vjp", tuple(SHAPES), {"out": weights}))
    finite = np.isfinite(values).all(axis=(1, 2))
    for k, one in enumerate(environments):
        if not finite[k] or not all(np.isfinite(x).all() for x in one.values()):
            continue
        inputs = {name: x.tolist() for name, x in one.items()}
        seeds = {name: u[k] for name, u in along.items()}
        wanted = np.array(with_seeds(statements, inputs, seeds)["out"])
        if not close(moved[k], wanted, wanted):
            return f"compiled jvp: {moved[k].tolist()} for {wanted.tolist()} at {one}"
        shares = with_seeds(backward, inputs, {"out": weights[k]})
        for name, x in zip(SHAPES, back, strict=True):
            if not close(x[k], np.array(shares[name]), np.array(shares[name])):
                return f"compiled vjp by {name}: {x[k].tolist()} for {shares[name]} at {one}"
    return None


def combined_kernel(texts: list[Text]) -> Text:
    """Kernel of several sources, each with its own copies of the arrays."""

    def kernel(robot: Any, x: (3,), y: (3,), M: (3, 3), s: ()) -> Any:  # type: ignore[valid-type]
        results = [text(robot, x.copy(), y.copy(), M.copy(), s * 1.0) for text in texts]
        return np.stack([result * 1.0 for result in results])

    return kernel


def expressions(seed: int) -> Iterator[Outcome]:
    """Yield outcomes of random sources, without end."""
    group = 0
    while True:
        right = []
        for k in range(GROUP):
            random = Random(f"{seed} {group} {k}")
            found, kernel = outcome(draw(random), random)
            if kernel is None:
                yield found
            else:
                right.append(kernel)
        wrong = None
        if right and group % COMPILED == 0:
            wrong = compiled_difference(right, Random(f"{seed} {group}"))
        for n, _ in enumerate(right):
            yield (
                Outcome("equal") if wrong is None or n else Outcome("different", "compiled", wrong)
            )
        group += 1
