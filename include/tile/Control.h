// Control flow: staged loops and branches. A plain C++ `for` or `if` runs while tracing (it
// unrolls, it specialises); the functions here become loops and branches of the kernel. State they
// change is declared with `var(...)`.
#pragma once

#include <tile/Value.h>

namespace tile {

/// A staged loop for use in a range-for: `for (auto k : range(n)) ...`. The body is traced once;
/// `k` is its index. Leave it only by its end: a native `break` or `return` in the body is an error
/// at the next operation.
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

  /// The same loop with loads that run `count` - 1 iterations ahead: those whose tiles products of
  /// the loop's body depend on, through shared memory of `count` slots. 1: no load runs ahead.
  /// Unless it is said, here or by `hint::stages`, 3. A load stays where it is if its place follows
  /// from a product of the iteration, or if the loop may write what it reads; with shared memory
  /// for fewer slots the loop has fewer stages: `tilec explain` says which and why, a remark if the
  /// loop has less than it asked for. Error: count below 1.
  [[nodiscard]] Range stages(int count) const;
  /// The same loop with `count` iterations a round. Error: count below 1.
  [[nodiscard]] Range unroll(int count) const;
  /// The same loop with everything left inside that an iteration computes, even what is the same in
  /// all of them: saves registers across the loop.
  [[nodiscard]] Range no_licm() const;
  /// This loop and the one in its body become one loop over all pairs of indices, whose loads run
  /// on where one iteration of this loop ends and the next begins: while a tile is stored, with
  /// `persistent`. Beside the inner loop there may be scalars before it and anything behind it, if
  /// this loop carries no variables. A nest of another form, or one whose inner bounds depend on
  /// the outer index, stays, with a remark.
  [[nodiscard]] Range flatten() const;
  /// The same loop with the products that take what an iteration computes an iteration behind the
  /// rest: attention multiplies weights with values while the next scores and their softmax are
  /// computed. Products of both kinds begin together; on sm_90a groups of four warps take turns at
  /// beginning them. Takes registers for what is handed over, and 3 stages; 2 will do where the
  /// copy engine brings all that is loaded and no tile is for products of both kinds. A loop
  /// without products that depend on loads alone before such others, one that stores what follows
  /// from the latter, or one of too few stages, stays, with a remark.
  [[nodiscard]] Range overlap_dots() const;
  /// The old name of overlap_dots, which the next version will not have.
  [[deprecated("its name is overlap_dots")]] [[nodiscard]] Range rotate() const {
    return overlap_dots();
  }
  /// The same loop with its loads issued by a warp that does nothing else, on sm_90a: the copy
  /// engine brings them as soon as the warps that compute are done with what was there. The block
  /// gets four more warps, which hand most of their registers over; `warps` counts those that
  /// compute. Attention gains by it, and products of 8-bit floats that are added up in f32; others
  /// do not. A loop of which other threads load or read something, too, or in a kernel that limits
  /// registers or lets all threads meet, stays, with a remark.
  [[nodiscard]] Range warp_specialize() const;
  /// A loop with `.flatten()`, over iterations that do not depend on each other, of which two teams
  /// of warps carry out every second: one multiplies while the other stores, so that tensor cores
  /// have work. The loop inside has `.warp_specialize()`; its loads are those of both teams, in the
  /// order of the loop. The block gets four warps more for the second team; `warps` counts those of
  /// one, four. Products of few steps gain by it. No two iterations may store to the same place,
  /// and none may load what another stores. A nest that is not flattened, or whose loads no warp of
  /// their own issues, a kernel with teams of its own or with other than four warps stays, with a
  /// remark.
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

/// Counts lo, lo + step, ... below hi (above, for a negative constant step). Bounds are i32 or i64
/// scalars or host integers; a run-time step must be positive. Errors: tile or float bounds, a
/// constant step of 0.
Range range(Arg lo, Arg hi, Arg step, Loc loc = Loc::here());
Range range(Arg lo, Arg hi, Loc loc = Loc::here());
/// Counts 0, 1, ... below hi.
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

/// Predicates the rest of the region it stands in: an early return from a kernel, the `continue` of
/// a loop's body. In a helper function it is the region that the function is called in.
///   guard(row < x.dim(0));
/// What follows happens only if the condition, an i1 scalar, holds. Errors: as for if_; a guard in
/// the condition of a while_.
void guard(Arg condition, Loc loc = Loc::here());

/// Repeats `body` while `condition()`, an i1 scalar traced before each round, is true. A condition
/// that is a Var says what it returns, since a Var is not copied:
/// `while_([&]() -> Value { return go; }, [&] { ... });`
void while_(detail::FunctionRef<Value()> condition, detail::FunctionRef<void()> body,
            Loc loc = Loc::here());

} // namespace tile
