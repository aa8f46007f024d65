// Which device TILE_DEVICE means.
#include "runtime/device/Device.h"

#include <charconv>
#include <cstdlib>

namespace tile::device {
namespace {

std::shared_ptr<Device> openAuto() {
  try {
    return openCuda(0);
  } catch (const Error &error) {
    if (error.code() != ErrorCode::NoDevice)
      throw;
    return openVirtual();
  }
}

} // namespace

std::shared_ptr<Device> openDefault() {
  const char *variable = std::getenv("TILE_DEVICE");
  std::string_view text = variable ? variable : "auto", kind = text.substr(0, text.find(':'));
  std::string_view rest =
      kind.size() < text.size() ? text.substr(kind.size() + 1) : std::string_view();
  bool hasRest = kind.size() < text.size();
  if ((kind == "auto" || kind.empty()) && !hasRest)
    return openAuto();
  if (kind == "virtual") {
    VirtualOptions options;
    if (hasRest)
      options.target = rest;
    return openVirtual(options);
  }
  int ordinal = 0;
  bool isNumber =
      !hasRest || (std::from_chars(rest.data(), rest.data() + rest.size(), ordinal).ptr ==
                       rest.data() + rest.size() &&
                   !rest.empty());
  if (kind == "cuda" && isNumber)
    return openCuda(ordinal);
  throw Error(Fault::User, ErrorCode::InvalidArgument,
              "TILE_DEVICE='" + std::string(text) +
                  "' is not understood: use cuda, cuda:N, virtual, virtual:sm_90a or auto");
}

} // namespace tile::device
