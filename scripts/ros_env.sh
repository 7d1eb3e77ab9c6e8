# Installs ROS 2 from PyPI wheels into .venv, so that no ROS installation is needed: bash scripts/ros_env.sh
# Other scripts source it from the repository's root, after venv.sh.
# shellcheck shell=bash

if ! declare -F set_up >/dev/null; then
    set -euo pipefail
    cd "$(dirname "${BASH_SOURCE[0]}")/.."
    # shellcheck source=scripts/venv.sh
    source scripts/venv.sh
fi
set_up "${ROS_EXTRAS:-ros,rostest}"
if [[ ${ROS_EXTRAS:-ros,rostest} == *test* ]]; then
    # Messages that no wheel has are generated.
    bash scripts/ros_messages.sh .venv
fi
