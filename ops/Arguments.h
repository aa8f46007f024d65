// The rules that ops check before they launch, one function a rule. Each throws a tile::Error at the
// caller's line that names the op, the argument, the values and the remedy.
#pragma once

#include <tile/Kernel.h>
#include <tile/Number.h>
#include <tile/ops/Operand.h>

#include <initializer_list>
#include <string_view>

namespace tile::ops {

/// An argument under the name the op's manual gives it.
struct Named {
  const char *name;
  const Operand &operand;
};

/// The name of an element of a list of tensors in messages, "tensors[3]". It allocates nothing.
class NameInList {
public:
  NameInList(std::string_view list, size_t index);
  const char *text() const { return text_; }

private:
  char text_[40] = {};
};

class Arguments {
public:
  Arguments(const char *op, const CallSite &site) : op_(op), site_(site) {}

  /// The call that is checked.
  const CallSite &site() const { return site_; }

  /// There is a tensor. All rules of one argument ask this first, unless they speak of those that are given.
  void given(Named arg) const {
    if (!arg.operand)
      refuseAbsent(arg);
  }
  void dtypeIn(Named arg, std::initializer_list<DType> allowed) const;
  void sameDtype(Named first, Named second) const;
  void rankIs(Named arg, int rank) const;
  void rankAtLeast(Named arg, int rank) const;
  void rankAtMost(Named arg, int rank) const;
  void sameExtents(Named first, Named second) const;
  /// NumPy's rule, in one direction.
  void broadcastsTo(Named input, Named output) const;
  /// extent(firstDim) of one is extent(secondDim) of the other; negative ones count from the last.
  void equalExtent(Named first, int firstDim, Named second, int secondDim) const;
  /// Rank 1 or more.
  void hasRows(Named arg) const;
  /// `dim` counted from the first dimension; negative ones count from the last.
  int dimension(Named arg, int dim) const;
  /// Exactly one element; any rank.
  void oneElement(Named arg) const;
  /// One element a row of x: x's extents without the last.
  void onePerRow(Named arg, Named x) const;
  /// x's extents, and then one dimension more.
  void oneDimensionMore(Named arg, Named x) const;
  /// x's extents but for the last.
  void sameRows(Named arg, Named x) const;
  /// Rank 1, with one element a column of x.
  void onePerColumn(Named arg, Named x) const;
  /// extent(firstDim) of one is a multiple of extent(secondDim) of the other; of 0 only 0 is.
  void multipleOf(Named first, int firstDim, Named second, int secondDim) const;
  /// least <= extent(dim) <= most.
  void extentWithin(Named arg, int dim, int64_t least, int64_t most) const;
  /// Those that are given lie on the stream's device, as far as theirs is known, run forwards and, unless they are empty, are
  /// at an address that fits their dtype and within 64 bits.
  void accessible(std::initializer_list<Named> args) const;
  /// No element of `output` has two indices, as with stride 0.
  void elementsDistinct(Named output) const;
  /// An integer that an element of `arg`, which holds integers, can hold.
  void fits(const char *what, const Number &value, Named arg) const;
  /// No byte of `output` belongs to `input`; they may lie interlaced, as columns of one matrix or batches of one arena.
  void disjoint(Named output, Named input) const;
  /// As `disjoint`, but both may be one tensor with equal strides.
  void disjointOrSame(Named output, Named input) const;
  /// Each output that is given has distinct elements, and shares none with the inputs and the other outputs.
  void outputsApart(std::initializer_list<Named> outputs,
                    std::initializer_list<Named> inputs) const;

  /// Each tensor of a list has distinct elements, and shares none with the others.
  void listApart(std::string_view list, std::span<const Operand> tensors) const;

  /// Throws: the two do not broadcast to common extents.
  [[noreturn]] void refuseBroadcast(Named first, Named second) const;
  [[noreturn]] void fail(ErrorCode code, const std::string &message) const;

private:
  [[noreturn]] void refuseAbsent(Named arg) const;
  uint64_t streamDevice() const;
  void accessible(Named arg, uint64_t device) const;

  const char *op_;
  CallSite site_;
};

/// Each is of f16, bf16, f32 or f64.
void checkFloats(const Arguments &arguments, std::initializer_list<Named> args);

} // namespace tile::ops
