// How threads hand data to each other: dynamic shared memory, volatile flags, a lock, caches by hint.
extern "C" __global__ void reverse_dynamic(const int *in, int *out, int n) {
  extern __shared__ __align__(16) unsigned char bytes[];
  int *ints = reinterpret_cast<int *>(bytes);
  long long *longs = reinterpret_cast<long long *>(bytes + blockDim.x * sizeof(int));
  int i = threadIdx.x, at = blockIdx.x * blockDim.x + i;
  ints[i] = at < n ? in[at] : 0;
  longs[i] = static_cast<long long>(ints[i]) << 32;
  __syncthreads();
  int other = blockDim.x - 1 - i;
  if (at < n)
    out[at] = ints[other] + static_cast<int>(longs[other] >> 33);
}

// Each block waits for the one before it.
extern "C" __global__ void chain(volatile int *flags, int *values) {
  int block = blockIdx.x;
  if (threadIdx.x == 0) {
    if (block > 0)
      while (flags[block - 1] == 0) {
      }
    __threadfence();
    int before = block > 0 ? *static_cast<volatile int *>(values + block - 1) : 1;
    values[block] = before * 3 + block;
    __threadfence();
    flags[block] = 1;
  }
}

extern "C" __global__ void locked(int *lock, int *counter, int *history) {
  bool done = false;
  while (!done)
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      int now = *static_cast<volatile int *>(counter);
      history[now] = blockIdx.x * blockDim.x + threadIdx.x;
      *static_cast<volatile int *>(counter) = now + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
}

extern "C" __global__ void hinted_copy(const float4 *in, float4 *out, const int *order, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float4 a = __ldg(in + __ldca(order + i)), b = __ldcs(in + i), c = __ldcg(in + n - 1 - i), d = __ldlu(in + i);
  float4 e = __ldcv(in + i);
  __stcg(out + i, make_float4(a.x + b.x, a.y - c.y, d.z, e.w));
}

extern "C" __global__ void atomics_of_all_kinds(int *words, float *floats, double *doubles, unsigned long long *longs,
                                                const int *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = in[i];
  atomicAdd(&words[0], v);
  atomicSub(&words[1], v);
  atomicMax(&words[2], v);
  atomicAnd(&words[3], v | 0xff00);
  atomicOr(&words[4], v & 0xf0f);
  atomicXor(&words[5], v);
  atomicInc(reinterpret_cast<unsigned *>(&words[6]), 12);
  atomicDec(reinterpret_cast<unsigned *>(&words[7]), 12);
  atomicAdd(floats, static_cast<float>(v & 7));
  atomicAdd(doubles, v * 0.5);
  atomicMax(&longs[0], static_cast<unsigned long long>(v) << 20);
  atomicAdd_block(&longs[1 + blockIdx.x], 1ull); // of two blocks
  atomicAdd_system(&longs[3], 2ull);
}
