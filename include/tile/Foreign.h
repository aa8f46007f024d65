// PTX and CUDA C++ inside a kernel, for what the language lacks. Both run on the virtual GPU, too.
#pragma once

#include <tile/Value.h>

#include <initializer_list>
#include <string_view>
#include <vector>

namespace tile {

struct PtxOptions {
  /// Whether it only computes its results: then it may be moved, merged and left out.
  bool pure = true;
  /// Elements per call: 1, 2, 4 or 8. Elements below 32 bits then share 32-bit registers.
  int pack = 1;
};

/// Applies PTX element by element; the operands broadcast to one shape, which is the results'.
/// `$0`, `$1`, ... in the text are the results' registers, then the operands'; `$$` is a dollar.
/// `constraints` names a class per register, with `=` before those of results: `h` 16 bits, `r` 32,
/// `l` 64, `f` f32, `d` f64. With pack p an operand takes p registers, or as many as its p elements
/// fill if they are below 32 bits. Which elements are packed together is open.
///   Value y = inline_ptx("ex2.approx.f32 $0, $1;", "=f,f", {x}, {f32})[0];
///   Value z = inline_ptx("neg.f16x2 $0, $1;", "=r,r", {h}, {f16}, {.pack = 2})[0];
/// Text that is not pure runs exactly as often as the program executes it, for scalars in each
/// thread. Errors, at the caller's line: a text that names unknown registers, unpaired braces,
/// constraints that do not fit, i1 operands, pure text without results.
std::vector<Value> inline_ptx(std::string_view text, std::string_view constraints,
                              std::initializer_list<Arg> operands,
                              std::initializer_list<DType> results, PtxOptions options = {},
                              Loc loc = Loc::here());

struct CudaOptions {
  /// Whether it only computes its result: then calls may be moved, merged and left out.
  bool pure = true;
};

/// Calls a CUDA C++ device function per element; the operands broadcast to one shape, which is
/// the result's. `source` is the text that defines it, for the compiler NVRTC; `entry` its name, or
/// an expression such as `f<3>`. The function must take and return exactly these types: f32
/// `float`, f64 `double`, f16 `__half`, bf16 `__nv_bfloat16`, i1 `bool`, i8 `signed char`, i16
/// `short`, i32 `int`, i64 `long long`, and `unsigned` ones. CUDA's own headers can be included.
///   const char *cube = "__device__ float cube(float x) { return x * x * x; }";
///   Value y = inline_cuda(cube, "cube", {x}, f32);
/// It compiles for the kernel's target, in tens of milliseconds. The function is called, not
/// inlined: use it outside of the innermost loops. Errors, at the caller's line: the compiler's
/// first complaint with the line of the source; a function of another type; a header that is not
/// found, or one named by an absolute path or `..`; source of more than 1 MB; no NVRTC on this
/// machine. The source is as trusted as the program itself.
Value inline_cuda(std::string_view source, std::string_view entry,
                  std::initializer_list<Arg> operands, DType result, CudaOptions options = {},
                  Loc loc = Loc::here());

} // namespace tile
