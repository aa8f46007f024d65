#include "tools/tilec/run/RunReport.h"

#include "tools/tilec/Child.h"
#include "tools/tilec/run/LowerBounds.h"

#include <tile/Version.h>

#include <nlohmann/json.hpp>

#include <bit>

namespace tile::tilec {
namespace {

using Json = nlohmann::ordered_json;

Json jsonOf(const device::Dim3 &extents) { return Json::array({extents.x, extents.y, extents.z}); }

Json placeOf(const std::string &file, int line, const std::string &text) {
  return {{"file", file}, {"line", line}, {"text", text}};
}

Json sourceOf(const std::string &file, int line) {
  if (file.empty())
    return nullptr;
  return {{"file", file}, {"line", line}};
}

/// With the places at which the functions around it were inlined, if any.
Json sourceOf(const vgpu::CodeLocation &place) {
  Json source = sourceOf(place.sourceFile, place.sourceLine);
  for (const vgpu::SourceLocation &caller : place.inlinedAt)
    source["inlined_at"].push_back(sourceOf(caller.file, caller.line));
  return source;
}

Json lanesOf(const vgpu::Finding &finding) {
  Json lanes = Json::array();
  for (uint32_t rest = finding.lanes; rest; rest &= rest - 1)
    lanes.push_back(std::countr_zero(rest));
  return lanes;
}

Json jsonOf(const vgpu::MemoryLocation &place) {
  if (place.name.empty())
    return nullptr;
  return {{"name", place.name}, {"offset", place.offset}, {"bytes", place.bytes}};
}

/// Describes the other access of a race; fields that are not known are null.
Json jsonOf(const std::optional<vgpu::OtherAccess> &other) {
  if (!other)
    return nullptr;
  bool hasLine = other->ptxLine != 0, hasThread = !other->isAsynchronous;
  auto ofThread = [&](const auto &value) { return hasThread ? Json(value) : Json(); };
  return {{"access", other->access},
          {"earlier_launch", other->inEarlierLaunch},
          {"asynchronous", other->isAsynchronous},
          {"ptx", hasLine ? placeOf(other->ptxFile, other->ptxLine, other->ptxText) : Json()},
          {"source", sourceOf(*other)},
          {"kernel", ofThread(other->kernel)},
          {"cluster", ofThread(other->clusterIndex)},
          {"cta", ofThread(jsonOf(other->cta))},
          {"warp", ofThread(other->warp)},
          {"lane", other->lane ? Json(*other->lane) : Json()}};
}

Json jsonOf(const vgpu::Finding &finding) {
  return {{"kind", vgpu::nameOf(finding.kind)},
          {"message", finding.message},
          {"ptx", placeOf(finding.ptxFile, finding.ptxLine, finding.ptxText)},
          {"source", sourceOf(finding)},
          {"kernel", finding.kernel},
          {"cluster", finding.clusterIndex},
          {"cta", jsonOf(finding.cta)},
          {"warp", finding.warp},
          {"lane", finding.lane},
          {"lanes", lanesOf(finding)},
          {"space", vgpu::nameOf(finding.space)},
          {"address", finding.address},
          {"bytes", finding.bytes},
          {"allocation", jsonOf(finding.allocation)},
          {"other", jsonOf(finding.other)},
          {"count", finding.count}};
}

Json jsonOf(const vgpu::Counters &c) {
  return {{"warp_instructions", c.warpInstructions},
          {"active_lanes", c.activeLanes},
          {"executed_lanes", c.executedLanes},
          {"mma", c.mma},
          {"macs", c.macs},
          {"barriers", c.barriers},
          {"waits", c.waits},
          {"atomics", c.atomics},
          {"async_bytes", c.asyncBytes},
          {"shared_requests", c.sharedRequests},
          {"shared_wavefronts", c.sharedWavefronts},
          {"shared_ideal_wavefronts", c.sharedIdeal},
          {"shared_bank_conflicts", c.bankConflicts()},
          {"shared_bytes_touched", c.sharedTouched},
          {"global_requests", c.globalRequests},
          {"global_sectors", c.globalSectors},
          {"global_lines", c.globalLines},
          {"global_bytes_used", c.globalBytesUsed},
          {"global_bytes_moved", c.globalBytesMoved()},
          {"global_distinct_sectors_loaded", c.distinctSectorsLoaded},
          {"global_distinct_sectors_stored", c.distinctSectorsStored}};
}

/// Adds the counters of a line that are not zero: most lines do one thing.
void addCounters(Json &json, const vgpu::Counters &counters) {
  Json all = jsonOf(counters);
  for (auto &[name, count] : all.items())
    if (count != 0)
      json[name] = count;
}

Json jsonOf(const vgpu::LineCounters &line) {
  Json json = {{"ptx", placeOf(line.ptxFile, line.ptxLine, line.ptxText)},
               {"source", sourceOf(line.sourceFile, line.sourceLine)},
               {"class", vgpu::nameOf(line.kind)}};
  addCounters(json, line.counters);
  return json;
}

Json countersOf(const vgpu::VirtualDevice &device) {
  std::vector<vgpu::LineCounters> lines = device.countersByLine();
  vgpu::InstructionMix mix = vgpu::mixOf(lines);
  Json json = jsonOf(device.counters());
  for (size_t kind = 0; kind < mix.size(); ++kind)
    json["mix"][vgpu::nameOf(static_cast<vgpu::InstructionClass>(kind))] = mix[kind];
  json["lines"] = Json::array();
  for (const vgpu::LineCounters &line : lines)
    json["lines"].push_back(jsonOf(line));
  json["sources"] = Json::array();
  for (const vgpu::LineCounters &source : vgpu::bySource(lines)) {
    Json entry = sourceOf(source.sourceFile, source.sourceLine);
    addCounters(entry, source.counters);
    json["sources"].push_back(entry);
  }
  LowerBounds bounds = lowerBoundsOf(device, device.statistics().blocks);
  json["model"] = {{"card", bounds.card.name}, {"multiprocessors", bounds.multiprocessors}};
  for (const LowerBounds::Resource &resource : bounds.resources)
    json["model"]["least_microseconds"][resource.name] = resource.microseconds;
  return json;
}

const char *statusOf(const RunReport &report) {
  switch (report.exitCode) {
  case kOk:
    return "clean";
  case kFinding:
    return "findings";
  case kBadInput:
    return "usage error";
  case kUnsupported:
    return "unsupported";
  default:
    return "fault of tilec";
  }
}

} // namespace

std::string asJson(const RunReport &report) {
  Json json = {{"tool", "tilec"},
               {"version", TILE_VERSION_STRING},
               {"file", report.launch.input},
               {"entry", report.launch.entry},
               {"device", report.device}};
  if (const std::optional<LaunchShape> &shape = report.launch.shape)
    json["launch"] = {{"grid", jsonOf(shape->grid)},
                      {"block", jsonOf(shape->block)},
                      {"cluster", jsonOf(shape->cluster)},
                      {"shared_bytes", shape->sharedBytes}};
  const vgpu::VirtualDevice *device = report.virtualDevice;
  json["checks"] = device ? vgpu::wordsOf(device->checks()) : std::vector<std::string>();
  json["seed"] = report.seed;
  json["schedule"] = device ? vgpu::nameOf(device->schedule()) : report.schedule.c_str();
  json["model"] = device ? vgpu::wordsOf(device->model()) : std::vector<std::string>();
  json["status"] = statusOf(report);
  json["exit_code"] = report.exitCode;
  if (!report.error.empty())
    json["error"] = report.error;
  if (device) {
    vgpu::LaunchStatistics done = device->statistics();
    json["ran"] = {{"launches", done.launches},
                   {"ctas", done.blocks},
                   {"warp_instructions", done.warpInstructions},
                   {"seconds", done.seconds},
                   {"cpu_seconds", done.cpuSeconds}};
  }
  json["findings"] = Json::array();
  for (const vgpu::Finding &finding : report.findings)
    json["findings"].push_back(jsonOf(finding));
  json["notes"] = report.notes;
  if (report.counters && device)
    json["counters"] = countersOf(*device);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace tile::tilec
