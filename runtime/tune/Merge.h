// Results of several who tuned become one database. Whichever comes first, and however often one comes, it is the same: what is
// kept of two results for one key is the better known of them by an order that ranks any two, and what was chosen by somebody
// stays chosen.
#pragma once

#include "runtime/tune/Trial.h"

#include <span>

namespace tile::tune {

/// One of two results of the same settings, problem, device, version and toolchain. One that was wrong or crashed counts before one
/// that was right; of times that with most samples. It is chosen if one of them is.
Trial merged(const Trial &a, const Trial &b);

/// Of those that somebody has chosen for one problem the one to take: the fastest, or of those whose intervals overlap with its own
/// the one with most samples. An index; `chosen` is not empty and holds times alone.
size_t bestKnown(std::span<const Trial *const> chosen);

} // namespace tile::tune
