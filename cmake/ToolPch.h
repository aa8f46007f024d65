// The headers most sources of tilec need, precompiled once: the command line, JSON and the public headers.
//
// Sources list their includes as if this file did not exist.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <tile/tile.h>
