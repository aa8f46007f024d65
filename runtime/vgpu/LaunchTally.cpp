// Sums by device and by line.
#include "runtime/vgpu/LaunchTally.h"

namespace tile::vgpu {

void LaunchTally::add(const Launch &launch, const LaunchStatistics &done) {
  statistics_ += done;
  counters_ += launch.counters();
  addLines(launch);
  for (const auto &[instruction, note] : launch.notes())
    notes_.try_emplace({launch.program().module, launch.program().lines[instruction].line}, note);
}

void LaunchTally::addLines(const Launch &launch) {
  for (size_t i = 0; i < launch.instructionCounters().size(); ++i) {
    const Counters &counted = launch.instructionCounters()[i];
    if (counted.warpInstructions == 0)
      continue;
    const Program &program = launch.program();
    auto [entry, isNew] = lines_.try_emplace({program.module, program.lines[i].line});
    if (isNew) {
      static_cast<CodeLocation &>(entry->second) = locationOf(program, static_cast<uint32_t>(i));
      entry->second.kind = program.lines[i].kind;
    }
    entry->second.counters += counted;
  }
}

void LaunchTally::clearCounters() {
  counters_ = {};
  lines_.clear();
}

std::vector<LineCounters> LaunchTally::countersByLine() const {
  std::vector<LineCounters> lines;
  for (const auto &[location, line] : lines_)
    lines.push_back(line);
  return lines;
}

std::vector<Note> LaunchTally::notes() const {
  std::vector<Note> notes;
  for (const auto &[location, note] : notes_)
    notes.push_back(note);
  return notes;
}

} // namespace tile::vgpu
