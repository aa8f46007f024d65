#include "ir/annotations/VariantAnnotations.h"

#include "ir/annotations/AnnotationTable.h"
#include "ir/gpu/DotLayouts.h"

using namespace mlir;

namespace tile::gpu {

namespace {

constexpr llvm::StringLiteral kVariantName = "tilegpu.variant";

enum class Subject { Load, Store, Dot, None };

Subject subjectOf(Operation *op) {
  if (isDot(op))
    return Subject::Dot;
  if (isa<ir::ViewStoreOp, ir::StoreOp, TensorStoreOp>(op))
    return Subject::Store;
  if (isa<ir::ViewLoadOp, ir::LoadOp, RingCopyOp, CopyAsyncOp, TensorCopyOp>(op))
    return Subject::Load;
  return Subject::None;
}

LogicalResult verifyVariant(Operation *op, Attribute value) {
  switch (subjectOf(op)) {
  case Subject::Load:
    if (!isa<LoadVariantAttr>(value))
      return op->emitOpError() << kVariantName << " of a load must be a #tilegpu.load<...>, got "
                               << value;
    return success();
  case Subject::Store:
    if (!isa<StoreVariantAttr>(value))
      return op->emitOpError() << kVariantName << " of a store must be a #tilegpu.store<...>, got "
                               << value;
    return success();
  case Subject::Dot:
    if (!isa<DotVariantAttr>(value))
      return op->emitOpError() << kVariantName << " of a dot must be a #tilegpu.dot<...>, got "
                               << value;
    return success();
  case Subject::None:
    return op->emitOpError() << kVariantName << " belongs on a load, a store or a dot";
  }
  llvm_unreachable("all subjects are listed");
}

constexpr Annotation kAnnotations[] = {{kVariantName, verifyVariant}};

LogicalResult verifySentences(function_ref<InFlightDiagnostic()> emitError, ArrayAttr refused) {
  if (refused && !llvm::all_of(refused, [](Attribute item) { return isa<StringAttr>(item); }))
    return emitError() << "refused must hold sentences, got " << refused;
  return success();
}

template <class Attr, class Kind> Kind kindOf(Operation *op) {
  auto variant = op->getAttrOfType<Attr>(kVariantName);
  return variant ? variant.getKind() : Kind::Undecided;
}

ArrayAttr sentencesOf(Operation *op) {
  Attribute variant = op->getAttr(kVariantName);
  if (auto load = dyn_cast_or_null<LoadVariantAttr>(variant))
    return load.getRefused();
  if (auto store = dyn_cast_or_null<StoreVariantAttr>(variant))
    return store.getRefused();
  auto dot = dyn_cast_or_null<DotVariantAttr>(variant);
  return dot ? dot.getRefused() : ArrayAttr();
}

template <class Attr, class Kind> void set(Operation *op, Kind kind, ArrayAttr refused) {
  op->setAttr(kVariantName, Attr::get(op->getContext(), kind, refused));
}

} // namespace

ArrayRef<Annotation> variantAnnotations() { return kAnnotations; }

LogicalResult LoadVariantAttr::verify(function_ref<InFlightDiagnostic()> emitError, LoadVariant,
                                      ArrayAttr refused) {
  return verifySentences(emitError, refused);
}

LogicalResult StoreVariantAttr::verify(function_ref<InFlightDiagnostic()> emitError, StoreVariant,
                                       ArrayAttr refused) {
  return verifySentences(emitError, refused);
}

LogicalResult DotVariantAttr::verify(function_ref<InFlightDiagnostic()> emitError, DotVariant,
                                     ArrayAttr refused) {
  return verifySentences(emitError, refused);
}

LoadVariant loadVariantOf(Operation *op) { return kindOf<LoadVariantAttr, LoadVariant>(op); }
StoreVariant storeVariantOf(Operation *op) { return kindOf<StoreVariantAttr, StoreVariant>(op); }
DotVariant dotVariantOf(Operation *op) { return kindOf<DotVariantAttr, DotVariant>(op); }

StringRef variantNameOf(Operation *op) {
  if (LoadVariant load = loadVariantOf(op); load != LoadVariant::Undecided)
    return stringifyLoadVariant(load);
  if (StoreVariant store = storeVariantOf(op); store != StoreVariant::Undecided)
    return stringifyStoreVariant(store);
  if (DotVariant dot = dotVariantOf(op); dot != DotVariant::Undecided)
    return stringifyDotVariant(dot);
  return {};
}

void setVariant(Operation *op, LoadVariant kind) {
  set<LoadVariantAttr>(op, kind, sentencesOf(op));
}
void setVariant(Operation *op, StoreVariant kind) {
  set<StoreVariantAttr>(op, kind, sentencesOf(op));
}
void setVariant(Operation *op, DotVariant kind) { set<DotVariantAttr>(op, kind, sentencesOf(op)); }

SmallVector<StringRef> refusalsOf(Operation *op) {
  SmallVector<StringRef> sentences;
  if (ArrayAttr refused = sentencesOf(op))
    for (auto sentence : refused.getAsRange<StringAttr>())
      sentences.push_back(sentence.getValue());
  return sentences;
}

void addRefusal(Operation *op, StringRef sentence) {
  SmallVector<StringRef> sentences = refusalsOf(op);
  sentences.push_back(sentence);
  ArrayAttr refused = Builder(op->getContext()).getStrArrayAttr(sentences);
  switch (subjectOf(op)) {
  case Subject::Load:
    return set<LoadVariantAttr>(op, loadVariantOf(op), refused);
  case Subject::Store:
    return set<StoreVariantAttr>(op, storeVariantOf(op), refused);
  case Subject::Dot:
    return set<DotVariantAttr>(op, dotVariantOf(op), refused);
  case Subject::None:
    llvm_unreachable("only loads, stores and dots have variants");
  }
}

uint32_t demandedVariantOf(Operation *op) {
  auto number = op->getAttrOfType<IntegerAttr>(ir::kVariantAttr);
  return number ? static_cast<uint32_t>(number.getInt()) : 0;
}

StringRef demandedVariantName(uint32_t number) {
  if (std::optional<LoadVariant> load = symbolizeLoadVariant(number))
    return stringifyLoadVariant(*load);
  if (std::optional<StoreVariant> store = symbolizeStoreVariant(number))
    return stringifyStoreVariant(*store);
  return stringifyDotVariant(static_cast<DotVariant>(number));
}

} // namespace tile::gpu
