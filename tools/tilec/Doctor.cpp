// `tilec doctor`: what is installed, and what each missing thing disables.
#include "ir/target/Target.h"
#include "runtime/device/Device.h"
#include "runtime/device/Nvml.h"
#include "runtime/jit/Compile.h"
#include "runtime/toolchain/Assemble.h"
#include "runtime/toolchain/LinkCuda.h"
#include "runtime/toolchain/NvPtxCompiler.h"
#include "runtime/tune/ShippedTables.h"
#include "runtime/tune/Store.h"
#include "tools/tilec/Child.h"
#include "tools/tilec/Commands.h"

#include <tile/Device.h>

#include <CLI/CLI.hpp>

#include <iostream>

namespace tile::tilec {
namespace {

void found(const char *what, const std::string &which) {
  std::cout << "ok       " << what << ": " << which << "\n";
}

void missing(const char *what, const std::string &why, const char *consequence) {
  std::cout << "missing  " << what << ": " << why << "\n         without it: " << consequence
            << "\n";
}

void doctorPtxas() {
  std::vector<std::string> looked;
  if (auto program = jit::findPtxas(&looked)) {
    std::string version = jit::versionOf(*program);
    if (!version.empty())
      return found("ptxas", *program + ", " + version);
    return missing("ptxas", *program + " does not run", "nvJitLink or the driver compile PTX");
  }
  std::string places;
  for (const std::string &place : looked)
    places += (places.empty() ? "" : ", ") + place;
  missing("ptxas", "looked at " + places + "; set TILE_PTXAS or install the CUDA toolkit",
          "nvJitLink or the driver compile PTX; `tilec build --emit cubin` needs nvJitLink");
}

void doctorNvPtxCompiler() {
  std::string why;
  if (jit::NvPtxCompiler *compiler = jit::NvPtxCompiler::load(&why))
    return found("nvPTXCompiler",
                 std::to_string(compiler->major) + "." + std::to_string(compiler->minor));
  missing("nvPTXCompiler", why,
          "ptxas runs as a program of its own, which takes about twice as long");
}

void doctorNvJitLink() {
  std::string why, version = jit::nvJitLinkVersion(&why);
  if (!version.empty())
    return found("nvJitLink", version + ", used where ptxas is missing");
  missing("nvJitLink", why, "no in-process assembler; ptxas or the driver compile PTX");
}

void doctorNvrtc() {
  std::string why, version = jit::nvrtcVersion(&why);
  if (!version.empty())
    return found("NVRTC", version);
  missing("NVRTC", why, "no inline_cuda");
}

void doctorNvml() {
  std::string why;
  if (device::nvml::functions(&why))
    return found("NVML", "clocks of GPUs are read while times are measured");
  missing("NVML", why, "measured times do not tell at which clock");
}

/// "target sm_86", and what it runs if nothing is compiled for itself.
std::string targetText(const Device &device) {
  std::string compiled = ir::targetForGpu(device.target()).name;
  std::string rest = compiled == device.target() ? "" : ", which runs code for " + compiled;
  return "target " + device.target() + rest;
}

void doctorCuda() {
  std::vector<Device> devices = Device::all();
  for (const Device &device : devices)
    if (!device.isVirtual())
      found("device", device.name() + ", " + device.product() + ", " + targetText(device));
  if (devices.size() > 1)
    return;
  try {
    device::openCuda(0);
  } catch (const Error &error) {
    missing("CUDA device", error.message(), "kernels run on the virtual GPU only");
  }
}

void doctorVirtual() {
  Device device = Device::open("virtual");
  found("device", device.name() + ", " + device.product() + ", " + targetText(device));
}

void doctorTuning() {
  std::string database = tune::Store::defaultFile();
  found("tuned settings", std::to_string(tune::shippedTables().size()) + " shipped tables; " +
                              (database.empty() ? "no database" : "the database is " + database));
}

int doctor() {
  found("LLVM and MLIR", jit::llvmVersion());
  doctorNvPtxCompiler();
  doctorPtxas();
  doctorNvJitLink();
  doctorNvrtc();
  doctorNvml();
  doctorTuning();
  doctorVirtual();
  doctorCuda();
  const char *variable = std::getenv("TILE_DEVICE");
  std::cout << "kernels run on " << Device::best().name() << " by default"
            << (variable && *variable ? std::string(" (TILE_DEVICE=") + variable + ")" : "")
            << "\n";
  return kOk;
}

} // namespace

void addDoctor(CLI::App &app, std::function<int()> &chosen) {
  CLI::App *command =
      app.add_subcommand("doctor", "Show what is installed and what missing things disable");
  command->callback([&chosen] { chosen = doctor; });
}

} // namespace tile::tilec
