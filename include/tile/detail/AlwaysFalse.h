// False for every type: what a static_assert of a template needs to fail only where the template is
// used.
#pragma once

namespace tile::detail {

template <class> inline constexpr bool kAlwaysFalse = false;

} // namespace tile::detail
