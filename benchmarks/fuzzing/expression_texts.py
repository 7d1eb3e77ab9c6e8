"""Random user kernels as source code in NumPy's notation.

The arguments of comparisons, floors and remainders are small multiples of 2^-10. Their sums, products and
remainders are exact, with and without fused multiply-adds. So a comparison has the same operands in
NumPy and in a kernel, even at ties. Rounded values (roots, sines, quotients) are arguments of smooth
functions only.
"""

from __future__ import annotations

from random import Random

CONSTANTS = ("0.0", "1.0", "0.5", "-0.5", "2.0", "-1.5", "0.25", "1", "2", "-1")
DIVISORS = ("0.5", "-0.75", "2.0", "3.0", "-2", "1")
DEEPEST = 4


class Text:
    """Source of one kernel: statements and the names that they define."""

    def __init__(self, random: Random):
        self.random = random
        self.lines: list[str] = []
        self.vectors = ["x", "y"]
        self.conditions: list[str] = []

    def one_of(self, *choices: str) -> str:
        return self.random.choice(choices)

    # Exact values, which comparisons may read.

    def vector(self, depth: int) -> str:
        """Expression for an exact array of three."""
        if depth <= 0 or self.random.random() < 0.1:
            return self._known_vector()
        a, b = (self.vector(depth - 1) for _ in range(2))
        kind = self.random.randrange(21)
        if kind < 4:
            return f"({a} {self.one_of('+', '-')} {self.one_of(b, self.scalar(depth - 1))})"
        if kind < 6:
            return f"({self._known_vector()} * {self.one_of(b, self.constant())})"
        if kind == 6:
            return f"({self.constant()} {self.one_of('+', '-', '*')} {a})"
        if kind == 7:
            return f"np.{self.one_of('maximum', 'minimum', 'fmax', 'fmin')}({a}, {b})"
        if kind == 8:
            return f"np.{self.one_of('abs', 'floor', 'ceil', 'rint', 'sign', 'negative')}({a})"
        if kind == 9:
            lower, upper = self.one_of(
                "-1.0, 0.5", "None, 1.0", "0.0, None", f"-0.5, np.abs({self._known_vector()})"
            ).split(", ", 1)
            return f"np.clip({a}, {lower}, {upper})"
        if kind == 10:
            return f"({a} {self.one_of('%', '//')} {self.one_of(*DIVISORS)})"
        if kind == 11:
            # The sign of a computed 0 may differ from NumPy's.
            divisor = self.one_of("x", "y", "M[1]", "x[::-1]", "(x - y)")
            return f"({self._known_vector()} {self.one_of('%', '//')} {divisor})"
        if kind < 14:
            return f"np.where({self.condition(depth - 1)}, {self.one_of(a, self.constant())}, {b})"
        if kind == 14:
            return f"({self._known_vector()}**{self.one_of('2', '3', '2.0', '0', '1')})"
        if kind == 15:
            return f"({self.condition(depth - 1)} {self.one_of('+', '*', '-')} {a})"
        if kind == 16:
            return f"{self.condition(depth - 1)}.astype({self.one_of('int', 'float')})"
        if kind == 17:
            return f"np.{self.one_of('roll', 'repeat')}({a}, {self.one_of('1', '2')})[:3]"
        if kind == 18:
            c = self.condition(depth - 1)
            return f"(np.where({c}, 1, 2) {self.one_of('% 2', '+ 1', '* 3', '// 2', '** 2')})"
        if kind == 19:
            return f"np.concatenate([[{self.scalar(depth - 1)}], {a}[:2]])"
        first, second = self.scalar(depth - 1), self.scalar(depth - 2)
        return f"np.stack([{first}, {second}, {self.constant()}])"

    def _known_vector(self) -> str:
        return self.random.choice(
            [
                *self.vectors * 3,
                *("x[::-1]", "M[1]", "M[:, 2]", "M.T[0]", "np.zeros_like(x)", "np.ones_like(y)"),
                *("np.array([0.5, -1.0, 2.0])", "np.full_like(x, 0.5)", "np.diag(M)"),
            ]
        )

    def constant(self) -> str:
        return self.one_of(*CONSTANTS)

    def scalar(self, depth: int) -> str:
        """Expression for an exact number."""
        kind = self.random.randrange(9)
        if depth <= 0 or kind < 3:
            return self.one_of("s", "x[0]", "y[-1]", "M[0, 1]", "x[1]")
        a = self.vector(depth - 1)
        if kind == 3:
            return f"{a}.{self.one_of('sum', 'max', 'min')}()"
        if kind == 4:
            return f"np.{self.one_of('sum', 'max', 'min', 'add.reduce')}({a})"
        if kind == 5:
            return f"np.dot({self._known_vector()}, {self._known_vector()})"
        if kind == 6:
            return f"np.sum({self.condition(depth - 1)})"
        if kind == 7:
            return f"({self._known_vector()} @ {self._known_vector()})"
        return f"(M @ {self._known_vector()})[{self.one_of('0', '1', '2')}]"

    def condition(self, depth: int) -> str:
        """Expression for three truth values."""
        kind = self.random.randrange(12)
        if self.conditions and kind == 0:
            return self.random.choice(self.conditions)
        if depth <= 0 or kind < 5:
            sign = self.one_of(">", "<", ">=", "<=", "==", "!=")
            right = self.one_of(self._known_vector(), "0", "1.0", "s")
            return f"({self.vector(depth - 1)} {sign} {right})"
        a, b = self.condition(depth - 1), self.condition(depth - 1)
        if kind == 5:
            return f"(~{a})"
        if kind < 8:
            return f"({a} {self.one_of('&', '|', '^')} {b})"
        if kind == 8:
            return f"({a} {self.one_of('+', '*')} {b})"
        if kind == 9:
            return f"np.{self.one_of('isfinite', 'isnan', 'isinf')}({self.vector(depth - 1)})"
        if kind == 10:
            return f"np.where({a}, {b}, {self.one_of('x > y', 'True', 'y == 0')})"
        return f"np.logical_{self.one_of('and', 'or', 'xor')}({self.vector(depth - 1)}, {a})"

    # Rounded values.

    def smooth(self, depth: int) -> str:
        """Expression for an array of three, made of smooth functions and choices."""
        if depth <= 0:
            return self.vector(1)
        a, exact = self.smooth(depth - 1), self.vector(depth - 1)
        kind = self.random.randrange(16)
        if kind < 3:
            return (
                f"({a} {self.one_of('+', '-', '*')} {self.one_of(self.smooth(depth - 2), exact)})"
            )
        if kind == 3:
            return f"np.{self.one_of('sin', 'cos', 'tanh', 'arctan')}({a})"
        if kind == 4:
            return f"np.{self.one_of('sqrt', 'log', 'exp', 'square')}({exact})"
        if kind == 5:
            return f"np.sqrt(np.maximum({a}, 0))"
        if kind == 6:
            return f"np.{self.one_of('arccos', 'arcsin')}(np.clip({exact}, -1, 1))"
        if kind == 7:
            return f"({a} / {self.one_of('(x - y)', 'x', 'y', '(1.5 + np.abs(x))', '2.0', '0.0')})"
        if kind < 10:
            return f"np.where({self.condition(depth - 1)}, {a}, {self.one_of(exact, '0.0', '1')})"
        if kind == 10:
            return f"(np.linalg.norm({exact}) * {self.one_of(a, '1.0')} + np.zeros_like(x))"
        if kind == 11:
            base = self.one_of("x", "y", "np.abs(x)", "(x - y)", "2.0", "M[1]")
            exponent = self.one_of("y", "np.rint(y)", "x", "1.5", "0.5", "-0.5", "-1", "-2.0", "s")
            return f"({base} ** {exponent} + np.zeros_like(x))"
        if kind == 12:
            return f"np.{self.one_of('hypot', 'arctan2')}(x - y, {self._known_vector()})"
        if kind == 13:
            return f"np.{self.one_of('maximum', 'minimum')}({a}, {exact})"
        if kind == 14:
            return f"np.einsum('ij,j->i', M, {a})"
        return f"np.cross({a}, {exact})"

    # Statements.

    def statement(self) -> None:
        """Append an in-place write, an alias, a view or a loop, and the name of its array."""
        name = f"z{len(self.lines)}"
        a, k = self.vector(2), self.one_of("0", "1", "-1")
        first = self.scalar(2)
        same = self.one_of(
            f"np.asarray({name})",
            f"np.asanyarray({name})",
            f"np.ravel({name})",
            f"np.squeeze({name})",
            f"np.atleast_1d({name})",
            f"{name}.reshape(-1)",
            f"np.ascontiguousarray({name})",
            f"np.array({name})",
            f"{name}[:]",
        )
        forms = [
            [
                f"{name} = {a} + 0.0",
                f"{name}w = {name}[1:]",
                f"{name}s = {same}",
                f"{self.one_of(name, f'{name}w', f'{name}s')}[{self.one_of('0', '1')}] = {first}",
                f"{name} = {name}s * 2 - {name}",
            ],
            [f"{name} = x.copy()", f"{name}[{k}] = {first}"],
            [f"{name} = np.zeros_like(x)", f"{name}[{k}] = {first}"],
            [f"{name} = {a} * 1.0", f"{name}[{k}] {self.one_of('+', '-')}= {first}"],
            [f"{name} = {a} + 0.0", f"{name}[1:] *= {self.one_of('y[:2]', '2.0', 'x[::2]')}"],
            [f"{name} = y + 0.0", f"{name}w = {name}[:2]", f"{name}w += {first}"],
            [f"{name} = x.copy()", f"{name}[:2] = y[1:]"],
            [
                f"{name}M = M.copy()",
                f"{name}M[0, 0] = {first}",
                f"{name}M[:, 1] = {a}",
                f"{name} = {name}M[{k}]",
            ],
            [f"{name} = M[{k}]", f"{name} += {a}"],
            [f"{name} = M.reshape(9)[3:6]", f"{name} -= 1"],
            [f"{name}w = x.flatten()", f"{name}w += 1", f"{name} = x - {name}w * y"],
            [f"{name} = x.sum(axis=0, keepdims=True) + y", f"{name}[{k}] = x[{k}]"],
            [
                f"{name}c = x > {self.constant()}",
                f"{name}c[{k}] = {self.one_of('s > 1', 'True')}",
                f"{name} = np.where({name}c, {a}, y)",
            ],
            [f"{name} = np.subtract.outer(x, y)[{k}]"],
            [
                f"{name}s = {name}t = {first}",
                f"{name}t {self.one_of('+', '-', '*')}= {self.one_of('1', 'x[1]', '0.5')}",
                f"{name} = {name}s * x + {name}t",
            ],
            [
                f"{name}s = np.atleast_1d({first} + 0.0)",
                f"{name}s[0] = {self.one_of('s', 'y[2]')}",
                f"{name} = x + {name}s + s",
            ],
            [f"{name} = np.clip({a}, a_min=-1, a_max={self.one_of('1', 'None')})"],
            [f"{name} = M.sum({self.one_of('0, None, None, True', 'axis=0, keepdims=1')})[0] + x"],
            [f"{name} = repeat({self.one_of('2', '3')}, lambda a: np.clip(a * 0.5 + y, -2, 2), x)"],
            [
                f"{name}, {name}w = repeat(2, lambda t: (t[1], np.where(t[0] > 0, t[1], -t[0])), (x, y))"
            ],
            [f"{name} = np.stack([x, y], axis=1).T[{self.one_of('0', '1')}]", f"{name} += s"],
        ]
        self.lines += self.random.choice(forms)
        self.vectors.append(name)


def draw(random: Random) -> str:
    """Body of a random kernel. Its last line returns the result."""
    text = Text(random)
    for _ in range(random.choice((0, 0, 1, 1, 2))):
        text.statement()
    depth = random.randint(1, DEEPEST)
    exact = random.random() < 0.5
    text.lines.append(f"return {text.vector(depth) if exact else text.smooth(depth)}")
    return "\n".join(text.lines)
