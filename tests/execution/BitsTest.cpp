// Functions of the bits of integers, against loops over the bits.
#include "tests/execution/Harness.h"

#include <type_traits>

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Bits, Targets::One);

template <class T> constexpr int kWidth = 8 * sizeof(T);

template <class T> bool bit(T x, int at) {
  return static_cast<std::make_unsigned_t<T>>(x) >> at & 1;
}

template <class T> T numberSet(T x) {
  int count = 0;
  for (int at = 0; at < kWidth<T>; ++at)
    count += bit(x, at);
  return static_cast<T>(count);
}

template <class T> T leadingZeros(T x) {
  int count = 0;
  while (count < kWidth<T> && !bit(x, kWidth<T> - 1 - count))
    ++count;
  return static_cast<T>(count);
}

template <class T> T trailingZeros(T x) {
  int count = 0;
  while (count < kWidth<T> && !bit(x, count))
    ++count;
  return static_cast<T>(count);
}

template <class T> T backwards(T x) {
  std::make_unsigned_t<T> result = 0;
  for (int at = 0; at < kWidth<T>; ++at)
    result = static_cast<std::make_unsigned_t<T>>(result << 1 | bit(x, at));
  return static_cast<T>(result);
}

TEST_P(Bits, OfEveryWidthAndSign) {
  auto check = [&]<class T>(T) {
    SCOPED_TRACE(nameOf(dtypeOf<T>));
    std::vector<T> x = edges<T>();
    for (int at = 0; at < kWidth<T>; ++at)
      x.push_back(static_cast<T>(std::make_unsigned_t<T>(1) << at));
    Random random(21);
    for (int i = 0; i < 300; ++i)
      x.push_back(static_cast<T>(random.bits() >> random.bits() % kWidth<T>));
    mapRows<T>(
        [](Value a) {
          return std::vector<Value>{popcount(a), clz(a), ctz(a), reverse_bits(a)};
        },
        std::vector<Row<T (*)(T)>>{{"popcount", numberSet<T>, {}},
                                   {"clz", leadingZeros<T>, {}},
                                   {"ctz", trailingZeros<T>, {}},
                                   {"reverse_bits", backwards<T>, {}}},
        x);
  };
  check(int8_t()), check(uint8_t()), check(int16_t()), check(uint16_t());
  check(int32_t()), check(uint32_t()), check(int64_t()), check(uint64_t());
}

} // namespace
