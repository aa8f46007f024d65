// Enumerators of the language and of the dialect have the same numbers: attributes of nodes carry them as such.
#include "frontend/trace/DialectNumbers.h"

#include "ir/tile/TileDialect.h"

#include <tile/Atomics.h>
#include <tile/Hinted.h>
#include <tile/Ops.h>
#include <tile/View.h>

namespace tile::frontend {

template <class Ours, class Theirs> static constexpr bool isSame(Ours ours, Theirs theirs) {
  return static_cast<uint32_t>(ours) == static_cast<uint32_t>(theirs);
}

static_assert(isSame(AtomicKind::Add, ir::AtomicKind::Add));
static_assert(isSame(AtomicKind::Min, ir::AtomicKind::Min));
static_assert(isSame(AtomicKind::Max, ir::AtomicKind::Max));
static_assert(isSame(AtomicKind::UMin, ir::AtomicKind::UMin));
static_assert(isSame(AtomicKind::UMax, ir::AtomicKind::UMax));
static_assert(isSame(AtomicKind::And, ir::AtomicKind::And));
static_assert(isSame(AtomicKind::Or, ir::AtomicKind::Or));
static_assert(isSame(AtomicKind::Xor, ir::AtomicKind::Xor));
static_assert(isSame(AtomicKind::Xchg, ir::AtomicKind::Xchg));
static_assert(isSame(AtomicKind::Xchg, ir::getMaxEnumValForAtomicKind()));

static_assert(isSame(MemorySem::relaxed, ir::MemoryOrder::Relaxed));
static_assert(isSame(MemorySem::acquire, ir::MemoryOrder::Acquire));
static_assert(isSame(MemorySem::release, ir::MemoryOrder::Release));
static_assert(isSame(MemorySem::acq_rel, ir::MemoryOrder::AcqRel));
static_assert(isSame(MemorySem::acq_rel, ir::getMaxEnumValForMemoryOrder()));

static_assert(isSame(MemoryScope::cta, ir::MemoryScope::Cta));
static_assert(isSame(MemoryScope::gpu, ir::MemoryScope::Gpu));
static_assert(isSame(MemoryScope::sys, ir::MemoryScope::Sys));
static_assert(isSame(MemoryScope::sys, ir::getMaxEnumValForMemoryScope()));

static_assert(isSame(Cache::any, ir::CacheMode::Default));
static_assert(isSame(Cache::ca, ir::CacheMode::Ca));
static_assert(isSame(Cache::cg, ir::CacheMode::Cg));
static_assert(isSame(Cache::cs, ir::CacheMode::Cs));
static_assert(isSame(Cache::cv, ir::CacheMode::Cv));
static_assert(isSame(Cache::wb, ir::CacheMode::Wb));
static_assert(isSame(Cache::wt, ir::CacheMode::Wt));
static_assert(isSame(Cache::wt, ir::getMaxEnumValForCacheMode()));

static_assert(isSame(Evict::normal, ir::Eviction::Normal));
static_assert(isSame(Evict::first, ir::Eviction::First));
static_assert(isSame(Evict::last, ir::Eviction::Last));
static_assert(isSame(Evict::last, ir::getMaxEnumValForEviction()));

static_assert(isSame(CopyBy::any, gpu::LoadVariant::Undecided));
static_assert(isSame(CopyBy::cp_async, gpu::LoadVariant::CpAsync));
static_assert(isSame(CopyBy::vector, gpu::LoadVariant::Vector));
static_assert(isSame(CopyBy::scalar, gpu::LoadVariant::Scalar));
static_assert(isSame(CopyBy::tma, gpu::LoadVariant::Tma));
static_assert(isSame(CopyBy::tma, gpu::getMaxEnumValForLoadVariant()));

static_assert(isSame(CopyBy::any, gpu::StoreVariant::Undecided));
static_assert(isSame(CopyBy::vector, gpu::StoreVariant::Vector));
static_assert(isSame(CopyBy::scalar, gpu::StoreVariant::Scalar));
static_assert(isSame(CopyBy::tma, gpu::StoreVariant::Tma));
static_assert(isSame(CopyBy::quad, gpu::StoreVariant::Quad));
static_assert(isSame(CopyBy::quad, gpu::getMaxEnumValForStoreVariant()));

static_assert(isSame(Mma::any, gpu::DotVariant::Undecided));
static_assert(isSame(Mma::mma_sync, gpu::DotVariant::MmaSync));
static_assert(isSame(Mma::fma, gpu::DotVariant::Fma));
static_assert(isSame(Mma::wgmma, gpu::DotVariant::Wgmma));
static_assert(isSame(Mma::wgmma, gpu::getMaxEnumValForDotVariant()));

static_assert(isSame(Precision::ieee, ir::Precision::Ieee));
static_assert(isSame(Precision::tf32, ir::Precision::Tf32));
static_assert(isSame(Precision::tf32x3, ir::Precision::Tf32x3));
static_assert(isSame(Precision::bf16x3, ir::Precision::Bf16x3));
static_assert(isSame(Precision::bf16x6, ir::Precision::Bf16x6));
static_assert(isSame(Precision::bf16x6, ir::getMaxEnumValForPrecision()));

static_assert(isSame(Round::rtne, ir::Rounding::NearestEven));
static_assert(isSame(Round::rtz, ir::Rounding::TowardZero));
static_assert(isSame(Round::rtz, ir::getMaxEnumValForRounding()));

static_assert(isSame(detail::Padding::Zero, ir::Padding::Zero));
static_assert(isSame(detail::Padding::Nan, ir::Padding::Nan));
static_assert(isSame(detail::Padding::Nan, ir::getMaxEnumValForPadding()));

} // namespace tile::frontend
