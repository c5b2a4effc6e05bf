#!/usr/bin/env bash
# Files compiled for one instruction set may define one symbol for others to link: the entry point
# that names its instruction set. A shared inline function among them could be taken by the linker
# as the code of another instruction set.
#   isa_symbols.sh libmezzotint_backend_kernels.a
set -euo pipefail

symbols="$(nm -C --defined-only "$1" 2>/dev/null)"
files=0
bad=0
isa=""
while IFS= read -r line; do
  if [[ "$line" =~ ^(.*)_(avx2|avx512|avx512bf16|amx)\.cc\.o:$ ]]; then
    isa="${BASH_REMATCH[2]}"
    files=$((files + 1))
    entry="mezzotint::kernels::${BASH_REMATCH[1]}_$isa()"
  elif [[ "$line" == *: ]]; then
    isa=""
  elif [[ -n "$isa" && "$line" =~ ^[0-9a-f]+\ ([A-ZuvwN])\ (.*)$ ]]; then
    if [[ "${BASH_REMATCH[1]}" != T || "${BASH_REMATCH[2]}" != "$entry" ]]; then
      echo "$entry's file also defines: ${BASH_REMATCH[1]} ${BASH_REMATCH[2]}"
      bad=1
    fi
  fi
done <<<"$symbols"

if [[ "$files" -lt 2 ]]; then
  echo "$1 holds $files files of an instruction set, expected at least 2"
  exit 1
fi
exit "$bad"
