// The list of calls. Where an op has an easy and a hard way, both are here: short and long rows, along and across memory.
#include "bench/ops/Cases.h"

#include <tile/ops/Activations.h>
#include <tile/ops/Arithmetic.h>
#include <tile/ops/Attention.h>
#include <tile/ops/CrossEntropy.h>
#include <tile/ops/Embedding.h>
#include <tile/ops/KvCache.h>
#include <tile/ops/Matmul.h>
#include <tile/ops/Norm.h>
#include <tile/ops/Optimizers.h>
#include <tile/ops/Random.h>
#include <tile/ops/Reduce.h>
#include <tile/ops/Rotary.h>
#include <tile/ops/Sampling.h>
#include <tile/ops/Softmax.h>

#include <array>

namespace tile::bench {

namespace {

std::string shapeText(DType dtype, const std::vector<int64_t> &extents) {
  std::string text = nameOf(dtype);
  for (size_t i = 0; i < extents.size(); ++i)
    text += (i == 0 ? " " : "x") + std::to_string(extents[i]);
  return text;
}

class List {
public:
  /// A call whose main tensor is of this dtype and extents.
  template <class Prepare>
  void add(std::string op, DType dtype, std::vector<int64_t> extents, Prepare prepare) {
    auto call = [=](Setup &setup) -> Call { return prepare(setup, dtype, extents); };
    all.push_back({std::move(op), shapeText(dtype, extents), call});
  }
  std::vector<Case> all;
};

using Extents = std::vector<int64_t>;

void elementwise(List &list) {
  auto add = [](Setup &s, DType dtype, const Extents &extents) {
    Tensor a = s.read(dtype, extents), b = s.read(dtype, extents), c = s.written(dtype, extents);
    return [=, &stream = s.stream] { ops::add(stream, a, b, c); };
  };
  list.add("add", f32, {1 << 20}, add);
  list.add("add", f16, {1 << 20}, add);
  list.add("add, new tensor", f32, {1 << 20}, [](Setup &s, DType dtype, const Extents &extents) {
    Tensor a = s.read(dtype, extents), b = s.read(dtype, extents);
    s.written(dtype, extents);
    return [=, &stream = s.stream] { ops::add(stream, a, b); };
  });
  list.add("add a row to all", f16, {1024, 1024}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor a = s.read(dtype, e), b = s.read(dtype, {e[1]}), c = s.written(dtype, e);
    return [=, &stream = s.stream] { ops::add(stream, a, b, c); };
  });
  list.add("copy to f16", f32, {1024, 1024}, [](Setup &s, DType dtype, const Extents &extents) {
    Tensor x = s.read(dtype, extents), y = s.written(f16, extents);
    return [=, &stream = s.stream] { ops::copy(stream, x, y); };
  });
  list.add("transpose", f32, {1024, 1024}, [](Setup &s, DType dtype, const Extents &extents) {
    Tensor x = s.read(dtype, extents), y = s.written(dtype, extents);
    return [=, &stream = s.stream] { ops::copy(stream, x.T(), y); };
  });
  list.add("affine", bf16, {1 << 20}, [](Setup &s, DType dtype, const Extents &extents) {
    Tensor x = s.read(dtype, extents), y = s.written(dtype, extents);
    return [=, &stream = s.stream] { ops::affine(stream, x, 0.5, 1, y); };
  });
}

void activations(List &list) {
  auto gelu = [](Setup &s, DType dtype, const Extents &extents) {
    Tensor x = s.read(dtype, extents), y = s.written(dtype, extents);
    return [=, &stream = s.stream] { ops::gelu(stream, x, y); };
  };
  list.add("gelu", f32, {1 << 20}, gelu);
  list.add("gelu", f16, {1 << 20}, gelu);
  list.add("siluBackward", f16, {1 << 20}, [](Setup &s, DType dtype, const Extents &extents) {
    Tensor x = s.read(dtype, extents), dy = s.read(dtype, extents);
    Tensor dx = s.written(dtype, extents);
    return [=, &stream = s.stream] { ops::siluBackward(stream, x, dy, dx); };
  });
  list.add("swigluHalves", bf16, {1024, 2048}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor ab = s.read(dtype, e), y = s.written(dtype, {e[0], e[1] / 2});
    return [=, &stream = s.stream] { ops::swigluHalves(stream, ab, y); };
  });
}

void norms(List &list) {
  auto layernorm = [](Setup &s, DType dtype, const Extents &e) {
    Tensor x = s.read(dtype, e), w = s.read(dtype, {e[1]}), b = s.read(dtype, {e[1]});
    Tensor y = s.written(dtype, e);
    return [=, &stream = s.stream] { ops::layernorm(stream, x, w, b, 1e-5, y); };
  };
  list.add("layernorm", f32, {2048, 768}, layernorm);
  list.add("layernorm", f16, {1024, 1024}, layernorm);
  list.add("layernorm", f16, {256, 4096}, layernorm);
  list.add("layernorm", f16, {32768, 256}, layernorm);
  list.add("layernorm, no weights", f16, {1024, 1024}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor x = s.read(dtype, e), y = s.written(dtype, e);
    return [=, &stream = s.stream] { ops::layernorm(stream, x, {}, {}, 1e-5, y); };
  });
  list.add("rmsnorm", bf16, {1024, 2048}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor x = s.read(dtype, e), w = s.read(dtype, {e[1]}), y = s.written(dtype, e);
    return [=, &stream = s.stream] { ops::rmsnorm(stream, x, w, 1e-5, y); };
  });
  list.add("addRmsnorm", bf16, {1024, 2048}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor x = s.read(dtype, e), r = s.read(dtype, e), w = s.read(dtype, {e[1]});
    Tensor sum = s.written(dtype, e), y = s.written(dtype, e);
    return [=, &stream = s.stream] { ops::addRmsnorm(stream, x, r, w, 1e-5, sum, y); };
  });
  list.add("layernormBackward", f32, {4096, 768}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor dy = s.read(dtype, e), x = s.read(dtype, e), w = s.read(dtype, {e[1]});
    Tensor mean = s.read(f32, {e[0]}), rstd = s.read(f32, {e[0]}), dx = s.written(dtype, e);
    Tensor dw = s.written(dtype, {e[1]}), db = s.written(dtype, {e[1]});
    return [=, &stream = s.stream] {
      ops::layernormBackward(stream, dy, x, w, mean, rstd, dx, dw, db);
    };
  });
}

void softmaxes(List &list) {
  auto softmax = [](Setup &s, DType dtype, const Extents &extents) {
    Tensor x = s.read(dtype, extents), y = s.written(dtype, extents);
    return [=, &stream = s.stream] { ops::softmax(stream, x, y); };
  };
  list.add("softmax", f32, {1024, 1024}, softmax);
  list.add("softmax", f16, {1024, 1024}, softmax);
  list.add("softmax, two passes", f16, {32, 32768}, softmax);
  list.add("softmax down columns", f32, {256, 4096}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor x = s.read(dtype, e), y = s.written(dtype, e);
    return [=, &stream = s.stream] { ops::softmax(stream, x, y, 0); };
  });
  list.add("logSoftmaxBackward", f32, {1024, 1024}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor dy = s.read(dtype, e), y = s.read(dtype, e), dx = s.written(dtype, e);
    return [=, &stream = s.stream] { ops::logSoftmaxBackward(stream, dy, y, dx); };
  });
}

void crossEntropies(List &list) {
  list.add("crossEntropy", f16, {256, 8192}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor logits = s.read(dtype, e), targets = s.indices({e[0]}, static_cast<int32_t>(e[1]));
    Tensor loss = s.written(f32, {}), lse = s.written(f32, {e[0]});
    return [=, &stream = s.stream] { ops::crossEntropy(stream, logits, targets, loss, lse); };
  });
  list.add("crossEntropyBackward", f16, {256, 8192}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor logits = s.read(dtype, e), targets = s.indices({e[0]}, static_cast<int32_t>(e[1]));
    Tensor dloss = s.read(f32, {}), lse = s.read(f32, {e[0]}), dlogits = s.written(dtype, e);
    return [=, &stream = s.stream] {
      ops::crossEntropyBackward(stream, dloss, logits, targets, lse, dlogits);
    };
  });
}

void reductions(List &list) {
  auto reduce = [](const ops::Axes &axes, Extents kept) {
    return [=](Setup &s, DType dtype, const Extents &extents) {
      Tensor x = s.read(dtype, extents), y = s.written(dtype, kept);
      return [=, &stream = s.stream] { ops::sum(stream, x, axes, y); };
    };
  };
  list.add("sum of all", f32, {1 << 20}, reduce({}, {}));
  list.add("sum of rows", f32, {1024, 1024}, reduce(1, {1024}));
  list.add("sum of rows", f16, {4096, 256}, reduce(1, {4096}));
  list.add("sum of columns", f32, {1024, 1024}, reduce(0, {1024}));
  list.add("sum of columns", f16, {4096, 256}, reduce(0, {256}));
}

void lookups(List &list) {
  list.add("embedding", f16, {2048, 512}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor table = s.partly(dtype, {8192, e[1]}, e[0] * e[1]);
    Tensor indices = s.indices({e[0]}, 8192), y = s.written(dtype, e);
    return [=, &stream = s.stream] { ops::embedding(stream, table, indices, y); };
  });
  list.add("embeddingBackward", f32, {1024, 512}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor indices = s.indices({e[0]}, 2048), dy = s.read(dtype, e);
    Tensor dtable = s.written(dtype, {2048, e[1]});
    return [=, &stream = s.stream] { ops::embeddingBackward(stream, indices, dy, dtable); };
  });
  auto rotate = [](bool interleaved) {
    return [=](Setup &s, DType dtype, const Extents &e) {
      Tensor x = s.read(dtype, e), y = s.written(dtype, e);
      Tensor cosines = s.read(f32, {e[1], e[2] / 2}), sines = s.read(f32, {e[1], e[2] / 2});
      ops::RotaryOptions options{.interleaved = interleaved};
      return [=, &stream = s.stream] { ops::rotate(stream, x, cosines, sines, y, options); };
    };
  };
  list.add("rotate, halves", f16, {16, 512, 128}, rotate(false));
  list.add("rotate, interleaved", f16, {16, 512, 128}, rotate(true));
}

void products(List &list) {
  auto matmul = [](Setup &s, DType dtype, const Extents &e) {
    int64_t n = e[0];
    Tensor a = s.read(dtype, e), b = s.read(dtype, {e[1], n}), c = s.written(dtype, {n, n});
    s.flops = 2.0 * n * n * e[1];
    return [=, &stream = s.stream] { ops::matmul(stream, a, b, c); };
  };
  list.add("matmul", f16, {512, 512}, matmul);
  list.add("matmul", f32, {256, 256}, matmul);
  list.add("linear", bf16, {512, 512}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor x = s.read(dtype, e), w = s.read(dtype, {512, e[1]}), b = s.read(dtype, {512});
    Tensor y = s.written(dtype, {e[0], 512});
    s.flops = 2.0 * e[0] * e[1] * 512;
    return [=, &stream = s.stream] { ops::linear(stream, x, w, b, y); };
  });
  list.add("matmul, batches", f16, {8, 128, 128}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor a = s.read(dtype, e), b = s.read(dtype, e), c = s.written(dtype, e);
    s.flops = 2.0 * e[0] * e[1] * e[1] * e[2];
    return [=, &stream = s.stream] { ops::matmul(stream, a, b, c); };
  });
}

/// The multiply-adds of one product of all pairs of positions; `e` is batch x heads x length x width of queries and of keys.
double pairProducts(const Extents &e, bool causal) {
  auto length = static_cast<double>(e[2]);
  double pairs = causal ? length * (length + 1) / 2 : length * length;
  return static_cast<double>(e[0] * e[1]) * pairs * static_cast<double>(e[3]);
}

void attentions(List &list) {
  auto attention = [](bool causal) {
    return [=](Setup &s, DType dtype, const Extents &e) {
      Tensor q = s.read(dtype, e), k = s.read(dtype, e), v = s.read(dtype, e);
      Tensor out = s.written(dtype, e), lse = s.written(f32, {e[0], e[1], e[2]});
      s.flops = 2 * 2 * pairProducts(e, causal);
      ops::AttentionOptions options{.causal = causal};
      return [=, &stream = s.stream] { ops::attention(stream, q, k, v, out, lse, options); };
    };
  };
  list.add("attention", f16, {1, 8, 512, 64}, attention(false));
  list.add("attention, causal", f16, {1, 8, 512, 64}, attention(true));
  list.add("attentionBackward, causal", f16, {1, 8, 256, 64},
           [](Setup &s, DType dtype, const Extents &e) {
             Tensor q = s.read(dtype, e), k = s.read(dtype, e), v = s.read(dtype, e);
             Tensor out = s.read(dtype, e), lse = s.read(f32, {e[0], e[1], e[2]});
             Tensor dout = s.read(dtype, e), dq = s.written(dtype, e);
             Tensor dk = s.written(dtype, e), dv = s.written(dtype, e);
             s.flops = 5 * 2 * pairProducts(e, true);
             ops::AttentionOptions options{.causal = true};
             return [=, &stream = s.stream] {
               ops::attentionBackward(stream, q, k, v, out, lse, dout, dq, dk, dv, options);
             };
           });
}

/// Caches of batch x heads of keys x capacity x width, full; four heads of queries share one of keys.
void caches(List &list) {
  auto capacity = [](const Extents &e) { return static_cast<int32_t>(e[2]); };
  auto decode = [=](Setup &s, DType dtype, const Extents &e) {
    Tensor k = s.read(dtype, e), v = s.read(dtype, e), lengths = s.numbers({e[0]}, capacity(e));
    Tensor q = s.read(dtype, {e[0], 4 * e[1], e[3]}),
           out = s.written(dtype, {e[0], 4 * e[1], e[3]});
    s.flops = 2 * 2 * 4 * static_cast<double>(k.numel());
    return [=, &stream = s.stream] {
      ops::decodeAttention(stream, q, {.k = k, .v = v, .lengths = lengths}, out);
    };
  };
  list.add("decodeAttention", f16, {32, 8, 1024, 64}, decode);
  list.add("decodeAttention, keys split", f16, {1, 8, 8192, 64}, decode);
  auto append = [=](int64_t tokens) {
    return [=](Setup &s, DType dtype, const Extents &e) {
      Extents added = {e[0], e[1], tokens, e[3]};
      Tensor newK = s.read(dtype, added), newV = s.read(dtype, added);
      Tensor k = s.partly(dtype, e, newK.numel()), v = s.partly(dtype, e, newV.numel());
      Tensor lengths = s.numbers({e[0]}, capacity(e));
      return [=, &stream = s.stream] {
        ops::kvCacheAppend(stream, newK, newV, {.k = k, .v = v, .lengths = lengths});
      };
    };
  };
  list.add("kvCacheAppend of 1", f16, {32, 8, 256, 64}, append(1));
  list.add("kvCacheAppend of 256", f16, {4, 8, 256, 64}, append(256));
}

void samplings(List &list) {
  list.add("argmax", f16, {64, 32768}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor x = s.read(dtype, e), indices = s.written(i32, {e[0]});
    return [=, &stream = s.stream] { ops::argmax(stream, x, indices); };
  });
  list.add("topK, k 50", f16, {64, 32768}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor x = s.read(dtype, e), values = s.written(dtype, {e[0], 50});
    Tensor indices = s.written(i32, {e[0], 50});
    return [=, &stream = s.stream] { ops::topK(stream, x, values, indices); };
  });
  list.add("sampleTopK, k 50", f16, {64, 32768}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor x = s.read(dtype, e), tokens = s.written(i32, {e[0]});
    return [=, &stream = s.stream, generator = ops::Generator{.seed = 1}]() mutable {
      ops::sampleTopK(stream, generator, x, 50, 0.8, tokens);
    };
  });
}

void randoms(List &list) {
  list.add("randn", f32, {1 << 18}, [](Setup &s, DType dtype, const Extents &extents) {
    Tensor y = s.written(dtype, extents);
    return [=, &stream = s.stream, generator = ops::Generator{.seed = 1}]() mutable {
      ops::randn(stream, generator, y);
    };
  });
  list.add("dropout", f16, {1 << 18}, [](Setup &s, DType dtype, const Extents &extents) {
    Tensor x = s.read(dtype, extents), y = s.written(dtype, extents);
    return [=, &stream = s.stream, generator = ops::Generator{.seed = 1}]() mutable {
      ops::dropout(stream, generator, x, 0.1, y);
    };
  });
}

void optimizers(List &list) {
  list.add("sgd", f32, {1 << 20}, [](Setup &s, DType dtype, const Extents &extents) {
    Tensor w = s.changed(dtype, extents), g = s.read(dtype, extents), v = s.changed(f32, extents);
    return [=, &stream = s.stream] { ops::sgd(stream, w, g, v, {.momentum = 0.9}); };
  });
  list.add("adamW", f32, {1 << 20}, [](Setup &s, DType dtype, const Extents &extents) {
    Tensor w = s.changed(dtype, extents), g = s.read(dtype, extents);
    Tensor m = s.changed(f32, extents), v = s.changed(f32, extents);
    return [=, &stream = s.stream, step = int64_t(0)]() mutable {
      ops::adamW(stream, w, g, m, v, ++step);
    };
  });
  list.add("adamW with masters", bf16, {1 << 20}, [](Setup &s, DType dtype, const Extents &e) {
    Tensor w = s.written(dtype, e), g = s.read(dtype, e), m = s.changed(f32, e);
    Tensor v = s.changed(f32, e), master = s.changed(f32, e);
    return [=, &stream = s.stream, step = int64_t(0)]() mutable {
      ops::adamW(stream, w, g, m, v, master, ++step);
    };
  });
  list.add("globalNorm of 4", f32, {1 << 18}, [](Setup &s, DType dtype, const Extents &extents) {
    std::array<Tensor, 4> tensors;
    for (Tensor &tensor : tensors)
      tensor = s.read(dtype, extents);
    Tensor norm = s.written(f32, {1});
    return [=, &stream = s.stream] {
      ops::globalNorm(stream,
                      std::array<ops::Operand, 4>{tensors[0], tensors[1], tensors[2], tensors[3]},
                      norm);
    };
  });
}

} // namespace

std::vector<Case> cases() {
  List list;
  for (auto add : {elementwise, activations, norms, softmaxes, crossEntropies, reductions, lookups,
                   products, attentions, caches, samplings, randoms, optimizers})
    add(list);
  return list.all;
}

} // namespace tile::bench
