// What a thread remembers of calls: which of them are alike, and which addresses take the short way.
#include "runtime/launch/RecentCalls.h"
#include "runtime/jit/Specialize.h"

#include <tile/tile.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

using namespace tile;
using launch::CallForm, launch::KeptForm, launch::Origin, launch::RecentCall, launch::RecentCalls;

namespace {

constexpr uint64_t kDevice = 7;

detail::HostArg view(uintptr_t address, std::initializer_list<int64_t> extents,
                     std::initializer_list<int64_t> strides) {
  detail::HostArg arg;
  arg.dtype = f32;
  arg.rank = static_cast<uint8_t>(extents.size());
  arg.pointer = reinterpret_cast<void *>(address);
  std::copy(extents.begin(), extents.end(), arg.extents);
  std::copy(strides.begin(), strides.end(), arg.strides);
  return arg;
}

// --- Forms ---------------------------------------------------------------------------------------

/// A call of which everything may be changed.
struct Example {
  Origin origin = Origin::Jit;
  uint64_t number = 2;
  std::array<uint64_t, 3> head = {1, 2, 3};
  std::vector<int64_t> constants = {3, 4};
  std::vector<detail::HostArg> args = {view(256, {64, 32, 8}, {256, 8, 1}), view(512, {64}, {1})};
  bool hasNumbers = false;

  Example() {
    detail::HostArg number;
    number.kind = detail::HostArg::Scalar, number.dtype = f32, number.bits = 5;
    args.push_back(number);
  }
  CallForm form() const { return {origin, number, head, constants, args, hasNumbers}; }
};

TEST(CallForm, DiffersByAllButAddressesAndNumbers) {
  const Example usual;
  const KeptForm kept(usual.form());
  EXPECT_TRUE(kept == usual.form());
  EXPECT_FALSE(KeptForm() == usual.form());
  auto expectOther = [&](auto change) {
    Example other = usual;
    change(other);
    EXPECT_FALSE(kept == other.form());
    EXPECT_FALSE(KeptForm(other.form()) == usual.form());
  };
  for (Origin origin : {Origin::DependentJit, Origin::Tuned, Origin::Archive})
    expectOther([&](Example &call) { call.origin = origin; });
  expectOther([](Example &call) { call.number = 1; });
  for (size_t i : {0, 1, 2})
    expectOther([&](Example &call) { call.head[i] = 9; });
  expectOther([](Example &call) { call.constants[1] = 5; });
  expectOther([](Example &call) { call.constants.pop_back(); });
  expectOther([](Example &call) { call.args.pop_back(); });
  expectOther([](Example &call) { call.args[0].pointer = reinterpret_cast<void *>(260); });
  expectOther([](Example &call) { call.args[0].dtype = f16; });
  expectOther([](Example &call) { call.args[0].rank = 2; });
  expectOther([](Example &call) { call.args[1].kind = detail::HostArg::Scalar; });
  for (int dim : {0, 1, 2}) {
    expectOther([&](Example &call) { call.args[0].extents[dim] = 31; });
    expectOther([&](Example &call) { call.args[0].strides[dim] = 31; });
  }
}

TEST(CallForm, AddressesAndNumbersAreNoPartOfIt) {
  Example call;
  const KeptForm kept(call.form());
  uint64_t hash = call.form().hash();
  call.args[0].pointer = reinterpret_cast<void *>(4096), call.args[2].bits = 77;
  EXPECT_TRUE(kept == call.form());
  EXPECT_EQ(call.form().hash(), hash);
}

TEST(CallForm, NumbersAreIfItSaysSo) {
  Example call;
  call.hasNumbers = true;
  const KeptForm kept(call.form());
  EXPECT_TRUE(kept == call.form());
  call.args[2].bits = 77;
  EXPECT_FALSE(kept == call.form());
}

// A rank that no tensor has is refused later: until then it is only not met.
TEST(CallForm, RanksThatNobodyHasAreNotRead) {
  Example call;
  const KeptForm kept(call.form());
  call.args[2].rank = 255;
  EXPECT_FALSE(kept == call.form());
  EXPECT_NE(call.form().hash(), 0u);
}

// --- What is remembered --------------------------------------------------------------------------

CallForm formOf(std::span<const detail::HostArg> args) {
  return {Origin::Jit, 1, {kDevice}, {}, args};
}

TEST(RecentCalls, NewerOnesTakeThePlacesOfOlderOnes) {
  constexpr size_t kCalls = 5000;
  std::vector<launch::LoadedKernel> kernels(kCalls);
  auto recent = std::make_unique<RecentCalls>();
  auto find = [&](size_t i) {
    detail::HostArg arg = view(256, {static_cast<int64_t>(i), 8}, {8, 1});
    return recent->find(formOf({&arg, 1}), kDevice);
  };
  size_t found = 0;
  for (size_t i = 0; i < kCalls; ++i) {
    EXPECT_EQ(find(i), nullptr);
    detail::HostArg arg = view(256, {static_cast<int64_t>(i), 8}, {8, 1});
    recent->add(formOf({&arg, 1}), RecentCall(kernels[i], {}));
    ASSERT_NE(find(i), nullptr);
    EXPECT_EQ(find(i)->kernel, &kernels[i]);
  }
  for (size_t i = 0; i < kCalls; ++i)
    if (const RecentCall *known = find(i)) {
      EXPECT_EQ(known->kernel, &kernels[i]);
      ++found;
    }
  EXPECT_GT(found, 500u);
  EXPECT_LT(found, kCalls) << "memory is bounded";
}

TEST(RecentCalls, TwoOfOneHashMayAlternate) {
  RecentCalls recent;
  launch::LoadedKernel aligned, unaligned;
  detail::HostArg at256 = view(256, {64}, {1}), at260 = view(260, {64}, {1});
  recent.add(formOf({&at256, 1}), RecentCall(aligned, {}));
  recent.add(formOf({&at260, 1}), RecentCall(unaligned, {}));
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(recent.find(formOf({&at256, 1}), kDevice)->kernel, &aligned);
    EXPECT_EQ(recent.find(formOf({&at260, 1}), kDevice)->kernel, &unaligned);
  }
}

TEST(RecentCalls, KernelsForTheValuesOfNumbersAreNotMetAgain) {
  RecentCalls recent;
  launch::LoadedKernel kernel;
  kernel.isForNumbers = true;
  detail::HostArg arg = view(256, {64}, {1});
  EXPECT_EQ(recent.add(formOf({&arg, 1}), RecentCall(kernel, {})).kernel, &kernel);
  EXPECT_EQ(recent.find(formOf({&arg, 1}), kDevice), nullptr);
}

// --- Addresses -----------------------------------------------------------------------------------

/// A call of a kernel that reads 64 floats and writes 64 others.
class Addresses : public testing::Test {
protected:
  static constexpr uintptr_t kBytes = 64 * sizeof(float);
  void know(int viewOfSecond) {
    recent.add(formOf(args), RecentCall(kernel, {{0, 0, false, sizeof(float), kBytes},
                                                 {1, viewOfSecond, true, sizeof(float), kBytes}}));
  }
  bool isKnown(uintptr_t first, uintptr_t second, uint64_t device = kDevice) {
    args[0].pointer = reinterpret_cast<void *>(first);
    args[1].pointer = reinterpret_cast<void *>(second);
    return recent.find(formOf(args), device) != nullptr;
  }

  RecentCalls recent;
  launch::LoadedKernel kernel;
  detail::HostArg args[2] = {view(1024, {64}, {1}), view(4096, {64}, {1})};
};

TEST_F(Addresses, AreThoseOfTensorsThatAreApart) {
  know(1);
  EXPECT_TRUE(isKnown(1024, 4096));
  EXPECT_TRUE(isKnown(8192, 1024));
  EXPECT_TRUE(isKnown(1024, 1024 + kBytes));
  EXPECT_FALSE(isKnown(1024, 1024 + kBytes - 16)) << "they overlap";
  EXPECT_FALSE(isKnown(1024 + kBytes - 16, 1024)) << "they overlap";
  EXPECT_FALSE(isKnown(1024, 1024)) << "one view: another kernel";
  EXPECT_FALSE(isKnown(0, 1024));
  args[0].device = kDevice;
  EXPECT_TRUE(isKnown(1024, 4096));
  args[0].device = kDevice + 1;
  EXPECT_FALSE(isKnown(1024, 4096)) << "memory of another device";
}

TEST_F(Addresses, OfViewsThatWereOneAreOne) {
  args[1].pointer = args[0].pointer;
  know(0);
  EXPECT_TRUE(isKnown(1024, 1024));
  EXPECT_TRUE(isKnown(4096, 4096));
  EXPECT_FALSE(isKnown(1024, 4096));
}

TEST_F(Addresses, MayMeetWhereTheKernelSaysSo) {
  kernel.aliases = {{0, 1}};
  know(1);
  EXPECT_TRUE(isKnown(1024, 1024 + kBytes - 16));
  EXPECT_FALSE(isKnown(1024, 1024)) << "one view: another kernel";
}

TEST_F(Addresses, OfElementsAreMultiplesOfTheirSize) {
  for (detail::HostArg &arg : args)
    arg.pointer = reinterpret_cast<void *>(1028);
  args[1].pointer = reinterpret_cast<void *>(4100);
  know(1);
  EXPECT_TRUE(isKnown(1032, 4100));
  EXPECT_FALSE(isKnown(1030, 4100));
  EXPECT_FALSE(isKnown(1032, 4102));
}

} // namespace
