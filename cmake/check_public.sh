#!/usr/bin/env bash
# A header of hqmm/ is public when it opens the namespace with HQMM_API, or stands in hqmm/ itself; all others are
# hqmm::detail. Public headers include public ones only, and of other libraries Eigen's core.
# usage: check_public.sh DIRECTORY   (the hqmm/ folder)
set -euo pipefail
cd -- "$1"
status=0
complain() { printf '%s\n' "$*"; status=1; }

mapfile -t headers < <(find . -name '*.hpp' -printf '%P\n' | sort)
declare -A is_public=([version.hpp]=1)
for header in "${headers[@]}"; do
  if [[ $header != */* ]] || grep -q HQMM_API "$header"; then is_public[$header]=1; fi
done

for header in "${headers[@]}"; do
  if [[ -z ${is_public[$header]:-} ]]; then
    if grep -nE '^namespace hqmm \{' "$header"; then complain "hqmm/$header: say hqmm::detail, or HQMM_API for what is public"; fi
    continue
  fi
  while read -r target; do
    case $target in
      hqmm/*) [[ -n ${is_public[${target#hqmm/}]:-} ]] || complain "hqmm/$header: is public and includes $target, which is not" ;;
      Eigen/Core) ;;
      */* | *.h | *.hpp) complain "hqmm/$header: is public and includes $target" ;;
    esac
  done < <(sed -nE 's/^#include [<"]([^">]+)[">].*/\1/p' "$header")
done
exit "$status"
