// One of the gradients of attention, by name.
#include "ops/attention/AttentionGradient.h"

#include "ops/KernelArgument.h"
#include "ops/NewTensor.h"
#include "ops/byname/Entry.h"
#include "ops/byname/ProductSettings.h"

#include <tile/ops/Arithmetic.h>

namespace tile::ops {
namespace {

std::vector<OpSetting> gradientSettings() {
  std::vector<OpSetting> settings = attentionSettings();
  settings.push_back(OpSetting::word("of", {"dk", "dq", "dv"}));
  return settings;
}

/// The kernel that computes dq, dk or dv: `of`.
KernelRequest gradientKernel(const OpSettings &given) {
  OpSettings settings = given.forExample(gradientSettings());
  AttentionOptions options = attentionOptionsOf(settings);
  DType dtype = given.dtype("dtype", f16);
  int64_t batches = given.extent("B", 4), heads = given.extent("H", 16),
          queries = given.extent("Lq", 2048), head = given.extent("D", 64),
          keyHeads = given.extent("Hkv", heads), keys = given.extent("Lk", queries);
  HostArg q = exampleView(dtype, {batches, heads, queries, head}),
          k = exampleView(dtype, {batches, keyHeads, keys, head});
  Operand ofQ = KernelArgument{q}, ofK = KernelArgument{k};
  checkAttention(rulesOf("attention_gradient"), {"q", ofQ}, {"k", ofK}, {"v", ofK}, {}, {},
                 options);
  AttentionPlan plan =
      backwardPlan({dtype, queries, keys, head, target_info(settings.target())}, options.precision);
  return gradientRequest(plan, options, settings.text("of") == "dq", q, k);
}

/// The number of the gradient, as of dq, dk, dv.
size_t gradientOf(const OpSettings &settings) {
  std::string of = settings.text("of");
  return of == "dq" ? 0 : of == "dk" ? 1 : 2;
}

/// All is checked before the first launch, as if the gradient were one op.
void runGradient(const Stream &stream, Tensors in, Tensors result, const OpSettings &settings) {
  AttentionOptions options = attentionOptionsOf(settings);
  CallSite site(stream, Loc());
  Arguments arguments("attention_gradient", site);
  Operand q = in[0], k = in[1], v = in[2], dout = in[3], gradient = result[0];
  arguments.rankIs({"q", q}, 4);
  Extents perRow(q);
  Tensor out = newLike(arguments, {"q", q}, q.dtype()),
         lse = newTensor(arguments, f32, perRow.span().first(3));
  Tensor gradients[] = {newLike(arguments, {"q", q}, q.dtype()),
                        newLike(arguments, {"k", k}, k.dtype()),
                        newLike(arguments, {"v", v}, v.dtype())};
  const Operand madeOut = out, madeLse = lse, dq = gradients[0], dk = gradients[1],
                dv = gradients[2], &wanted = gradients[gradientOf(settings)];
  GradientArguments all = {q, k, v, madeOut, madeLse, dout, dq, dk, dv};
  checkGradient(arguments, all, options);
  arguments.sameExtents({"gradient", gradient}, {"that of", wanted});
  arguments.accessible({{"gradient", gradient}}),
      arguments.elementsDistinct({"gradient", gradient});
  attention(stream, q, k, v, madeOut, madeLse, options);
  launchGradient(site, all, options);
  copy(stream, wanted, gradient);
}

const bool registered = registerOp({
    .name = "attention_gradient",
    .summary = "the gradient of sum(attention(q, k, v) * dout) by q, k or v: of=dq, dk or dv",
    .inputs = 4,
    .settings = gradientSettings(),
    .kernel = gradientKernel,
    .outputs =
        [](Tensors in, const OpSettings &settings) {
          return std::vector{TensorSpec::of(in[gradientOf(settings)])};
        },
    .run = runGradient,
});

} // namespace
} // namespace tile::ops
