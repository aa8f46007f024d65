#!/usr/bin/env bash
# Writes tests/runtime/vgpu/kernels/*.ptx anew from the .cu files beside them: tools/kernels_ptx.sh [NAME ...]
# The .ptx files are committed, so that tests need no nvcc. A first line `// nvcc: OPTIONS` in a .cu file adds options.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../tests/runtime/vgpu/kernels"
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[[ -x $nvcc ]] || { echo "kernels_ptx.sh: no nvcc in PATH, nor in CUDA_HOME" >&2; exit 1; }
names=("$@")
[[ ${#names[@]} -gt 0 ]] || names=(*.cu)
for name in "${names[@]}"; do
  name=${name%.cu}
  options=(-arch=sm_80)
  if first=$(head -n 1 "$name.cu") && [[ $first == "// nvcc: "* ]]; then
    read -ra options <<<"${first#// nvcc: }"
  fi
  "$nvcc" -std=c++17 -ptx "${options[@]}" -o "$name.ptx" "$name.cu"
done
