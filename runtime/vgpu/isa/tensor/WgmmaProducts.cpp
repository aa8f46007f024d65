// The products of wgmma. Those that add to the same sums one after the other are one long product, so that sums stay in
// vector registers, and matrices B that several of them share are converted once.
#include "runtime/vgpu/isa/tensor/BitProduct.h"
#include "runtime/vgpu/isa/tensor/WgmmaForm.h"
#include "runtime/vgpu/machine/Launch.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

using Issue = Warpgroup::Issue;

// Instructions whose products are sums of one chain, in order.
struct Chain {
  std::span<Issue *const> issues;

  const Op &op() const { return *issues[0]->op; }
  WgmmaForm form() const { return formOf<WgmmaForm>(op()); }
  ProductShape product() const {
    ProductShape product = form().product();
    product.chunks *= static_cast<unsigned>(issues.size());
    return product;
  }
  bool hasMatricesOf(const Chain &other) const {
    auto isSame = [](const Issue *x, const Issue *y) { return x->descriptorB == y->descriptorB; };
    return form() == other.form() && std::ranges::equal(issues, other.issues, isSame);
  }
};

// Sums in f32 alone are the same whether they are stored in between or not.
bool continues(const Issue &issue, const Issue &before, int sumArch) {
  const Op &op = *issue.op, &earlier = *before.op;
  auto form = formOf<WgmmaForm>(op);
  return issue.accumulates && form == formOf<WgmmaForm>(earlier) && op.targets == earlier.targets &&
         form.sum == SumType::F32 && sumArch == 0 && !form.isSparse &&
         std::equal(op.rows, op.rows + op.targets, earlier.rows);
}

// The longest chain at the front.
Chain firstChain(std::span<Issue *const> issues, int sumArch) {
  constexpr size_t kMost = kMaxChunks / kChunksOfMatrix;
  size_t length = 1;
  while (length < std::min(issues.size(), kMost) &&
         continues(*issues[length], *issues[length - 1], sumArch))
    ++length;
  return {issues.first(length)};
}

// The matrices of a chain, along the depth.
struct Matrices {
  SharedMatrix all[kMaxChunks / kChunksOfMatrix];
  size_t count = 0;
  operator std::span<const SharedMatrix>() const { return {all, count}; }
};

Matrices matricesOf(Warp &warp, const Chain &chain, uint64_t Issue::*descriptor,
                    const MatrixExtent &extent) {
  Matrices matrices;
  for (const Issue *issue : chain.issues)
    matrices.all[matrices.count++] = wgmmaMatrix(warp, *issue->op, issue->*descriptor, extent);
  return matrices;
}

void prepareRegisters(Warp &warp, const Chain &chain, const ProductShape &product, PreparedA &a) {
  const uint32_t *registers[2 * kMaxChunks];
  unsigned count = 0;
  for (const Issue *issue : chain.issues)
    for (unsigned r = 0; r < kRegistersOfA; ++r)
      registers[count++] = warp.row<uint32_t>(rowsOfA(*issue->op)[r]);
  prepareA(product, registers, a);
}

// `b` has been prepared.
void multiplyChain(Cta &cta, Warpgroup &group, const Chain &chain, const SharedBytes &shared,
                   const PreparedB &b) {
  const Op &op = chain.op();
  WgmmaForm form = chain.form();
  ProductShape product = chain.product();
  PreparedA a;
  Matrices matrices;
  if (!form.aInRegisters)
    matrices = matricesOf(memberOf(cta, group, 0), chain, &Issue::descriptorA, form.extentOfA());
  for (unsigned position = 0; position < kWarpsOfGroup; ++position) {
    Warp &warp = memberOf(cta, group, position);
    if (form.aInRegisters)
      prepareRegisters(warp, chain, product, a);
    else
      prepareA(product, matrices, shared, position, a);
    uint32_t *d[4 * kMaxBlocks];
    for (unsigned r = 0; r < op.targets; ++r)
      d[r] = warp.row<uint32_t>(op.rows[r]);
    uint32_t **start = chain.issues[0]->accumulates ? d : nullptr;
    if (auto rule = hardwareRule(cta.launch->program().sumArch, product, true))
      multiplyAs(*rule, product, a, b, start, d);
    else
      multiply(product, a, b, start, d);
  }
}

// Counts of bits that A's row and B's column have in common.
void computeBits(Cta &cta, Warpgroup &group, const Issue &issue) {
  const Op &op = *issue.op;
  auto form = formOf<WgmmaForm>(op);
  SharedBytes shared{std::span(cta.shared.data(), cta.launch->sharedBytes()), kSharedBase};
  Warp &first = memberOf(cta, group, 0);
  std::vector<BitRow> b(form.blocks * kBlockColumns), a(kRowsOfA);
  readBitRows(wgmmaMatrix(first, op, issue.descriptorB, form.extentOfB()), shared, b);
  if (!form.aInRegisters)
    readBitRows(wgmmaMatrix(first, op, issue.descriptorA, form.extentOfA()), shared, a);
  for (unsigned position = 0; position < kWarpsOfGroup; ++position) {
    Warp &warp = memberOf(cta, group, position);
    std::span<BitRow> rows = std::span(a).subspan(position * kRowsOfWarp, kRowsOfWarp);
    if (form.aInRegisters) {
      const uint32_t *registers[kRegistersOfA];
      for (unsigned r = 0; r < kRegistersOfA; ++r)
        registers[r] = warp.row<uint32_t>(rowsOfA(op)[r]);
      readBitRows(registers, rows);
    }
    std::vector<uint32_t *> d;
    for (unsigned r = 0; r < op.targets; ++r)
      d.push_back(warp.row<uint32_t>(op.rows[r]));
    addCommonBits(rows, b, issue.accumulates, d);
  }
}

} // namespace

void computeUpTo(Cta &cta, Warpgroup &group, uint32_t time) {
  static thread_local PreparedB b;
  std::vector<Issue *> issues;
  for (Issue &issue : group.issues)
    if (!issue.isComputed && issue.time <= time)
      issues.push_back(&issue);
  SharedBytes shared{std::span(cta.shared.data(), cta.launch->sharedBytes()), kSharedBase};
  Chain before;
  for (std::span<Issue *const> left = issues; !left.empty();) {
    Chain chain = firstChain(left, cta.launch->program().sumArch);
    WgmmaForm form = chain.form();
    left = left.subspan(chain.issues.size());
    for (Issue *issue : chain.issues)
      issue->isComputed = true;
    if (form.isBits) {
      computeBits(cta, group, *chain.issues[0]);
      continue;
    }
    if (form.isSparse) {
      computeSparse(cta, group, *chain.issues[0]);
      continue;
    }
    if (before.issues.empty() || !chain.hasMatricesOf(before))
      prepareB(chain.product(),
               matricesOf(memberOf(cta, group, 0), chain, &Issue::descriptorB, form.extentOfB()),
               shared, b);
    multiplyChain(cta, group, chain, shared, b);
    before = chain;
  }
}

} // namespace tile::vgpu
