#include "tools/tilec/run/Session.h"

#include "base/AtomicFile.h"
#include "base/Environment.h"
#include "runtime/host/State.h"
#include "tools/tilec/Child.h"
#include "tools/tilec/run/CounterTables.h"
#include "tools/tilec/run/LowerBounds.h"

#include <filesystem>
#include <iostream>

namespace tile::tilec {
namespace {

bool isVirtualName(const std::string &name) {
  return name == "virtual" || name.starts_with("virtual:");
}

std::string wantedDevice(const SessionOptions &options) {
  std::string name = options.device.empty() ? base::environmentText("TILE_DEVICE") : options.device;
  return name.empty() ? "auto" : name;
}

/// The first option on the command line that only the virtual GPU has; empty if there is none.
std::string virtualWish(const SessionOptions &options) {
  if (!options.checks.empty() && options.checks != "none")
    return "--check " + options.checks;
  if (options.counters)
    return "--counters";
  if (!options.schedule.empty())
    return "--schedule " + options.schedule;
  if (!options.model.empty())
    return "--model " + options.model;
  if (options.seed)
    return "--seed " + std::to_string(*options.seed);
  return "";
}

uint64_t seedOf(const SessionOptions &options) {
  return options.seed ? *options.seed : vgpu::seedOfEnvironment();
}

Device openVirtual(const SessionOptions &options, const std::string &name) {
  device::VirtualOptions settings;
  if (!options.checks.empty())
    settings.checks = options.checks;
  if (!options.schedule.empty())
    settings.schedule = options.schedule;
  settings.seed = options.seed;
  settings.target = name.starts_with("virtual:") ? name.substr(8) : options.target;
  return Device::wrap(device::openVirtual(settings), "virtual:" + settings.target);
}

Device openDevice(const SessionOptions &options) {
  std::string name = wantedDevice(options), wish = virtualWish(options);
  if (isVirtualName(name))
    return openVirtual(options, name);
  if (name != "auto" && !wish.empty())
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                wish + " is for the virtual GPU; '" + name + "' checks and counts nothing");
  if (name != "auto")
    return Device::open(name);
  if (!wish.empty())
    return openVirtual(options, name);
  try {
    return Device::open("cuda");
  } catch (const Error &error) {
    if (error.code() != ErrorCode::NoDevice)
      throw;
    return openVirtual(options, name);
  }
}

std::string counted(uint64_t number, const char *what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

} // namespace

Session::Session(const SessionOptions &options)
    : options_(options), device_(openDevice(options)),
      virtualDevice_(vgpu::asVirtual(device_.state()->device)) {
  if (!options.json.empty())
    claimFile(options.json);
  if (!virtualDevice_)
    return;
  if (!options.model.empty())
    virtualDevice_->setModel(vgpu::parseModel(options.model));
  virtualDevice_->setCounters(options.counters);
  virtualDevice_->setFindingSink([this](const std::vector<vgpu::Finding> &found) {
    findings_.insert(findings_.end(), found.begin(), found.end());
  });
}

device::Device &Session::seam() const { return *device_.state()->device; }

void Session::claimFile(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  fs::path place = fs::weakly_canonical(fs::absolute(path, unknown), unknown);
  bool isFile = !fs::exists(path, unknown) || fs::is_regular_file(path, unknown);
  if (isFile && !files_.insert(place.empty() ? path : place.string()).second)
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "'" + path + "' would be written twice: give each output a file of its own");
  base::checkWritable(path);
}

void Session::note(const std::string &text) { notes_.push_back(text); }

/// ": 8 CTAs, 1234 warp instructions, 0.012 s".
std::string Session::totals() const {
  if (!virtualDevice_)
    return "";
  vgpu::LaunchStatistics done = virtualDevice_->statistics();
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3f s", done.seconds);
  return ": " + (done.launches == 1 ? "" : std::to_string(done.launches) + " launches, ") +
         counted(done.blocks, "CTA") + ", " + counted(done.warpInstructions, "warp instruction") +
         ", " + seconds;
}

int Session::finish(const LaunchSummary &summary) {
  device_.synchronize();
  for (const vgpu::Finding &finding : findings_)
    std::cerr << finding.text() << "\n";
  if (virtualDevice_)
    for (const vgpu::Note &note : virtualDevice_->notes())
      notes_.push_back(note.text());
  for (const std::string &note : notes_)
    std::cerr << "note: " << note << "\n";
  if (options_.counters && virtualDevice_)
    std::cout << counterTables(virtualDevice_->counters(), virtualDevice_->countersByLine())
              << lowerBoundTable(
                     lowerBoundsOf(*virtualDevice_, virtualDevice_->statistics().blocks));
  int code = findings_.empty() ? kOk : kFinding;
  if (!options_.json.empty())
    base::writeFile(options_.json,
                    asJson({summary, device_.name(), options_.schedule, seedOf(options_), code, "",
                            virtualDevice_.get(), options_.counters, findings_, notes_}));
  std::cerr << summary.entry << " ran on " << device_.product() << " (" << device_.name() << ")"
            << totals() << (findings_.empty() ? "" : ", with findings") << "\n";
  return code;
}

void reportFailure(const SessionOptions &options, const std::string &input, const Error &error) {
  if (options.json.empty())
    return;
  RunReport report;
  report.launch.input = input;
  report.schedule = options.schedule;
  report.seed = seedOf(options);
  report.exitCode = exitCodeOf(error);
  report.error = error.what();
  base::writeFile(options.json, asJson(report));
}

} // namespace tile::tilec
