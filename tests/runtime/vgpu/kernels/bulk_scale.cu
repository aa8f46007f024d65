// nvcc: -arch=sm_90a
// Each block scales 256 floats in shared memory, from where one thread copies them out as a whole.
extern "C" __global__ void bulk_scale(const float *in, float *out, float factor) {
  __shared__ __align__(16) float tile[256];
  unsigned first = blockIdx.x * 256;
  tile[threadIdx.x] = factor * in[first + threadIdx.x];
  // The copy goes through the asynchronous proxy, which does not see what threads have written until they say so.
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned source = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(out + first), "r"(source)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
