#!/usr/bin/env bash
# run.sh BUILD: installs BUILD into a temporary folder, then builds and runs the program beside this
# script against it with g++, and checks that the library shows no foreign names.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$1" --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
cmake -S "$here" -B "$work/app" -G Ninja -DCMAKE_CXX_COMPILER=g++ -DCMAKE_PREFIX_PATH="$work/prefix"
cmake --build "$work/app"
"$work/app/app"
library=$(find "$work/prefix" -name libtile.so)
nm --dynamic --defined-only "$library" | awk '{ print $3 }' >"$work/names"
test -s "$work/names"
if grep -vE '^_Z(T[ISVThHWv].*|G[VR].*|Z?N[KVRO]*)4tile' "$work/names"; then
  echo "libtile.so exports names that are not tile's"
  exit 1
fi
