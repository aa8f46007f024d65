#include "runtime/launch/TensorMaps.h"

#include "runtime/device/TensorMap.h"

#include <tile/Error.h>

#include <algorithm>

namespace tile::launch {
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
  case Element::Rounded:
    return TensorMapType::TF32;
  case Element::Double:
    break;
  }
  return TensorMapType::U64;
}

// A stride that every rule allows, of a dimension that nobody steps along.
constexpr uint64_t kAnyStride = 16;

// A tensor without elements becomes one that has a single element, which is zero.
TensorMapParams paramsOf(const codegen::TensorMapRecipe &recipe, const detail::HostArg &arg,
                         detail::FunctionRef<device::DevicePtr()> zeros) {
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

const device::TensorMap &TensorMaps::encode(size_t index, const codegen::TensorMapRecipe &recipe,
                                            const detail::HostArg &arg, const MapContext &context) {
  Known &known = byRecipe_[index];
  auto address = reinterpret_cast<uint64_t>(arg.pointer);
  if (known.map && known.address == address)
    return *known.map;
  auto found = known.byAddress.find(address);
  if (found == known.byAddress.end())
    found = made(known.byAddress, recipe, arg, context);
  known.address = address, known.map = &found->second;
  return found->second;
}

TensorMaps::ByAddress::iterator TensorMaps::made(ByAddress &maps,
                                                 const codegen::TensorMapRecipe &recipe,
                                                 const detail::HostArg &arg,
                                                 const MapContext &context) {
  constexpr size_t kMostAddresses = 256;
  TensorMapParams params = paramsOf(recipe, arg, context.zeros);
  if (std::string fault = device::tensorMapFault(params); !fault.empty())
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "argument " + std::to_string(recipe.arg + 1) + " of kernel '" + context.kernel +
                    "' cannot be read by TMA: " + fault);
  device::TensorMap map = context.device.encodeTensorMap(params);
  if (maps.size() >= kMostAddresses)
    maps.clear();
  return maps.emplace(reinterpret_cast<uint64_t>(arg.pointer), map).first;
}

} // namespace tile::launch
