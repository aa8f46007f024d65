// Tensor cores with AVX-512; types other than f16 and bf16 are converted as with AVX2. This file alone is compiled for such processors: it must not leave
// inline functions that others could pick up.
#include "runtime/vgpu/isa/tensor/TensorCoreX86.h"

#ifdef __x86_64__

#include "runtime/vgpu/isa/tensor/TensorCoreMultiply.h"

#include <immintrin.h>

namespace tile::vgpu {
namespace {

struct Avx512 {
  using Type = __m512;
  static constexpr unsigned kLanes = 16, kVectors = 4, kBlocks = 2; // 16 sums of 32 registers

  TILE_ALWAYS_INLINE static Type zero() { return _mm512_setzero_ps(); }
  TILE_ALWAYS_INLINE static Type load(const float *from) { return _mm512_load_ps(from); }
  TILE_ALWAYS_INLINE static Type repeat(const float *group) {
    return _mm512_broadcast_f32x4(_mm_load_ps(group));
  }
  template <unsigned T> TILE_ALWAYS_INLINE static Type splat(Type rows) {
    return _mm512_permute_ps(rows, T * 0x55);
  }
  TILE_ALWAYS_INLINE static Type multiplyAdd(Type a, Type b, Type c) {
    return _mm512_fmadd_ps(a, b, c);
  }

  TILE_ALWAYS_INLINE static Type loadFloats(const uint32_t *from) { return _mm512_loadu_ps(from); }
  TILE_ALWAYS_INLINE static void storeFloats(uint32_t *to, Type sums) {
    __mmask16 isNan = _mm512_cmp_ps_mask(sums, sums, _CMP_UNORD_Q);
    _mm512_storeu_si512(to, _mm512_mask_set1_epi32(_mm512_castps_si512(sums), isNan, INT32_MAX));
  }
  TILE_ALWAYS_INLINE static void loadHalves(const uint32_t *from, Type (&sums)[2]) {
    __m512i words = _mm512_loadu_si512(from);
    sums[0] = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(words));
    sums[1] = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(words, 16)));
  }
  TILE_ALWAYS_INLINE static void storeHalves(uint32_t *to, const Type (&sums)[2]) {
    _mm512_storeu_si512(to, _mm512_or_si512(halvesOfFloats(sums[0]),
                                            _mm512_slli_epi32(halvesOfFloats(sums[1]), 16)));
  }
  template <bool Saturate>
  TILE_ALWAYS_INLINE static void storeIntegers(uint32_t *to, const uint32_t *c, Type sums) {
    __m512i products = _mm512_cvtps_epi32(sums),
            start = c ? _mm512_loadu_si512(c) : _mm512_setzero_si512(),
            total = _mm512_add_epi32(products, start);
    if constexpr (Saturate) {
      // It overflowed if both terms have the sign that the sum has not.
      __mmask16 overflow = _mm512_movepi32_mask(
          _mm512_and_si512(_mm512_xor_si512(total, start), _mm512_xor_si512(total, products)));
      total = _mm512_mask_xor_epi32(total, overflow, _mm512_srai_epi32(start, 31),
                                    _mm512_set1_epi32(INT32_MAX));
    }
    _mm512_storeu_si512(to, total);
  }

private:
  TILE_ALWAYS_INLINE static __m512i halvesOfFloats(Type values) {
    __m512i halves = _mm512_cvtepu16_epi32(_mm512_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
    return _mm512_mask_set1_epi32(halves, _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q), 0x7fff);
  }
};

template <TensorElement E> TILE_ALWAYS_INLINE __m512 floatsOf(__m256i halves) {
  if constexpr (E == TensorElement::F16)
    return _mm512_cvtph_ps(halves);
  else
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

// The 16-bit elements of 32 words: those of a register.
struct RegisterElements {
  __m512i low, high; // lanes 0 to 15, and from 16 on

  TILE_ALWAYS_INLINE explicit RegisterElements(const uint32_t *words)
      : low(_mm512_loadu_si512(words)), high(_mm512_loadu_si512(words + 16)) {}

  /// Takes the elements at `places` (2 * word + j) as floats: 16 and 16.
  template <TensorElement E>
  TILE_ALWAYS_INLINE void take(__m512i places, __m512 (&values)[2]) const {
    __m512i taken = _mm512_permutex2var_epi16(low, places, high);
    values[0] = floatsOf<E>(_mm512_castsi512_si256(taken));
    values[1] = floatsOf<E>(_mm512_extracti64x4_epi64(taken, 1));
  }
};

struct alignas(64) Places {
  uint16_t value[32];
  TILE_ALWAYS_INLINE __m512i load() const { return _mm512_load_si512(value); }
};

// Element j of each word.
constexpr Places placesOfElement(unsigned j) {
  Places places{};
  for (unsigned word = 0; word < kLaneCount; ++word)
    places.value[word] = static_cast<uint16_t>(2 * word + j);
  return places;
}

template <TensorElement E>
void convertPairs(const uint32_t *words, float *values, size_t stride, uint32_t flip) {
  static constexpr Places kPlaces[2] = {placesOfElement(0), placesOfElement(1)};
  __m512 flips = _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(flip)));
  RegisterElements elements(words);
  for (unsigned j = 0; j < 2; ++j) {
    __m512 pair[2];
    elements.take<E>(kPlaces[j].load(), pair);
    for (unsigned half = 0; half < 2; ++half)
      _mm512_storeu_ps(values + j * stride + 16 * half, _mm512_xor_ps(pair[half], flips));
  }
}

void convert(TensorElement element, const uint32_t *words, float *values, size_t stride,
             uint32_t flip) {
  if (element == TensorElement::F16)
    convertPairs<TensorElement::F16>(words, values, stride, flip);
  else if (element == TensorElement::BF16)
    convertPairs<TensorElement::BF16>(words, values, stride, flip);
  else
    kAvx2Kernels.convert(element, words, values, stride, flip);
}

// Four rows of the block from k on, even columns first. Word `k / 2` of column c is the register's 4 * c + k / 2.
constexpr Places placesOfRows(unsigned k) {
  Places places{};
  for (unsigned i = 0; i < 32; ++i) {
    unsigned row = k + i / kRowFloats, place = i % kRowFloats,
             column = place < 4 ? 2 * place : 2 * (place - 4) + 1;
    places.value[i] = static_cast<uint16_t>(2 * (4 * column + row / 2) + row % 2);
  }
  return places;
}

template <TensorElement E>
void convertColumnPairs(ConstRegisters chunks, unsigned count, float *rows) {
  static constexpr Places kPlaces[2] = {placesOfRows(0), placesOfRows(4)};
  for (unsigned chunk = 0; chunk < count; ++chunk)
    for (RegisterElements elements(chunks[chunk]); const Places &places : kPlaces) {
      __m512 pair[2];
      elements.take<E>(places.load(), pair);
      for (unsigned half = 0; half < 2; ++half, rows += 2 * kRowFloats)
        _mm512_storeu_ps(rows, pair[half]);
    }
}

void convertColumns(TensorElement element, ConstRegisters chunks, unsigned count, float *rows) {
  if (element == TensorElement::F16)
    convertColumnPairs<TensorElement::F16>(chunks, count, rows);
  else if (element == TensorElement::BF16)
    convertColumnPairs<TensorElement::BF16>(chunks, count, rows);
  else
    kAvx2Kernels.convertColumns(element, chunks, count, rows);
}

// Two rows at a time; depths are even.
void convertRows(TensorElement element, const uint8_t *const *elements, unsigned depth,
                 float *rows) {
  __m512i evenThenOdd = _mm512_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
  auto row = [&](unsigned k) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i *>(elements[k]));
  };
  for (unsigned k = 0; k < depth; k += 2) {
    __m256i halves = _mm256_set_m128i(row(k + 1), row(k));
    __m512 columns =
        element == TensorElement::F16
            ? _mm512_cvtph_ps(halves)
            : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
    _mm512_storeu_ps(rows + k * kRowFloats, _mm512_permutexvar_ps(evenThenOdd, columns));
  }
}

} // namespace

const TensorKernels kAvx512Kernels = {"AVX-512", convert, convertColumns, convertRows,
                                      multiplyVectors<Avx512>};

} // namespace tile::vgpu

#endif
