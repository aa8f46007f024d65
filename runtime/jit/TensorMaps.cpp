#include "runtime/jit/TensorMaps.h"

#include "runtime/device/TensorMap.h"

#include <tile/Error.h>

#include <algorithm>

namespace tile::jit {
namespace {

using device::TensorMapParams;
using device::TensorMapSwizzle;
using device::TensorMapType;

TensorMapSwizzle swizzleOf(int32_t bytes) {
  switch (bytes) {
  case 32:
    return TensorMapSwizzle::Bytes32;
  case 64:
    return TensorMapSwizzle::Bytes64;
  case 128:
    return TensorMapSwizzle::Bytes128;
  default:
    return TensorMapSwizzle::None;
  }
}

// Elements of one byte have no arithmetic for the engine: it moves them as they are.
TensorMapType typeOf(codegen::TensorMapRecipe::Element element) {
  using Element = codegen::TensorMapRecipe::Element;
  switch (element) {
  case Element::Byte:
    return TensorMapType::U8;
  case Element::Half:
    return TensorMapType::U16;
  case Element::Word:
    return TensorMapType::U32;
  case Element::Double:
    break;
  }
  return TensorMapType::U64;
}

// A stride that every rule allows, of a dimension that nobody steps along.
constexpr uint64_t kAnyStride = 16;

// A tensor without elements becomes one that has a single element, which is zero.
TensorMapParams paramsOf(const codegen::TensorMapRecipe &recipe, const detail::HostArg &arg,
                         llvm::function_ref<device::DevicePtr()> zeros) {
  TensorMapParams params;
  params.type = typeOf(recipe.element);
  params.rank = static_cast<uint32_t>(recipe.dims.size());
  params.base = reinterpret_cast<uint64_t>(arg.pointer);
  params.swizzle = swizzleOf(recipe.swizzle);
  params.l2Promotion = device::TensorMapL2Promotion::Bytes256;
  bool isEmpty = false;
  for (size_t i = 0; i < recipe.dims.size(); ++i) {
    auto dim = static_cast<size_t>(recipe.dims[i]);
    uint64_t stride = static_cast<uint64_t>(arg.strides[dim]) * device::sizeOf(params.type);
    params.box[i] = static_cast<uint32_t>(recipe.box[i]);
    params.dims[i] = static_cast<uint64_t>(arg.extents[dim]);
    if (i > 0)
      params.strides[i - 1] = arg.extents[dim] > 1 ? stride : kAnyStride;
    isEmpty |= arg.extents[dim] == 0;
  }
  if (!isEmpty)
    return params;
  params.base = zeros();
  params.dims.fill(1);
  params.strides.fill(kAnyStride);
  return params;
}

} // namespace

std::span<const device::TensorMap>
TensorMaps::encode(std::span<const codegen::TensorMapRecipe> recipes,
                   std::span<const detail::HostArg> args, const MapContext &context) {
  bool isKnown = !maps_.empty();
  maps_.resize(recipes.size()), addresses_.resize(recipes.size());
  for (size_t i = 0; i < recipes.size(); ++i) {
    const detail::HostArg &arg = args[static_cast<size_t>(recipes[i].arg)];
    if (isKnown && addresses_[i] == arg.pointer)
      continue;
    TensorMapParams params = paramsOf(recipes[i], arg, context.zeros);
    if (std::string fault = device::tensorMapFault(params); !fault.empty()) {
      maps_.clear();
      throw Error(Fault::User, ErrorCode::InvalidArgument,
                  "argument " + std::to_string(recipes[i].arg + 1) + " of kernel '" +
                      context.kernel + "' cannot be read by the copy engine: " + fault);
    }
    maps_[i] = context.device.encodeTensorMap(params);
    addresses_[i] = arg.pointer;
  }
  return maps_;
}

} // namespace tile::jit
