"""`warpdyn export ROBOT --ros2-control DIR`: a package with ros2_control controllers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ros2_node.ros2_control.control_package import control_package, package_name, write_package
from ros2_node.ros2_control.controller_laws import ControllerLaw, built_in_laws, users_law

from ..model import Model
from ..model.names import spelling_hint
from ..user_kernels.loading import names_a_kernel
from .command_line import UserError, find_frame
from .own_kernels import ChosenKernel, reads_frame
from .workload import furthest_link

EXCLUDED = {
    "out": "--out", "c": "--c", "float32": "--float32", "no_libm": "--no-libm", "python": "--python",
}  # fmt: skip
"""Options that a package of controllers does not have."""


def export_controllers(args: argparse.Namespace, model: Model) -> int:
    """Write the package, and print what it has in one line."""
    for name, option in EXCLUDED.items():
        if getattr(args, name):
            raise UserError(f"{option} is not for --ros2-control, which writes doubles in C++")
    folder: Path = args.ros2_control
    joints = [x for each in args.joints for x in each.split(",") if x]
    try:
        laws = chosen_laws(args, model)
        files = control_package(model, laws, joints=joints, name=args.namespace)
        write_package(files, folder, overwrite=args.force)
    except FileExistsError as error:
        raise UserError(f"{error.args[0].partition(';')[0]}; --force replaces its files") from None
    except (ValueError, NotADirectoryError) as error:
        raise UserError(str(error)) from None
    package = package_name(args.namespace or f"{model.name}_controllers")
    print(f"{folder}: package {package}, controllers {', '.join(law.name for law in laws)}")
    return 0


def chosen_laws(args: argparse.Namespace, model: Model) -> Sequence[ControllerLaw]:
    """The laws of the command line; without any, all that come with the node."""
    known = built_in_laws(find_frame(args, model) or furthest_link(model))
    names = [x for each in args.functions for x in each.split(",") if x]
    laws = []
    for name in names:
        if name in known:
            laws.append(known[name])
        elif names_a_kernel(name):
            args.kernel = None
            own = ChosenKernel.of(name, args, model)
            laws.append(users_law(own.kernel, own.options))
        else:
            hint = spelling_hint(name, known)
            raise UserError(
                f"there is no law {name!r}{hint} (the laws are {', '.join(known)}, or your own, "
                "my.py:impedance)"
            )
    # Without names there are all laws, of which one has a frame.
    if args.frame and laws and not any(reads_frame(law.kernel) for law in laws):
        raise UserError(f"--frame {args.frame}: none of the laws has an option frame")
    return laws or list(known.values())
