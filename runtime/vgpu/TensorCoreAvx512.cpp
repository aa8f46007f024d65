// The multiplication of tensor cores with AVX-512. This file alone is compiled for such processors: it must not leave
// inline functions that others could pick up.
#include "runtime/vgpu/TensorCoreX86.h"

#ifdef __x86_64__

#include "runtime/vgpu/TensorCoreMultiply.h"

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

} // namespace

void multiplyAvx512(const ProductShape &shape, const float *a, const float *b, ConstRegisters c,
                    Registers d) {
  multiplyVectors<Avx512>(shape, a, b, c, d);
}

} // namespace tile::vgpu

#endif
