"""From a description, or the name of one, to the model that the node computes with."""

from __future__ import annotations

import warpdyn as wd
from warpdyn import Model, ModelError

from .settings import Settings


def load_model(settings: Settings, text: str = "") -> Model:
    """The model that the parameters, or else the topic's `text`, describe, without its
    payload.

    Raises ValueError (ModelError for a bad description) or OSError with a text for the user.
    """
    if settings.robot_description:
        model = wd.load_urdf(settings.robot_description)
    elif settings.robot_description_file:
        file = settings.robot_description_file
        model = (
            wd.load_robot(file, floating_base=False)
            if file in wd.robot_names()
            else wd.load_urdf(file)
        )
    elif not text.lstrip().startswith("<"):
        what = f"begins with {text.strip()[:40]!r}" if text.strip() else "is empty"
        raise ModelError(f"robot_description {what}: send the text of a URDF file")
    else:
        model = wd.load_urdf(text)
    if not model.joint_names:
        raise ModelError(f"{model.name} has no moving joint: there is no torque to compute")
    return model
