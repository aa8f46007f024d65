// Arguments without memory, and the text of a kernel traced for them.
#include "frontend/trace/Kernel.h"

#include <tile/TileIr.h>

#include <llvm/Support/raw_ostream.h>

#include <algorithm>

using namespace tile;
using namespace tile::frontend;

namespace {

template <class T> detail::HostArg numberOf(DType dtype, T number) {
  switch (dtype) {
  case i1:
    return detail::scalarArg<i1>(number);
  case i8:
    return detail::scalarArg<i8>(number);
  case i16:
    return detail::scalarArg<i16>(number);
  case i32:
    return detail::scalarArg<i32>(number);
  case i64:
    return detail::scalarArg<i64>(number);
  case u8:
    return detail::scalarArg<u8>(number);
  case u16:
    return detail::scalarArg<u16>(number);
  case u32:
    return detail::scalarArg<u32>(number);
  case u64:
    return detail::scalarArg<u64>(number);
  case f16:
    return detail::scalarArg<f16>(number);
  case bf16:
    return detail::scalarArg<bf16>(number);
  case f32:
    return detail::scalarArg<f32>(number);
  case f64:
    return detail::scalarArg<f64>(number);
  case e4m3:
    return detail::scalarArg<e4m3>(number);
  case e5m2:
    return detail::scalarArg<e5m2>(number);
  default:
    throw Error(Fault::User, ErrorCode::InvalidArgument, "an example has a definite dtype");
  }
}

std::string textOf(const detail::KernelRecord &record, const Binding &binding) {
  TracedKernel traced = trace(record, binding);
  std::string text;
  llvm::raw_string_ostream stream(text);
  traced.module->print(stream);
  return text;
}

} // namespace

detail::HostArg tile::exampleView(DType dtype, std::vector<int64_t> extents) {
  if (extents.size() > kMaxRank)
    throw Error(Fault::User, ErrorCode::InvalidShape,
                "a view has at most " + std::to_string(kMaxRank) + " dimensions, this one " +
                    std::to_string(extents.size()));
  detail::HostArg arg;
  arg.dtype = dtype;
  arg.rank = static_cast<uint8_t>(extents.size());
  int64_t stride = 1;
  for (size_t dim = extents.size(); dim-- > 0;) {
    arg.extents[dim] = extents[dim];
    arg.strides[dim] = stride;
    if (extents[dim] < 0 || extents[dim] > std::numeric_limits<int32_t>::max() ||
        __builtin_mul_overflow(stride, std::max<int64_t>(extents[dim], 1), &stride))
      throw Error(Fault::User, ErrorCode::InvalidShape,
                  "extent " + std::to_string(extents[dim]) +
                      " of an example: extents are 0 to 2147483647, and a tensor has fewer than "
                      "2^63 elements");
  }
  return arg;
}

detail::HostArg tile::exampleScalar(DType dtype) {
  detail::HostArg arg;
  arg.kind = detail::HostArg::Scalar;
  arg.dtype = dtype;
  arg.hasValue = false;
  return arg;
}

detail::HostArg tile::exampleScalar(DType dtype, Arg value) {
  if (value.isStaged())
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "an example's value is a host number, not a staged value", value.loc());
  if (value.kind() == Arg::Kind::Float && !isFloat(dtype))
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                std::string("a floating-point number is no ") + nameOf(dtype), value.loc());
  if (isFloat(dtype))
    return numberOf(dtype, value.asDouble());
  return value.kind() == Arg::Kind::UInt ? numberOf(dtype, static_cast<uint64_t>(value.asInt()))
                                         : numberOf(dtype, value.asInt());
}

std::string tile::detail::tileIr(const KernelRecord &record, std::span<const int64_t> consts,
                                 const CompileSettings &settings,
                                 const std::vector<DType> &anyTypes) {
  Binding binding = bindingFor(record, consts, settings);
  size_t next = 0;
  for (ArgFacts &facts : binding.args)
    if (facts.dtype == any && next < anyTypes.size())
      facts.dtype = anyTypes[next++];
  return textOf(record, binding);
}

std::string tile::detail::tileIr(const KernelRecord &record, std::span<const int64_t> consts,
                                 const CompileSettings &settings, std::span<const HostArg> args) {
  checkArguments(record, args);
  Binding binding = bindingFor(record, consts, settings);
  for (size_t i = 0; i < args.size(); ++i) {
    binding.args[i].dtype = args[i].dtype;
    if (args[i].kind == HostArg::Tensor)
      binding.args[i].extents.assign(args[i].extents, args[i].extents + args[i].rank);
    else if (args[i].hasValue)
      binding.args[i].bits = args[i].bits;
  }
  return textOf(record, binding);
}
