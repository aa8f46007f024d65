#include "runtime/vgpu/CallerReport.h"

#include "runtime/vgpu/UnwrittenReads.h"

#include <charconv>
#include <optional>
#include <set>
#include <string_view>

namespace tile::vgpu {
namespace {

using Argument = device::Caller::Argument;

size_t countOf(const Argument &argument) {
  size_t count = 1;
  for (int64_t extent : argument.extents)
    count *= static_cast<size_t>(extent);
  return count;
}

bool holds(const Argument &argument, uint64_t address) {
  uint64_t last = 0;
  for (size_t dim = 0; dim < argument.extents.size(); ++dim)
    last += static_cast<uint64_t>((argument.extents[dim] - 1) * argument.strides[dim]);
  return countOf(argument) && address >= argument.address &&
         address < argument.address + (last + 1) * argument.elementBytes;
}

/// "3 of the 10 elements of 'x' were never written, ...", or nothing if all of them were.
std::string unwrittenText(const Argument &argument, const GlobalMemory &memory) {
  if (!argument.isInput || !countOf(argument))
    return "";
  size_t unwritten = countUnwritten(memory.valid(), {argument.address, argument.elementBytes,
                                                     argument.extents, argument.strides});
  if (!unwritten)
    return "";
  return std::to_string(unwritten) + " of the " + std::to_string(countOf(argument)) +
         " elements of '" + argument.name + "' were never written: upload or fill it first";
}

/// Of "offset 20 of allocation #3 (...)" the 20, of other places nothing.
std::optional<uint64_t> offsetBefore(const std::string &message, size_t of) {
  size_t first = message.find_last_not_of("0123456789", of ? of - 1 : 0) + 1;
  constexpr std::string_view kOffset = "offset ";
  uint64_t offset = 0;
  auto [end, fault] = std::from_chars(message.data() + first, message.data() + of, offset);
  bool isOffset = first >= kOffset.size() && fault == std::errc() && end == message.data() + of &&
                  message.compare(first - kOffset.size(), kOffset.size(), kOffset) == 0;
  return isOffset ? std::optional(offset) : std::nullopt;
}

/// "offset 20 of 'x', allocation #3 (...)": allocations that hold arguments have their names.
std::string withNames(std::string message, const device::Caller &caller,
                      const GlobalMemory &memory) {
  for (const Argument &argument : caller.arguments) {
    MemoryLocation begin = memory.locationOf(argument.address);
    if (begin.name.empty())
      continue;
    const std::string place = " of " + begin.name + " (", named = " of '" + argument.name + "', ";
    for (size_t of = 0; (of = message.find(place, of)) != std::string::npos; of += named.size()) {
      std::optional<uint64_t> offset = offsetBefore(message, of);
      uint64_t base = argument.address - static_cast<uint64_t>(begin.offset);
      if (!offset || holds(argument, base + *offset))
        message.replace(of, 4, named);
    }
  }
  return message;
}

Finding at(const device::Caller &caller, Finding finding, const std::string &message) {
  finding.message = caller.op + ": " + message;
  finding.sourceFile = caller.where.file;
  finding.sourceLine = caller.where.line;
  return finding;
}

} // namespace

std::vector<Finding> forCaller(const std::vector<Finding> &findings, const device::Caller &caller,
                               const GlobalMemory &memory) {
  std::vector<Finding> told;
  std::set<std::string> said;
  auto tell = [&](const Finding &finding, const std::string &message) {
    if (said.insert(message).second)
      told.push_back(at(caller, finding, message));
  };
  for (const Finding &finding : findings) {
    bool isExplained = false;
    if (finding.kind == FindingKind::Uninitialised)
      for (const Argument &argument : caller.arguments)
        if (std::string text = unwrittenText(argument, memory); !text.empty())
          tell(finding, text), isExplained = true;
    if (!isExplained)
      tell(finding, withNames(finding.message, caller, memory) + ", in the kernel at " +
                        finding.sourceFile + ":" + std::to_string(finding.sourceLine));
  }
  return told;
}

} // namespace tile::vgpu
