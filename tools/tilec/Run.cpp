// `tilec run`: runs an op on arrays in .npy files, on any device, with the virtual GPU's checks.
#include "runtime/device/Device.h"
#include "tools/tilec/Child.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/Npy.h"
#include "tools/tilec/Settings.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace tile::tilec {
namespace {

struct RunOptions {
  std::vector<std::string> words; ///< op:NAME, inputs, the output, settings
  std::string device, checks;
};

[[noreturn]] void refuse(const std::string &message) {
  throw Error(Fault::User, ErrorCode::InvalidArgument, message);
}

/// The device; a virtual one of our own if its checks are named.
Device openDevice(const RunOptions &options) {
  if (options.checks.empty())
    return options.device.empty() ? Device::best() : Device::open(options.device);
  std::string name = options.device.empty() ? "virtual" : options.device;
  if (name != "virtual" && !name.starts_with("virtual:"))
    refuse("--check is for the virtual GPU; '" + name + "' checks nothing");
  device::VirtualOptions settings;
  settings.checks = options.checks;
  if (name.starts_with("virtual:"))
    settings.target = name.substr(8);
  return Device::wrap(device::openVirtual(settings), name);
}

Tensor load(const Device &device, const std::string &path) {
  Array array = readNpy(path);
  Tensor tensor(device, array.dtype, array.extents);
  tensor.uploadBytes(array.data.data(), array.data.size());
  return tensor;
}

void save(const Tensor &tensor, const std::string &path) {
  Array array;
  array.dtype = tensor.dtype();
  array.extents.assign(tensor.extents().begin(), tensor.extents().end());
  array.data.resize(tensor.bytes());
  tensor.downloadBytes(array.data.data(), array.data.size());
  writeNpy(path, array);
}

int run(RunOptions &options) {
  OpSettings settings = takeSettings(options.words);
  const OpEntry *op = options.words.empty() ? nullptr : opOf(options.words[0]);
  if (!op)
    refuse("the first word names what to run, as op:NAME");
  size_t files = options.words.size() - 1;
  if (files != static_cast<size_t>(op->inputs) + 1)
    refuse("op:" + op->name + " takes " + std::to_string(op->inputs) +
           " input files and one output file, got " + std::to_string(files) + " files");
  Device device = openDevice(options);
  std::vector<Tensor> inputs;
  for (int i = 0; i < op->inputs; ++i)
    inputs.push_back(load(device, options.words[1 + i]));
  TensorSpec spec = op->output(inputs, settings);
  Tensor output(device, spec.dtype, spec.extents);
  Stream stream = device.stream();
  op->run(stream, inputs, output, settings);
  refuseUnused(settings);
  stream.synchronize();
  save(output, options.words.back());
  std::cerr << "op:" << op->name << " ran on " << device.product() << " (" << device.name()
            << ")\n";
  return kOk;
}

} // namespace

void addRun(CLI::App &app, std::function<int()> &chosen) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "Run an op on .npy files");
  command
      ->add_option("words", options->words,
                   "op:NAME IN.npy ... OUT.npy, and settings such as BM=128")
      ->required();
  command->add_option("--device", options->device,
                      "cuda:N, virtual, virtual:sm_90a, auto (default: TILE_DEVICE)");
  command->add_option("--check", options->checks,
                      "virtual GPU: all, none, or a list of memory,init,race,sync");
  command->callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

} // namespace tile::tilec
