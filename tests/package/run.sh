#!/usr/bin/env bash
# run.sh BUILD: installs BUILD into temporary folders, by cmake and as a Debian package unpacked there, which must hold the same
# files. Then builds and runs against the package the program beside this script, by find_package and by pkg-config, and the
# project examples/app, with g++ and with clang. Checks that the library shows no foreign names.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/root/usr installed=$work/installed

fail() { echo "$*" >&2; exit 1; }

unpackDeb() {
  (cd "$work" && cpack --config "$build/CPackConfig.cmake" -B "$work/deb") >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
  local package
  package=$(find "$work/deb" -maxdepth 1 -name 'tilec_*.deb')
  dpkg-deb --field "$package" Depends | tee "$work/depends"
  for library in libmlir-22 libstdc++6 libc6; do # libmlir-22 brings LLVM
    grep -q "$library" "$work/depends" || fail "the package does not depend on $library"
  done
  dpkg-deb --contents "$package" >"$work/contents"
  for file in bin/tilec bin/tile-opt include/tile/tile.h include/tile/detail/Params.h lib/libtile.so lib/libtile_rt.so lib/cmake/tilec/tilecConfig.cmake \
    lib/pkgconfig/tilec.pc; do
    grep -q " ./usr/$file" "$work/contents" || fail "the package lacks $file"
  done
  if grep -vE ' \./(usr/.*)?$' "$work/contents"; then fail "the package holds files outside /usr"; fi
  dpkg -x "$package" "$work/root"
}

# What cmake installs is what the package holds, byte for byte but for symbols that are stripped from the latter: what is built
# with one is as if built with the other.
compareWithInstalled() {
  local file
  diff <(cd "$installed" && find . ! -type d | sort) <(cd "$prefix" && find . ! -type d | sort) ||
    fail "cmake installs other files than the package holds"
  while read -r file; do
    if [[ $(head -c 4 "$prefix/$file" | tr -d '\0') == $'\x7fELF' ]]; then
      # What is loaded of it.
      objcopy -O binary "$installed/$file" "$work/here" &&
        objcopy -O binary "$prefix/$file" "$work/there" && cmp "$work/here" "$work/there"
    else
      cmp "$installed/$file" "$prefix/$file"
    fi || fail "cmake installs another $file than the package holds"
  done < <(cd "$prefix" && find . -type f)
}

cmake --install "$build" --prefix "$installed" >"$work/log" || { cat "$work/log"; exit 1; }
unpackDeb
compareWithInstalled

doc=$prefix/share/doc/tilec
cmp "$here/../../LICENSE" "$doc/LICENSE"
grep -q '^License: Apache-2.0 WITH LLVM-exception$' "$doc/copyright" || fail "the installed copyright names no license"

cmake -S "$here" -B "$work/app" -G Ninja -DCMAKE_CXX_COMPILER=g++ -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$work/app"
"$work/app/app"
"$work/app/ahead"
if ldd "$work/app/ahead" | grep -E 'LLVM|MLIR|libtile[.]so'; then fail "a program with kernels compiled ahead of time needs the compiler"; fi

# The example of an application, whose warnings count in our headers too.
example=$work/example
cp -r "$here/../../examples/app" "$example"
for compiler in g++ clang++-22; do
  cmake -S "$example" -B "$example/$compiler" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_CXX_FLAGS=-Werror -DCMAKE_NO_SYSTEM_FROM_IMPORTED=ON -DCMAKE_PREFIX_PATH="$prefix"
  cmake --build "$example/$compiler"
  "$example/$compiler/scoring"
done

library=$(find "$prefix" -name libtile.so)
export PKG_CONFIG_PATH=${library%/*}/pkgconfig LD_LIBRARY_PATH=${library%/*}
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
for compiler in g++ clang++-22; do
  read -ra flags < <(pkg-config --cflags --libs tilec)
  "$compiler" -std=c++20 -Wall -Wextra -Werror "$here/app.cpp" "${flags[@]}" -o "$work/app-$compiler"
  "$work/app-$compiler"
done
# By hand, with the one library that its name says.
for compiler in g++ clang++-22; do
  "$compiler" -std=c++20 -I"$prefix/include" "$here/app.cpp" -L"${library%/*}" -ltile -o "$work/app-by-hand"
  "$work/app-by-hand"
done
# A program in C with a library of kernels.
read -ra flags < <(pkg-config --cflags --libs tilec)
g++ -std=c++20 -shared -fPIC "$here/../../examples/c/kernels.cpp" "${flags[@]}" -o "$work/libkernels.so"
gcc -std=c99 -pedantic -Wall -Wextra -Werror "$here/../../examples/c/scale.c" "${flags[@]}" -o "$work/scale"
"$work/scale" "$work/libkernels.so"
# A program in Python with the same library; the module finds libtile.so where it is installed.
cat >"$work/scale.py" <<'END'
import tilec
assert tilec.has_compiler and "/lib/libtile.so" in tilec.library_path, tilec.library_path
device = tilec.Device("virtual:sm_90a")
x, y = tilec.zeros(1000, device=device), tilec.empty(1000, device=device)
with device.stream() as stream:
    tilec.Library("libkernels.so").kernel("scale")(stream, x, y, 0.5, B=256)
print(tilec.ops.add(y, y))
END
(unset LD_LIBRARY_PATH && cd "$work" && PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$prefix/lib/python3/dist-packages python3 scale.py)
for folder in "$prefix" "$installed"; do
  (unset LD_LIBRARY_PATH && "$folder/bin/tilec" build op:add -o "$work/add.ptx")
done
(unset LD_LIBRARY_PATH && "$prefix/bin/tilec" build "$here/app.cpp" --kernel scale B=128 -o "$work/scale.ptx")
grep -q '\.entry scale' "$work/scale.ptx"

# Tables of tuned settings are found from where the library is installed.
tuned=$prefix/share/tilec/tuned
test -f "$tuned/README.md"
tables=("$tuned"/*.jsonl)
test -f "${tables[0]}" || tables=()
touch "$tuned/another.jsonl"
(unset LD_LIBRARY_PATH && "$prefix/bin/tilec" doctor) >"$work/doctor"
grep -q "$((${#tables[@]} + 1)) shipped tables" "$work/doctor" || fail "shipped tables are not found: $(grep tuned "$work/doctor")"

for file in libtile.so.0 libtile_rt.so; do
  nm --dynamic --defined-only "${library%/*}/$file" | awk '{ print $3 }' >"$work/names"
  test -s "$work/names"
  if grep -vE '^(tile_|_Z(T[ISVThHWv].*|G[VR].*|Z?N[KVRO]*)4tile)' "$work/names"; then
    fail "$file exports names that are not tile's"
  fi
done
if ldd "${library%/*}/libtile_rt.so" | grep -E 'LLVM|MLIR'; then
  fail "the runtime needs the compiler"
fi

# What was built with the package runs with what cmake installs.
library=$(find "$installed" -name libtile.so)
LD_LIBRARY_PATH=${library%/*} "$work/app-g++"
