"""Random MJCF files.

Each file is a tree of a few bodies. It draws nested default classes, every notation of an orientation,
frames, geoms, inertial rules, joints, actuators of every kind, fixed tendons, joint equalities and
keyframes.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

Attributes = dict[str, str]

ACTUATORS = ("motor", "position", "velocity", "intvelocity", "damper", "general", "cylinder")
MOST_JOINTS = 3


class RandomText:
    """One random MJCF file."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.classes: list[str] = []
        self.joints: dict[str, str] = {}
        """Type of each joint by its name."""
        self.paths: dict[str, tuple[int, ...]] = {}
        """Indices of the bodies from the world to the joint, by joint name."""
        self.path: tuple[int, ...] = ()
        self.bodies = self.sites = 0
        self.groups = random.random() < 0.2
        """True if geoms have groups, some of which have no mass."""

    def text(self) -> str:
        defaults = self.defaults(0) if self.chance(0.8) else ""
        world = "".join(self.body(0) for _ in range(self.random.choice((1, 1, 1, 2))))
        singles = [name for name, word in self.joints.items() if word in ("hinge", "slide")]
        tendons = self.tendons(singles)
        return (
            f"<mujoco>{self.compiler()}{defaults}<worldbody>{self.site(0.3)}{world}</worldbody>"
            f"{tendons}{self.equality(singles)}<actuator>{self.actuators(singles)}</actuator>"
            f"{self.keyframe()}</mujoco>"
        )

    # Numbers and words.

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def number(self, low: float, high: float) -> str:
        return f"{self.random.uniform(low, high):.3g}"

    def numbers(self, count: int, low: float = -1.0, high: float = 1.0) -> str:
        return " ".join(self.number(low, high) for _ in range(count))

    def range(self, size: float) -> str:
        """Two limits around 0. The range sometimes excludes 0."""
        low, high = -self.random.uniform(0.1, size), self.random.uniform(0.1, size)
        if self.chance(0.3):
            low = -high
        return f"{low:.3g} {high:.3g}"

    def some(self, **attributes: tuple[float, str]) -> Attributes:
        """Attributes that are drawn, each with its probability."""
        return {key: word for key, (share, word) in attributes.items() if self.chance(share)}

    def element(self, tag: str, attributes: Attributes, content: str = "") -> str:
        words = "".join(f' {key}="{value}"' for key, value in attributes.items())
        return f"<{tag}{words}>{content}</{tag}>"

    def orientation(self) -> Attributes:
        way = self.random.choice(("quat", "axisangle", "euler", "xyaxes", "zaxis", "", ""))
        counts = {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}
        return {way: self.numbers(counts[way])} if way else {}

    def pose(self) -> Attributes:
        return {**self.some(pos=(0.8, self.numbers(3))), **self.orientation()}

    def with_class(self, attributes: Attributes) -> Attributes:
        if self.classes and self.chance(0.4):
            return {"class": self.random.choice(self.classes), **attributes}
        return attributes

    # Sections.

    def compiler(self) -> str:
        return self.element(
            "compiler",
            self.some(
                angle=(0.5, self.random.choice(("degree", "radian"))),
                eulerseq=(0.4, "".join(self.random.choice("xyzXYZ") for _ in range(3))),
                inertiafromgeom=(0.3, self.random.choice(("true", "false", "auto"))),
                inertiagrouprange=(0.5 if self.groups else 0.0, "0 2"),
                boundmass=(0.2, self.number(0.1, 2)),
                boundinertia=(0.2, self.number(0.01, 0.1)),
                balanceinertia=(0.2, "true"),
                settotalmass=(0.1, self.number(1, 20)),
                alignfree=(0.1, "true"),
            ),
        )

    def defaults(self, depth: int) -> str:
        parts = []
        if self.chance(0.5):
            parts.append(self.element("joint", self.joint_attributes("")))
        if self.chance(0.4):
            parts.append(self.element("geom", self.geom_attributes()))
        if self.chance(0.2):
            parts.append(self.element("site", self.pose()))
        kinds = self.random.sample(ACTUATORS, self.random.choice((0, 1, 1, 2)))
        parts += [self.element(kind, self.actuator_attributes(kind)) for kind in kinds]
        if self.chance(0.2):
            parts.append(self.element("tendon", self.tendon_attributes()))
        name = {} if depth == 0 else {"class": f"c{len(self.classes)}"}
        self.classes += name.values()
        inner = self.random.choice((0, 1, 2)) if depth < 2 else 0
        parts += [self.defaults(depth + 1) for _ in range(inner)]
        return self.element("default", name, "".join(parts))

    # Bodies.

    def body(self, depth: int) -> str:
        number = self.bodies
        self.bodies += 1
        around, self.path = self.path, (*self.path, number)
        attributes = {"name": f"b{number}", **self.pose()}
        attributes |= self.some(gravcomp=(0.2, self.number(-1, 2)))
        if self.classes and self.chance(0.2):
            attributes["childclass"] = self.random.choice(self.classes)
        content = [self.joint_elements(depth), self.inertial(), self.site(0.5)]
        content += [self.geom() for _ in range(self.random.choice((0, 1, 1, 2)))]
        if depth < 3:
            inner = [self.body(depth + 1) for _ in range(self.random.choice((0, 1, 1, 2)))]
            content += inner if self.bodies < 7 else inner[:1]
        self.path = around
        body = self.element("body", attributes, "".join(content))
        return self.wrap_in_frames(body)

    def wrap_in_frames(self, content: str) -> str:
        while self.chance(0.2):
            childclass = self.classes and self.chance(0.3)
            extra = {"childclass": self.random.choice(self.classes)} if childclass else {}
            content = self.element("frame", {**self.pose(), **extra}, content)
        return content

    def site(self, share: float) -> str:
        if not self.chance(share):
            return ""
        self.sites += 1
        return self.wrap_in_frames(
            self.element("site", self.with_class({"name": f"s{self.sites}", **self.pose()}))
        )

    def inertial(self) -> str:
        if not self.chance(0.5):
            return ""
        attributes = {"pos": self.numbers(3), "mass": self.number(0.2, 4), **self.orientation()}
        moments = [self.random.uniform(0.1, 0.15) for _ in range(3)]
        if self.chance(0.3) and not set(attributes) & {
            "quat",
            "axisangle",
            "euler",
            "xyaxes",
            "zaxis",
        }:
            full = [*moments, *(self.random.uniform(-0.02, 0.02) for _ in range(3))]
            attributes["fullinertia"] = " ".join(f"{x:.4g}" for x in full)
        else:
            attributes["diaginertia"] = " ".join(f"{x:.4g}" for x in moments)
        return self.element("inertial", attributes)

    def geom(self) -> str:
        return self.wrap_in_frames(self.element("geom", self.with_class(self.geom_attributes())))

    def geom_attributes(self) -> Attributes:
        shape = self.random.choice(("sphere", "capsule", "cylinder", "box", "ellipsoid"))
        attributes = {"type": shape, "size": self.numbers(3, 0.05, 0.3)}
        if shape != "sphere" and self.chance(0.3):
            attributes["fromto"] = self.numbers(6)
        else:
            attributes |= self.pose()
        attributes |= self.some(
            mass=(0.3, self.number(0, 3)),
            density=(0.3, self.number(10, 2000)),
            shellinertia=(0.1, "true"),
            group=(0.7 if self.groups else 0.0, self.random.choice("0134")),
        )
        return attributes

    # Joints.

    def joint_elements(self, depth: int) -> str:
        if depth == 0 and self.chance(0.25):
            attributes = {"name": f"j{len(self.joints)}", **self.some(align=(0.2, "true"))}
            self.joints[attributes["name"]] = "free"
            return self.element("freejoint", attributes)
        parts = []
        for _ in range(self.random.choice((0, 1, 1, 1, 1, 2, MOST_JOINTS))):
            word = self.random.choice(("hinge", "hinge", "hinge", "slide", "ball"))
            name = f"j{len(self.joints)}"
            attributes = {"name": name, "type": word, **self.joint_attributes(word)}
            self.joints[name], self.paths[name] = word, self.path
            parts.append(self.wrap_in_frames(self.element("joint", self.with_class(attributes))))
        return "".join(parts)

    def joint_attributes(self, word: str) -> Attributes:
        """Attributes of a joint of this type; "" stands for a default class."""
        single = 0.0 if word == "ball" else 1.0
        return self.some(
            axis=(0.7, self.numbers(3)),
            pos=(0.6, self.numbers(3)),
            range=(0.4 * single, self.range(1.5)),
            ref=(0.2 * single, self.number(-1, 1)),
            springref=(0.2 * single, self.number(-1, 1)),
            stiffness=(0.3, self.number(0, 20)),
            damping=(0.3, self.number(0, 5)),
            armature=(0.3, self.number(0, 1)),
            frictionloss=(0.2, self.number(0, 1)),
            actuatorfrcrange=(0.15 * single, self.range(9)),
        )

    # Tendons, equalities and actuators.

    def tendon_attributes(self) -> Attributes:
        return self.some(
            stiffness=(0.5, self.number(0, 9)),
            damping=(0.4, self.number(0, 3)),
            springlength=(0.3, self.range(0.5)),
            range=(0.3, self.range(2)),
        )

    def tendons(self, singles: Sequence[str]) -> str:
        if not singles or not self.chance(0.4):
            return ""
        parts = []
        for number in range(self.random.choice((1, 2))):
            joints = self.random.sample(singles, min(len(singles), self.random.choice((1, 2, 3))))
            pulled = "".join(
                self.element("joint", {"joint": name, "coef": self.number(-2, 2)})
                for name in joints
            )
            attributes = self.with_class({"name": f"t{number}", **self.tendon_attributes()})
            *inner, longest = sorted((self.paths[name] for name in joints), key=len)
            if all(longest[: len(path)] == path for path in inner):
                # MuJoCo leaves out the coupling by an armature across branches; warpdyn has it.
                attributes |= self.some(armature=(0.3, self.number(0, 1)))
            parts.append(self.element("fixed", attributes, pulled))
        self.tendon_count = len(parts)
        return f"<tendon>{''.join(parts)}</tendon>"

    tendon_count = 0

    def equality(self, singles: Sequence[str]) -> str:
        if len(singles) < 2 or not self.chance(0.2):
            return ""
        first, second = self.random.sample(singles, 2)
        coefficients = f"{self.number(-0.5, 0.5)} {self.number(-2, 2)} 0 0 0"
        attributes = {"joint1": first, **self.some(joint2=(0.8, second))}
        attributes |= self.some(polycoef=(0.7, coefficients))
        return f"<equality>{self.element('joint', attributes)}</equality>"

    def actuators(self, singles: Sequence[str]) -> str:
        parts = []
        for number in range(self.random.choice((0, 1, 2, 3, 4)) if singles else 0):
            kind = self.random.choice(ACTUATORS)
            attributes = {"name": f"a{number}", **self.actuator_attributes(kind)}
            if self.tendon_count and self.chance(0.2):
                attributes["tendon"] = f"t{self.random.randrange(self.tendon_count)}"
            else:
                attributes["joint"] = self.random.choice(singles)
                armature, damping = self.number(0, 1), self.number(0, 2)
                attributes |= self.some(armature=(0.2, armature), damping=(0.2, damping))
            parts.append(self.element(kind, self.with_class(attributes)))
        return "".join(parts)

    def keyframe(self) -> str:
        if not self.joints or not self.chance(0.3):
            return ""
        counts = {"free": 7, "ball": 4}
        qpos = self.numbers(sum(counts.get(word, 1) for word in self.joints.values()))
        return f"<keyframe>{self.element('key', {'name': 'k', 'qpos': qpos})}</keyframe>"

    def actuator_attributes(self, kind: str) -> Attributes:
        number = self.number
        attributes = self.some(
            gear=(0.3, number(-3, 3)),
            ctrlrange=(0.3, self.range(6)),
            forcerange=(0.3, self.range(9)),
            forcelimited=(0.05, "false"),
        )
        if kind != "damper":
            attributes |= self.some(ctrllimited=(0.15, "false"))
        if kind in ("position", "intvelocity"):
            attributes |= self.some(kp=(0.6, number(0, 9)), kv=(0.3, number(0, 3)))
            if "ctrlrange" not in attributes:
                attributes |= self.some(inheritrange=(0.2, number(0.1, 1.2)))
        if kind == "velocity":
            attributes |= self.some(kv=(0.6, number(0, 9)))
        if kind == "damper":
            attributes |= {"ctrlrange": f"0 {number(1, 5)}", **self.some(kv=(0.7, number(0, 9)))}
        if kind == "cylinder":
            attributes |= self.some(area=(0.5, number(0.1, 2)), bias=(0.5, self.numbers(3)))
        if kind == "general":
            attributes |= self.some(
                gainprm=(0.5, self.numbers(3, -3, 3)),
                biasprm=(0.5, self.numbers(3, -3, 3)),
                gaintype=(0.4, self.random.choice(("fixed", "affine"))),
                biastype=(0.5, self.random.choice(("none", "affine", "affine"))),
                dyntype=(0.3, self.random.choice(("none", "none", "filter"))),
            )
        return attributes
