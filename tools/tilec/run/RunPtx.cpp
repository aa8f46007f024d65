#include "tools/tilec/run/RunPtx.h"

#include "runtime/toolchain/Assemble.h"
#include "runtime/vgpu/machine/Targets.h"
#include "runtime/vgpu/ptx/Ptx.h"
#include "tools/tilec/input/Refuse.h"
#include "tools/tilec/input/Scan.h"

#include <charconv>
#include <cstring>
#include <filesystem>

namespace tile::tilec {
namespace {

using device::Dim3;

const vgpu::Function &entryOf(const vgpu::Module &module, const std::string &name) {
  const vgpu::Function *found = nullptr;
  std::string known;
  int count = 0;
  for (const vgpu::Function &function : module.functions) {
    if (!function.isEntry)
      continue;
    known += (known.empty() ? "" : ", ") + std::string(function.name);
    ++count;
    if (name.empty() || function.name == name)
      found = &function;
  }
  if (count == 0)
    refuse("'" + module.name + "' has no .entry");
  if (name.empty() && count > 1)
    refuse("'" + module.name + "' has several entries; choose one by --entry: " + known);
  if (!found)
    refuse("'" + module.name + "' has no entry '" + name + "'; it has " + known);
  return *found;
}

std::string text(const Dim3 &shape) {
  return std::to_string(shape.x) + "," + std::to_string(shape.y) + "," + std::to_string(shape.z);
}

/// The block that is asked for and the one the kernel is compiled for.
Dim3 blockOf(const vgpu::Function &entry, const std::optional<Dim3> &asked) {
  const uint32_t *needed = entry.requiredThreads, *most = entry.maxThreads;
  Dim3 required = {needed[0], std::max(needed[1], 1u), std::max(needed[2], 1u)};
  if (needed[0] && asked && *asked != required)
    refuse("--block " + text(*asked) + ": entry '" + std::string(entry.name) + "' has .reqntid " +
           text(required));
  if (needed[0])
    return required;
  if (!asked)
    refuse("--block is needed: entry '" + std::string(entry.name) + "' has no .reqntid");
  uint64_t limit = uint64_t(most[0]) * std::max(most[1], 1u) * std::max(most[2], 1u);
  if (limit && asked->count() > limit)
    refuse("--block " + text(*asked) + ": entry '" + std::string(entry.name) + "' has .maxntid " +
           std::to_string(limit));
  return *asked;
}

/// The cluster that is asked for and the one the kernel is compiled for; one block if neither says anything.
Dim3 clusterOf(const vgpu::Function &entry, const std::optional<Dim3> &asked) {
  const uint32_t *needed = entry.requiredCluster;
  if (!needed[0])
    return asked.value_or(Dim3{});
  Dim3 required = {needed[0], std::max(needed[1], 1u), std::max(needed[2], 1u)};
  if (asked && *asked != required)
    refuse("--cluster " + text(*asked) + ": entry '" + std::string(entry.name) +
           "' has .reqnctapercluster " + text(required));
  return required;
}

/// Runs a step that reads PTX: what it does not understand is unsupported, not a mistake of the command line.
template <class Step> auto reading(Step step) {
  try {
    return step();
  } catch (const Error &error) {
    if (error.code() != ErrorCode::Parse)
      throw;
    throw Error(error.fault(), ErrorCode::Unsupported, error.message(),
                {error.file().c_str(), error.line()}, error.notes());
  }
}

} // namespace

Dim3 parseShape(const std::string &option, const std::string &text) {
  uint32_t extents[3] = {1, 1, 1};
  size_t count = 0, start = 0;
  for (; start <= text.size() && count < 3; ++count) {
    size_t end = std::min(text.find(',', start), text.size());
    auto [stop, fault] = std::from_chars(text.data() + start, text.data() + end, extents[count]);
    if (fault != std::errc() || stop != text.data() + end || extents[count] == 0)
      break;
    start = end + 1;
  }
  if (start <= text.size())
    refuse(option + " " + text +
           ": one to three positive numbers are expected, such as 128 or 16,8,1");
  return {extents[0], extents[1], extents[2]};
}

PtxCall::PtxCall(SessionOptions options, const std::string &file, const PtxLaunch &launch,
                 const std::vector<std::string> &words) {
  std::string source = readSource(file);
  std::shared_ptr<vgpu::Module> parsed = reading([&] { return vgpu::parsePtx(source, file); });
  const vgpu::Function &entry = entryOf(*parsed, launch.entry);
  if (!launch.grid)
    refuse("--grid is needed to run PTX");
  LaunchShape shape{*launch.grid, blockOf(entry, launch.block), clusterOf(entry, launch.cluster),
                    launch.sharedBytes};
  summary_ = {file, std::string(entry.name), shape};
  config_ = {shape.grid, shape.block, shape.cluster, shape.sharedBytes};
  options.target = vgpu::targetFor(parsed->target);
  session_.emplace(options);
  arguments_.emplace(*session_, words);
  packed_ = arguments_->pack(entry);
  device::Device &seam = session_->seam();
  device::Module module = reading([&] { return seam.loadModule(source, {}, file); });
  function_ = seam.getFunction(module, entry.name);
}

void PtxCall::launch() {
  reading([&] { session_->seam().launch(function_, config_, packed_); });
}

int runPtx(SessionOptions options, const std::string &file, const PtxLaunch &launch,
           const std::vector<std::string> &words) {
  PtxCall call(std::move(options), file, launch, words);
  call.launch();
  Session &session = call.session();
  session.seam().synchronize();
  noteUnwritten(session, call.arrays());
  int code = session.finish(call.summary());
  saveArguments(call.arrays());
  return code;
}

} // namespace tile::tilec
