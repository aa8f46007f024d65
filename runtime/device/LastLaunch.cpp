#include "runtime/device/LastLaunch.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tile::device {

static uint64_t shortWordOf(const Arg &arg) {
  uint64_t bits = 0;
  std::memcpy(&bits, arg.data, arg.size);
  return bits;
}

// Most are words of 8 or 4 bytes, each of which is one load.
static uint64_t wordOf(const Arg &arg) {
  uint64_t word = 0;
  uint32_t low;
  if (!arg.data)
    return 0;
  if (arg.size == sizeof low) {
    std::memcpy(&low, arg.data, sizeof low);
    return low;
  }
  if (arg.size < sizeof word)
    return shortWordOf(arg);
  std::memcpy(&word, arg.data, sizeof word);
  return word;
}

void LastLaunch::note(std::shared_ptr<const std::string> kernel, const LaunchConfig &config,
                      std::span<const Arg> args) {
  if (kernel_ != kernel)
    kernel_ = std::move(kernel);
  if (fileCopied_ != config.where.file)
    file_ = fileCopied_ = config.where.file;
  line_ = config.where.line;
  grid_ = config.grid;
  threads_ = config.block.count();
  argumentCount_ = args.size();
  for (Word *next = arguments_.data();
       const Arg &arg : args.first(std::min(args.size(), kMostArguments)))
    *next++ = {wordOf(arg), arg.size};
}

void LastLaunch::note(std::shared_ptr<const std::string> name) {
  kernel_ = std::move(name);
  line_ = 0, threads_ = 0;
}

static std::string textOf(uint64_t bits, size_t size) {
  constexpr uint64_t kMostDecimal = 1 << 24; // beyond are addresses, and floats
  if (size > sizeof bits)
    return std::to_string(size) + " bytes";
  if (bits < kMostDecimal)
    return std::to_string(bits);
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  return text;
}

std::string LastLaunch::describe() const {
  if (!kernel_)
    return {};
  std::string text = *kernel_;
  if (line_)
    text += " at " + file_ + ":" + std::to_string(line_);
  if (!threads_)
    return text;
  text += ", grid " + std::to_string(grid_.x) + "x" + std::to_string(grid_.y) + "x" +
          std::to_string(grid_.z) + " of " + std::to_string(threads_) + " threads";
  for (size_t i = 0; i < std::min(argumentCount_, kMostArguments); ++i)
    text += (i ? ", " : ", arguments ") + textOf(arguments_[i].bits, arguments_[i].size);
  if (argumentCount_ > kMostArguments)
    text += " and " + std::to_string(argumentCount_ - kMostArguments) + " more";
  return text;
}

} // namespace tile::device
