# Sourced by demo.sh and test.sh: `set_up EXTRA` makes .venv and installs this package with that extra, once.
# shellcheck shell=bash

# Else each process compiles the modules that it imports again.
export PYTHONDONTWRITEBYTECODE=

set_up() {
    local extra=$1 python=${PYTHON:-python3} stamp wanted
    stamp=".venv/.installed-$extra"
    wanted=$(cat setup.py pyproject.toml | sha256sum)
    if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then
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
    echo "installing warpdyn[$extra] into .venv ..."
    # Python compiles a module when it is first imported, and few of these modules ever are.
    .venv/bin/pip install --quiet --quiet --no-compile --disable-pip-version-check --editable ".[$extra]"
    echo "$wanted" >"$stamp"
}
