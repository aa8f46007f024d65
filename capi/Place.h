// Where a caller wants a tensor's elements: shape, and strides or none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tile::capi {

using Extents = std::span<const int64_t>;

/// The numbers that the caller has at `values`. Errors: InvalidShape for a rank that no tensor has; InvalidArgument for
/// NULL.
Extents extentsAt(const int64_t *values, int32_t rank, const char *argument);

/// Row-major strides where the caller gave none.
std::vector<int64_t> stridesAt(const int64_t *values, Extents shape);

/// Elements from the first to the end of the last. Errors: InvalidShape for negative extents and sizes beyond 64 bits of
/// bytes; Unsupported for negative strides.
int64_t spanOf(Extents shape, Extents strides, size_t elementBytes);

} // namespace tile::capi
