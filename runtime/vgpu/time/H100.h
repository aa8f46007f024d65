// The text of h100-sxm.cal, which the build puts into the library.
#pragma once

#include <string_view>

namespace tile::vgpu {

extern const std::string_view kH100Calibration;

} // namespace tile::vgpu
