#!/usr/bin/env bash
# Runs clang-tidy 14 over the sources of a built tree: scripts/check_tidy.sh BUILD [jobs]
# A file that passed is not looked at again until it, a header of ours that it includes, its compile
# command or .clang-tidy changes; the stamps are in BUILD/tidy.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build="$(realpath "$1")"
jobs="${2:-$(nproc)}"
export build stamps="$build/tidy"
mkdir -p "$stamps"

# One line per source of ours: the file, then its headers, as ninja recorded them when it compiled.
# Paths become relative to the root; whatever stays absolute is a system header.
dependencies() {
  ninja -C "$build" -t deps | sed "s#^\( *\)$PWD/#\1#; s#^\( *\)\.\./\.\./#\1#" | awk '
    function flush() { if (line ~ /^(src|tests)\/[^ ]*\.cc/) print line; line = "" }
    /^[^ ]/ { flush(); next }
    NF == 1 && $1 !~ /^\// { line = line == "" ? $1 : line " " $1 }
    END { flush() }' | sort -u
}

tidy_one() {
  read -r source headers <<<"$1"
  local command stamp output
  command="$(grep -F -B 3 "\"$PWD/$source\"" "$build/compile_commands.json" | grep '"command"' | head -n 1 || true)"
  if [[ -z "$command" ]]; then
    return 0  # a file that the build no longer has
  fi
  # shellcheck disable=SC2086
  stamp="$stamps/$({ echo "$command"; sha256sum .clang-tidy "$source" $headers; } | sha256sum | cut -c 1-32)"
  if [[ -e "$stamp" ]]; then
    return 0
  fi
  if output="$(clang-tidy-14 -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option \
      --extra-arg=-Wno-ignored-optimization-argument "$source" 2>&1)"; then
    touch "$stamp"
  else
    echo "$output" | grep -v 'warnings generated'
    echo "clang-tidy: $source failed"
    return 1
  fi
}
export -f tidy_one

sources="$(dependencies)"
if [[ -z "$sources" ]]; then
  echo "clang-tidy: $build holds no compiled source; build it first" >&2
  exit 1
fi
echo "clang-tidy: $(wc -l <<<"$sources") files, $jobs at a time"
tr '\n' '\0' <<<"$sources" | xargs -0 -P "$jobs" -I{} bash -c 'if [[ -n "$1" ]]; then tidy_one "$1"; fi' _ {}
