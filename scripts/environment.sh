# Sourced by the other scripts: makes or mends the virtual environment.  Needs Python 3.10+ with venv and pip.
#   environment EXTRAS    EXTRAS: "" or names of extras such as "dev"
# A stamp inside the environment holds the checksum of what it was installed from; it is written last, so an interrupted
# installation is done again, and a lock keeps two runs from installing at once.

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
venv=${PERIN_VENV:-$here/.venv}

environment() {
    local extras=$1 stamp wanted python
    stamp=$venv/.installed-${extras:-core}
    python=${PYTHON:-python3}
    command -v "$python" >/dev/null || { echo "perin: no $python found; install Python 3.10 or newer" >&2; exit 2; }
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        { echo "perin: $("$python" --version) is too old; set PYTHON to a Python 3.10 or newer" >&2; exit 2; }
    wanted=$(cat "$here/pyproject.toml" "$here/constraints.txt" | "$python" -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())')
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted $here" ] && "$venv/bin/python" -c '' 2>/dev/null && return
    mkdir -p "$(dirname -- "$venv")"
    exec 9>"$venv.lock"
    command -v flock >/dev/null && flock 9
    if ! { [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted $here" ]; }; then
        echo "perin: setting up $venv (once; it takes a minute or two)" >&2
        "$venv/bin/python" -m pip --version >/dev/null 2>&1 || { rm -rf -- "$venv"; "$python" -m venv "$venv"; }
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint "$here/constraints.txt" \
            --editable "$here${extras:+[$extras]}" >&2 ||
            { echo "perin: the installation failed; the lines above say why" >&2; exit 2; }
        printf '%s %s' "$wanted" "$here" >"$stamp"
    fi
    exec 9>&-
}
