// wgmma.mma_async, fence, commit_group, wait_group.
#include "runtime/vgpu/Wgmma.h"

#include "runtime/vgpu/BitProduct.h"
#include "runtime/vgpu/Cluster.h"
#include "runtime/vgpu/Decode.h"
#include "runtime/vgpu/Lanes.h"
#include "runtime/vgpu/Launch.h"
#include "runtime/vgpu/MatrixCheck.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

constexpr unsigned kWarps = 4, kRowsOfWarp = 16, kRowsOfA = 64, kRegistersOfA = 4;
constexpr unsigned kChunks = kMatrixDepthBytes / kChunkBytes;

// Op::a of a wgmma.
struct Form {
  ProductShape product;
  bool aInRegisters = false, transA = false, transB = false;
  bool isBits = false; // elements of one bit; the product has bytes in their place

  uint32_t pack() const {
    return product.blocks | static_cast<uint32_t>(product.a) << 8 |
           static_cast<uint32_t>(product.b) << 12 | static_cast<uint32_t>(product.sum) << 16 |
           uint32_t{product.negate} << 20 | uint32_t{aInRegisters} << 21 | uint32_t{transA} << 22 |
           uint32_t{transB} << 23 | uint32_t{isBits} << 24;
  }
  static Form unpack(uint32_t bits) {
    Form form;
    form.product.blocks = bits & 0xff;
    form.product.a = static_cast<TensorElement>(bits >> 8 & 15);
    form.product.b = static_cast<TensorElement>(bits >> 12 & 15);
    form.product.sum = static_cast<SumType>(bits >> 16 & 15);
    form.product.negate = bits >> 20 & 1;
    form.product.chunks = kChunks;
    form.aInRegisters = bits >> 21 & 1;
    form.transA = bits >> 22 & 1;
    form.transB = bits >> 23 & 1;
    form.isBits = bits >> 24 & 1;
    return form;
  }
  uint32_t elementBytes() const { return 4 / elementsPerWord(product.a); }
};

// Rows of a wgmma: D, then {A's registers or descriptor}, B's descriptor, the predicate scale-d.
const uint32_t *rowsOfA(const Op &op) { return op.rows + op.targets; }
uint32_t rowOfB(const Op &op) { return op.rows[op.targets + op.sources - 2u]; }
uint32_t rowOfScale(const Op &op) { return op.rows[op.targets + op.sources - 1u]; }

Warpgroup &groupOf(Warp &warp) { return warp.cta->warpgroups[warp.index / kWarps]; }
Warp &memberOf(Cta &cta, const Warpgroup &group, unsigned position) {
  return cta.warps[static_cast<size_t>(&group - cta.warpgroups.data()) * kWarps + position];
}

void requireUniform(Warp &warp, const Op &op, uint32_t row) {
  const uint64_t *lanes = warp.row<uint64_t>(row);
  uint64_t differences = 0;
  for (unsigned lane = 1; lane < kLanes; ++lane)
    differences |= lanes[lane] ^ lanes[0];
  for (unsigned lane = 1; differences && lane < kLanes; ++lane)
    if (lanes[lane] != lanes[0])
      warp.stop(op, FindingKind::Async, lane,
                "the lanes of the warp have different matrix descriptors");
}

SharedMatrix matrixOf(Warp &warp, const Op &op, uint64_t descriptor, const MatrixExtent &extent) {
  std::string fault;
  std::optional<SharedMatrix> matrix = decodeSharedMatrix(descriptor, extent, fault);
  if (!matrix)
    warp.stop(op, FindingKind::Async, 0, fault);
  return *matrix;
}

MatrixExtent extentOfA(const Form &form) { return {kRowsOfA, form.elementBytes(), form.transA}; }
MatrixExtent extentOfB(const Form &form) {
  return {form.product.blocks * kBlockColumns, form.elementBytes(), form.transB};
}

// An element of D is initialised if A's row, B's column and, where it is added to, D's own are.
void trackInit(Warp &warp, const Op &op, const Form &form, unsigned position,
               const std::vector<bool> &badRows, const std::vector<bool> &badColumns,
               bool accumulates) {
  bool anyBad = !badColumns.empty() || !badRows.empty();
  auto isBad = [](const std::vector<bool> &rows, unsigned index) {
    return !rows.empty() && rows[index];
  };
  uint32_t badHalves[2] = {0, 0}; // lanes whose row of A is bad, by half
  for (unsigned half = 0; half < 2; ++half)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      unsigned g = lane / 4;
      bool bad = isBad(badRows, position * kRowsOfWarp + g + 8 * half);
      for (unsigned r = half; form.aInRegisters && r < kRegistersOfA; r += 2)
        bad |= (warp.shadow.whole(rowsOfA(op)[r]) >> (4 * g) & 15) != 15;
      badHalves[half] |= uint32_t{bad} << lane;
      anyBad |= bad;
    }
  unsigned perRegister = form.product.sum == SumType::F16 ? 2 : 1;
  for (unsigned r = 0; r < op.targets; ++r) {
    uint32_t good = accumulates ? warp.shadow.whole(op.rows[r]) : kFullMask;
    for (unsigned j = 0; anyBad && j < perRegister; ++j) {
      unsigned v = r * perRegister + j, block = v / 4, i = v % 4;
      good &= ~badHalves[i / 2];
      for (unsigned lane = 0; lane < kLanes; ++lane)
        if (isBad(badColumns, block * kBlockColumns + 2 * (lane % 4) + i % 2))
          good &= ~(1u << lane);
    }
    warp.shadow.set(op.rows[r], good, kFullMask);
  }
}

// Counts of bits that A's row and B's column have in common.
void computeBits(Cta &cta, Warpgroup &group, Warpgroup::Issue &issue, const Form &form) {
  const Op &op = *issue.op;
  SharedBytes shared{std::span(cta.shared.data(), cta.launch->sharedBytes()), kSharedBase};
  Warp &first = memberOf(cta, group, 0);
  std::vector<BitRow> b(form.product.blocks * kBlockColumns), a(kRowsOfA);
  readBitRows(matrixOf(first, op, issue.descriptorB, extentOfB(form)), shared, b);
  if (!form.aInRegisters)
    readBitRows(matrixOf(first, op, issue.descriptorA, extentOfA(form)), shared, a);
  for (unsigned position = 0; position < kWarps; ++position) {
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
  issue.isComputed = true;
}

void compute(Cta &cta, Warpgroup &group, Warpgroup::Issue &issue) {
  const Op &op = *issue.op;
  Form form = Form::unpack(op.a);
  if (form.isBits)
    return computeBits(cta, group, issue, form);
  SharedBytes shared{std::span(cta.shared.data(), cta.launch->sharedBytes()), kSharedBase};
  Warp &first = memberOf(cta, group, 0);
  static thread_local PreparedA a;
  static thread_local PreparedB b;
  prepareB(form.product, matrixOf(first, op, issue.descriptorB, extentOfB(form)), shared, b);
  for (unsigned position = 0; position < kWarps; ++position) {
    Warp &warp = memberOf(cta, group, position);
    if (form.aInRegisters) {
      const uint32_t *registers[kRegistersOfA];
      for (unsigned r = 0; r < kRegistersOfA; ++r)
        registers[r] = warp.row<uint32_t>(rowsOfA(op)[r]);
      prepareA(form.product, registers, a);
    } else {
      prepareA(form.product, matrixOf(first, op, issue.descriptorA, extentOfA(form)), shared,
               position, a);
    }
    uint32_t *d[4 * kMaxBlocks];
    for (unsigned r = 0; r < op.targets; ++r)
      d[r] = warp.row<uint32_t>(op.rows[r]);
    uint32_t **start = issue.accumulates ? d : nullptr;
    if (auto rule = hardwareRule(cta.launch->program().sumArch, form.product, true))
      multiplyAs(*rule, form.product, a, b, start, d);
    else
      multiply(form.product, a, b, start, d);
  }
  issue.isComputed = true;
}

void computeUpTo(Cta &cta, Warpgroup &group, uint32_t time) {
  for (Warpgroup::Issue &issue : group.issues)
    if (!issue.isComputed && issue.time <= time)
      compute(cta, group, issue);
}

// The four warps are at the same wgmma.
void issueForAll(Warp &last, const Op &op, Warpgroup &group) {
  Cta &cta = *last.cta;
  Cluster &cluster = *cta.cluster;
  Form form = Form::unpack(op.a);
  if (group.actor == 0)
    group.actor = cluster.addActor(last, op);
  Warpgroup::Issue issue;
  issue.op = &op;
  issue.time = group.commits[last.index % kWarps] + 1;
  issue.descriptorB = last.row<uint64_t>(rowOfB(op))[0];
  issue.descriptorA = form.aInRegisters ? 0 : last.row<uint64_t>(rowsOfA(op)[0])[0];
  issue.accumulates = last.predicate(rowOfScale(op)) & 1;
  std::vector<bool> badRows, badColumns;
  if (!form.aInRegisters)
    badRows = checkMatrix(last, op, matrixOf(last, op, issue.descriptorA, extentOfA(form)),
                          extentOfA(form), group.actor, issue.time);
  badColumns = checkMatrix(last, op, matrixOf(last, op, issue.descriptorB, extentOfB(form)),
                           extentOfB(form), group.actor, issue.time);
  std::vector<uint32_t> rows;
  if (last.flight.watches())
    rows = matrixRegisters(op);
  for (unsigned position = 0; position < kWarps; ++position) {
    Warp &warp = memberOf(cta, group, position);
    if (warp.shadow)
      trackInit(warp, op, form, position, badRows, badColumns, issue.accumulates);
    if (warp.flight.watches())
      warp.flight.issue(op, issue.time, rows);
    warp.status = WarpStatus::Ready;
  }
  group.issues.push_back(issue);
  Schedule schedule = cta.launch->setup().schedule;
  if (schedule == Schedule::Eager || (schedule == Schedule::Random && cluster.choices.oneIn(2)))
    computeUpTo(cta, group, issue.time);
  group.op = nullptr;
  group.arrived = 0;
  ++*cluster.events;
}

// What this warp's registers must have seen before.
void checkRegisters(Warp &warp, const Op &op) {
  if (!warp.cta->launch->checks().async)
    return;
  for (uint32_t row : matrixRegisters(op))
    if (warp.flight.isTouched(row)) {
      warp.report(op, FindingKind::Async, 0,
                  "a register of this wgmma has been touched since the last wgmma.fence: "
                  "wgmma.fence must stand between them");
      warp.flight.fence();
      return;
    }
}

void checkPartner(Warp &warp, const Op &op, Warpgroup &group) {
  Cta &cta = *warp.cta;
  if ((warp.index / kWarps + 1) * kWarps > cta.warps.size())
    warp.stop(op, FindingKind::Divergence, 0, "wgmma needs a warpgroup of four whole warps");
  if (group.op && group.op != &op)
    warp.stop(op, FindingKind::Divergence, 0,
              "the warps of a warpgroup are at different instructions: another is at " +
                  cta.launch->describe(*group.op));
  for (unsigned position = 0; position < kWarps; ++position)
    if (group.arrived >> position & 1 &&
        group.commits[position] != group.commits[warp.index % kWarps])
      warp.stop(op, FindingKind::Divergence, 0,
                "the warps of a warpgroup have committed different numbers of groups");
  const Warp *other = nullptr;
  for (unsigned position = 0; position < kWarps; ++position)
    if (group.arrived >> position & 1)
      other = &memberOf(cta, group, position);
  auto differs = [&](uint32_t row) {
    return const_cast<Warp *>(other)->row<uint64_t>(row)[0] != warp.row<uint64_t>(row)[0];
  };
  Form form = Form::unpack(op.a);
  if (other && (differs(rowOfB(op)) || (!form.aInRegisters && differs(rowsOfA(op)[0]))))
    warp.stop(op, FindingKind::Async, 0,
              "the warps of a warpgroup have different matrix descriptors");
}

bool isWhole(Warp &warp, const Op &op) {
  if (!warp.converged(op, kFullMask))
    return false;
  if (warp.mask != kFullMask)
    warp.stop(op, FindingKind::Divergence, LaneMask{warp.mask},
              "wgmma needs all 32 lanes of the warp");
  return true;
}

void runMatrix(Warp &warp, const Op &op) {
  if (!isWhole(warp, op))
    return;
  Warpgroup &group = groupOf(warp);
  checkPartner(warp, op, group);
  checkRegisters(warp, op);
  requireUniform(warp, op, rowOfB(op));
  if (!Form::unpack(op.a).aInRegisters)
    requireUniform(warp, op, rowsOfA(op)[0]);
  group.op = &op;
  group.arrived |= 1u << warp.index % kWarps;
  if (group.arrived == (1u << kWarps) - 1)
    issueForAll(warp, op, group);
  else
    warp.block(WarpStatus::AtMatrix, 0);
}

void runFence(Warp &warp, const Op &op) {
  if (isWhole(warp, op) && warp.flight.watches())
    warp.flight.fence();
}

void runCommit(Warp &warp, const Op &op) {
  if (isWhole(warp, op))
    ++groupOf(warp).commits[warp.index % kWarps];
}

void runWait(Warp &warp, const Op &op) {
  if (!isWhole(warp, op))
    return;
  Warpgroup &group = groupOf(warp);
  uint32_t committed = group.commits[warp.index % kWarps];
  auto keep = static_cast<uint32_t>(op.imm);
  uint32_t done = committed > keep ? committed - keep : 0;
  computeUpTo(*warp.cta, group, done);
  warp.flight.land(done);
  if (group.actor)
    warp.clock.has.now.known.raise(group.actor, done);
  // What all four have waited for is history.
  group.waited[warp.index % kWarps] = std::max(group.waited[warp.index % kWarps], done);
  uint32_t all = *std::ranges::min_element(group.waited);
  std::erase_if(group.issues, [&](const Warpgroup::Issue &issue) {
    return issue.isComputed && issue.time <= all;
  });
}

struct TypeRow {
  std::string_view name;
  TensorElement element;
};
constexpr TypeRow kElements[] = {{"f16", TensorElement::F16},   {"bf16", TensorElement::BF16},
                                 {"tf32", TensorElement::TF32}, {"e4m3", TensorElement::E4M3},
                                 {"e5m2", TensorElement::E5M2}, {"u8", TensorElement::U8},
                                 {"s8", TensorElement::S8}};

TensorElement takeElement(Decoder &decoder, Suffixes &suffixes) {
  // In the order of the text: D's type has been taken.
  std::string_view name = suffixes.takeOneOf({"f16", "bf16", "tf32", "e4m3", "e5m2", "u8", "s8"});
  auto row = std::ranges::find(kElements, name, &TypeRow::name);
  if (row == std::end(kElements))
    decoder.unsupported("expected element types f16, bf16, tf32, e4m3, e5m2, u8, s8 or b1");
  return row->element;
}

bool isInteger(TensorElement element) {
  return element == TensorElement::U8 || element == TensorElement::S8;
}
bool isFp8(TensorElement element) {
  return element == TensorElement::E4M3 || element == TensorElement::E5M2;
}

// m64nNkK: N by steps of 8, of integers 8, 16, 24, 32 and then steps of 16; K is 32 bytes.
void takeShape(Decoder &decoder, Suffixes &suffixes, Form &form, std::string_view shape) {
  size_t n = shape.find('n'), k = shape.find('k');
  unsigned columns = 0, depth = 0;
  if (n != shape.npos && k != shape.npos && shape.starts_with("m64n")) {
    columns = static_cast<unsigned>(std::atoi(std::string(shape.substr(n + 1, k - n - 1)).c_str()));
    depth = static_cast<unsigned>(std::atoi(std::string(shape.substr(k + 1)).c_str()));
  }
  form.product.chunks = kChunks;
  bool integers = isInteger(form.product.a);
  bool known = columns >= 8 && columns <= 256 && columns % 8 == 0 &&
               (!integers || columns <= 32 || columns % 16 == 0);
  constexpr unsigned kBitsOfByte = 8;
  if (!known || depth != form.product.depth() * (form.isBits ? kBitsOfByte : 1))
    decoder.unsupported("this shape with these types");
  form.product.blocks = columns / kBlockColumns;
}

void takeTypes(Decoder &decoder, Suffixes &suffixes, Form &form) {
  std::string_view d = suffixes.takeOneOf({"f32", "f16", "s32"});
  if (suffixes.take("b1")) {
    if (d != "s32" || !suffixes.take("b1") || !suffixes.take("and") || !suffixes.take("popc"))
      decoder.unsupported("expected .s32.b1.b1.and.popc");
    form.isBits = true;
    form.product.a = form.product.b = TensorElement::U8;
    form.product.sum = SumType::S32;
    return;
  }
  form.product.a = takeElement(decoder, suffixes);
  form.product.b = takeElement(decoder, suffixes);
  TensorElement a = form.product.a, b = form.product.b;
  bool saturates = suffixes.take("satfinite");
  form.product.sum = d == "f32"   ? SumType::F32
                     : d == "f16" ? SumType::F16
                     : saturates  ? SumType::S32Saturated
                                  : SumType::S32;
  bool matches = a == b || (isFp8(a) && isFp8(b)) || (isInteger(a) && isInteger(b));
  bool sumMatches = isInteger(a) ? d == "s32"
                    : d == "f16" ? a == TensorElement::F16 || isFp8(a)
                                 : d == "f32";
  if (!matches || !sumMatches || (saturates && !isInteger(a)))
    decoder.unsupported("this combination of types");
}

bool constantFlag(Decoder &decoder, const Operand &operand, const char *what) {
  if (operand.kind != Operand::Kind::Immediate || operand.value > 1)
    decoder.malformed(std::string(what) + " must be the constant 0 or 1");
  return operand.value;
}

bool isNegative(Decoder &decoder, const Operand &operand) {
  auto value = static_cast<int64_t>(operand.value);
  if (operand.kind != Operand::Kind::Immediate ||
      (static_cast<int32_t>(value) != 1 && static_cast<int32_t>(value) != -1))
    decoder.malformed("imm-scale must be the constant 1 or -1");
  return static_cast<int32_t>(value) == -1;
}

// Operands: D, A, B, scale-d{, imm-scale-a, imm-scale-b{, imm-trans-a}{, imm-trans-b}}.
void decodeMatrix(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  Form form;
  bool whole = suffixes.take("sync") && suffixes.take("aligned");
  if (!whole || suffixes.empty())
    decoder.unsupported("expected wgmma.mma_async.sync.aligned.SHAPE.TYPES");
  std::string_view shape = suffixes.takePrefix("m64n");
  takeTypes(decoder, suffixes, form);
  takeShape(decoder, suffixes, form, shape);
  const auto &operands = instruction.operands;
  decoder.wantOperands(instruction, 4, 8);
  form.aInRegisters = operands[1].kind == Operand::Kind::Vector;
  bool scales = !isInteger(form.product.a);
  bool transposes = form.product.a == TensorElement::F16 || form.product.a == TensorElement::BF16;
  size_t transposable = transposes ? (form.aInRegisters ? 1 : 2) : 0;
  decoder.wantOperands(instruction, 4 + 2 * scales + transposable);
  if (scales)
    form.product.negate = isNegative(decoder, operands[4]) != isNegative(decoder, operands[5]);
  if (transposable == 2)
    form.transA = constantFlag(decoder, operands[6], "imm-trans-a");
  if (transposable)
    form.transB = constantFlag(decoder, operands[5 + transposable], "imm-trans-b");
  unsigned perBlock = form.product.sum == SumType::F16 ? 2 : 4;
  if (operands[0].parts.size() != form.product.blocks * perBlock)
    decoder.malformed("D has " + std::to_string(operands[0].parts.size()) + " registers, " +
                      std::string(shape) + " needs " +
                      std::to_string(form.product.blocks * perBlock));
  std::vector<uint32_t> targets, sources;
  for (const Operand &part : operands[0].parts)
    targets.push_back(decoder.target(part, ScalarType::B32));
  if (form.aInRegisters) {
    if (operands[1].parts.size() != kRegistersOfA)
      decoder.malformed("A in registers needs 4 of them");
    for (const Operand &part : operands[1].parts)
      sources.push_back(decoder.source(part, ScalarType::B32));
  } else {
    sources.push_back(decoder.source(operands[1], ScalarType::B64));
  }
  sources.push_back(decoder.source(operands[2], ScalarType::B64));
  const Operand &scale = operands[3];
  sources.push_back(scale.kind == Operand::Kind::Immediate
                        ? decoder.constant(scale.value ? kFullMask : 0, 0)
                        : decoder.predicate(scale));
  decoder.emitWide(runMatrix, targets, sources, 0, form.pack(), 0, kOwnValidity | kControl);
  decoder.program().usesWgmma = true;
}

void decodeWgmma(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (suffixes.take("mma_async"))
    return decodeMatrix(decoder, instruction, suffixes);
  Handler handler = suffixes.take("fence")          ? runFence
                    : suffixes.take("commit_group") ? runCommit
                    : suffixes.take("wait_group")   ? runWait
                                                    : nullptr;
  bool whole = suffixes.take("sync") && suffixes.take("aligned");
  if (!handler || !whole)
    decoder.unsupported("expected wgmma.mma_async, .fence, .commit_group or .wait_group with "
                        ".sync.aligned");
  int64_t groups = 0;
  decoder.wantOperands(instruction, handler == runWait ? 1 : 0);
  if (handler == runWait) {
    if (instruction.operands[0].kind != Operand::Kind::Immediate)
      decoder.malformed("the number of groups must be a constant");
    groups = static_cast<int64_t>(instruction.operands[0].value);
  }
  decoder.emit(handler, {}, {}, groups, 0, 0, kOwnValidity);
}

} // namespace

std::vector<uint32_t> matrixRegisters(const Op &op) {
  if (op.real != runMatrix)
    return {};
  std::vector<uint32_t> rows(op.rows, op.rows + op.targets);
  if (Form::unpack(op.a).aInRegisters)
    rows.insert(rows.end(), rowsOfA(op), rowsOfA(op) + kRegistersOfA);
  return rows;
}

void finishMatrices(Warp &warp) { computeUpTo(*warp.cta, groupOf(warp), ~0u); }

void registerWgmma(OpcodeTable &table) { table["wgmma"] = decodeWgmma; }

} // namespace tile::vgpu
