// What bench() found, in words.
#include <tile/Bench.h>

#include <charconv>
#include <ostream>

namespace tile {
namespace {

/// Four digits, whatever the locale.
std::string digitsOf(double number) {
  char text[32];
  auto [end, fault] =
      std::to_chars(text, text + sizeof text, number, std::chars_format::general, 4);
  return {text, end};
}

std::string timeText(const BenchResult &result) {
  struct Scale {
    const char *name;
    double perMillisecond;
  };
  Scale scale = result.median >= 1000 ? Scale{"s", 1e-3}
                : result.median >= 1  ? Scale{"ms", 1}
                                      : Scale{"us", 1e3};
  auto text = [&](double milliseconds) { return digitsOf(milliseconds * scale.perMillisecond); };
  constexpr size_t kFewestForInterval = 6;
  std::string line = text(result.median) + " " + scale.name + " (";
  line += result.samples.size() < kFewestForInterval ? "all samples: " : "95 %: ";
  line += text(result.lower) + " to " + text(result.upper) + ", " +
          std::to_string(result.samples.size()) +
          (result.samples.size() == 1 ? " sample" : " samples");
  if (result.callsPerSample > 1)
    line += " of " + std::to_string(result.callsPerSample) + " calls";
  if (result.clockMHz)
    line += ", " + std::to_string(result.clockMHz) + " MHz";
  if (result.isHostBound)
    line += "; the device waited for the host";
  return line + (result.doubt.empty() ? ")" : "; doubtful: " + result.doubt + ")");
}

std::string bytesText(uint64_t bytes) {
  if (bytes < 10'000)
    return std::to_string(bytes) + " bytes";
  const char *units[] = {"kB", "MB", "GB", "TB"};
  double number = static_cast<double>(bytes) / 1e3;
  size_t unit = 0;
  for (; number >= 1000 && unit + 1 < std::size(units); ++unit)
    number /= 1e3;
  return digitsOf(number) + " " + units[unit];
}

std::string countText(const WorkCounts &counts) {
  std::string line = std::to_string(counts.instructions) + " warp instructions in " +
                     std::to_string(counts.launches) +
                     (counts.launches == 1 ? " launch, " : " launches, ");
  if (counts.multiplyAdds)
    line += std::to_string(counts.multiplyAdds) + " multiply-adds of tensor cores, ";
  line += bytesText(counts.accessedBytes) + " loaded and stored, ";
  if (counts.copiedBytes)
    line += bytesText(counts.copiedBytes) + " copied, ";
  return line + bytesText(counts.distinctBytes) + " of distinct memory, " +
         std::to_string(counts.bankConflicts) + " bank conflicts (virtual GPU: counted, not timed)";
}

} // namespace

double BenchResult::milliseconds(Loc where) const {
  if (unit != Unit::Milliseconds)
    throw Error(Fault::User, ErrorCode::Unsupported,
                "the virtual GPU has no time: this result has counts of instructions and bytes",
                where);
  return median;
}

std::string BenchResult::str() const {
  return unit == Unit::Milliseconds ? timeText(*this) : countText(counts.value_or(WorkCounts()));
}

std::ostream &operator<<(std::ostream &out, const BenchResult &result) {
  return out << result.str();
}

} // namespace tile
