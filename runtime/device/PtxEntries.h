// The kernels that a PTX text declares, as far as a driver cannot be asked for them without a call that fails.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tile::device {

struct PtxEntry {
  std::string name;
  size_t parameters = 0;
};

/// The kernels of the text in its order. Text that is no PTX has none, or some that the driver does not find either.
std::vector<PtxEntry> ptxEntries(std::string_view ptx);

} // namespace tile::device
