// printf and assert of device code.
#include <cassert>
#include <cstdio>

extern "C" __global__ void print(int n) {
  if (threadIdx.x < 2)
    printf("thread %d of %u: %5.2f %s %lld 100%%\n", threadIdx.x, blockDim.x, 0.5f * threadIdx.x, "text", -5000000000ll);
  assert(n > (int)threadIdx.x);
}
