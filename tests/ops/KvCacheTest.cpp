// Caches of keys and values: what appending writes and leaves alone, attention of one query over
// contiguous and paged caches, lengths within and beyond them, splits, refusals.
#include "tests/execution/Harness.h"
#include "tests/ops/AttentionReference.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/KvCache.h>
#include <tile/ops/Map.h>

#include <algorithm>

using namespace tile;
using namespace tile::test;

namespace {

/// Sizes of a cache; sequence b has lengths[b] positions. A page size of 0: contiguous.
struct DecodeCase {
  int64_t heads, keyHeads, head;
  std::vector<int> lengths;
  int64_t capacity, pageSize = 0;

  int64_t batch() const { return int64_t(lengths.size()); }
  int64_t pagesOfSequence() const { return capacity / pageSize; }
  int64_t outer() const { return pageSize ? batch() * pagesOfSequence() + 2 : batch(); }
  int64_t inner() const { return pageSize ? pageSize : capacity; }
  int64_t numel() const { return outer() * keyHeads * inner() * head; }
  /// Backwards, and neighbours in memory belong to different sequences; two belong to none.
  int page(int64_t b, int64_t j) const {
    return int(pageSize ? outer() - 1 - (j / pageSize * batch() + b) : b);
  }
  /// Where a row of the cache begins.
  int64_t row(int64_t b, int64_t h, int64_t j) const {
    int64_t slot = pageSize ? j % pageSize : j;
    return ((page(b, j) * keyHeads + h) * inner() + slot) * head;
  }
  std::vector<int> table() const {
    std::vector<int> entries;
    for (int64_t b = 0; b < batch(); ++b)
      for (int64_t n = 0; n < pagesOfSequence(); ++n)
        entries.push_back(page(b, n * pageSize));
    return entries;
  }
  int64_t length(int64_t b) const { return std::clamp<int64_t>(lengths[size_t(b)], 0, capacity); }
};

class KvCacheOp : public OnDevice {
protected:
  Tensor lengthsOf(const DecodeCase &c) { return input({c.batch()}, c.lengths); }
  Tensor tableOf(const DecodeCase &c) {
    return c.pageSize ? input({c.batch(), c.pagesOfSequence()}, c.table()) : Tensor();
  }
  static ops::KvCache cacheOf(const Tensor &k, const Tensor &v, const Tensor &lengths,
                              const Tensor &table) {
    return {k, v, lengths, table ? ops::Operand(table) : ops::Operand()};
  }

  /// The rows of sequence b that its query sees, Hkv x length x D.
  template <class T>
  static Doubles rowsOfSequence(const DecodeCase &c, const std::vector<T> &cache, int64_t b) {
    Doubles rows;
    for (int64_t h = 0; h < c.keyHeads; ++h)
      for (int64_t j = 0; j < c.length(b); ++j)
        for (int64_t d = 0; d < c.head; ++d)
          rows.push_back(exact(cache[size_t(c.row(b, h, j) + d)]));
    return rows;
  }
  template <class T>
  static Doubles reference(const DecodeCase &c, const std::vector<T> &q, const std::vector<T> &k,
                           const std::vector<T> &v, double scale) {
    Doubles out;
    for (int64_t b = 0; b < c.batch(); ++b) {
      AttentionCase one = {1, c.heads, c.keyHeads, 1, c.length(b), c.head, false, scale};
      Doubles query;
      for (int64_t i = 0; i < c.heads * c.head; ++i)
        query.push_back(exact(q[size_t(b * c.heads * c.head + i)]));
      auto rows = AttentionReference(one, query, rowsOfSequence(c, k, b), rowsOfSequence(c, v, b));
      out.insert(out.end(), rows.out.begin(), rows.out.end());
    }
    return out;
  }
  /// Numbers where sequences have positions, NaN elsewhere.
  template <class T> static std::vector<T> cacheNumbers(const DecodeCase &c, unsigned seed) {
    auto numbers = uniform<T>(c.numel(), -2, 2, seed);
    std::vector<T> cache(numbers.size(), T(NAN));
    for (int64_t b = 0; b < c.batch(); ++b)
      for (int64_t h = 0; h < c.keyHeads; ++h)
        for (int64_t j = 0; j < c.length(b); ++j)
          std::copy_n(numbers.begin() + c.row(b, h, j), c.head, cache.begin() + c.row(b, h, j));
    return cache;
  }

  template <class T>
  void check(const DecodeCase &c, double tolerance, Precision precision = Precision::tf32x3) {
    SCOPED_TRACE(std::to_string(c.batch()) + " sequences, heads " + std::to_string(c.heads) + "/" +
                 std::to_string(c.keyHeads) + " of " + std::to_string(c.head) + ", " +
                 std::to_string(c.capacity) + " positions in pages of " +
                 std::to_string(c.pageSize));
    auto q = uniform<T>(c.batch() * c.heads * c.head, -2, 2, 1);
    auto k = cacheNumbers<T>(c, 2), v = cacheNumbers<T>(c, 3);
    std::vector<int64_t> extents = {c.outer(), c.keyHeads, c.inner(), c.head};
    Tensor deviceK = input(extents, k), deviceV = input(extents, v);
    auto out = output<T>({c.batch(), c.heads, c.head}, 3);
    ops::decodeAttention(stream, input({c.batch(), c.heads, c.head}, q),
                         cacheOf(deviceK, deviceV, lengthsOf(c), tableOf(c)), out.tensor(),
                         {.scale = 0.3f, .precision = precision});
    Doubles expected = reference(c, q, k, v, 0.3f);
    expectAll(out.result(), [&](int64_t i) { return expected[size_t(i)]; }, {0.51, tolerance});
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, KvCacheOp, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

constexpr double kF16 = 1e-3, kBf16 = 6e-3, kF32 = 8e-6, kTf32 = 6e-3; // of v up to 2

// --- Appending -----------------------------------------------------------------------------------

/// What the cache holds after appending `rows` of k to guard patterns.
template <class T>
std::vector<T> appended(const DecodeCase &c, std::vector<T> cache, const std::vector<T> &rows,
                        int64_t tokens, const std::vector<int> &table) {
  for (int64_t b = 0; b < c.batch(); ++b)
    for (int64_t h = 0; h < c.keyHeads; ++h)
      for (int64_t i = 0; i < tokens; ++i) {
        int64_t j = c.lengths[size_t(b)] - tokens + i;
        if (j < 0 || j >= c.capacity)
          continue;
        int64_t page = c.pageSize ? table[size_t(b * c.pagesOfSequence() + j / c.pageSize)] : b;
        if (page < 0 || page >= c.outer())
          continue;
        int64_t slot = c.pageSize ? j % c.pageSize : j;
        std::copy_n(rows.begin() + ((b * c.keyHeads + h) * tokens + i) * c.head, c.head,
                    cache.begin() + ((page * c.keyHeads + h) * c.inner() + slot) * c.head);
      }
  return cache;
}

/// As the header's example counts positions.
TEST_P(KvCacheOp, LengthsAreCountedUp) {
  auto lengths = input({3}, std::vector<int32_t>{0, 7, 1 << 24});
  ops::map(
      stream, [](Value n) { return n + 1; }, lengths, lengths);
  EXPECT_EQ(lengths.download(), (std::vector<int32_t>{1, 8, (1 << 24) + 1}));
}

TEST_P(KvCacheOp, AppendWritesTheLastPositionsAndNothingElse) {
  auto append = [&](const DecodeCase &c, int64_t tokens, const std::vector<int> &table) {
    std::vector<int64_t> extents = {c.batch(), c.keyHeads, tokens, c.head};
    auto k = uniform<float>(c.batch() * c.keyHeads * tokens * c.head, -1, 1, 1);
    auto v = uniform<float>(int64_t(k.size()), -1, 1, 2);
    auto kCache = output<float>({c.outer(), c.keyHeads, c.inner(), c.head}, 3);
    auto vCache = output<float>({c.outer(), c.keyHeads, c.inner(), c.head}, 5);
    auto before = kCache.result();
    Tensor pages = c.pageSize ? input({c.batch(), c.pagesOfSequence()}, table) : Tensor();
    ops::kvCacheAppend(stream, input(extents, k), input(extents, v),
                       cacheOf(kCache.tensor(), vCache.tensor(), lengthsOf(c), pages));
    EXPECT_EQ(kCache.result(), appended(c, before, k, tokens, table));
    EXPECT_EQ(vCache.result(), appended(c, before, v, tokens, table));
  };
  for (int64_t tokens : {0, 1, 3, 20}) {
    // In the middle, at the start, with tokens before the start, at the end, beyond it, none.
    DecodeCase c = {6, 3, 20, {9, 3, 2, 17, 19, 40, 0, -5, 1}, 17};
    append(c, tokens, {});
    c.pageSize = 16, c.capacity = 48, c.lengths = {18, 48, 50, 1, 100, 30};
    auto table = c.table();
    table[1] = -1, table[4] = int(c.outer()), table[5] = -2000000000, table[16] = 2000000000;
    append(c, tokens, table);
  }
}

TEST_P(KvCacheOp, AppendOfOtherMemoryOrdersAndDtypes) {
  DecodeCase c = {2, 2, 128, {3, 9}, 12};
  auto k = uniform<half>(2 * 2 * 1 * 128, -1, 1, 1);
  auto heads = input({2, 1, 2, 128}, k).permute({0, 2, 1, 3}); // tokens outside of heads
  auto memory = input({2, 12, 2, 128}, std::vector<half>(2 * 12 * 2 * 128, half(7)));
  auto values = input({2, 2, 12, 128}, std::vector<half>(2 * 12 * 2 * 128, half(7)));
  auto cache = memory.permute({0, 2, 1, 3});
  ops::kvCacheAppend(stream, heads, heads, cacheOf(cache, values, lengthsOf(c), {}));
  auto rows = TensorOf<half>(heads).download();
  auto expected = appended(c, std::vector<half>(2 * 12 * 2 * 128, half(7)), rows, 1, {});
  auto same = [](const std::vector<half> &a, const std::vector<half> &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](half x, half y) { return exact(x) == exact(y); });
  };
  EXPECT_TRUE(same(cache.download(), expected));
  EXPECT_TRUE(same(values.download(), expected));
}

// --- Attention -----------------------------------------------------------------------------------

TEST_P(KvCacheOp, LengthsWithinAndBeyondTheCache) {
  for (int64_t pageSize : {0, 16})
    check<half>({4, 2, 32, {0, 1, 15, 16, 17, 63, 64, 65, 95, 96, 97, 1000, -3}, 96, pageSize},
                kF16);
  check<half>({4, 2, 32, {0, 5}, 0}, kF16);
  check<half>({4, 2, 32, {}, 40}, kF16);
  check<half>({0, 0, 32, {3}, 40}, kF16);
}

TEST_P(KvCacheOp, GroupsOfHeads) {
  for (auto [heads, keyHeads] :
       {std::pair<int64_t, int64_t>{1, 1}, {5, 5}, {6, 2}, {16, 1}, {17, 1}, {70, 2}})
    check<half>({heads, keyHeads, 40, {50, 7}, 70}, kF16);
}

TEST_P(KvCacheOp, DtypesHeadSizesAndPrecisions) {
  for (int64_t head : {1, 57, 96, 128, 256}) {
    DecodeCase c = {4, 2, head, {70, 33}, 96}, paged = c;
    paged.pageSize = 32;
    check<half>(c, kF16), check<half>(paged, kF16);
    check<float>(c, kTf32, Precision::tf32), check<float>(paged, kF32);
    check<bfloat16>(paged, kBf16);
  }
  check<float>({4, 2, 64, {70, 33}, 96}, kF32, Precision::ieee);
}

TEST_P(KvCacheOp, LongCachesAreSplit) {
  for (int64_t pageSize : {0, 64}) {
    check<half>({4, 1, 64, {2048, 700, 3, 0}, 2048, pageSize}, kF16);
    check<float>({2, 1, 16, {3000}, 8192, pageSize}, kF32);
  }
}

TEST_P(KvCacheOp, PagesThatAreNotThere) {
  DecodeCase c = {2, 1, 16, {48, 40}, 48, 16}, rest = {2, 1, 16, {32, 24}, 32};
  auto q = uniform<float>(2 * 2 * 16, -2, 2, 1);
  auto k = cacheNumbers<float>(c, 2), v = cacheNumbers<float>(c, 3);
  auto table = c.table();
  table[1] = -1,
  table[3] = int(c.outer()); // the second page of the first sequence, the first of the second
  std::vector<float> restK(size_t(rest.numel())), restV(size_t(rest.numel()));
  for (int64_t b : {0, 1})
    for (int64_t j = 0; j < rest.length(b); ++j) {
      int64_t from = b == 0 ? (j < 16 ? j : j + 16) : j + 16;
      std::copy_n(k.begin() + c.row(b, 0, from), 16, restK.begin() + rest.row(b, 0, j));
      std::copy_n(v.begin() + c.row(b, 0, from), 16, restV.begin() + rest.row(b, 0, j));
    }
  Tensor deviceK = input({c.outer(), 1, 16, 16}, k), deviceV = input({c.outer(), 1, 16, 16}, v);
  Tensor out = ops::decodeAttention(stream, input({2, 2, 16}, q),
                                    cacheOf(deviceK, deviceV, lengthsOf(c), input({2, 3}, table)),
                                    {.scale = 0.3f});
  Doubles expected = reference(rest, q, restK, restV, 0.3f);
  expectAll(TensorOf<float>(out).download(), [&](int64_t i) { return expected[size_t(i)]; },
            {0.51, kF32});
}

TEST_P(KvCacheOp, MemoryOrdersAndDefaultScale) {
  DecodeCase c = {4, 2, 64, {21, 30}, 33};
  auto q = uniform<half>(2 * 4 * 64, -2, 2, 1);
  auto k = cacheNumbers<half>(c, 2), v = cacheNumbers<half>(c, 3);
  auto tokensOutside = [&](const std::vector<half> &x) {
    auto cache = device().tensor<half>({2, 33, 2, 64}).permute({0, 2, 1, 3});
    cache.upload(x);
    return cache;
  };
  auto headsOutside = device().tensor<half>({4, 2, 64}).permute({1, 0, 2});
  headsOutside.upload(q);
  auto memory = output<half>({4, 2, 64}, 1);
  auto out = memory.tensor().permute({1, 0, 2});
  ops::decodeAttention(stream, headsOutside,
                       cacheOf(tokensOutside(k), tokensOutside(v), lengthsOf(c), {}), out);
  memory.result();
  Doubles expected = reference(c, q, k, v, 0.125);
  expectAll(out.download(), [&](int64_t i) { return expected[size_t(i)]; }, {0.51, kF16});
}

TEST_P(KvCacheOp, SpecialValues) {
  DecodeCase c = {4, 1, 16, {40}, 700}; // split
  std::vector<float> q(4 * 16, 0.0f), k(size_t(c.numel()), 1.0f), v(size_t(c.numel()), 3.0f);
  for (int64_t d = 0; d < 16; ++d)
    q[size_t(16 + d)] = -INFINITY;
  q[2 * 16] = NAN, q[3 * 16] = INFINITY;
  Tensor deviceK = input({1, 1, 700, 16}, k), deviceV = input({1, 1, 700, 16}, v);
  Tensor out = ops::decodeAttention(stream, input({1, 4, 16}, q),
                                    cacheOf(deviceK, deviceV, lengthsOf(c), {}),
                                    {.precision = Precision::ieee});
  auto results = TensorOf<float>(out).download();
  for (size_t d = 0; d < 16; ++d) {
    EXPECT_NEAR(results[d], 3, 1e-6);
    EXPECT_EQ(results[16 + d], 0);
    EXPECT_TRUE(std::isnan(results[32 + d]) && std::isnan(results[48 + d]));
  }
}

TEST_P(KvCacheOp, SameBitsTwice) {
  DecodeCase c = {8, 2, 64, {900, 1024}, 1024, 64};
  auto k = cacheNumbers<half>(c, 2), v = cacheNumbers<half>(c, 3);
  std::vector<int64_t> extents = {c.outer(), 2, 64, 64};
  Tensor q = input({2, 8, 64}, uniform<half>(2 * 8 * 64, -2, 2, 1));
  Tensor deviceK = input(extents, k), deviceV = input(extents, v), lengths = lengthsOf(c),
         table = tableOf(c);
  auto bits = [&] {
    Tensor out = ops::decodeAttention(stream, q, cacheOf(deviceK, deviceV, lengths, table));
    std::vector<unsigned char> bytes(out.bytes());
    out.downloadBytes(bytes.data(), bytes.size());
    return bytes;
  };
  EXPECT_EQ(bits(), bits());
}

TEST_P(KvCacheOp, Refusals) {
  auto k = device().tensor<half>({2, 3, 40, 32}), v = device().tensor<half>({2, 3, 40, 32});
  auto lengths = device().tensor<int>({2}), table = device().tensor<int>({2, 4});
  auto q = device().tensor<half>({2, 6, 32}), out = device().tensor<half>({2, 6, 32});
  auto tokens = device().tensor<half>({2, 3, 1, 32});
  ops::KvCache cache = {.k = k, .v = v, .lengths = lengths};
  auto refuseDecode = [&](ErrorCode code, const std::string &words, const Tensor &q,
                          const ops::KvCache &cache, const Tensor &out) {
    expectRefused(code, "decodeAttention: " + words,
                  [&] { ops::decodeAttention(stream, q, cache, out); });
  };
  auto three = device().tensor<half>({3, 6, 32});
  refuseDecode(ErrorCode::InvalidShape, "cache.lengths.extent(0) is 2, but q.extent(0) is 3", three,
               cache, device().tensor<half>({3, 6, 32}));
  auto four = device().tensor<half>({2, 4, 32});
  refuseDecode(ErrorCode::InvalidShape, "q.extent(1) is 4, but cache.k.extent(1) is 3", four, cache,
               device().tensor<half>({2, 4, 32}));
  refuseDecode(ErrorCode::InvalidArgument, "q is f32 2x6x32, but out",
               device().tensor<float>({2, 6, 32}), cache, out);
  refuseDecode(ErrorCode::InvalidArgument, "cache.lengths is i64 2", q,
               {.k = k, .v = v, .lengths = device().tensor<int64_t>({2})}, out);
  refuseDecode(ErrorCode::InvalidShape, "cache.k.extent(2), the size of a page, is 40", q,
               {.k = k, .v = v, .lengths = lengths, .table = table}, out);
  refuseDecode(ErrorCode::Aliasing, "out overlaps q", q, cache, q);
  auto append = [&](ErrorCode code, const std::string &words, const Tensor &k,
                    const ops::KvCache &cache) {
    expectRefused(code, "kvCacheAppend: " + words,
                  [&] { ops::kvCacheAppend(stream, k, k, cache); });
  };
  append(ErrorCode::InvalidShape, "k is f16 2x6x32, of rank 3", q, cache);
  append(ErrorCode::InvalidShape, "k.extent(1) is 6, but cache.k.extent(1) is 3",
         device().tensor<half>({2, 6, 1, 32}), cache);
  append(ErrorCode::Aliasing, "cache.v overlaps cache.k", tokens,
         {.k = k, .v = k, .lengths = lengths});
  auto repeated = tokens.withStrides({2, 3, 40, 32}, {96, 32, 0, 1});
  append(ErrorCode::Aliasing, "cache.k", device().tensor<half>({2, 3, 1, 32}),
         {.k = repeated, .v = v, .lengths = lengths});
}

} // namespace
