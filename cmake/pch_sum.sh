#!/bin/sh
# pch_sum.sh OUT COMPILER ARGUMENTS...: writes a hash of every file that a precompiled header is
# made of to OUT, and a depfile to OUT.d. ccache takes this hash for the header itself, whose bytes
# hold the path of the checkout.
set -eu
out=$1
shift
"$@" -M -MT "$out" -MF "$out.d"
sed -e 's/^[^:]*: *//' -e 's/\\$//' "$out.d" | xargs cat | sha256sum > "$out"
