#include "tools/tilec/Session.h"

#include "runtime/jit/Dump.h"
#include "runtime/jit/State.h"
#include "tools/tilec/Child.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace tile::tilec {
namespace {

using nlohmann::ordered_json;

bool isVirtualName(const std::string &name) {
  return name == "virtual" || name.starts_with("virtual:");
}

Device openDevice(const SessionOptions &options) {
  bool wantsVirtual = !options.checks.empty() || options.counters || options.seed != 0;
  if (!wantsVirtual)
    return options.device.empty() ? Device::best() : Device::open(options.device);
  std::string name =
      options.device.empty() || options.device == "auto" ? "virtual" : options.device;
  if (!isVirtualName(name))
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "--check, --counters and --seed are for the virtual GPU; '" + name +
                    "' checks and counts nothing");
  device::VirtualOptions settings;
  if (!options.checks.empty())
    settings.checks = options.checks;
  settings.seed = options.seed;
  if (name.starts_with("virtual:"))
    settings.target = name.substr(8);
  return Device::wrap(device::openVirtual(settings), name);
}

struct Counted {
  const char *name;
  uint64_t count;
};
std::vector<Counted> listOf(const vgpu::Counters &c) {
  return {{"warp_instructions", c.warpInstructions},
          {"mma", c.mma},
          {"barriers", c.barriers},
          {"shared_requests", c.sharedRequests},
          {"shared_wavefronts", c.sharedWavefronts},
          {"shared_bank_conflicts", c.bankConflicts()},
          {"global_requests", c.globalRequests},
          {"global_sectors", c.globalSectors},
          {"global_bytes_used", c.globalBytesUsed}};
}

ordered_json jsonOf(const vgpu::Finding &finding) {
  ordered_json json = {
      {"kind", vgpu::nameOf(finding.kind)},
      {"message", finding.message},
      {"ptx", {{"file", finding.ptxFile}, {"line", finding.ptxLine}, {"text", finding.ptxText}}},
      {"kernel", finding.kernel},
      {"cta", finding.cta},
      {"warp", finding.warp},
      {"lane", finding.lane},
      {"address", finding.address},
      {"bytes", finding.bytes},
      {"allocation", finding.allocation},
      {"other", finding.other},
      {"count", finding.count}};
  if (!finding.sourceFile.empty())
    json["source"] = {{"file", finding.sourceFile}, {"line", finding.sourceLine}};
  return json;
}

ordered_json jsonOf(const device::Dim3 &extents) {
  return ordered_json::array({extents.x, extents.y, extents.z});
}

} // namespace

Session::Session(const SessionOptions &options)
    : options(options), device_(openDevice(options)),
      virtualDevice(vgpu::asVirtual(device_.state()->device)) {
  if (!virtualDevice)
    return;
  virtualDevice->setCounters(options.counters);
  virtualDevice->setFindingSink([this](const std::vector<vgpu::Finding> &found) {
    findings.insert(findings.end(), found.begin(), found.end());
  });
}

device::Device &Session::seam() const { return *device_.state()->device; }

int Session::finish(const LaunchSummary &summary) {
  device_.synchronize();
  for (const vgpu::Finding &finding : findings)
    std::cerr << finding.text() << "\n";
  if (options.counters)
    for (const Counted &counted : listOf(virtualDevice->counters()))
      std::cout << counted.name << " " << counted.count << "\n";
  int code = findings.empty() ? kOk : kFinding;
  if (!options.json.empty())
    writeJson(summary, code);
  std::cerr << summary.entry << " ran on " << device_.product() << " (" << device_.name() << ")"
            << (findings.empty() ? "" : ", with findings") << "\n";
  return code;
}

void Session::writeJson(const LaunchSummary &summary, int code) const {
  ordered_json json = {{"input", summary.input},   {"entry", summary.entry},
                       {"device", device_.name()}, {"seed", options.seed},
                       {"exit_code", code},        {"findings", ordered_json::array()}};
  if (summary.shape)
    json["launch"] = {{"grid", jsonOf(summary.shape->grid)},
                      {"block", jsonOf(summary.shape->block)},
                      {"shared_bytes", summary.shape->sharedBytes}};
  for (const vgpu::Finding &finding : findings)
    json["findings"].push_back(jsonOf(finding));
  if (options.counters)
    for (const Counted &counted : listOf(virtualDevice->counters()))
      json["counters"][counted.name] = counted.count;
  jit::writeFile(options.json,
                 json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

} // namespace tile::tilec
