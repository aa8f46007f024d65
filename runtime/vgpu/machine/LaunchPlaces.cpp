// Where in a launch something happens, for findings and notes: the line of PTX and of the source, the block, warp and lane.
#include "runtime/vgpu/machine/Launch.h"

#include <algorithm>

namespace tile::vgpu {

// The places at which the function around `line` was inlined, innermost first.
static std::vector<SourceLocation> callersOf(const Module &module, SourceLine line) {
  std::vector<SourceLocation> callers;
  while (line.inlinedAt) { // each site is older than those inlined there
    line = module.callSites[line.inlinedAt - 1];
    if (const std::string *file = module.fileOf(line))
      callers.push_back({*file, static_cast<int>(line.line)});
  }
  return callers;
}

std::string Launch::describe(const Op &op) const {
  const Program::Line &line = program().lines[op.instruction];
  std::string text = std::string(line.spelling) + " in line " + std::to_string(line.line);
  if (const std::string *file = program().module->fileOf(line.source))
    text += " (" + *file + ":" + std::to_string(line.source.line) + ")";
  return text;
}

CodeLocation locationOf(const Program &program, uint32_t instruction) {
  const Program::Line &line = program.lines[instruction];
  CodeLocation location;
  location.ptxFile = program.module->name;
  location.ptxLine = line.line;
  location.ptxText = program.module->lineText(line.line);
  if (const std::string *file = program.module->fileOf(line.source)) {
    location.sourceFile = *file;
    location.sourceLine = static_cast<int>(line.source.line);
    location.inlinedAt = callersOf(*program.module, line.source);
  }
  return location;
}

Finding Launch::findingAt(const Warp &warp, const Op &op, FindingKind kind, unsigned lane,
                          std::string message) const {
  Finding finding;
  static_cast<CodeLocation &>(finding) = locationOf(program(), op.instruction);
  finding.kind = kind;
  finding.message = std::move(message);
  finding.kernel = program().entry->name;
  finding.cta = grid().coordinatesOf(warp.cta->index);
  finding.ctaIndex = warp.cta->index;
  finding.clusterIndex = warp.cta->cluster->index;
  finding.warp = warp.index;
  finding.lane = lane;
  finding.lanes = 1u << lane;
  finding.seed = setup_.seed;
  return finding;
}

void Launch::note(const Op &op, const std::string &message) {
  std::lock_guard lock(mutex_);
  auto [entry, isNew] = outcome_.notes.try_emplace(op.instruction);
  if (!isNew)
    return;
  static_cast<CodeLocation &>(entry->second) = locationOf(program(), op.instruction);
  entry->second.message = message;
}

Accessor accessorOf(Warp &warp, const Op &op, unsigned lane, AccessKind kind) {
  Accessor accessor;
  accessor.context = &warp.cta->launch->raceContext();
  accessor.clock = &warp.clock.of(lane);
  accessor.warp = &warp;
  accessor.op = &op;
  accessor.lane = lane;
  accessor.record.clock = warp.clock.time();
  accessor.record.instruction = std::min(op.instruction, AccessRecord::kLastInstruction);
  accessor.record.actor = warp.clock.actor;
  accessor.record.lane = lane;
  accessor.record.kindBits = static_cast<uint64_t>(kind);
  return accessor;
}

} // namespace tile::vgpu
