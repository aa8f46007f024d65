// Control flow: staged loops and branches. A plain C++ `for` or `if` runs while tracing (it
// unrolls, it specialises). The functions here become loops and branches of the kernel; variables
// that these change are declared with `var(...)`.
#pragma once

#include <tile/Value.h>

namespace tile {

/// A staged loop for use in a range-for: `for (auto k : range(n)) ...`. The body is traced once and
/// `k` is the induction variable. The body must run to its end: a native `break` or `return` in it
/// is an error at the next operation.
class Range {
public:
  Range(Arg lo, Arg hi, Arg step, Loc loc) : lo_(lo), hi_(hi), step_(step), loc_(loc) {}
  Range(const Range &other)
      : lo_(other.lo_), hi_(other.hi_), step_(other.step_), loc_(other.loc_),
        stages_(other.stages_), unroll_(other.unroll_), licm_(other.licm_),
        flatten_(other.flatten_), rotate_(other.rotate_), specialize_(other.specialize_),
        pingPong_(other.pingPong_) {}
  Range &operator=(const Range &) = delete;
  /// Records an error if the body was left early; never throws.
  ~Range();

  /// Software pipelining: loads whose tiles feed dots of the loop's body are issued `count` - 1
  /// iterations ahead, into a ring of `count` stages in shared memory. 1 issues none ahead; 3 is
  /// the default, unless `hint::stages` sets another. A load is not pipelined if its address
  /// depends on a dot of the iteration, or if the loop may write what it reads. The loop has fewer
  /// stages if shared memory has no room for all of them. `tilec explain` reports how many and why,
  /// and a remark does if the loop has fewer than it asked for. Error: count below 1.
  [[nodiscard]] Range stages(int count) const;
  /// Unrolls the loop by `count`. Error: count below 1.
  [[nodiscard]] Range unroll(int count) const;
  /// Keeps loop-invariant code inside the loop, which saves registers across it.
  [[nodiscard]] Range no_licm() const;
  /// Merges this loop and the one in its body into one loop over all pairs of indices, so that
  /// loads are issued ahead across iterations of this loop: with `persistent`, while a tile is
  /// stored. If this loop carries no variables, scalars may precede the inner loop and anything may
  /// follow it. A nest of another form, or one whose inner bounds depend on the outer index, stays
  /// as it is, with a remark.
  [[nodiscard]] Range flatten() const;
  /// Skews the loop (intra-warpgroup overlap): dots that read a tile computed in the loop run one
  /// iteration later than the rest. Attention multiplies weights with values while it computes the
  /// next scores and their softmax. Dots of both kinds are issued together; on sm_90a an ordered
  /// barrier makes warpgroups alternate in issuing them. The loop needs registers for what crosses
  /// iterations, and 3 stages; 2 suffice where TMA loads everything and no tile feeds dots of both
  /// kinds. A loop stays as it is, with a remark, if no dot that depends on loads alone precedes
  /// those others, if it stores results of the latter, or if it has too few stages.
  [[nodiscard]] Range overlap_dots() const;
  /// The old name of overlap_dots, which the next version will not have.
  [[deprecated("its name is overlap_dots")]] [[nodiscard]] Range rotate() const {
    return overlap_dots();
  }
  /// Gives the loop a producer warp, on sm_90a: it does nothing but issue the loop's loads by TMA,
  /// each as soon as the consumer warps have released the stage. The block gets four more warps,
  /// which give up most of their registers; `warps` counts the consumers. Attention gains by it, as
  /// do dots of 8-bit floats with f32 accumulators; others do not. A loop stays as it is, with a
  /// remark, if other threads also load or read some of the tiles, or if the kernel limits
  /// registers or synchronizes all threads.
  [[nodiscard]] Range warp_specialize() const;
  /// Ping-pong, for a loop with `.flatten()` over independent iterations: two teams, one warpgroup
  /// each, alternate iterations, and one multiplies while the other stores, so that the tensor
  /// cores have work. The inner loop has `.warp_specialize()`; its producer warp loads for both
  /// teams, in the order of the loop. The block gets four more warps for the second team; `warps`
  /// counts those of one team, four. Tiles with a short K loop gain by it. No two iterations may
  /// store to the same address, and none may load what another stores. The nest stays as it is,
  /// with a remark, if it is not flattened or has no producer warp, or if the kernel has teams
  /// already or other than four warps.
  [[nodiscard]] Range ping_pong() const;

  struct End {};
  class Iterator {
  public:
    explicit Iterator(Range *range) : range_(range) {}
    Value operator*() const;
    void operator++() { range_->close(); }
    bool operator!=(End) const { return range_->open_; }

  private:
    Range *range_;
  };
  Iterator begin();
  End end() const { return {}; }

private:
  void close();

  Arg lo_, hi_, step_;
  Loc loc_;
  int stages_ = 0, unroll_ = 0;
  bool licm_ = true, flatten_ = false, rotate_ = false, specialize_ = false, pingPong_ = false;
  bool open_ = false;
  int exceptions_ = 0;
  uint64_t trace_ = 0;
  uint32_t scope_ = 0;
  uint32_t bounds_[3] = {}; ///< lo, hi, step of the loop as recorded
  uint32_t index_ = 0;
};

/// A loop over lo, lo + step, ... below hi (above, for a negative constant step). Bounds are i32 or
/// i64 scalars or host integers; a run-time step must be positive. Errors: tile or float bounds, a
/// constant step of 0.
Range range(Arg lo, Arg hi, Arg step, Loc loc = Loc::here());
Range range(Arg lo, Arg hi, Loc loc = Loc::here());
/// A loop over 0, 1, ... below hi.
Range range(Arg hi, Loc loc = Loc::here());

/// What `if_` returns: `if_(c, [&] {...}).else_([&] {...});` in one statement.
class If {
public:
  /// Traces the other branch. Error: something was traced since the `if_`.
  void else_(detail::FunctionRef<void()> body);

private:
  friend If if_(Arg, detail::FunctionRef<void()>, Loc);
  If(uint64_t trace, uint32_t node, uint32_t end) : trace_(trace), node_(node), end_(end) {}
  uint64_t trace_;
  uint32_t node_, end_; ///< the branch, and how much had been traced when it was complete
};

/// A staged branch on an i1 scalar. Errors: a tile as condition (use select), a condition that is
/// not i1.
If if_(Arg condition, detail::FunctionRef<void()> body, Loc loc = Loc::here());

/// Predicates the rest of its region: an early return from a kernel, the `continue` of a loop's
/// body. In a helper function that is the region of the caller.
///   guard(row < x.dim(0));
/// What follows executes only if the condition, an i1 scalar, holds. Errors: as for if_; a guard in
/// the condition of a while_.
void guard(Arg condition, Loc loc = Loc::here());

/// Repeats `body` while `condition()`, an i1 scalar evaluated before each iteration, is true. A
/// lambda that returns a Var declares the type Value, since a Var is not copied:
/// `while_([&]() -> Value { return go; }, [&] { ... });`
void while_(detail::FunctionRef<Value()> condition, detail::FunctionRef<void()> body,
            Loc loc = Loc::here());

} // namespace tile
