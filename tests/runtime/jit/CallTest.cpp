// What is worked out of a call: facts of its arguments and the parts of its key.
#include "runtime/jit/Call.h"
#include "runtime/jit/Specialize.h"

#include <tile/tile.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace tile;

namespace {

detail::HostArg view(std::initializer_list<int64_t> extents,
                     std::initializer_list<int64_t> strides) {
  detail::HostArg arg;
  arg.dtype = f32;
  arg.rank = static_cast<uint8_t>(extents.size());
  arg.pointer = reinterpret_cast<void *>(256);
  std::copy(extents.begin(), extents.end(), arg.extents);
  std::copy(strides.begin(), strides.end(), arg.strides);
  return arg;
}

TEST(Facts, AddressingWidensWhereOffsetsReach2To31) {
  std::vector<frontend::TileUse> uses = {{0, 0, 128}, {0, 1, 64}};
  auto isWide = [&](const detail::HostArg &arg) { return jit::factsOf(arg, 0, uses).isWide; };
  EXPECT_FALSE(isWide(view({1000, 1000}, {1000, 1})));
  EXPECT_TRUE(isWide(view({65536, 65536}, {65536, 1})));
  // 127 rows of 2^24 stay below 2^31; the tile of 128 rows reaches row 127 as well, one column too
  // many.
  EXPECT_FALSE(isWide(view({127, 64}, {int64_t(1) << 24, 1})));
  EXPECT_TRUE(isWide(view({129, 64}, {int64_t(1) << 24, 1})))
      << "the overhang of the second tile counts";
  EXPECT_TRUE(isWide(view({1, 1}, {int64_t(1) << 31, 1}))) << "the stride itself does not fit";
  EXPECT_FALSE(isWide(view({int64_t(1) << 30, 8}, {0, 1}))) << "a broadcast spans nothing";
}

TEST(Facts, FollowTheArgument) {
  std::vector<frontend::TileUse> uses = {{0, 1, 80}, {1, 1, 96}};
  detail::HostArg arg = view({7, 160}, {160, 1});
  frontend::ArgFacts facts = jit::factsOf(arg, 0, uses);
  EXPECT_EQ(facts.alignment, 16);
  EXPECT_EQ(facts.unitStrides, 1 << 1);
  EXPECT_EQ(facts.strideBytesDivisible, (frontend::PerDimension{16, 4}));
  EXPECT_EQ(facts.extentDivisible, (frontend::PerDimension{1, 80}));
  EXPECT_EQ(jit::factsOf(arg, 1, uses).extentDivisible[1], 16)
      << "the other argument's tile does not divide it";
  arg.pointer = reinterpret_cast<void *>(260);
  EXPECT_EQ(jit::factsOf(arg, 0, uses).alignment, 4);
}

// --- Keys ----------------------------------------------------------------------------------------

using Words = std::vector<uint64_t>;

Words wordsOf(llvm::ArrayRef<uint64_t> key) { return {key.begin(), key.end()}; }

Words signatureOf(const detail::CompileSettings &settings) {
  jit::KeyWords key;
  detail::HostArg arg = view({64}, {1});
  int64_t constant = 7;
  jit::appendSignature(key, 1, {&arg, 1}, {&constant, 1}, settings);
  return wordsOf(key);
}

/// Values of a setting that must all give keys of their own.
std::vector<bool> valuesOf(bool) { return {false, true}; }
std::vector<int> valuesOf(int) {
  return {0, 1, 2, 4, 8, 16, 32, 64, 255, 256, 1 << 16, 1 << 30, -1};
}

TEST(Key, EverySettingIsInIt) {
  const detail::CompileSettings usual;
  std::set<Words> keys = {signatureOf(usual)};
  size_t expected = 1;
  detail::CompileSettings settings = usual;
  auto vary = [&](auto &field) {
    const auto before = field;
    for (auto value : valuesOf(before)) {
      field = value;
      EXPECT_EQ(signatureOf(settings), signatureOf(settings));
      keys.insert(signatureOf(settings));
      expected += value != before;
    }
    field = before;
  };
  // A field more does not compile until it is named, and varied, here.
  auto &[warps, maxRegisters, occupancy, fpFusion, flushDenormals, checked, assume] = settings;
  vary(warps), vary(maxRegisters), vary(occupancy), vary(fpFusion), vary(flushDenormals);
  vary(checked), vary(assume);
  EXPECT_EQ(keys.size(), expected) << "two settings have one key";
}

TEST(Key, EveryFactIsInIt) {
  auto keyOf = [](const frontend::ArgFacts &facts) {
    jit::KeyWords key;
    jit::appendFacts(key, facts);
    return wordsOf(key);
  };
  frontend::ArgFacts usual;
  usual.dtype = f32, usual.rank = 2, usual.alignment = 4;
  usual.strideBytesDivisible = {4, 4}, usual.extentDivisible = {1, 1};
  auto expectOther = [&](auto change) {
    frontend::ArgFacts facts = usual;
    change(facts);
    EXPECT_NE(keyOf(facts), keyOf(usual));
  };
  expectOther([](auto &facts) { facts.alignment = 16; });
  expectOther([](auto &facts) { facts.isWide = true; });
  expectOther([](auto &facts) { facts.unitStrides = 1; });
  expectOther([](auto &facts) { facts.unitStrides = 2; });
  for (int dim : {0, 1}) {
    expectOther([&](auto &facts) { facts.strideBytesDivisible[dim] = 16; });
    expectOther([&](auto &facts) { facts.extentDivisible[dim] = 8; });
  }
}

// --- Calls ---------------------------------------------------------------------------------------

const auto pair = kernel("pair", [](In<f32, 1> x, Out<f32, 1> y) {
  Value i = grid1d(y, {64});
  y.tile({64})(i) = x.tile({64})(i);
});

TEST(Call, OneViewAsInputAndOutputIsAnotherSignature) {
  detail::HostArg args[] = {view({64}, {1}), view({64}, {1})};
  Words inPlace = wordsOf(jit::Call(pair.record(), args, {}, {}).signature());
  args[1].pointer = reinterpret_cast<void *>(1024);
  Words apart = wordsOf(jit::Call(pair.record(), args, {}, {}).signature());
  args[0].pointer = reinterpret_cast<void *>(4096);
  EXPECT_EQ(wordsOf(jit::Call(pair.record(), args, {}, {}).signature()), apart);
  EXPECT_NE(inPlace, apart);
}

TEST(Call, AKernelThatWaitsItselfIsAnotherSignature) {
  detail::HostArg args[] = {view({64}, {1}), view({64}, {1})};
  Words plain = wordsOf(jit::Call(pair.record(), args, {}, {}).signature());
  Words dependent = wordsOf(jit::Call(pair.record(), args, {}, {}, true).signature());
  EXPECT_EQ(wordsOf(jit::Call(pair.record(), args, {}, {}, false).signature()), plain);
  EXPECT_NE(dependent, plain);
}

TEST(Call, FactsAreThoseOfItsOwnTiles) {
  detail::HostArg args[] = {view({192}, {1}), view({192}, {1})};
  args[1].pointer = reinterpret_cast<void *>(4100);
  jit::Call call(pair.record(), args, {}, {});
  std::vector<frontend::TileUse> uses = {{0, 0, 96}, {1, 0, 64}};
  const jit::CallFacts &facts = call.facts(uses);
  ASSERT_EQ(facts.args.size(), 2u);
  EXPECT_EQ(facts.args[0].extentDivisible[0], 96);
  EXPECT_EQ(facts.args[1].extentDivisible[0], 64);
  EXPECT_EQ(facts.args[0].alignment, 16);
  EXPECT_EQ(facts.args[1].alignment, 4);
  frontend::Binding binding = call.binding({}, &facts);
  EXPECT_EQ(binding.args[0].extentDivisible[0], 96);
  EXPECT_EQ(binding.args[1].extents, std::vector<int64_t>{192});
  EXPECT_EQ(call.binding({}).args[0].extentDivisible[0], 16) << "no tiles are known";
}

TEST(Call, WithoutAssumptionsOnlyWidthIsAFact) {
  detail::HostArg args[] = {view({192}, {1}), view({1, 64}, {int64_t(1) << 31, 1})};
  detail::CompileSettings settings;
  settings.assume = false;
  frontend::Binding binding = jit::Call(pair.record(), args, {}, settings).binding({});
  EXPECT_EQ(binding.args[0].alignment, 4);
  EXPECT_EQ(binding.args[0].unitStrides, 0);
  EXPECT_EQ(binding.args[0].strideBytesDivisible[0], 4);
  EXPECT_EQ(binding.args[0].extentDivisible[0], 1);
  EXPECT_FALSE(binding.args[0].isWide);
  EXPECT_TRUE(binding.args[1].isWide);
}

} // namespace
