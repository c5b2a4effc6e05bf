#!/usr/bin/env bash
# fuzz.sh [--no-build] TARGET SECONDS: tries inputs on fuzz/TARGET_fuzz.cc for that long, from its seeds
# and from what earlier runs found. Builds it in the asan tree first. An input that fails is left as
# build/asan/found/TARGET-*, and build/asan/bin/TARGET_fuzz with that file repeats the failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=yes
if [[ ${1:-} == --no-build ]]; then
  build=no
  shift
fi
if [[ $# != 2 || ! -e fuzz/${1}_fuzz.cc ]]; then
  echo "usage: scripts/fuzz.sh [--no-build] TARGET SECONDS; targets:" >&2
  for source in fuzz/*_fuzz.cc; do
    echo "  $(basename "$source" _fuzz.cc)" >&2
  done
  exit 2
fi
target=$1
seconds=$2
if [[ $build == yes ]]; then
  cmake --preset asan > /dev/null
  cmake --build --preset asan --target "${target}_fuzz"
fi

# An input that takes ten seconds or two gigabytes is a find. Absurd sizes are ours to refuse: the
# allocator answers with null instead of ending the run.
found=build/asan/found/$target
mkdir -p "$found"
export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1}
exec "build/asan/bin/${target}_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
  -print_final_stats=1 -artifact_prefix="$found-" "$found" "fuzz/corpus/$target"
