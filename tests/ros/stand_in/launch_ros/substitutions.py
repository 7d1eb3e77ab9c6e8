"""launch_ros.substitutions"""


class FindPackageShare:
    """The repository in place of the installed share folder. launch/, config/ and rviz/ have the
    same paths in both."""

    root = ""

    def __init__(self, package: str) -> None:
        self.package = package

    def perform(self, values: dict[str, str]) -> str:
        assert self.package == "warpdyn"
        return self.root
