// The headers of the standard library that most sources of the virtual GPU need, precompiled once for its flags. Its own headers
// are not among them: one that changes would compile every source again.
//
// Sources list their includes as if this file did not exist.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
