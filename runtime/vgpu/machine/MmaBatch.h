// Batches of mma.sync: neighbours in the program that need no other result than the sum they add to, run as one operation.
//
// Programs multiply a few fragments of A with a few of B in one long sequence, and the next ones along the depth on top. A
// batch converts each fragment once, takes the columns of those that meet the same A as one wide B, and those that add to
// the same sum as one of their summed depth. Sums are the same as one by one: each is a chain of its own. What else stands
// between, such as loads of the next fragments, runs first where that makes no difference.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tile::vgpu {

struct Op;
struct Program;
struct Warp;

struct MmaBatch {
  /// A fragment of A, of the summed depth, times neighbouring fragments of B.
  struct Strip {
    uint32_t a = 0;      // index of the fragment
    uint32_t firstB = 0; // likewise
    uint32_t blocks = 0;
    uint32_t firstSum = 0; // index into `sums` and `results`
  };
  uint32_t operations = 0;       // of the program, from the batch's first
  uint32_t issues = 0;           // of all but the first: instructions
  std::vector<uint32_t> between; // those that are no products, counted from the first
  uint32_t length = 1;        // of each chain of operations: a fragment has as many times its depth
  std::vector<uint32_t> a, b; // rows, fragment after fragment
  std::vector<Strip> strips;  // by fragment of A
  std::vector<uint32_t> sums, results; // rows of C and D, strip after strip
};

/// The rows that an mma reads as A, B and C and those it writes; all empty for operations that no batch takes.
struct MmaRows {
  std::span<const uint32_t> a, b, sums, results;
  bool canContinue =
      false; // a sum goes on in the next operation as if both were one: f32 ones, which are not rounded
};
MmaRows mmaRows(const Op &op);

/// Finds the batches of a decoded kernel; their first operations run them. The others stay as they are, for jumps to them.
void batchMmas(Program &program);

/// The batch that `op` runs; null if it is the first of none.
const MmaBatch *batchOf(const Program &program, const Op &op);

/// Runs the batch that begins at `op`.
void runMmaBatch(Warp &warp, const Op &op);

} // namespace tile::vgpu
