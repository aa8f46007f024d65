// Repeats a call and, for comparison, bare launches of empty kernels that take as many parameters as the call's kernels.
#include "bench/ops/HostTime.h"

#include "bench/ThreadTime.h"
#include "runtime/device/Device.h"
#include "tests/runtime/device/fakecuda/FakeCuda.h"

namespace tile::bench {

namespace {

constexpr int kRounds = 11, kCallsARound = 1000;

template <class Run> double medianMicroseconds(const Run &run) {
  return microsecondsOf(run, kRounds, kCallsARound)[kRounds / 2];
}

/// The launches of one call.
std::vector<FakeLaunch> launchesOf(const Call &call) {
  fakeCudaReset();
  fakeCudaRecord(true);
  call();
  std::vector<FakeLaunch> launches = fakeCudaLaunches();
  fakeCudaRecord(false);
  fakeCudaReset();
  return launches;
}

std::string emptyKernel(const std::vector<std::vector<unsigned char>> &params) {
  std::string list;
  for (size_t i = 0; i < params.size(); ++i)
    list += (i ? ", " : "") + (".param .align 8 .b8 p" + std::to_string(i)) + "[" +
            std::to_string(params[i].size()) + "]";
  return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing(" + list +
         ")\n{\n  ret;\n}\n";
}

double bareMicroseconds(device::Device &bare, const FakeLaunch &launch) {
  device::Module module = bare.loadModule(emptyKernel(launch.params));
  device::Function nothing = bare.getFunction(module, "nothing");
  std::vector<device::Arg> args;
  for (const std::vector<unsigned char> &param : launch.params)
    args.push_back({param.data(), param.size()});
  device::LaunchConfig config;
  config.grid = config.block = {1, 1, 1};
  device::Stream queue = bare.createStream();
  double time = medianMicroseconds([&] { bare.launch(nothing, config, args, queue); });
  bare.destroyStream(queue);
  bare.unloadModule(module);
  return time;
}

} // namespace

HostTime hostTimeOf(const Case &each) {
  Device device = Device::open("cuda:0");
  Stream stream = device.stream();
  Setup setup(device, stream);
  Call call = each.prepare(setup);
  call(); // compiles
  std::vector<FakeLaunch> launches = launchesOf(call);
  HostTime time;
  time.call = medianMicroseconds(call);
  std::shared_ptr<device::Device> bare = device::openCuda(0);
  for (const FakeLaunch &launch : launches)
    time.launches += bareMicroseconds(*bare, launch);
  return time;
}

} // namespace tile::bench
