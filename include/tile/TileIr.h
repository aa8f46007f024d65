// A kernel's tile IR without a device: unit tests of kernels that run anywhere. And examples of
// arguments, where there is no call to take them from.
#pragma once

#include <tile/Kernel.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace tile {

/// The kernel's tile IR as text, traced and verified for these constants without a device: a unit
/// test of the kernel that runs anywhere, as in `tileIr(matmul.consts(128, 128, 64))`. `anyTypes`
/// are the dtypes of its views of `any` dtype. Errors: those of the kernel itself, and too few
/// `anyTypes`.
template <bool HasConsts, class... P>
std::string tileIr(const Launcher<HasConsts, P...> &launcher,
                   const std::vector<DType> &anyTypes = {}) {
  static_assert(HasConsts || Launcher<HasConsts, P...>::kConsts == 0,
                "the kernel has Const parameters: call .consts(...) before tracing it");
  return detail::tileIr(launcher.record(), launcher.constants(), launcher.options().compile,
                        anyTypes);
}

/// A row-major tensor argument without memory, as an example of what a kernel is compiled for.
/// Errors: an extent that is not 0 to 2^31 - 1, a tensor of 2^63 elements or more.
HostArg exampleView(DType dtype, std::vector<int64_t> extents);
/// A scalar argument of that dtype, whose value is open.
HostArg exampleScalar(DType dtype);
/// A scalar argument with a value, for kernels that ask for it (Specialize.h). Error: a number that
/// the dtype cannot hold.
HostArg exampleScalar(DType dtype, Arg value);

/// The same for example arguments, one a parameter without the Const ones:
///   HostArg view = exampleView(f32, {1000});
///   tileIr(filter.consts(256), {view, view, exampleScalar(i32, 3)})
template <bool HasConsts, class... P>
std::string tileIr(const Launcher<HasConsts, P...> &launcher,
                   std::initializer_list<HostArg> arguments) {
  static_assert(HasConsts || Launcher<HasConsts, P...>::kConsts == 0,
                "the kernel has Const parameters: call .consts(...) before tracing it");
  return detail::tileIr(launcher.record(), launcher.constants(), launcher.options().compile,
                        std::span<const HostArg>(arguments.begin(), arguments.size()));
}

} // namespace tile
