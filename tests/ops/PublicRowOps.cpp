// The rows of PublicOps.h whose ops work on rows of a matrix, and those that models are made of.
#include "tests/ops/PublicOps.h"

#include <tile/ops/Attention.h>
#include <tile/ops/CrossEntropy.h>
#include <tile/ops/Embedding.h>
#include <tile/ops/KvCache.h>
#include <tile/ops/Norm.h>
#include <tile/ops/Rotary.h>
#include <tile/ops/Sampling.h>
#include <tile/ops/Softmax.h>

namespace tile::test {

namespace {

using Tensors = std::span<const ops::Operand>;
using enum Parameter::Use;

// --- Rows ----------------------------------------------------------------------------------------

void addNorms(std::vector<PublicOp> &rows) {
  rows.push_back({"layernorm",
                  {{"x", f32, "RC"},
                   {"weight", f32, "C", Optional},
                   {"bias", f32, "C", Optional},
                   {"y", f32, "RC", Out},
                   {"mean", f32, "R", Out | Optional},
                   {"rstd", f32, "R", Out | Optional}},
                  [](const Stream &s, Tensors t) {
                    ops::layernorm(s, t[0], t[1], t[2], 1e-5, t[3], t[4], t[5]);
                  }});
  rows.push_back(
      {"layernorm",
       {{"x", f32, "RC", AnyRank}, {"weight", f32, "C", Optional}, {"bias", f32, "C", Optional}},
       [](const Stream &s, Tensors t) { ops::layernorm(s, t[0], t[1], t[2]); }});
  rows.push_back(
      {"rmsnorm",
       {{"x", f32, "RC"},
        {"weight", f32, "C", Optional},
        {"y", f32, "RC", Out},
        {"rstd", f32, "R", Out | Optional}},
       [](const Stream &s, Tensors t) { ops::rmsnorm(s, t[0], t[1], 1e-5, t[2], t[3]); }});
  rows.push_back({"rmsnorm",
                  {{"x", f32, "RC", AnyRank}, {"weight", f32, "C", Optional}},
                  [](const Stream &s, Tensors t) { ops::rmsnorm(s, t[0], t[1]); }});
  rows.push_back({"addLayernorm",
                  {{"x", f32, "RC"},
                   {"residual", f32, "RC"},
                   {"weight", f32, "C", Optional},
                   {"bias", f32, "C", Optional},
                   {"sum", f32, "RC", Out},
                   {"y", f32, "RC", Out},
                   {"mean", f32, "R", Out | Optional},
                   {"rstd", f32, "R", Out | Optional}},
                  [](const Stream &s, Tensors t) {
                    ops::addLayernorm(s, t[0], t[1], t[2], t[3], 1e-5, t[4], t[5], t[6], t[7]);
                  }});
  rows.push_back({"addRmsnorm",
                  {{"x", f32, "RC"},
                   {"residual", f32, "RC"},
                   {"weight", f32, "C", Optional},
                   {"sum", f32, "RC", Out},
                   {"y", f32, "RC", Out},
                   {"rstd", f32, "R", Out | Optional}},
                  [](const Stream &s, Tensors t) {
                    ops::addRmsnorm(s, t[0], t[1], t[2], 1e-5, t[3], t[4], t[5]);
                  }});
  rows.push_back({"layernormBackward",
                  {{"dy", f32, "RC"},
                   {"x", f32, "RC"},
                   {"weight", f32, "C", Optional},
                   {"mean", f32, "R"},
                   {"rstd", f32, "R"},
                   {"dx", f32, "RC", Out},
                   {"dweight", f32, "C", Out | Optional},
                   {"dbias", f32, "C", Out | Optional}},
                  [](const Stream &s, Tensors t) {
                    ops::layernormBackward(s, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7]);
                  }});
  rows.push_back({"rmsnormBackward",
                  {{"dy", f32, "RC"},
                   {"x", f32, "RC"},
                   {"weight", f32, "C", Optional},
                   {"rstd", f32, "R"},
                   {"dx", f32, "RC", Out},
                   {"dweight", f32, "C", Out | Optional}},
                  [](const Stream &s, Tensors t) {
                    ops::rmsnormBackward(s, t[0], t[1], t[2], t[3], t[4], t[5]);
                  }});
}

void addSoftmax(std::vector<PublicOp> &rows) {
  rows.push_back({"softmax",
                  {{"x", f32, "RC"}, {"y", f32, "RC", Out}},
                  [](const Stream &s, Tensors t) { ops::softmax(s, t[0], t[1]); }});
  rows.push_back({"softmax", {{"x", f32, "RC", AnyRank}}, [](const Stream &s, Tensors t) {
                    ops::softmax(s, t[0]);
                  }});
  rows.push_back({"logSoftmax",
                  {{"x", f32, "RC"}, {"y", f32, "RC", Out}},
                  [](const Stream &s, Tensors t) { ops::logSoftmax(s, t[0], t[1], 0); }});
  rows.push_back({"logSoftmax", {{"x", f32, "RC", AnyRank}}, [](const Stream &s, Tensors t) {
                    ops::logSoftmax(s, t[0], 0);
                  }});
  rows.push_back(
      {"softmaxBackward",
       {{"dy", f32, "RC"}, {"y", f32, "RC"}, {"dx", f32, "RC", Out}},
       [](const Stream &s, Tensors t) { ops::softmaxBackward(s, t[0], t[1], t[2], 0); }});
  rows.push_back({"softmaxBackward",
                  {{"dy", f32, "RC"}, {"y", f32, "RC"}},
                  [](const Stream &s, Tensors t) { ops::softmaxBackward(s, t[0], t[1], 0); }});
  rows.push_back(
      {"logSoftmaxBackward",
       {{"dy", f32, "RC"}, {"y", f32, "RC"}, {"dx", f32, "RC", Out}},
       [](const Stream &s, Tensors t) { ops::logSoftmaxBackward(s, t[0], t[1], t[2]); }});
  rows.push_back({"logSoftmaxBackward",
                  {{"dy", f32, "RC"}, {"y", f32, "RC"}},
                  [](const Stream &s, Tensors t) { ops::logSoftmaxBackward(s, t[0], t[1]); }});
}

void addCrossEntropy(std::vector<PublicOp> &rows) {
  static constexpr ops::CrossEntropyOptions kApart = {.reduction = ops::LossReduction::None};
  rows.push_back(
      {"crossEntropy",
       {{"logits", f32, "RV"},
        {"targets", i64, "R", Index},
        {"loss", f32, "R", Out},
        {"lse", f32, "R", Out | Optional}},
       [](const Stream &s, Tensors t) { ops::crossEntropy(s, t[0], t[1], t[2], t[3], kApart); }});
  rows.push_back(
      {"crossEntropy",
       {{"logits", f32, "RV"},
        {"targets", i32, "R", Index},
        {"loss", f32, "1", Out | AnyRank},
        {"lse", f32, "R", Out | Optional}},
       [](const Stream &s, Tensors t) { ops::crossEntropy(s, t[0], t[1], t[2], t[3]); }});
  rows.push_back({"crossEntropy",
                  {{"logits", f32, "RV"}, {"targets", i64, "R", Index}},
                  [](const Stream &s, Tensors t) { ops::crossEntropy(s, t[0], t[1]); }});
  rows.push_back({"crossEntropyBackward",
                  {{"dloss", f32, "1", AnyRank},
                   {"logits", f32, "RV"},
                   {"targets", i64, "R", Index},
                   {"lse", f32, "R"},
                   {"dlogits", f32, "RV", Out}},
                  [](const Stream &s, Tensors t) {
                    ops::crossEntropyBackward(s, t[0], t[1], t[2], t[3], t[4]);
                  }});
  rows.push_back(
      {"crossEntropyBackward",
       {{"dloss", f32, "1", AnyRank},
        {"logits", f32, "RV"},
        {"targets", i64, "R", Index},
        {"lse", f32, "R"}},
       [](const Stream &s, Tensors t) { ops::crossEntropyBackward(s, t[0], t[1], t[2], t[3]); }});
}

void addSampling(std::vector<PublicOp> &rows) {
  rows.push_back({"argmax",
                  {{"x", f32, "RC"}, {"indices", i32, "R", Out | Index}},
                  [](const Stream &s, Tensors t) { ops::argmax(s, t[0], t[1]); }});
  rows.push_back({"argmax", {{"x", f32, "RC", AnyRank}}, [](const Stream &s, Tensors t) {
                    ops::argmax(s, t[0]);
                  }});
  rows.push_back(
      {"topK",
       {{"x", f32, "RC"}, {"values", f32, "RW", Out}, {"indices", i64, "RW", Out | Index}},
       [](const Stream &s, Tensors t) { ops::topK(s, t[0], t[1], t[2]); }});
  rows.push_back({"topK", {{"x", f32, "RC", AnyRank}}, [](const Stream &s, Tensors t) {
                    ops::topK(s, t[0], 2);
                  }});
  rows.push_back({"sampleTopK",
                  {{"logits", f32, "RC"}, {"tokens", i32, "R", Out | Index}},
                  [](const Stream &s, Tensors t) {
                    ops::Generator generator{.seed = 1};
                    ops::sampleTopK(s, generator, t[0], 2, 1, t[1]);
                  }});
  rows.push_back({"sampleTopK", {{"logits", f32, "RC", AnyRank}}, [](const Stream &s, Tensors t) {
                    ops::Generator generator{.seed = 1};
                    ops::sampleTopK(s, generator, t[0], 2, 1);
                  }});
}

// --- Of models -----------------------------------------------------------------------------------

void addAttention(std::vector<PublicOp> &rows) {
  rows.push_back(
      {"attention",
       {{"q", f16, "BHQD"},
        {"k", f16, "BGKD"},
        {"v", f16, "BGKD"},
        {"out", f16, "BHQD", Out},
        {"lse", f32, "BHQ", Out}},
       [](const Stream &s, Tensors t) { ops::attention(s, t[0], t[1], t[2], t[3], t[4]); }});
  rows.push_back(
      {"attention",
       {{"q", f16, "BHQD"}, {"k", f16, "BGKD"}, {"v", f16, "BGKD"}, {"out", f16, "BHQD", Out}},
       [](const Stream &s, Tensors t) { ops::attention(s, t[0], t[1], t[2], t[3]); }});
  rows.push_back({"attention",
                  {{"q", f16, "BHQD"}, {"k", f16, "BGKD"}, {"v", f16, "BGKD"}},
                  [](const Stream &s, Tensors t) { ops::attention(s, t[0], t[1], t[2]); }});
  rows.push_back({"attentionBackward",
                  {{"q", f16, "BHQD"},
                   {"k", f16, "BGKD"},
                   {"v", f16, "BGKD"},
                   {"out", f16, "BHQD"},
                   {"lse", f32, "BHQ"},
                   {"dout", f16, "BHQD"},
                   {"dq", f16, "BHQD", Out},
                   {"dk", f16, "BGKD", Out},
                   {"dv", f16, "BGKD", Out}},
                  [](const Stream &s, Tensors t) {
                    ops::attentionBackward(s, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8]);
                  }});
  rows.push_back({"attentionBackward",
                  {{"q", f16, "BHQD"},
                   {"k", f16, "BGKD"},
                   {"v", f16, "BGKD"},
                   {"out", f16, "BHQD"},
                   {"lse", f32, "BHQ"},
                   {"dout", f16, "BHQD"}},
                  [](const Stream &s, Tensors t) {
                    ops::attentionBackward(s, t[0], t[1], t[2], t[3], t[4], t[5]);
                  }});
}

void addCaches(std::vector<PublicOp> &rows) {
  rows.push_back({"kvCacheAppend",
                  {{"k", f16, "BGQD"},
                   {"v", f16, "BGQD"},
                   {"cache.k", f16, "BGSD", Out},
                   {"cache.v", f16, "BGSD", Out},
                   {"cache.lengths", i32, "B", Index}},
                  [](const Stream &s, Tensors t) {
                    ops::kvCacheAppend(s, t[0], t[1], {.k = t[2], .v = t[3], .lengths = t[4]});
                  }});
  rows.push_back({"kvCacheAppend",
                  {{"k", f16, "BGQD"},
                   {"v", f16, "BGQD"},
                   {"cache.k", f16, "PGSD", Out},
                   {"cache.v", f16, "PGSD", Out},
                   {"cache.lengths", i32, "B", Index},
                   {"cache.table", i32, "BT", Index | Chooses}},
                  [](const Stream &s, Tensors t) {
                    ops::kvCacheAppend(s, t[0], t[1],
                                       {.k = t[2], .v = t[3], .lengths = t[4], .table = t[5]});
                  }});
  rows.push_back({"decodeAttention",
                  {{"q", f16, "BHD"},
                   {"cache.k", f16, "PGSD"},
                   {"cache.v", f16, "PGSD"},
                   {"cache.lengths", i32, "B", Index},
                   {"cache.table", i32, "BT", Index | Chooses},
                   {"out", f16, "BHD", Out}},
                  [](const Stream &s, Tensors t) {
                    ops::decodeAttention(
                        s, t[0], {.k = t[1], .v = t[2], .lengths = t[3], .table = t[4]}, t[5]);
                  }});
  rows.push_back({"decodeAttention",
                  {{"q", f16, "BHD"},
                   {"cache.k", f16, "BGSD"},
                   {"cache.v", f16, "BGSD"},
                   {"cache.lengths", i32, "B", Index}},
                  [](const Stream &s, Tensors t) {
                    ops::decodeAttention(s, t[0], {.k = t[1], .v = t[2], .lengths = t[3]});
                  }});
}

void addEmbeddings(std::vector<PublicOp> &rows) {
  rows.push_back({"embedding",
                  {{"table", f32, "VE"}, {"indices", i32, "BR", Index}, {"y", f32, "BRE", Out}},
                  [](const Stream &s, Tensors t) { ops::embedding(s, t[0], t[1], t[2]); }});
  rows.push_back({"embedding",
                  {{"table", f32, "VE"}, {"indices", i64, "BR", Index | AnyRank}},
                  [](const Stream &s, Tensors t) { ops::embedding(s, t[0], t[1]); }});
  rows.push_back({"embeddingBackward",
                  {{"indices", i32, "BR", Index}, {"dy", f32, "BRE"}, {"dtable", f32, "VE", Out}},
                  [](const Stream &s, Tensors t) { ops::embeddingBackward(s, t[0], t[1], t[2]); }});
  rows.push_back(
      {"rotaryTables",
       {{"positions", i32, "R", Index}, {"cosines", f32, "RE", Out}, {"sines", f32, "RE", Out}},
       [](const Stream &s, Tensors t) { ops::rotaryTables(s, t[0], t[1], t[2]); }});
  rows.push_back({"rotaryTables",
                  {{"cosines", f32, "RE", Out}, {"sines", f32, "RE", Out}},
                  [](const Stream &s, Tensors t) { ops::rotaryTables(s, 3, t[0], t[1]); }});
  rows.push_back({"rotate",
                  {{"x", f32, "BRD"},
                   {"cosines", f32, "RE", Broadcast},
                   {"sines", f32, "RE", Broadcast},
                   {"y", f32, "BRD", Out}},
                  [](const Stream &s, Tensors t) { ops::rotate(s, t[0], t[1], t[2], t[3]); }});
  rows.push_back({"rotateBackward",
                  {{"dy", f32, "BRD"},
                   {"cosines", f32, "RE", Broadcast},
                   {"sines", f32, "RE", Broadcast},
                   {"dx", f32, "BRD", Out}},
                  [](const Stream &s, Tensors t) {
                    ops::rotateBackward(s, t[0], t[1], t[2], t[3], {.interleaved = true});
                  }});
  rows.push_back(
      {"rotary",
       {{"x", f32, "BRD"}, {"positions", i32, "BR", Index | Broadcast}, {"y", f32, "BRD", Out}},
       [](const Stream &s, Tensors t) { ops::rotary(s, t[0], t[1], t[2]); }});
  rows.push_back({"rotary",
                  {{"x", f32, "BRD"}, {"y", f32, "BRD", Out}},
                  [](const Stream &s, Tensors t) { ops::rotary(s, t[0], 5, t[1]); }});
  rows.push_back(
      {"rotaryBackward",
       {{"dy", f32, "BRD"}, {"positions", i32, "BR", Index | Broadcast}, {"dx", f32, "BRD", Out}},
       [](const Stream &s, Tensors t) { ops::rotaryBackward(s, t[0], t[1], t[2]); }});
  rows.push_back({"rotaryBackward",
                  {{"dy", f32, "BRD"}, {"dx", f32, "BRD", Out}},
                  [](const Stream &s, Tensors t) { ops::rotaryBackward(s, t[0], 5, t[1]); }});
}

} // namespace

void addRowOps(std::vector<PublicOp> &rows) {
  addNorms(rows), addSoftmax(rows), addCrossEntropy(rows), addSampling(rows);
  addAttention(rows), addCaches(rows), addEmbeddings(rows);
}

} // namespace tile::test
