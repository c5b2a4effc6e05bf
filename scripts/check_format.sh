#!/usr/bin/env bash
# Fails when clang-format 14 would change a source file. To repair: scripts/check_format.sh --fix
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=(--dry-run -Werror)
if [[ "${1:-}" == --fix ]]; then
  mode=(-i)
fi
folders=()
for folder in include src tests bench fuzz examples; do
  if [[ -d "$folder" ]]; then
    folders+=("$folder")
  fi
done
find "${folders[@]}" -name '*.cc' -o -name '*.h' | sort | xargs clang-format-14 --style=file "${mode[@]}"
