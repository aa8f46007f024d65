// Scans, in pieces that a warp holds in consecutive elements: each thread scans its run of
// registers, lanes tell each other the totals below them by butterfly shuffles, pieces of one warp
// follow one after the other. What crosses warps was made explicit before: `scan_partial` stops at
// the pieces, `scan_carry` adds what the pieces before them hold.
#include "codegen/lower/Combine.h"

#include "ir/layout/Scan.h"
#include "ir/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::codegen {

namespace {

/// The tuples of one thread along the axis, by their coordinate in thread 0.
using Line = std::map<int32_t, Tuple>;
/// Lines by their other coordinates (0 along the axis).
using Lines = std::map<layout::Coords, Line>;

/// What lies before a place; the value only counts where `isThere` holds (null: everywhere).
struct Before {
  Tuple value;
  Value isThere;
};

class Scanner {
public:
  Scanner(Lowering &l, Operation *op, const layout::Layout &source,
          const layout::ScanPieces &pieces)
      : l(l), op(op), loc(op->getLoc()),
        axis(static_cast<int>(op->getAttrOfType<IntegerAttr>("axis").getInt())),
        isReverse(op->hasAttr("reverse")), region(op->getRegion(0).front()), source(source),
        pieces(pieces) {}

  // Coordinates of pieces along the axis: one warp's are this far apart.
  int32_t pieceStride() const { return pieces.piece * pieces.warps; }

  Lines linesOf(ValueRange operands, const layout::Layout &layout) const {
    Lines lines;
    uint32_t duplicates = layout.freeMask(layout::In::Register);
    for (int32_t reg = 0; reg < layout.numRegisters(); ++reg) {
      if (reg & duplicates)
        continue;
      layout::Coords position = layout.apply(reg);
      int32_t coordinate = std::exchange(position[axis], 0);
      for (Value operand : operands)
        lines[position][coordinate].push_back(l[operand][reg]);
    }
    return lines;
  }

  // Keys of a line or of pieces in the order of the scan.
  template <typename Map> SmallVector<int32_t> inOrder(const Map &map) const {
    SmallVector<int32_t> keys;
    for (const auto &entry : map)
      keys.push_back(entry.first);
    if (isReverse)
      std::reverse(keys.begin(), keys.end());
    return keys;
  }

  // A line's coordinates piece by piece, both in the order of the scan.
  SmallVector<SmallVector<int32_t>> piecesOf(const Line &line) const {
    SmallVector<SmallVector<int32_t>> list;
    for (int32_t coordinate : inOrder(line)) {
      if (list.empty() || list.back().front() / pieceStride() != coordinate / pieceStride())
        list.emplace_back();
      list.back().push_back(coordinate);
    }
    return list;
  }

  // Scans a piece within this warp; returns the piece's total, which all its lanes know.
  Tuple scanPiece(Line &line, ArrayRef<int32_t> piece, const Tuple &running) {
    for (auto [earlier, later] : llvm::zip(piece, piece.drop_front()))
      line[later] = combined(l, region, line[earlier], line[later]);
    Tuple total = line[piece.back()];
    Before before = scanLanes(total);
    if (!running.empty()) {
      Tuple all = running;
      if (before.isThere)
        all = selected(l, loc, before.isThere, combined(l, region, running, before.value), running);
      before = {all, {}};
    }
    precede(line, piece, before);
    return total;
  }

  // Lanes exchange totals, lowest bit of the coordinate first; `total` becomes that of all lanes.
  Before scanLanes(Tuple &total) {
    Before before;
    for (int bit : pieces.laneBits) {
      Tuple other = exchanged(l, loc, total, 1 << bit);
      Value isLater = isLaterHalf(bit);
      Tuple first = selected(l, loc, isLater, other, total),
            second = selected(l, loc, isLater, total, other);
      total = combined(l, region, first, second);
      if (!before.isThere) {
        before = {other, isLater};
        continue;
      }
      Tuple longer =
          selected(l, loc, before.isThere, combined(l, region, other, before.value), other);
      before.value = selected(l, loc, isLater, longer, before.value);
      before.isThere = arith::OrIOp::create(l.b, loc, before.isThere, isLater);
    }
    if (!pieces.laneBits.empty())
      total = withOneNan(l, loc, total);
    return before;
  }

  Value isLaterHalf(int laneBit) {
    Value bit = arith::AndIOp::create(l.b, loc, l.threads.lane(), l.i32(int64_t(1) << laneBit));
    auto predicate = isReverse ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ne;
    return arith::CmpIOp::create(l.b, loc, predicate, bit, l.i32(0));
  }

  // Combines what lies before with each element of a piece.
  void precede(Line &line, ArrayRef<int32_t> piece, const Before &before) {
    if (before.value.empty())
      return;
    for (int32_t coordinate : piece) {
      Tuple &element = line[coordinate];
      Tuple longer = combined(l, region, before.value, element);
      element = before.isThere ? selected(l, loc, before.isThere, longer, element) : longer;
    }
  }

  Tuple extended(const Tuple &running, const Tuple &total) {
    return running.empty() ? total : combined(l, region, running, total);
  }

  // Gives results the values of lines, by the coordinates of their registers.
  void assign(ValueRange results, const Lines &lines) {
    layout::Layout target = gpu::layoutOf(results.front().getType());
    for (auto [i, result] : llvm::enumerate(results)) {
      Registers registers;
      for (int32_t reg = 0; reg < target.numRegisters(); ++reg) {
        layout::Coords position = target.apply(reg);
        int32_t coordinate = std::exchange(position[axis], 0);
        registers.push_back(lines.at(position).at(coordinate)[i]);
      }
      l.set(result, std::move(registers));
    }
  }

  Lowering &l;
  Operation *op;
  Location loc;
  int axis;
  bool isReverse;
  Block &region;
  layout::Layout source;
  layout::ScanPieces pieces;
};

FailureOr<Scanner> scannerOf(Lowering &l, Operation *op) {
  layout::Layout source = gpu::layoutOf(op->getOperand(0).getType());
  auto pieces =
      layout::scanPieces(source, static_cast<int>(op->getAttrOfType<IntegerAttr>("axis").getInt()));
  if (!pieces)
    return op->emitOpError(
        "the operand's layout does not split the axis into pieces of consecutive elements");
  return Scanner(l, op, source, *pieces);
}

LogicalResult lowerScan(Lowering &l, Operation *op) {
  FailureOr<Scanner> scanner = scannerOf(l, op);
  if (failed(scanner))
    return failure();
  if (scanner->pieces.warps > 1)
    return op->emitOpError(
        "spreads its axis over warps; the pass that expands such scans has not run");
  Lines lines = scanner->linesOf(op->getOperands(), scanner->source);
  for (auto &[position, line] : lines) {
    Tuple running;
    for (ArrayRef<int32_t> piece : scanner->piecesOf(line))
      running = scanner->extended(running, scanner->scanPiece(line, piece, running));
  }
  scanner->assign(op->getResults(), lines);
  return success();
}

LogicalResult lowerScanPartial(Lowering &l, Operation *op) {
  FailureOr<Scanner> scanner = scannerOf(l, op);
  if (failed(scanner))
    return failure();
  Lines lines = scanner->linesOf(op->getOperands(), scanner->source), totals;
  for (auto &[position, line] : lines)
    for (ArrayRef<int32_t> piece : scanner->piecesOf(line)) {
      Tuple total = scanner->scanPiece(line, piece, {});
      totals[position][piece.front() / scanner->pieceStride() * scanner->pieces.warps] = total;
    }
  size_t count = op->getNumOperands();
  scanner->assign(op->getResults().take_front(count), lines);
  scanner->assign(op->getResults().drop_front(count), totals);
  return success();
}

// Goes over all totals, and keeps for each of this warp's pieces what ran before it: which warp
// this is, is known when the kernel runs.
LogicalResult lowerScanCarry(Lowering &l, Operation *op) {
  FailureOr<Scanner> scanner = scannerOf(l, op);
  if (failed(scanner))
    return failure();
  Scanner &s = *scanner;
  int32_t warps = s.pieces.warps;
  size_t count = op->getNumOperands() / 2;
  Lines lines = s.linesOf(op->getOperands().take_front(count), s.source);
  Lines totals = s.linesOf(op->getOperands().drop_front(count),
                           gpu::layoutOf(op->getOperands().back().getType()));
  SmallVector<int64_t> warpSteps;
  for (const layout::Coords &vector : s.source.bases(layout::In::Warp))
    warpSteps.push_back(vector[s.axis] / s.pieces.piece);
  Value warp = l.coordinates.threadLinear({}, warpSteps);
  for (auto &[position, line] : lines) {
    Tuple running;
    std::map<int32_t, Before> before; // by digit
    for (int32_t index : s.inOrder(totals.at(position))) {
      int32_t digit = index / warps;
      auto predicate = running.empty() ? arith::CmpIPredicate::ne : arith::CmpIPredicate::eq;
      Value isThis = arith::CmpIOp::create(l.b, s.loc, predicate, warp, l.i32(index % warps));
      if (running.empty())
        before[digit].isThere = isThis;
      else if (before[digit].value.empty())
        before[digit].value = running;
      else
        before[digit].value = selected(l, s.loc, isThis, running, before[digit].value);
      running = s.extended(running, totals.at(position).at(index));
    }
    for (ArrayRef<int32_t> piece : s.piecesOf(line))
      s.precede(line, piece, before[piece.front() / s.pieceStride()]);
  }
  s.assign(op->getResults(), lines);
  return success();
}

constexpr LoweringRow kLowerings[] = {
    on<ir::ScanOp, lowerScan>,
    on<gpu::ScanCarryOp, lowerScanCarry>,
    on<gpu::ScanPartialOp, lowerScanPartial>,
};

} // namespace

LoweringTable scanLowerings() { return kLowerings; }

} // namespace tile::codegen
