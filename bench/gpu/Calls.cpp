#include "bench/gpu/Calls.h"

#include <tile/Error.h>
#include <tile/ops/Arithmetic.h>
#include <tile/ops/Attention.h>
#include <tile/ops/Matmul.h>
#include <tile/ops/Norm.h>
#include <tile/ops/Softmax.h>

namespace tile::bench {

namespace {

/// The operands of a request: `at` must be there, `maybe` is no tensor where it is not.
class Operands {
public:
  Operands(const nlohmann::json &request, const Tensors &tensors)
      : operands_(request.at("operands")), tensors_(tensors) {}
  Tensor at(const char *name) const { return tensors_.view(operands_.at(name)); }
  Tensor maybe(const char *name) const { return operands_.contains(name) ? at(name) : Tensor(); }

private:
  const nlohmann::json &operands_;
  const Tensors &tensors_;
};

using Call = std::function<void()>;

Call matmul(const Operands &of, const nlohmann::json &, const Stream &stream) {
  return [=, a = of.at("a"), b = of.at("b"), c = of.at("c")] { ops::matmul(stream, a, b, c); };
}

Call linear(const Operands &of, const nlohmann::json &, const Stream &stream) {
  return [=, x = of.at("x"), weight = of.at("weight"), bias = of.maybe("bias"), y = of.at("y")] {
    ops::linear(stream, x, weight, bias, y);
  };
}

ops::AttentionOptions attentionOptions(const nlohmann::json &request) {
  return {.causal = request.value("causal", false),
          .deterministic = request.value("deterministic", true)};
}

Call attention(const Operands &of, const nlohmann::json &request, const Stream &stream) {
  ops::AttentionOptions options = attentionOptions(request);
  Tensor q = of.at("q"), k = of.at("k"), v = of.at("v"), out = of.at("out"), lse = of.maybe("lse");
  if (!lse)
    return [=] { ops::attention(stream, q, k, v, out, options); };
  return [=] { ops::attention(stream, q, k, v, out, lse, options); };
}

Call attentionBackward(const Operands &of, const nlohmann::json &request, const Stream &stream) {
  ops::AttentionOptions options = attentionOptions(request);
  Tensor q = of.at("q"), k = of.at("k"), v = of.at("v"), out = of.at("out"), lse = of.at("lse");
  Tensor dout = of.at("dout"), dq = of.at("dq"), dk = of.at("dk"), dv = of.at("dv");
  return [=] { ops::attentionBackward(stream, q, k, v, out, lse, dout, dq, dk, dv, options); };
}

Call softmax(const Operands &of, const nlohmann::json &, const Stream &stream) {
  return [=, x = of.at("x"), y = of.at("y")] { ops::softmax(stream, x, y); };
}

Call layernorm(const Operands &of, const nlohmann::json &, const Stream &stream) {
  constexpr double kEpsilon = 1e-5; // what the libraries take unless told otherwise
  return [=, x = of.at("x"), weight = of.maybe("weight"), bias = of.maybe("bias"), y = of.at("y")] {
    ops::layernorm(stream, x, weight, bias, kEpsilon, y);
  };
}

Call copy(const Operands &of, const nlohmann::json &, const Stream &stream) {
  return [=, x = of.at("x"), y = of.at("y")] { ops::copy(stream, x, y); };
}

struct Named {
  const char *name;
  Call (*make)(const Operands &, const nlohmann::json &, const Stream &);
};
constexpr Named kOps[] = {
    {"matmul", matmul},   {"linear", linear},       {"attention", attention},
    {"softmax", softmax}, {"layernorm", layernorm}, {"attentionBackward", attentionBackward},
    {"copy", copy},
};

} // namespace

Call callOf(const nlohmann::json &request, const Tensors &tensors, const Stream &stream) {
  std::string name = request.at("op");
  for (const Named &op : kOps)
    if (name == op.name)
      return op.make(Operands(request, tensors), request, stream);
  std::string known;
  for (const Named &op : kOps)
    known += (known.empty() ? "" : ", ") + std::string(op.name);
  throw Error(Fault::User, ErrorCode::InvalidArgument,
              "'" + name + "' is none of the ops: " + known);
}

} // namespace tile::bench
