// Tensor cores with AVX2, FMA and F16C.
#include "runtime/vgpu/isa/tensor/TensorCoreX86.h"

#ifdef __x86_64__

#include "runtime/vgpu/isa/tensor/TensorCoreMultiply.h"

#include <immintrin.h>

namespace tile::vgpu {
namespace {

struct Avx2 {
  using Type = __m256;
  static constexpr unsigned kLanes = 8, kVectors = 2,
                            kBlocks = 2; // 8 sums: as many as FMA's latency needs

  TILE_ALWAYS_INLINE static Type zero() { return _mm256_setzero_ps(); }
  TILE_ALWAYS_INLINE static Type load(const float *from) { return _mm256_load_ps(from); }
  TILE_ALWAYS_INLINE static Type repeat(const float *group) {
    return _mm256_broadcast_ps(reinterpret_cast<const __m128 *>(group));
  }
  template <unsigned T> TILE_ALWAYS_INLINE static Type splat(Type rows) {
    return _mm256_permute_ps(rows, T * 0x55);
  }
  TILE_ALWAYS_INLINE static Type multiplyAdd(Type a, Type b, Type c) {
    return _mm256_fmadd_ps(a, b, c);
  }

  TILE_ALWAYS_INLINE static Type loadFloats(const uint32_t *from) {
    return _mm256_loadu_ps(reinterpret_cast<const float *>(from));
  }
  TILE_ALWAYS_INLINE static void storeFloats(uint32_t *to, Type sums) {
    Type nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    _mm256_storeu_ps(reinterpret_cast<float *>(to),
                     _mm256_blendv_ps(sums, nan, _mm256_cmp_ps(sums, sums, _CMP_UNORD_Q)));
  }
  TILE_ALWAYS_INLINE static void loadHalves(const uint32_t *from, Type (&sums)[2]) {
    __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from));
    sums[0] = floatsOfHalves(_mm256_and_si256(words, _mm256_set1_epi32(0xffff)));
    sums[1] = floatsOfHalves(_mm256_srli_epi32(words, 16));
  }
  TILE_ALWAYS_INLINE static void storeHalves(uint32_t *to, const Type (&sums)[2]) {
    __m256i words =
        _mm256_or_si256(halvesOfFloats(sums[0]), _mm256_slli_epi32(halvesOfFloats(sums[1]), 16));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), words);
  }
  template <bool Saturate>
  TILE_ALWAYS_INLINE static void storeIntegers(uint32_t *to, const uint32_t *c, Type sums) {
    __m256i products = _mm256_cvtps_epi32(sums),
            start = c ? _mm256_loadu_si256(reinterpret_cast<const __m256i *>(c))
                      : _mm256_setzero_si256(),
            total = _mm256_add_epi32(products, start);
    if constexpr (Saturate) {
      // It overflowed if both terms have the sign that the sum has not.
      __m256i overflow = _mm256_and_si256(_mm256_xor_si256(total, start),
                                          _mm256_xor_si256(total, products)),
              limit = _mm256_xor_si256(_mm256_srai_epi32(start, 31), _mm256_set1_epi32(INT32_MAX));
      total = _mm256_castps_si256(_mm256_blendv_ps(
          _mm256_castsi256_ps(total), _mm256_castsi256_ps(limit), _mm256_castsi256_ps(overflow)));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), total);
  }

  // Converts the low half of each word, whose high half is 0.
  TILE_ALWAYS_INLINE static Type floatsOfHalves(__m256i words) {
    return _mm256_cvtph_ps(
        _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
  }
  TILE_ALWAYS_INLINE static __m256i halvesOfFloats(Type values) {
    __m256i halves = _mm256_cvtepu16_epi32(_mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT)),
            isNan = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
    return _mm256_blendv_epi8(halves, _mm256_set1_epi32(0x7fff), isNan);
  }
};

// Element j of each word, as a float.
template <TensorElement E> TILE_ALWAYS_INLINE __m256 element(__m256i words, int j) {
  __m256i low8 = _mm256_set1_epi32(255),
          byte = _mm256_and_si256(_mm256_srl_epi32(words, _mm_cvtsi32_si128(8 * j)), low8);
  if constexpr (E == TensorElement::F16) {
    return Avx2::floatsOfHalves(j ? _mm256_srli_epi32(words, 16)
                                  : _mm256_and_si256(words, _mm256_set1_epi32(0xffff)));
  } else if constexpr (E == TensorElement::BF16) {
    return _mm256_castsi256_ps(j ? _mm256_andnot_si256(_mm256_set1_epi32(0xffff), words)
                                 : _mm256_slli_epi32(words, 16));
  } else if constexpr (E == TensorElement::TF32) {
    return _mm256_castsi256_ps(_mm256_andnot_si256(_mm256_set1_epi32(0x1fff), words));
  } else if constexpr (E == TensorElement::E5M2) {
    return Avx2::floatsOfHalves(_mm256_slli_epi32(byte, 8)); // the upper byte of a half
  } else if constexpr (E == TensorElement::E4M3) {
    // As a half its exponent is 8 too low; what would be that half's 1.875 is NaN.
    __m256i size = _mm256_and_si256(byte, _mm256_set1_epi32(127)),
            sign = _mm256_slli_epi32(_mm256_xor_si256(byte, size), 8),
            isNan = _mm256_cmpeq_epi32(size, _mm256_set1_epi32(127));
    __m256 value =
        _mm256_mul_ps(Avx2::floatsOfHalves(_mm256_or_si256(sign, _mm256_slli_epi32(size, 7))),
                      _mm256_set1_ps(256));
    return _mm256_or_ps(value, _mm256_castsi256_ps(isNan));
  } else if constexpr (E == TensorElement::U8) {
    return _mm256_cvtepi32_ps(byte);
  } else {
    return _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(byte, 24), 24));
  }
}

template <TensorElement E>
void convertElements(const uint32_t *words, float *values, size_t stride, uint32_t flip) {
  __m256 flips = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(flip)));
  for (unsigned first = 0; first < kLaneCount; first += 8) {
    __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(words + first));
    for (unsigned j = 0; j < elementsPerWord(E); ++j)
      _mm256_storeu_ps(values + j * stride + first,
                       _mm256_xor_ps(element<E>(some, static_cast<int>(j)), flips));
  }
}

void convert(TensorElement element, const uint32_t *words, float *values, size_t stride,
             uint32_t flip) {
  switch (element) {
  case TensorElement::F16:
    return convertElements<TensorElement::F16>(words, values, stride, flip);
  case TensorElement::BF16:
    return convertElements<TensorElement::BF16>(words, values, stride, flip);
  case TensorElement::TF32:
    return convertElements<TensorElement::TF32>(words, values, stride, flip);
  case TensorElement::E4M3:
    return convertElements<TensorElement::E4M3>(words, values, stride, flip);
  case TensorElement::E5M2:
    return convertElements<TensorElement::E5M2>(words, values, stride, flip);
  case TensorElement::U8:
    return convertElements<TensorElement::U8>(words, values, stride, flip);
  case TensorElement::S8:
    return convertElements<TensorElement::S8>(words, values, stride, flip);
  }
}

// [column][word] floats of one j become rows of the block: k advances by `rowStride` floats a word. Each vector holds an even
// column and the next: transposing both halves by fours gives even columns, then odd ones.
void transpose(const float *values, size_t rowStride, float *rows) {
  __m256 c01 = _mm256_loadu_ps(values), c23 = _mm256_loadu_ps(values + 8),
         c45 = _mm256_loadu_ps(values + 16), c67 = _mm256_loadu_ps(values + 24);
  __m256d low03 = _mm256_castps_pd(_mm256_unpacklo_ps(c01, c23)),
          low47 = _mm256_castps_pd(_mm256_unpacklo_ps(c45, c67)),
          high03 = _mm256_castps_pd(_mm256_unpackhi_ps(c01, c23)),
          high47 = _mm256_castps_pd(_mm256_unpackhi_ps(c45, c67));
  auto put = [&](unsigned word, __m256d row) {
    _mm256_storeu_ps(rows + word * rowStride, _mm256_castpd_ps(row));
  };
  put(0, _mm256_unpacklo_pd(low03, low47));
  put(1, _mm256_unpackhi_pd(low03, low47));
  put(2, _mm256_unpacklo_pd(high03, high47));
  put(3, _mm256_unpackhi_pd(high03, high47));
}

void convertColumns(TensorElement element, ConstRegisters chunks, unsigned count, float *rows) {
  alignas(64) float values[kMaxWordElements * kLaneCount];
  unsigned e = elementsPerWord(element);
  for (unsigned chunk = 0; chunk < count; ++chunk, rows += 4 * e * kRowFloats) {
    convert(element, chunks[chunk], values, kLaneCount, 0);
    for (unsigned j = 0; j < e; ++j)
      transpose(values + j * kLaneCount, e * kRowFloats, rows + j * kRowFloats);
  }
}

void convertRows(TensorElement element, const uint8_t *const *elements, unsigned depth,
                 float *rows) {
  __m256i evenThenOdd = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
  for (unsigned k = 0; k < depth; ++k) {
    __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i *>(elements[k]));
    __m256 columns =
        element == TensorElement::F16
            ? _mm256_cvtph_ps(halves)
            : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
    _mm256_storeu_ps(rows + k * kRowFloats, _mm256_permutevar8x32_ps(columns, evenThenOdd));
  }
}

} // namespace

const TensorKernels kAvx2Kernels = {"AVX2", convert, convertColumns, convertRows,
                                    multiplyVectors<Avx2>};

} // namespace tile::vgpu

#endif
