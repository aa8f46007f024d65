// The multiplication of TensorCore.h over vectors of W lanes, for the files that name an instruction set.
//
// A vector of D holds W/4 rows and, of each, four columns of one parity. For one k its rows of A are one vector in which each
// group of four lanes repeats its row's element, and B is one group of four columns, repeated: both cost one instruction. C
// and D are used as they lie in registers.
//
// `Vector` has the operations. Everything here is inline and in the including file's own namespace, since each is
// compiled for another processor.
#pragma once

#include "runtime/vgpu/isa/tensor/TensorCore.h"

namespace tile::vgpu {
namespace {

#define TILE_ALWAYS_INLINE inline __attribute__((always_inline))

constexpr unsigned kLaneCount = 32, kRowFloats = kBlockColumns, kStepFloats = 2 * kLaneCount;

// Where a group of vectors stands in D: `Vectors` neighbours of the 2 * 32 / W that make up 16 rows.
template <class Vector, unsigned Vectors, unsigned Blocks> struct Sums {
  typename Vector::Type value[Blocks][Vectors][2]; // by parity of the column
};

template <class Vector, unsigned Vectors, unsigned Blocks, unsigned T>
TILE_ALWAYS_INLINE void addProduct(const float *a, const float *b, size_t blockFloats,
                                   Sums<Vector, Vectors, Blocks> &sums) {
  typename Vector::Type rows[Vectors];
#pragma GCC unroll 8
  for (unsigned v = 0; v < Vectors; ++v)
    rows[v] = Vector::template splat<T>(Vector::load(a + v * Vector::kLanes));
#pragma GCC unroll 8
  for (unsigned block = 0; block < Blocks; ++block) {
    auto even = Vector::repeat(b + block * blockFloats),
         odd = Vector::repeat(b + block * blockFloats + 4);
#pragma GCC unroll 8
    for (unsigned v = 0; v < Vectors; ++v) {
      sums.value[block][v][0] = Vector::multiplyAdd(rows[v], even, sums.value[block][v][0]);
      sums.value[block][v][1] = Vector::multiplyAdd(rows[v], odd, sums.value[block][v][1]);
    }
  }
}

// All products of these rows and blocks, in order of k.
template <class Vector, unsigned E, unsigned Vectors, unsigned Blocks>
TILE_ALWAYS_INLINE void addProducts(const float *a, const float *b, unsigned chunks,
                                    size_t blockFloats, Sums<Vector, Vectors, Blocks> &sums) {
  auto step = [&]<unsigned T>(const float *chunkA, const float *&row)
      __attribute__((always_inline)) {
#pragma GCC unroll 4
    for (unsigned j = 0; j < E; ++j, row += kRowFloats)
      addProduct<Vector, Vectors, Blocks, T>(chunkA + j * kStepFloats, row, blockFloats, sums);
  };
  for (unsigned chunk = 0; chunk < chunks; ++chunk, a += E * kStepFloats) {
    step.template operator()<0>(a, b);
    step.template operator()<1>(a, b);
    step.template operator()<2>(a, b);
    step.template operator()<3>(a, b);
  }
}

// A place in the registers of D and C: register rows begin at `block * registers a block`, lanes at `lane`.
struct Place {
  unsigned block, half, lane;
};

template <class Vector, SumType Sum>
TILE_ALWAYS_INLINE void loadSums(ConstRegisters c, Place place, typename Vector::Type (&sums)[2]) {
  if (!c || Sum == SumType::S32 || Sum == SumType::S32Saturated) {
    sums[0] = sums[1] = Vector::zero();
  } else if constexpr (Sum == SumType::F16) {
    Vector::loadHalves(c[2 * place.block + place.half] + place.lane, sums);
  } else {
    for (unsigned parity = 0; parity < 2; ++parity)
      sums[parity] = Vector::loadFloats(c[4 * place.block + 2 * place.half + parity] + place.lane);
  }
}

template <class Vector, SumType Sum>
TILE_ALWAYS_INLINE void storeSums(ConstRegisters c, Registers d, Place place,
                                  const typename Vector::Type (&sums)[2]) {
  if constexpr (Sum == SumType::F16) {
    Vector::storeHalves(d[2 * place.block + place.half] + place.lane, sums);
  } else {
    for (unsigned parity = 0; parity < 2; ++parity) {
      unsigned index = 4 * place.block + 2 * place.half + parity;
      if constexpr (Sum == SumType::F32)
        Vector::storeFloats(d[index] + place.lane, sums[parity]);
      else
        Vector::template storeIntegers<Sum == SumType::S32Saturated>(
            d[index] + place.lane, c ? c[index] + place.lane : nullptr, sums[parity]);
    }
  }
}

template <class Vector, unsigned E, SumType Sum, unsigned Vectors, unsigned Blocks>
TILE_ALWAYS_INLINE void multiplyBlocks(unsigned firstBlock, unsigned chunks, const float *a,
                                       const float *b, ConstRegisters c, Registers d) {
  constexpr unsigned kVectorsPerHalf = kLaneCount / Vector::kLanes;
  size_t blockFloats = size_t{chunks} * 4 * E * kRowFloats;
  for (unsigned first = 0; first < 2 * kVectorsPerHalf; first += Vectors) {
    Sums<Vector, Vectors, Blocks> sums;
    auto place = [&](unsigned block, unsigned v) {
      return Place{firstBlock + block, (first + v) / kVectorsPerHalf,
                   (first + v) % kVectorsPerHalf * Vector::kLanes};
    };
#pragma GCC unroll 8
    for (unsigned block = 0; block < Blocks; ++block)
#pragma GCC unroll 8
      for (unsigned v = 0; v < Vectors; ++v)
        loadSums<Vector, Sum>(c, place(block, v), sums.value[block][v]);
    addProducts<Vector, E, Vectors, Blocks>(
        a + first * Vector::kLanes, b + firstBlock * blockFloats, chunks, blockFloats, sums);
#pragma GCC unroll 8
    for (unsigned block = 0; block < Blocks; ++block)
#pragma GCC unroll 8
      for (unsigned v = 0; v < Vectors; ++v)
        storeSums<Vector, Sum>(c, d, place(block, v), sums.value[block][v]);
  }
}

template <class Vector, unsigned E, SumType Sum>
void multiplyShape(const ProductShape &shape, const float *a, const float *b, ConstRegisters c,
                   Registers d) {
  unsigned block = 0;
  for (; block + Vector::kBlocks <= shape.blocks; block += Vector::kBlocks)
    multiplyBlocks<Vector, E, Sum, Vector::kVectors, Vector::kBlocks>(block, shape.chunks, a, b, c,
                                                                      d);
  for (; block < shape.blocks; ++block)
    multiplyBlocks<Vector, E, Sum, Vector::kVectors, 1>(block, shape.chunks, a, b, c, d);
}

template <class Vector, unsigned E>
void multiplySum(const ProductShape &shape, const float *a, const float *b, ConstRegisters c,
                 Registers d) {
  switch (shape.sum) {
  case SumType::F32:
    return multiplyShape<Vector, E, SumType::F32>(shape, a, b, c, d);
  case SumType::F16:
    return multiplyShape<Vector, E, SumType::F16>(shape, a, b, c, d);
  case SumType::S32:
    return multiplyShape<Vector, E, SumType::S32>(shape, a, b, c, d);
  case SumType::S32Saturated:
    return multiplyShape<Vector, E, SumType::S32Saturated>(shape, a, b, c, d);
  }
}

template <class Vector>
void multiplyVectors(const ProductShape &shape, const float *a, const float *b, ConstRegisters c,
                     Registers d) {
  switch (elementsPerWord(shape.a)) {
  case 1:
    return multiplySum<Vector, 1>(shape, a, b, c, d);
  case 2:
    return multiplySum<Vector, 2>(shape, a, b, c, d);
  default:
    return multiplySum<Vector, 4>(shape, a, b, c, d);
  }
}

} // namespace
} // namespace tile::vgpu
