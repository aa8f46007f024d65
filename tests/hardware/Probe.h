// A probe: a small kernel for sm_90a with its inputs and its launch. What it writes on hardware is recorded;
// what it writes elsewhere is compared with that.
#pragma once

#include "runtime/device/Device.h"
#include "tests/hardware/Draw.h"

#include <string>
#include <vector>

namespace tile::hardware {

/// An array that a kernel writes, and that holds 0xcd in every byte before.
struct Output {
  unsigned elementBytes = 4;
  size_t size = 0;
};

/// A tensor map over an input; its base is 0 until the input has an address.
struct MapOver {
  size_t input = 0;
  device::TensorMapParams params;
};

/// Elements first, first + 1, ... first + count - 1 of every `period` of the first output: times, addresses and
/// places that a run does not repeat. They are recorded, not compared.
struct Unrepeatable {
  size_t period = 1, first = 0, count = 0;
};

struct Probe {
  std::string name; // also names its recording
  std::string ptx;  // an entry `k`: pointers to the inputs and outputs, then tensor maps
  std::vector<Buffer> inputs;
  std::vector<Output> outputs;
  device::LaunchConfig launch;
  std::vector<MapOver> maps = {};
  std::vector<size_t> written = {}; // inputs that the kernel changes: recorded after the outputs
  bool sums = false;        // of floats by tensor cores: the virtual GPU has a model for them
  bool elementwise = false; // element i of the output is made of the elements i of the inputs
  std::vector<Unrepeatable> unrepeatable = {};
};

/// What a probe wrote: its outputs, then the inputs that it changed.
using Outputs = std::vector<Buffer>;

// The families. The order of scalar probes, and the seeds in the others, determine inputs: new probes go to the
// end, with seeds of their own.
std::vector<Probe> floatProbes();      // scalar instructions on f32 and f64
std::vector<Probe> halfProbes();       // on f16 and bf16
std::vector<Probe> conversionProbes(); // between floats, and with integers
std::vector<Probe> integerProbes();
std::vector<Probe> videoProbes();
std::vector<Probe> collectiveProbes(); // shuffles, votes, reductions
std::vector<Probe> matrixMoveProbes(); // ldmatrix, stmatrix, movmatrix
std::vector<Probe> atomicProbes();
std::vector<Probe> specialProbes();  // special registers, addresses of shared memory
std::vector<Probe> fragmentProbes(); // which element a register of a wmma fragment holds
std::vector<Probe> tensorLoadProbes();
std::vector<Probe> tensorStoreProbes(); // with reductions
std::vector<Probe> bulkProbes();        // bulk copies and reductions, cp.async
std::vector<Probe> barrierProbes();     // mbarrier
std::vector<Probe> clusterProbes();
std::vector<Probe> mmaProbes(); // dense and sparse
std::vector<Probe> wgmmaProbes();
std::vector<Probe> sparseWgmmaProbes();
std::vector<Probe> descriptorProbes(); // of matrices in shared memory

/// All of them.
std::vector<Probe> allProbes();

} // namespace tile::hardware
