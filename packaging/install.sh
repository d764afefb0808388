#!/bin/sh
# What goes into the image, in two steps that need nothing but Python and its pip:
#
#   packaging/install.sh dependencies PREFIX   what requirements.lock pins, into a new environment
#   packaging/install.sh project PREFIX        the wheel of this checkout, beside them
#
# PREFIX must not move afterwards: the command in its bin/ names its interpreter. PYTHON
# chooses another interpreter than python3.
set -eu

python=${PYTHON:-python3}
checkout=$(cd "$(dirname "$0")/.." && pwd)

# Only wheels: to build one takes a compiler and packages that no lock names.
locked="--require-hashes --only-binary :all: --no-compile"

pip_of() {
    environment=$1
    shift
    "$python" -m pip --disable-pip-version-check --no-input --python "$environment" "$@"
}

new_environment() {
    "$python" -m venv --without-pip "$1"
}

# Compiled once, here: a read-only file system has no room for it later. Files of a wheel
# never change, so that nobody needs to compare their times. The client library's generated
# half is never loaded.
compile() {
    "$1/bin/python" -m compileall -q --invalidation-mode unchecked-hash \
        -x 'kubernetes_asyncio/client/(api|models)/' "$1/lib"
}

dependencies() {
    new_environment "$1"
    # shellcheck disable=SC2086  # Several words.
    pip_of "$1" install $locked --requirement "$checkout/requirements.lock"
    compile "$1"
}

project() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    new_environment "$work/backend"
    # shellcheck disable=SC2086
    pip_of "$work/backend" install $locked --requirement "$checkout/packaging/backend.lock"
    pip_of "$work/backend" wheel --no-build-isolation --no-deps --wheel-dir "$work" "$checkout"
    pip_of "$1" install --no-index --no-deps --no-compile "$work"/*.whl
    pip_of "$1" check
    compile "$1"
}

case "${1-}:$#" in
    dependencies:2) dependencies "$2" ;;
    project:2) project "$2" ;;
    *)
        echo "usage: $0 dependencies|project PREFIX" >&2
        exit 2
        ;;
esac
