// What tests see of the fake NVML: two GPUs at the places where the fake CUDA driver has its devices, in the other order.
#pragma once

#include <vector>

struct FakeGpu {
  unsigned megahertz = 1980;
  unsigned long long reasons = 1; // idle, which is none
  unsigned celsius = 43, milliwatts = 121500;
  bool isDivided = false;
};

extern "C" {
/// Forgets faults and readings; GPUs are as at first.
void fakeNvmlReset();
/// The GPU of a CUDA device.
FakeGpu *fakeNvmlGpu(int cudaDevice);
/// All calls of a function return `result` from now on, until the next reset.
void fakeNvmlFail(const char *function, int result);
/// What the next readings of the first GPU's clock find, one after the other; later ones what is there by itself.
void fakeNvmlNext(unsigned megahertz, unsigned long long reasons, int readings);
/// How often a clock was read.
int fakeNvmlReadings();
}
