#!/usr/bin/env bash
# run.sh PROGRAM: the bundle works with nothing of LLVM around it, without an environment, in a folder of its own.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$1" "$work/tilec-bundle"
cd "$work"

fail() { echo "$*" >&2; exit 1; }
run() { env -i ./tilec-bundle "$@"; }

ldd tilec-bundle | tee needs
if grep -vE 'linux-vdso|ld-linux|lib(c|m|dl|rt|pthread)\.so' needs; then
  fail "the bundle needs libraries that other machines lack"
fi
run tilec doctor
run tilec build op:matmul --target sm_90a >matmul.ptx
grep -q '\.entry matmul' matmul.ptx || fail "no kernel was built"
run example 01_vector_add
if run example nothing; then fail "an example that does not exist was run"; fi
for suite in Conversions ConformanceBatchedDot ArithmeticOps Modules; do # of the execution, conformance, ops and modules tests
  run test --gtest_brief=1 "--gtest_filter=*$suite*:-*cuda*" | tee tests.txt
  grep -qE '\[  PASSED  \] [1-9]' tests.txt || fail "no test of $suite ran"
done
ln -s tilec-bundle tilec
env -i ./tilec explain op:softmax >explain.txt
grep -q 'softmax for sm_80' explain.txt || fail "nothing was explained"
# The driver of gpu-bench travels in the program; it needs python3, and no more where there is no PyTorch.
run gpu-bench --device virtual:sm_90a --shapes small --part rows --no-torch --out rows.json
grep -q '"status": "ok"' rows.json || fail "gpu-bench measured nothing"
echo "the bundle works"
