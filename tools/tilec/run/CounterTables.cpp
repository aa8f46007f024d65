#include "tools/tilec/run/CounterTables.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace tile::tilec {
namespace {

using vgpu::Counters;
using vgpu::LineCounters;

constexpr size_t kShownLines = 12;

template <class... Values> std::string formatted(const char *form, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, form, values...);
  return text;
}

using Count = unsigned long long;
Count whole(uint64_t value) { return value; }

/// "instructions   8192": a name of a total and its value.
std::string row(const char *name, uint64_t value, const std::string &remark = "") {
  return formatted("  %-24s%14llu%s%s\n", name, whole(value), remark.empty() ? "" : "   ",
                   remark.c_str());
}

std::string totals(const Counters &c) {
  std::string text = "totals\n";
  double guarded =
      c.warpInstructions ? static_cast<double>(c.executedLanes) / c.warpInstructions : 0;
  text += row(
      "warp instructions", c.warpInstructions,
      formatted("%.1f of 32 lanes active, %.1f with a true guard", c.meanActiveLanes(), guarded));
  if (c.mma)
    text += row("tensor operations", c.mma, formatted("%llu multiply-adds", whole(c.macs)));
  if (c.sharedRequests) {
    text += row("shared requests", c.sharedRequests);
    text += row("shared wavefronts", c.sharedWavefronts,
                formatted("%llu without bank conflicts", whole(c.sharedIdeal)));
    text += row("bank conflicts", c.bankConflicts());
  }
  if (c.sharedTouched)
    text += row("shared bytes in use", c.sharedTouched, "the most of any block");
  if (c.globalRequests) {
    text += row("global requests", c.globalRequests);
    text += row("global sectors", c.globalSectors,
                formatted("of 32 bytes, in %llu lines of 128", whole(c.globalLines)));
    text += row("distinct sectors", c.distinctSectorsLoaded + c.distinctSectorsStored,
                formatted("of each launch: %llu loaded, %llu stored",
                          whole(c.distinctSectorsLoaded), whole(c.distinctSectorsStored)));
    text += row("global bytes used", c.globalBytesUsed,
                formatted("%.1f %% of those moved", 100 * c.sectorEfficiency()));
  }
  if (c.asyncBytes)
    text += row("bytes copied async", c.asyncBytes);
  if (c.atomics)
    text += row("atomic operations", c.atomics, "of single lanes");
  if (c.barriers || c.waits)
    text += row("barriers completed", c.barriers,
                formatted("warps stopped to wait %llu times", whole(c.waits)));
  return text;
}

std::string mixTable(const std::vector<LineCounters> &lines) {
  vgpu::InstructionMix mix = vgpu::mixOf(lines);
  uint64_t all = 0;
  std::vector<size_t> order;
  for (size_t kind = 0; kind < mix.size(); ++kind) {
    all += mix[kind];
    if (mix[kind])
      order.push_back(kind);
  }
  std::ranges::stable_sort(order, std::greater{}, [&](size_t kind) { return mix[kind]; });
  std::string text = "warp instructions by class\n";
  for (size_t kind : order)
    text += row(
        vgpu::nameOf(static_cast<vgpu::InstructionClass>(kind)), mix[kind],
        formatted("%5.1f %%", 100.0 * static_cast<double>(mix[kind]) / static_cast<double>(all)));
  return text;
}

std::string sourceOf(const LineCounters &line) {
  if (line.sourceFile.empty())
    return "";
  return std::filesystem::path(line.sourceFile).filename().string() + ":" +
         std::to_string(line.sourceLine);
}

/// "12  ld.shared.b32 %r1, [%r2];   add.cu:4"; of a source line its place alone.
std::string placeOf(const LineCounters &line) {
  constexpr size_t kWidth = 52;
  if (line.ptxLine == 0)
    return "  " + sourceOf(line);
  std::string text = line.ptxText;
  std::ranges::replace(text, '\t', ' ');
  if (text.size() > kWidth)
    text = text.substr(0, kWidth - 3) + "...";
  std::string place = formatted("%6d  ", line.ptxLine) + text;
  if (line.sourceFile.empty())
    return place;
  place.resize(std::max(place.size(), kWidth + 8), ' ');
  return place + "  " + sourceOf(line);
}

/// The lines for which `cost` is largest; nothing where it is zero everywhere.
template <class Cost, class Show>
std::string worstLines(const char *title, std::vector<const LineCounters *> lines, Cost cost,
                       Show show) {
  std::erase_if(lines, [&](const LineCounters *line) { return cost(line->counters) == 0; });
  if (lines.empty())
    return "";
  std::ranges::stable_sort(lines, std::greater{},
                           [&](const LineCounters *line) { return cost(line->counters); });
  std::string text = std::string(title) + "\n";
  for (size_t i = 0; i < std::min(lines.size(), kShownLines); ++i)
    text += show(lines[i]->counters) + placeOf(*lines[i]) + "\n";
  if (lines.size() > kShownLines)
    text += "  and " + std::to_string(lines.size() - kShownLines) + " more lines\n";
  return text;
}

} // namespace

std::string counterTables(const Counters &counters, const std::vector<LineCounters> &lines) {
  if (lines.empty())
    return "no instruction was counted\n";
  std::vector<const LineCounters *> all, sources;
  for (const LineCounters &line : lines)
    all.push_back(&line);
  std::vector<LineCounters> sums = vgpu::bySource(lines);
  for (const LineCounters &source : sums)
    sources.push_back(&source);
  auto executed = [](const Counters &c) { return c.warpInstructions; };
  auto showExecuted = [](const Counters &c) {
    return formatted("%15llu  %5.1f", whole(c.warpInstructions), c.meanActiveLanes());
  };
  std::string text = totals(counters) + mixTable(lines);
  text +=
      worstLines("source lines\n       executed  lanes  source", sources, executed, showExecuted);
  text += worstLines("lines of PTX\n       executed  lanes  PTX line", all, executed, showExecuted);
  text += worstLines(
      "bank conflicts\n      conflicts  wavefronts  of which needed  PTX line", all,
      [](const Counters &c) { return c.bankConflicts(); },
      [](const Counters &c) {
        return formatted("%15llu  %10llu  %15llu", whole(c.bankConflicts()),
                         whole(c.sharedWavefronts), whole(c.sharedIdeal));
      });
  text += worstLines(
      "global bytes moved in vain\n          bytes  sectors used  PTX line", all,
      [](const Counters &c) {
        return c.globalBytesMoved() - std::min(c.globalBytesMoved(), c.globalBytesUsed);
      },
      [](const Counters &c) {
        return formatted("%15llu  %10.1f %%", whole(c.globalBytesMoved() - c.globalBytesUsed),
                         100 * c.sectorEfficiency());
      });
  return text;
}

} // namespace tile::tilec
