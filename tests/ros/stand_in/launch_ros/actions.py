"""launch_ros.actions"""

from typing import Any


class Node:
    def __init__(
        self,
        *,
        executable: str,
        package: str | None = None,
        name: str | None = None,
        namespace: Any = None,
        parameters: Any = None,
        remappings: Any = None,
        ros_arguments: Any = None,
        arguments: Any = None,
        condition: Any = None,
        on_exit: Any = None,
        output: str = "log",
    ) -> None:
        self.package, self.executable, self.name, self.namespace = (
            package,
            executable,
            name,
            namespace,
        )
        self.parameters, self.remappings = list(parameters or ()), list(remappings or ())
        self.arguments, self.condition = list(arguments or ()), condition
        self.on_exit = on_exit
        self.ros_arguments = list(ros_arguments or ())
