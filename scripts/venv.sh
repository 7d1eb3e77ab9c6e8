# Sourced by demo.sh and test.sh: `set_up EXTRA` makes .venv and installs this package with that extra, once.
# shellcheck shell=bash

# Else each process compiles the modules that it imports again.
export PYTHONDONTWRITEBYTECODE=

set_up() { # set_up EXTRAS ...: one installation for those that are missing, for example set_up test ros,rostest
    local python=${PYTHON:-python3} wanted extras missing=()
    wanted=$(cat setup.py pyproject.toml | sha256sum)
    for extras; do
        if [[ ! -f .venv/.installed-$extras || $(<".venv/.installed-$extras") != "$wanted" ]]; then
            missing+=("$extras")
        fi
    done
    if ((${#missing[@]} == 0)); then
        return
    fi
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
        echo "warpdyn needs Python 3.10 or later: install python3, or name another one, PYTHON=python3.11 $0" >&2
        return 1
    fi
    if [[ ! -x .venv/bin/pip ]]; then
        if ! "$python" -c 'import ensurepip' 2>/dev/null; then
            echo "$python cannot make virtual environments; on Debian and Ubuntu: apt-get install python3-venv" >&2
            return 1
        fi
        "$python" -m venv .venv
    fi
    extras=$(IFS=,; echo "${missing[*]}")
    echo "installing warpdyn[$extras] into .venv ..."
    # Python compiles a module when it is first imported, and few of these modules ever are.
    .venv/bin/pip install --quiet --quiet --no-compile --disable-pip-version-check --editable ".[$extras]"
    for extras in "${missing[@]}"; do echo "$wanted" >".venv/.installed-$extras"; done
}
