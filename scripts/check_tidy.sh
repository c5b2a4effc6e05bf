#!/usr/bin/env bash
# Runs clang-tidy 14 over the sources of a built tree: scripts/check_tidy.sh BUILD [jobs]
# A file that passed is not looked at again until it, a header of ours that it includes, its compile
# command or .clang-tidy changes; the stamps are in BUILD/tidy.
#
# Most of the time goes into system headers, which clang-tidy walks for each file again. So files of one
# target are looked at as one source that includes them. When that finds anything, be it that two of
# them have a name in common, its halves are looked at, and so on; what is found in a file alone counts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build="$(realpath "$1")"
jobs="${2:-$(nproc)}"
together=12
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

# Of each source that has no stamp yet, a line: its stamp, the source, and what it may be looked at
# together with: its target and its options.
waiting() {
  local source headers command stamp target options
  while read -r source headers; do
    command="$(grep -F -B 3 "\"$PWD/$source\"" "$build/compile_commands.json" | grep '"command"' | head -n 1 || true)"
    if [[ -z "$command" ]]; then
      continue  # a file that the build no longer has
    fi
    # shellcheck disable=SC2086
    stamp="$({ echo "$command"; sha256sum .clang-tidy "$source" $headers; } | sha256sum | cut -c 1-32)"
    if [[ ! -e "$stamps/$stamp" ]]; then
      target="$(sed 's/^.* -o //; s/\.dir.*$//' <<<"$command")"
      options="$(sed 's/^.*"command": "[^ ]* //; s/ -o .*$//; s/\\"/"/g; s/\\\\/\\/g' <<<"$command")"
      # misc-unused-using-decls sees what is in the main file only. Ops give their functions equal names.
      if [[ "$source" == src/graph/ops/* ]] || grep -q -E '^ *using [A-Za-z_]+(::[A-Za-z_]+)+;' "$source"; then
        options="alone with $source"
      fi
      printf '%s\t%s\t%s\n' "$stamp" "$source" "$target $options"
    fi
  done
}

# tidy SOURCE ARGUMENT...
tidy() {
  clang-tidy-14 --quiet --extra-arg=-Wno-unknown-warning-option \
    --extra-arg=-Wno-ignored-optimization-argument "$@" 2>&1
}

# tidy_group OPTIONS STAMP SOURCE [STAMP SOURCE]...
tidy_group() {
  local options="$1" output i
  shift
  if [[ $# -eq 2 ]]; then
    if output="$(tidy "$2" -p "$build")"; then
      touch "$stamps/$1"
      return 0
    fi
    echo "$output" | grep -v 'warnings generated'
    echo "clang-tidy: $2 failed"
    return 1
  fi
  local -a pairs=("$@") arguments
  local all="$stamps/$1.cc"
  for ((i = 1; i < $#; i += 2)); do
    echo "#include \"$PWD/${pairs[i]}\"  // NOLINT(bugprone-suspicious-include)"
  done >"$all"
  eval "arguments=($options)"
  local passed=yes
  output="$(tidy "$all" --config-file="$PWD/.clang-tidy" \
      --header-filter='(src|include|tests)/.*\.(h|cc)$' -- "${arguments[@]}")" || passed=no
  rm "$all"
  if [[ "$passed" == yes ]]; then
    for ((i = 0; i < $#; i += 2)); do
      touch "$stamps/${pairs[i]}"
    done
    return 0
  fi
  local half=$((($# + 2) / 4 * 2)) failed=0
  tidy_group "$options" "${pairs[@]:0:half}" || failed=1
  tidy_group "$options" "${pairs[@]:half}" || failed=1
  return "$failed"
}
tidy_line() {
  local -a group
  IFS=$'\t' read -r -a group <<<"$1"
  tidy_group "${group[0]#* }" "${group[@]:1}"
}
export -f tidy tidy_group tidy_line

sources="$(dependencies)"
if [[ -z "$sources" ]]; then
  echo "clang-tidy: $build holds no compiled source; build it first" >&2
  exit 1
fi
groups="$(waiting <<<"$sources" | sort -t $'\t' -k 3 -k 2 | awk -F '\t' -v most="$together" '
  $3 != options || members == most { if (line != "") print line; line = options = $3; members = 0 }
  { line = line "\t" $1 "\t" $2; ++members }
  END { if (line != "") print line }')"
echo "clang-tidy: $(wc -l <<<"$sources") files, $(grep -c . <<<"$groups" || true) groups to look at, $jobs at a time"
tr '\n' '\0' <<<"$groups" | xargs -0 -P "$jobs" -I{} bash -c 'if [[ -n "$1" ]]; then tidy_line "$1"; fi' _ {}
