#!/usr/bin/env bash
# Installs the Debian 12 packages that are missing, and nothing when all are there.
#   scripts/setup.sh build   what building and running needs
#   scripts/setup.sh test    what the tests, linters and sanitizers need as well
# MEZZOTINT_SKIP_SETUP=1 trusts the machine as it is (other distributions, containers).
set -euo pipefail

# ocl-icd-opencl-dev: the CMake package of Debian's oneDNN looks for OpenCL without depending on it.
build_packages=(
  cmake g++ make ninja-build
  libcli11-dev libdnnl-dev libfmt-dev libhwy-dev libjs-vega libpng-dev libssl-dev
  nlohmann-json3-dev ocl-icd-opencl-dev zlib1g-dev
)
test_packages=(
  chromium clang-14 clang-format-14 clang-tidy-14 git libclang-rt-14-dev libomp-14-dev
  libbenchmark-dev libgtest-dev python3 qemu-user
)

case "${1:-build}" in
  build) wanted=("${build_packages[@]}") ;;
  test) wanted=("${build_packages[@]}" "${test_packages[@]}") ;;
  *)
    echo "usage: scripts/setup.sh [build|test]" >&2
    exit 2
    ;;
esac

if [[ "${MEZZOTINT_SKIP_SETUP:-0}" == 1 ]]; then
  exit 0
fi

release="$(. /etc/os-release 2>/dev/null && echo "${ID:-} ${VERSION_ID:-}" || true)"
if [[ "$release" != "debian 12" ]]; then
  {
    echo "This script installs packages on Debian 12 only; this is: ${release:-an unknown system}."
    echo "Install what these Debian packages hold, then run again with MEZZOTINT_SKIP_SETUP=1:"
    printf '  %s\n' "${wanted[@]}"
  } >&2
  exit 1
fi

missing=()
for package in "${wanted[@]}"; do
  status="$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)"
  if [[ "$status" != installed ]]; then
    missing+=("$package")
  fi
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

as_root=()
if [[ "$(id -u)" != 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "Missing packages, and neither root nor sudo to install them: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing ${#missing[@]} packages: ${missing[*]}"
apt_get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
"${apt_get[@]}" update </dev/null
"${apt_get[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null
