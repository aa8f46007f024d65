// How far results of approximate functions may be apart: GPUs approximate them, the virtual GPU rounds the
// exact result.
#pragma once

#include <cstdint>
#include <string_view>

namespace tile::hardware {

/// A function of a probe, and the distance that is allowed between its recorded results and those of the virtual GPU.
struct Closeness {
  std::string_view probes; // of this name, or of one that begins with it and goes on with @
  std::string_view format; // of the results: f32, f64, f16, bf16
  double units = 0;        // in the last place
  double absolute = 0;     // or so far apart
};

/// The entry of a probe, null if its results must be equal.
const Closeness *closenessOf(std::string_view probe);

/// Steps from one number of the format to another, through zero; infinity lies behind the last number. Neither
/// is a NaN.
double unitsBetween(uint64_t a, uint64_t b, std::string_view format);

/// Whether results of 16, 32 or 64 bits are close enough; of two f16 in 32 bits each.
bool areClose(const Closeness &closeness, uint64_t a, uint64_t b, unsigned bits);

} // namespace tile::hardware
