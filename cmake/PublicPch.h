// The headers most sources of ops and examples need, precompiled once: the public ones.
//
// Sources list their includes as if this file did not exist.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tile/tile.h>
