// A library that cannot be loaded: a static variable throws.
#include <stdexcept>

namespace {
[[maybe_unused]] const int kMade = []() -> int { throw std::runtime_error("no such thing"); }();
} // namespace
