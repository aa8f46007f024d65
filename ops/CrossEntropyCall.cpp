#include "ops/CrossEntropyCall.h"

namespace tile::ops {

int64_t classesOf(const CrossEntropyOptions &options, const Operand &logits) {
  return options.classes == 0 ? logits.extent(logits.rank() - 1) : options.classes;
}

void checkCrossEntropy(const Arguments &arguments, const CrossEntropyOptions &options, Named logits,
                       Named targets, Named loss, Named lse) {
  arguments.hasRows(logits);
  for (Named arg : {logits, loss})
    arguments.dtypeIn(arg, {f16, bf16, f32, f64});
  arguments.dtypeIn(targets, {i32, i64});
  arguments.onePerRow(targets, logits);
  if (options.reduction == LossReduction::None)
    arguments.onePerRow(loss, logits);
  else
    arguments.oneElement(loss);
  if (lse.operand)
    arguments.dtypeIn(lse, {f32, f64}), arguments.onePerRow(lse, logits);
  arguments.accessible({logits, targets, loss, lse});
  int64_t columns = logits.operand.extent(logits.operand.rank() - 1);
  if (options.classes < 0 || options.classes > columns)
    arguments.fail(ErrorCode::InvalidArgument, "classes is " + std::to_string(options.classes) +
                                                   ", but logits is " + logits.operand.str() +
                                                   ": 0 (all columns) to " +
                                                   std::to_string(columns) + " are possible");
  if (!(options.labelSmoothing >= 0 && options.labelSmoothing <= 1))
    arguments.fail(ErrorCode::InvalidArgument, "labelSmoothing is " +
                                                   std::to_string(options.labelSmoothing) +
                                                   ": it must be in 0 .. 1");
}

Value countOf(const In<any, 1> &targets, Value ignored, Value r, int rows) {
  auto tile = targets.tile({rows});
  return cast(i32, tile.inside(r) & (cast(i64, tile(r)) != ignored));
}

} // namespace tile::ops
