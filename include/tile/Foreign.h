// PTX inside a kernel, for instructions that the language lacks. It runs on the virtual GPU as
// everything else does.
#pragma once

#include <tile/Value.h>

#include <initializer_list>
#include <string_view>
#include <vector>

namespace tile {

struct PtxOptions {
  /// It does nothing but compute its results: it may be moved, merged and left out.
  bool pure = true;
  /// Elements a call: 1, 2, 4 or 8. Elements below 32 bits then share 32-bit registers.
  int pack = 1;
};

/// Applies PTX element by element; the operands broadcast to one shape, which is the results'.
/// `$0`, `$1`, ... in the text are the results' registers, then the operands'; `$$` is a dollar.
/// `constraints` names a class for each register, `=` before those of results: `h` 16 bits, `r` 32,
/// `l` 64, `f` f32, `d` f64. With pack p an operand takes p registers, or as many as its p elements
/// fill if they are below 32 bits. Which elements are packed together is open.
///   Value y = inline_ptx("ex2.approx.f32 $0, $1;", "=f,f", {x}, {f32})[0];
///   Value z = inline_ptx("neg.f16x2 $0, $1;", "=r,r", {h}, {f16}, {.pack = 2})[0];
/// Text that is not pure runs as often as the program says, in each thread of a scalar. Errors, at
/// the caller's line: a text that names registers there are not, unpaired braces, constraints that
/// do not fit, i1 operands, pure text without results.
std::vector<Value> inline_ptx(std::string_view text, std::string_view constraints,
                              std::initializer_list<Arg> operands,
                              std::initializer_list<DType> results, PtxOptions options = {},
                              Loc loc = Loc::here());

} // namespace tile
