// The rules of memory against all pairs of elements: what is let through must be apart, whatever the strides.
#include "ops/Arguments.h"

#include <tile/Tensor.h>

#include <gtest/gtest.h>

#include <random>
#include <set>

using namespace tile;
using namespace tile::ops;

namespace {

constexpr int64_t kSize = 4; // of an element, f32

/// Views of small extents and strides, near one address that nobody reads.
class Views {
public:
  Operand draw() {
    int64_t extents[3], strides[3];
    auto rank = static_cast<size_t>(upTo(3));
    for (size_t dim = 0; dim < rank; ++dim)
      extents[dim] = upTo(4), strides[dim] = upTo(3) ? upTo(9) : 1;
    auto *first = reinterpret_cast<float *>(uintptr_t{1} << 20) + upTo(24);
    return Operand(ref(first, {1})).strided({extents, rank}, {strides, rank});
  }
  /// As `like`, moved: columns, rows and parts of one matrix are such pairs.
  Operand drawBeside(const Operand &like) {
    auto *first = static_cast<float *>(like.data()) + upTo(12) - 6;
    int64_t extents[3], strides[3];
    auto rank = static_cast<size_t>(like.rank());
    for (int dim = 0; dim < like.rank(); ++dim)
      extents[dim] = std::max<int64_t>(like.extent(dim) + upTo(2) - 1, 0),
      strides[dim] = like.stride(dim);
    return Operand(ref(first, {1})).strided({extents, rank}, {strides, rank});
  }

private:
  /// 0 .. most
  int64_t upTo(int64_t most) { return std::uniform_int_distribution<int64_t>(0, most)(random_); }
  std::mt19937 random_{7};
};

/// The addresses of all elements, in elements; how often one comes again.
struct Elements {
  std::set<int64_t> addresses;
  int64_t repeated = 0;

  explicit Elements(const Operand &x) { add(x, reinterpret_cast<int64_t>(x.data()) / kSize, 0); }
  bool meets(const Elements &other) const {
    return std::ranges::any_of(addresses, [&](int64_t a) { return other.addresses.contains(a); });
  }

private:
  void add(const Operand &x, int64_t at, int dim) {
    if (dim == x.rank())
      repeated += !addresses.insert(at).second;
    else
      for (int64_t i = 0; i < x.extent(dim); ++i)
        add(x, at + i * x.stride(dim), dim + 1);
  }
};

class ArgumentRules : public ::testing::Test {
protected:
  template <class Rule> bool isRefused(Rule rule) {
    try {
      rule(Arguments("op", {stream_, Loc::here()}));
      return false;
    } catch (const Error &error) {
      EXPECT_EQ(nameOf(error.code()), std::string(nameOf(ErrorCode::Aliasing))) << error.what();
      return true;
    }
  }
  Views views;

private:
  Stream stream_;
};

TEST_F(ArgumentRules, ElementsDistinct) {
  int refused = 0, distinct = 0;
  for (int i = 0; i < 40000; ++i) {
    Operand x = views.draw();
    Elements elements(x);
    bool isRefusal = isRefused([&](const Arguments &rules) { rules.elementsDistinct({"x", x}); });
    ASSERT_TRUE(isRefusal || elements.repeated == 0) << x.str();
    refused += isRefusal, distinct += elements.repeated == 0;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(distinct, 1000);
}

TEST_F(ArgumentRules, DisjointPairsAndLists) {
  int meeting = 0, interlaced = 0;
  for (int i = 0; i < 40000; ++i) {
    Operand a = views.draw(), b = i % 2 ? views.draw() : views.drawBeside(a);
    Elements first(a), second(b);
    bool meets = first.meets(second);
    bool isRefusal = isRefused([&](const Arguments &rules) { rules.disjoint({"a", a}, {"b", b}); });
    ASSERT_EQ(isRefusal, meets) << a.str() << " and " << b.str();
    meeting += meets, interlaced += !isRefusal && !first.addresses.empty() &&
                                    !second.addresses.empty() &&
                                    *first.addresses.begin() < *second.addresses.rbegin() &&
                                    *second.addresses.begin() < *first.addresses.rbegin();
    Operand list[] = {a, b};
    bool isListRefusal = isRefused([&](const Arguments &rules) { rules.listApart("list", list); });
    ASSERT_EQ(isListRefusal, isRefusal || isRefused([&](const Arguments &rules) {
                               rules.elementsDistinct({"a", a}), rules.elementsDistinct({"b", b});
                             }))
        << a.str() << " and " << b.str();
  }
  EXPECT_GT(meeting, 1000);
  EXPECT_GT(interlaced, 1000);
}

/// Views of one arena that share no element, with strides of their own, in elements from its beginning.
struct Slots {
  const char *name;
  int64_t begin;
  std::vector<int64_t> extents, strides;
  int64_t otherBegin;
  std::vector<int64_t> otherExtents, otherStrides;
};

TEST_F(ArgumentRules, WhatLiesBetweenOneAnotherIsDisjoint) {
  constexpr int64_t kFar = int64_t{1} << 32;
  const Slots rows[] = {
      {"batches of different rows", 0, {2, 16, 24}, {640, 24, 1}, 384, {2, 16, 16}, {640, 16, 1}},
      {"columns of one matrix", 0, {1000, 3}, {8, 1}, 3, {1000, 5}, {8, 1}},
      {"columns in two orders", 0, {1000, 3}, {8, 1}, 3, {5, 1000}, {1, 8}},
      {"even and odd", 0, {100000}, {2}, 1, {50000}, {4}},
      {"of different ranks", 0, {4, 5, 6}, {100, 6, 1}, 30, {4}, {100}},
      {"batches that are far apart", 0, {3, 16, 8}, {kFar, 8, 1}, 128, {3, 4, 7}, {kFar, 9, 1}},
      {"a gap in a gap", 0, {2, 2, 2}, {64, 16, 1}, 4, {2, 2, 3}, {64, 20, 2}}};
  auto *arena = reinterpret_cast<float *>(uintptr_t{1} << 20);
  for (const Slots &slots : rows) {
    SCOPED_TRACE(slots.name);
    Operand a = Operand(ref(arena + slots.begin, {1})).strided(slots.extents, slots.strides);
    Operand b =
        Operand(ref(arena + slots.otherBegin, {1})).strided(slots.otherExtents, slots.otherStrides);
    EXPECT_FALSE(Elements(a).meets(Elements(b)));
    for (DType dtype : {f32, i32}) {
      Operand other = b.as(dtype);
      EXPECT_FALSE(isRefused([&](const Arguments &is) { is.disjoint({"a", a}, {"b", other}); }));
      EXPECT_FALSE(isRefused([&](const Arguments &is) { is.disjoint({"b", other}, {"a", a}); }));
    }
    // One element further on, or as many as it takes, they meet.
    int64_t shift = 1;
    auto moved = [&] {
      return Operand(ref(static_cast<float *>(b.data()) - shift, {1}))
          .strided(slots.otherExtents, slots.otherStrides);
    };
    while (!Elements(a).meets(Elements(moved())))
      ++shift;
    EXPECT_TRUE(isRefused([&](const Arguments &is) { is.disjoint({"a", a}, {"b", moved()}); }));
  }
}

TEST_F(ArgumentRules, ListsFindEveryPairThatMeets) {
  for (int i = 0; i < 5000; ++i) {
    std::vector<Operand> list;
    for (int each = 0; each < 5; ++each)
      list.push_back(views.draw());
    bool apart = true;
    for (size_t a = 0; a < list.size(); ++a)
      for (size_t b = 0; b <= a; ++b)
        apart &=
            a == b ? Elements(list[a]).repeated == 0 : !Elements(list[a]).meets(Elements(list[b]));
    bool isRefusal = isRefused([&](const Arguments &rules) { rules.listApart("list", list); });
    ASSERT_TRUE(isRefusal || apart);
  }
}

} // namespace
