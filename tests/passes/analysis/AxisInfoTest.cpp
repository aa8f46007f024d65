// AxisInfo claims something about every element of a tile. Here small random kernels are evaluated
// element by element, and each claim is held against the values.
#include "passes/analysis/AxisInfo.h"

#include "ir/Context.h"
#include "ir/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

using namespace mlir;

namespace tile::passes {
namespace {

using Elements = std::vector<int64_t>;

/// A value of the kernel and what it is when the kernel runs: one number an element, pointers as
/// bytes.
struct Evaluated {
  Value value;
  Elements elements;
  int64_t step = 1; ///< by how much the next element's pointer is larger, in bytes
};

SmallVector<int64_t> shapeOf(Value value) {
  ArrayRef<int64_t> shape = ir::shapeOf(value.getType());
  return shape.empty() ? SmallVector<int64_t>{1} : SmallVector<int64_t>(shape);
}

/// The places of a row-major tile along a dimension: `visit(places)` for each line.
void forEachLine(ArrayRef<int64_t> shape, size_t dim, function_ref<void(ArrayRef<size_t>)> visit) {
  size_t inner = 1, outer = 1, extent = shape[dim];
  for (size_t d = 0; d < shape.size(); ++d)
    (d < dim ? outer : inner) *= d == dim ? 1 : shape[d];
  for (size_t o = 0; o < outer; ++o)
    for (size_t i = 0; i < inner; ++i) {
      SmallVector<size_t> places;
      for (size_t e = 0; e < extent; ++e)
        places.push_back((o * extent + e) * inner + i);
      visit(places);
    }
}

/// The first fault of a claim along one line, empty if there is none.
std::string faultOnLine(const AxisFacts &facts, const Evaluated &node, ArrayRef<size_t> places) {
  for (size_t i = 0; i < places.size(); ++i) {
    int64_t value = node.elements[places[i]],
            next = i + 1 < places.size() ? node.elements[places[i + 1]] : 0;
    bool endsContiguous = (i + 1) % facts.contiguity == 0 || i + 1 == places.size();
    bool endsConstant = (i + 1) % facts.constancy == 0 || i + 1 == places.size();
    std::string at = " at " + std::to_string(i) + ", value " + std::to_string(value);
    if (!endsContiguous && next != value + node.step)
      return "contiguity " + std::to_string(facts.contiguity) + " is wrong" + at + ", next " +
             std::to_string(next);
    if (!endsConstant && next != value)
      return "constancy " + std::to_string(facts.constancy) + " is wrong" + at + ", next " +
             std::to_string(next);
    if (i % facts.contiguity == 0 && value % facts.divisibility != 0)
      return "divisibility " + std::to_string(facts.divisibility) + " is wrong" + at;
  }
  return "";
}

std::string faultOf(const Evaluated &node) {
  AxisInfo info = AxisInfoAnalysis().of(node.value);
  SmallVector<int64_t> shape = shapeOf(node.value);
  if (info.dims.size() != shape.size())
    return "facts of " + std::to_string(info.dims.size()) + " dimensions";
  std::string fault;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    forEachLine(shape, dim, [&](ArrayRef<size_t> places) {
      std::string found = faultOnLine(info[dim], node, places);
      if (fault.empty() && !found.empty())
        fault = "dimension " + std::to_string(dim) + ": " + found;
    });
  return fault;
}

/// One step of a random kernel: which operation, on which of the values made so far.
struct Step {
  int kind, a, b, number;
};

void showValue(const Step &step, std::ostream &os) {
  os << "{" << step.kind << ", " << step.a << ", " << step.b << ", " << step.number << "}";
}

/// Builds a kernel step by step and evaluates it along the way. A step that does not fit makes
/// nothing.
class RandomKernel {
public:
  explicit RandomKernel(MLIRContext *context) : builder_(context), loc_(builder_.getUnknownLoc()) {
    module_ = ModuleOp::create(loc_);
    builder_.setInsertionPointToEnd(module_->getBody());
    auto pointer = ir::PtrType::get(context, builder_.getF32Type());
    auto type =
        builder_.getFunctionType({builder_.getI32Type(), builder_.getI32Type(), pointer}, {});
    auto function = func::FuncOp::create(builder_, loc_, "kernel", type);
    builder_.setInsertionPointToEnd(function.addEntryBlock());
    addArgument(function, 0, 8, 24);
    addArgument(function, 1, 1, 7);
    addArgument(function, 2, 16, 4096 + 16);
    nodes_.back().step = 4;
  }

  void apply(const Step &step) {
    const Evaluated a = pick(step.a), b = pick(step.b);
    switch (step.kind) {
    case 0:
      return addArange(step);
    case 1:
      return addSplat(a, step);
    case 2:
    case 3:
    case 4:
      return addBinary(step.kind, a, b);
    case 5:
      return addExpand(a, step.number & 1);
    case 6:
      return addBroadcast(a, step);
    case 7:
      return addPermute(a);
    case 8:
      return addComparison(a, b, step);
    case 9:
      return addSelect(a, b, pick(step.number));
    case 10:
      return addExtension(a, step.number & 1);
    case 11:
      return addPointer(a, b);
    case 12:
      return addConversion(a, step);
    case 13:
      return addReshape(a, step);
    default:
      return addConstant(a, step);
    }
  }

  std::string fault() const {
    for (const Evaluated &node : nodes_)
      if (std::string found = faultOf(node); !found.empty())
        return found + "\n" + text();
    return "";
  }

private:
  static constexpr int64_t kExtents[] = {1, 2, 3, 4, 6, 8, 12, 16};

  std::string text() const {
    std::string result;
    llvm::raw_string_ostream os(result);
    const_cast<ModuleOp &>(static_cast<const ModuleOp &>(module_.get())).print(os);
    return result;
  }

  Evaluated pick(int index) const { return nodes_[static_cast<size_t>(index) % nodes_.size()]; }
  static bool isTile(const Evaluated &node) { return isa<RankedTensorType>(node.value.getType()); }
  static bool isPointer(const Evaluated &node) {
    return isa<ir::PtrType>(ir::elementTypeOf(node.value.getType()));
  }
  static bool isI32(const Evaluated &node) {
    return ir::elementTypeOf(node.value.getType()).isInteger(32);
  }
  static RankedTensorType tileType(const Evaluated &node) {
    return cast<RankedTensorType>(node.value.getType());
  }

  void add(Value value, Elements elements, int64_t step = 1) {
    nodes_.push_back({value, std::move(elements), step});
  }

  void addArgument(func::FuncOp function, unsigned index, int32_t divisor, int64_t value) {
    function.setArgAttr(index, "tile.divisibility", builder_.getI32IntegerAttr(divisor));
    add(function.getArgument(index), {value});
  }

  void addArange(const Step &step) {
    auto start = static_cast<int32_t>(step.b % 12) - 4;
    int64_t extent = kExtents[step.number % std::size(kExtents)];
    Elements elements;
    for (int64_t i = 0; i < extent; ++i)
      elements.push_back(start + i);
    add(ir::ArangeOp::create(builder_, loc_, start, static_cast<int32_t>(start + extent)),
        elements);
  }

  void addConstant(const Evaluated &like, const Step &step) {
    Type type = isPointer(like) || isI1(like) ? builder_.getI32Type() : like.value.getType();
    auto number = static_cast<int64_t>(step.number % 40) - 8;
    TypedAttr value = builder_.getIntegerAttr(ir::elementTypeOf(type), number);
    if (auto tile = dyn_cast<RankedTensorType>(type))
      value = SplatElementsAttr::get(tile, Attribute(value));
    size_t count = isa<RankedTensorType>(type) ? like.elements.size() : 1;
    add(arith::ConstantOp::create(builder_, loc_, value), Elements(count, number));
  }

  static bool isI1(const Evaluated &node) {
    return ir::elementTypeOf(node.value.getType()).isInteger(1);
  }

  void addSplat(const Evaluated &a, const Step &step) {
    if (isTile(a))
      return;
    int64_t extent = kExtents[step.number % std::size(kExtents)];
    auto type = RankedTensorType::get({extent}, a.value.getType());
    add(ir::SplatOp::create(builder_, loc_, type, a.value), Elements(extent, a.elements[0]),
        a.step);
  }

  void addBinary(int kind, const Evaluated &a, const Evaluated &b) {
    if (isPointer(a) || isI1(a) || a.value.getType() != b.value.getType())
      return;
    Value value = kind == 2   ? arith::AddIOp::create(builder_, loc_, a.value, b.value).getResult()
                  : kind == 3 ? arith::SubIOp::create(builder_, loc_, a.value, b.value).getResult()
                              : arith::MulIOp::create(builder_, loc_, a.value, b.value).getResult();
    Elements elements;
    for (auto [x, y] : llvm::zip_equal(a.elements, b.elements))
      elements.push_back(kind == 2 ? x + y : kind == 3 ? x - y : x * y);
    if (llvm::all_of(elements, [](int64_t x) {
          return std::abs(x) < (1 << 24);
        })) // overflow is the program's fault
      add(value, std::move(elements));
  }

  void addExpand(const Evaluated &a, int axis) {
    if (isTile(a) && tileType(a).getRank() == 1)
      add(ir::ExpandDimsOp::create(builder_, loc_, a.value, axis), a.elements, a.step);
  }

  void addBroadcast(const Evaluated &a, const Step &step) {
    if (!isTile(a) || tileType(a).getRank() != 2)
      return;
    int64_t extent = kExtents[step.number % std::size(kExtents)];
    SmallVector<int64_t> from(tileType(a).getShape()), to = from;
    int dim = from[0] == 1 ? 0 : 1;
    if (from[dim] != 1)
      return;
    to[dim] = extent;
    Elements elements;
    for (int64_t i = 0; i < to[0]; ++i)
      for (int64_t j = 0; j < to[1]; ++j)
        elements.push_back(a.elements[(dim == 0 ? 0 : i) * from[1] + (dim == 1 ? 0 : j)]);
    auto type = RankedTensorType::get(to, tileType(a).getElementType());
    add(ir::BroadcastOp::create(builder_, loc_, type, a.value), std::move(elements), a.step);
  }

  void addPermute(const Evaluated &a) {
    if (!isTile(a) || tileType(a).getRank() != 2)
      return;
    int64_t rows = tileType(a).getDimSize(0), columns = tileType(a).getDimSize(1);
    Elements elements;
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i)
        elements.push_back(a.elements[i * columns + j]);
    add(ir::PermuteOp::create(builder_, loc_, a.value, ArrayRef<int32_t>{1, 0}),
        std::move(elements), a.step);
  }

  void addComparison(const Evaluated &a, const Evaluated &b, const Step &step) {
    using P = arith::CmpIPredicate;
    if (isPointer(a) || isI1(a) || a.value.getType() != b.value.getType())
      return;
    constexpr P kPredicates[] = {P::slt, P::sge, P::sgt, P::sle, P::eq, P::ult};
    P predicate = kPredicates[step.number % std::size(kPredicates)];
    Elements elements;
    for (auto [x, y] : llvm::zip_equal(a.elements, b.elements))
      elements.push_back(
          arith::applyCmpPredicate(predicate, APInt(64, x, true), APInt(64, y, true)));
    add(arith::CmpIOp::create(builder_, loc_, predicate, a.value, b.value), std::move(elements));
  }

  void addSelect(const Evaluated &a, const Evaluated &b, const Evaluated &condition) {
    bool isScalar = !isTile(condition);
    if (!isI1(condition) || a.value.getType() != b.value.getType() || a.step != b.step ||
        (!isScalar && shapeOf(condition.value) != shapeOf(a.value)) || (!isScalar && !isTile(a)))
      return;
    Elements elements;
    for (size_t i = 0; i < a.elements.size(); ++i)
      elements.push_back(condition.elements[isScalar ? 0 : i] ? a.elements[i] : b.elements[i]);
    add(arith::SelectOp::create(builder_, loc_, condition.value, a.value, b.value),
        std::move(elements), a.step);
  }

  void addExtension(const Evaluated &a, bool isUnsigned) {
    if (!isI32(a))
      return;
    Type type = builder_.getI64Type();
    if (isTile(a))
      type = tileType(a).clone(type);
    Elements elements = a.elements;
    if (isUnsigned)
      for (int64_t &x : elements)
        x = static_cast<uint32_t>(x);
    Value value = isUnsigned ? arith::ExtUIOp::create(builder_, loc_, type, a.value).getResult()
                             : arith::ExtSIOp::create(builder_, loc_, type, a.value).getResult();
    add(value, std::move(elements));
  }

  // To i8 and back to i32, or through i1.
  void addConversion(const Evaluated &a, const Step &step) {
    if (isPointer(a))
      return;
    unsigned from = ir::elementTypeOf(a.value.getType()).getIntOrFloatBitWidth();
    constexpr unsigned kWidths[] = {1, 8, 32};
    unsigned to = kWidths[step.number % std::size(kWidths)];
    bool isUnsigned = step.b & 1;
    Elements elements;
    for (int64_t x : a.elements)
      elements.push_back(converted(x, from, to, isUnsigned));
    Type type = builder_.getIntegerType(to);
    if (isTile(a))
      type = tileType(a).clone(type);
    add(ir::ConvertOp::create(builder_, loc_, type, a.value, isUnsigned, false),
        std::move(elements));
  }

  // To extents drawn one after another from the divisors of what is left; the rest becomes the last one.
  void addReshape(const Evaluated &a, const Step &step) {
    if (!isTile(a))
      return;
    SmallVector<int64_t> shape;
    auto left = static_cast<int64_t>(a.elements.size());
    for (int number = step.number, rank = step.b % 4; rank > 0; --rank, number /= 2) {
      int64_t extent = kExtents[number % std::size(kExtents)];
      shape.push_back(left % extent == 0 ? extent : 1);
      left /= shape.back();
    }
    shape.push_back(left);
    auto type = RankedTensorType::get(shape, tileType(a).getElementType());
    add(ir::ReshapeOp::create(builder_, loc_, type, a.value), a.elements, a.step);
  }

  static int64_t converted(int64_t x, unsigned from, unsigned to, bool isUnsigned) {
    if (to == 1)
      return x != 0;
    APInt bits(from, static_cast<uint64_t>(x), true, true);
    return (isUnsigned || from == 1 ? bits.zextOrTrunc(to) : bits.sextOrTrunc(to)).getSExtValue();
  }

  void addPointer(const Evaluated &a, const Evaluated &b) {
    bool isOffset = isI32(b) && shapeOf(a.value) == shapeOf(b.value) && isTile(a) == isTile(b);
    if (!isPointer(a) || !isOffset)
      return;
    Elements elements;
    for (auto [pointer, offset] : llvm::zip_equal(a.elements, b.elements))
      elements.push_back(pointer + 4 * offset);
    add(ir::AddPtrOp::create(builder_, loc_, a.value.getType(), a.value, b.value),
        std::move(elements), 4);
  }

  OpBuilder builder_;
  Location loc_;
  OwningOpRef<ModuleOp> module_;
  std::vector<Evaluated> nodes_;
};

class AxisInfoTest : public ::testing::Test {
protected:
  std::unique_ptr<MLIRContext> context = ir::makeContext();

  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, context.get());
  }

  /// The facts of the value with this name: an operation's attribute `name`.
  AxisInfo factsOf(ModuleOp module, StringRef name) {
    AxisInfo info;
    module.walk([&](Operation *op) {
      if (auto attribute = op->getAttrOfType<StringAttr>("name");
          attribute && attribute.getValue() == name)
        info = AxisInfoAnalysis().of(op->getResult(0));
    });
    return info;
  }
};

RC_GTEST_FIXTURE_PROP(AxisInfoTest, ClaimsHoldForEveryElement, ()) {
  auto steps = *rc::gen::container<std::vector<Step>>(
      rc::gen::construct<Step>(rc::gen::inRange(0, 15), rc::gen::inRange(0, 64),
                               rc::gen::inRange(0, 64), rc::gen::inRange(0, 64)));
  RandomKernel kernel(context.get());
  for (const Step &step : steps)
    kernel.apply(step);
  std::string fault = kernel.fault();
  RC_ASSERT(fault == "");
}

TEST_F(AxisInfoTest, LongRandomKernels) {
  std::mt19937 random(7);
  auto draw = [&](int bound) { return static_cast<int>(random() % bound); };
  for (int trial = 0; trial < 400; ++trial) {
    RandomKernel kernel(context.get());
    for (int i = 0; i < 60; ++i)
      kernel.apply({draw(15), draw(1000), draw(1000), draw(1000)});
    ASSERT_EQ(kernel.fault(), "");
  }
}

// Without claims the property above would hold of an analysis that knows nothing.
TEST_F(AxisInfoTest, FindsTheVectorsOfAnOrdinaryAccess) {
  auto module = parse(R"(
    func.func @kernel(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                      %n: i32 {tile.divisibility = 16 : i32}) {
      %c64 = arith.constant 64 : i32
      %pid = tile.program_id 0 : i32
      %start = arith.muli %pid, %c64 : i32
      %starts = tile.splat %start : i32 -> tensor<64xi32>
      %r = tile.arange 0, 64 : tensor<64xi32>
      %offsets = arith.addi %starts, %r {name = "offsets"} : tensor<64xi32>
      %bound = tile.splat %n : i32 -> tensor<64xi32>
      %mask = arith.cmpi slt, %offsets, %bound {name = "mask"} : tensor<64xi32>
      %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
      %q = tile.addptr %ps, %offsets {name = "pointers"} : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
      return
    })");
  ASSERT_TRUE(module);
  EXPECT_EQ(factsOf(*module, "offsets")[0], (AxisFacts{64, 1, 64}));
  EXPECT_EQ(factsOf(*module, "mask")[0].constancy, 16);
  EXPECT_EQ(factsOf(*module, "pointers")[0], (AxisFacts{64, 1, 16}));
}

TEST_F(AxisInfoTest, RowsOfATileOfPointers) {
  auto module = parse(R"(
    func.func @kernel(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                      %stride: i32 {tile.divisibility = 8 : i32}) {
      %r = tile.arange 0, 32 : tensor<32xi32>
      %c = tile.arange 0, 64 : tensor<64xi32>
      %rc = tile.expand_dims %r, 1 : tensor<32xi32> -> tensor<32x1xi32>
      %cr = tile.expand_dims %c, 0 : tensor<64xi32> -> tensor<1x64xi32>
      %s = tile.splat %stride : i32 -> tensor<32x1xi32>
      %rows = arith.muli %rc, %s : tensor<32x1xi32>
      %rb = tile.broadcast %rows : tensor<32x1xi32> -> tensor<32x64xi32>
      %cb = tile.broadcast %cr : tensor<1x64xi32> -> tensor<32x64xi32>
      %o = arith.addi %rb, %cb : tensor<32x64xi32>
      %ps = tile.splat %p : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
      %q = tile.addptr %ps, %o {name = "pointers"} : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
      return
    })");
  ASSERT_TRUE(module);
  AxisInfo info = factsOf(*module, "pointers");
  EXPECT_EQ(info[1].contiguity, 64);
  EXPECT_EQ(info[1].divisibility, 16);
}

// Reshaping, like expanding, leaves lines as they are; it joins and splits runs where extents allow.
TEST_F(AxisInfoTest, RunsThroughReshapes) {
  auto module = parse(R"(
    func.func @kernel(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}) {
      %c = tile.arange 0, 64 : tensor<64xi32>
      %row = tile.reshape %c {name = "row"} : tensor<64xi32> -> tensor<1x64xi32>
      %line = tile.reshape %row {name = "line"} : tensor<1x64xi32> -> tensor<64xi32>
      %split = tile.reshape %c {name = "split"} : tensor<64xi32> -> tensor<4x16xi32>
      %odd = tile.reshape %c {name = "odd"} : tensor<64xi32> -> tensor<2x4x1x8xi32>
      %rows = tile.broadcast %row : tensor<1x64xi32> -> tensor<8x64xi32>
      %flat = tile.reshape %rows {name = "flat"} : tensor<8x64xi32> -> tensor<512xi32>
      %column = tile.reshape %c : tensor<64xi32> -> tensor<64x1xi32>
      %columns = tile.broadcast %column : tensor<64x1xi32> -> tensor<64x8xi32>
      %repeated = tile.reshape %columns {name = "repeated"} : tensor<64x8xi32> -> tensor<512xi32>
      %ps = tile.splat %p : !tile.ptr<f16> -> tensor<8x8x!tile.ptr<f16>>
      %all = tile.reshape %ps {name = "all"} : tensor<8x8x!tile.ptr<f16>> -> tensor<64x!tile.ptr<f16>>
      return
    })");
  ASSERT_TRUE(module);
  constexpr int64_t any = int64_t(1) << 30;
  EXPECT_EQ(factsOf(*module, "row")[1], (AxisFacts{64, 1, any}));
  EXPECT_EQ(factsOf(*module, "line")[0], (AxisFacts{64, 1, any}));
  EXPECT_EQ(factsOf(*module, "split")[1], (AxisFacts{16, 1, 16}));
  EXPECT_EQ(factsOf(*module, "odd")[3], (AxisFacts{8, 1, 8}));
  EXPECT_EQ(factsOf(*module, "flat")[0], (AxisFacts{64, 1, any}));
  EXPECT_EQ(factsOf(*module, "repeated")[0], (AxisFacts{1, 8, 1}));
  EXPECT_EQ(factsOf(*module, "all")[0], (AxisFacts{1, 64, 16}));
}

// The value carried round is 0, 24, 48, ... in the first loop; 0, 5, 10, ... in the second.
TEST_F(AxisInfoTest, LoopCarriedValues) {
  auto module = parse(R"(
    func.func @kernel(%n: i32) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c5 = arith.constant 5 : i32
      %c8 = arith.constant 8 : i32
      %c24 = arith.constant 24 : i32
      %a = scf.for %i = %c0 to %n step %c8 iter_args(%x = %c0) -> i32 : i32 {
        %same = arith.addi %i, %c0 {name = "induction"} : i32
        %y = arith.addi %x, %c24 {name = "by24"} : i32
        scf.yield %y : i32
      }
      %b = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0) -> i32 : i32 {
        %y = arith.addi %x, %c5 {name = "by5"} : i32
        scf.yield %y : i32
      }
      %afterA = arith.addi %a, %c0 {name = "after24"} : i32
      %afterB = arith.addi %b, %c0 {name = "after5"} : i32
      return
    })");
  ASSERT_TRUE(module);
  EXPECT_EQ(factsOf(*module, "induction")[0].divisibility, 8);
  EXPECT_EQ(factsOf(*module, "by24")[0].divisibility, 8);
  EXPECT_EQ(factsOf(*module, "after24")[0].divisibility, 8);
  EXPECT_EQ(factsOf(*module, "by5")[0].divisibility, 1);
  EXPECT_EQ(factsOf(*module, "after5")[0].divisibility, 1);
}

// Each iteration swaps the two: what holds of one alone holds of neither.
TEST_F(AxisInfoTest, ValuesThatTradePlacesInALoop) {
  auto module = parse(R"(
    func.func @kernel(%n: i32) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c3 = arith.constant 3 : i32
      %c16 = arith.constant 16 : i32
      %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c16, %y = %c3) -> (i32, i32) : i32 {
        %same = arith.addi %x, %c0 {name = "inside"} : i32
        scf.yield %y, %x : i32, i32
      }
      %s = arith.addi %r#0, %c0 {name = "first"} : i32
      %t = arith.addi %r#1, %c0 {name = "second"} : i32
      return
    })");
  ASSERT_TRUE(module);
  EXPECT_EQ(factsOf(*module, "inside")[0].divisibility, 1);
  EXPECT_EQ(factsOf(*module, "first")[0].divisibility, 1);
  EXPECT_EQ(factsOf(*module, "second")[0].divisibility, 1);
}

TEST(PowerOfTwoDivisor, OfNumbers) {
  EXPECT_EQ(powerOfTwoDivisor(1), 1);
  EXPECT_EQ(powerOfTwoDivisor(96), 32);
  EXPECT_EQ(powerOfTwoDivisor(-8), 8);
  EXPECT_EQ(powerOfTwoDivisor(0), int64_t(1) << 30);
  EXPECT_EQ(powerOfTwoDivisor(std::numeric_limits<int64_t>::min()), int64_t(1) << 30);
  EXPECT_EQ(powerOfTwoDivisor(int64_t(1) << 40), int64_t(1) << 30);
}

} // namespace
} // namespace tile::passes
