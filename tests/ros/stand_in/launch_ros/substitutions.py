"""launch_ros.substitutions"""


class FindPackageShare:
    """Here the repository stands for the installed share folder: launch/, config/ and rviz/ lie alike in both."""

    root = ""

    def __init__(self, package: str) -> None:
        self.package = package

    def perform(self, values: dict[str, str]) -> str:
        assert self.package == "warpdyn"
        return self.root
