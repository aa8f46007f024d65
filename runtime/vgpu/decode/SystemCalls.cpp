// printf and assert of device code.
//
// Both take addresses in local memory: vprintf(format, arguments) with the arguments laid out like a C structure, and
// __assertfail(message, file, line, function, size of a character). Text goes to the host's stdout, lane by lane.
#include "runtime/vgpu/decode/SystemCalls.h"

#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/Access.h"

#include <algorithm>
#include <cstdio>

namespace tile::vgpu {
namespace {

// A call prints a bounded text: a width or precision of billions would take the host's time and memory.
constexpr size_t kMaxText = 4096, kMaxLine = 1 << 16;
constexpr unsigned kMaxWidth = 500;

// The flags of a conversion with its numbers, which are its width and precision, cut to kMaxWidth.
std::string withBoundedNumbers(const std::string &flags) {
  std::string result;
  for (size_t at = 0; at < flags.size();) {
    if (flags[at] < '1' || flags[at] > '9') {
      result += flags[at++];
      continue;
    }
    unsigned number = 0;
    for (; at < flags.size() && flags[at] >= '0' && flags[at] <= '9'; ++at)
      number = std::min(number * 10 + static_cast<unsigned>(flags[at] - '0'), kMaxWidth);
    result += std::to_string(number);
  }
  return result;
}

// Reads `bytes` at a generic address of one lane; stops the block if it is not mapped.
uint64_t readLane(Warp &warp, const Op &op, unsigned lane, uint64_t address, uint32_t bytes,
                  Space space) {
  Access all;
  all.space = space;
  all.mask = 1u << lane;
  all.bytes = bytes;
  all.address[lane] = address;
  uint64_t value = 0;
  forSpaces(warp, op, all, [&](Access &access) { std::memcpy(&value, access.host[lane], bytes); });
  return value;
}

std::string readText(Warp &warp, const Op &op, unsigned lane, uint64_t address) {
  std::string text;
  while (text.size() < kMaxText) {
    char c = static_cast<char>(readLane(warp, op, lane, address + text.size(), 1, Space::Generic));
    if (!c)
      break;
    text += c;
  }
  return text;
}

// The conversions of one format string, with their arguments read from memory.
class Formatter {
public:
  Formatter(Warp &warp, const Op &op, unsigned lane, uint64_t arguments)
      : warp_(warp), op_(op), lane_(lane), arguments_(arguments) {}

  std::string format(const std::string &text) {
    std::string result;
    for (size_t at = 0; at < text.size() && result.size() < kMaxLine;) {
      if (text[at] != '%') {
        result += text[at++];
        continue;
      }
      size_t end = text.find_first_not_of("-+ #0123456789.", at + 1);
      bool isLong = false;
      while (end < text.size() && (text[end] == 'l' || text[end] == 'h' || text[end] == 'z'))
        isLong |= text[end++] != 'h';
      if (end >= text.size())
        break;
      // The length is dropped and put back as the host spells 64 bits, so user text never reaches printf unchecked.
      std::string flags =
          text.substr(at + 1, text.find_first_not_of("-+ #0123456789.", at + 1) - at - 1);
      result += convert(withBoundedNumbers(flags), text[end], isLong);
      at = end + 1;
    }
    return result;
  }

private:
  uint64_t argument(uint32_t bytes) {
    offset_ = (offset_ + bytes - 1) / bytes * bytes;
    uint64_t value = readLane(warp_, op_, lane_, arguments_ + offset_, bytes, Space::Generic);
    offset_ += bytes;
    return value;
  }

  template <class T>
  static std::string print(const std::string &flags, const char *conversion, T value) {
    char text[kMaxWidth + 512]; // the digits of any double, and its precision
    std::snprintf(text, sizeof text, ("%" + flags + conversion).c_str(), value);
    return text;
  }

  std::string convert(const std::string &flags, char kind, bool isLong) {
    switch (kind) {
    case '%':
      return "%";
    case 'd':
    case 'i':
      return print(flags, "lld",
                   isLong ? static_cast<long long>(argument(8))
                          : static_cast<long long>(static_cast<int32_t>(argument(4))));
    case 'u':
      return print(flags, "llu", static_cast<unsigned long long>(argument(isLong ? 8 : 4)));
    case 'x':
      return print(flags, "llx", static_cast<unsigned long long>(argument(isLong ? 8 : 4)));
    case 'c':
      return std::string(1, static_cast<char>(argument(4)));
    case 'p':
      return print(flags, "#llx", static_cast<unsigned long long>(argument(8)));
    case 's':
      return readText(warp_, op_, lane_, argument(8));
    case 'e':
      return print(flags, "e", std::bit_cast<double>(argument(8)));
    case 'g':
      return print(flags, "g", std::bit_cast<double>(argument(8)));
    case 'f':
      return print(flags, "f", std::bit_cast<double>(argument(8)));
    default:
      return std::string("%") + kind;
    }
  }

  Warp &warp_;
  const Op &op_;
  unsigned lane_;
  uint64_t arguments_, offset_ = 0;
};

// Op::a, Op::b, Op::imm: the places of the arguments in local memory.
void printText(Warp &warp, const Op &op) {
  forLanes(warp.mask, [&](unsigned lane) {
    std::string text = readText(warp, op, lane, readLane(warp, op, lane, op.a, 8, Space::Local));
    Formatter formatter(warp, op, lane, readLane(warp, op, lane, op.b, 8, Space::Local));
    std::string line = formatter.format(text);
    std::fwrite(line.data(), 1, line.size(), stdout);
  });
}

void failAssert(Warp &warp, const Op &op) {
  auto lane = static_cast<unsigned>(std::countr_zero(warp.mask));
  auto text = [&](uint32_t place) {
    return readText(warp, op, lane, readLane(warp, op, lane, place, 8, Space::Local));
  };
  warp.stop(
      op, FindingKind::Assert, lane,
      text(op.b) + ":" +
          std::to_string(readLane(warp, op, lane, static_cast<uint64_t>(op.imm), 4, Space::Local)) +
          ": assertion '" + text(op.a) + "' failed");
}

} // namespace

bool emitSystemCall(Decoder &decoder, std::string_view name, const std::vector<Operand> &args) {
  if (name == "vprintf" && args.size() == 2) {
    decoder.program().prints = true;
    decoder.emit(printText, {}, {}, 0, decoder.argumentOffset(args[0]),
                 decoder.argumentOffset(args[1]), kOwnValidity);
    return true;
  }
  if (name == "__assertfail" && args.size() == 5) {
    decoder.emit(failAssert, {}, {}, decoder.argumentOffset(args[2]),
                 decoder.argumentOffset(args[0]), decoder.argumentOffset(args[1]), kOwnValidity);
    return true;
  }
  return false;
}

} // namespace tile::vgpu
