// einsum: operands are contracted two at a time, by views of them that matmul, map and sum take.
#include <tile/ops/Einsum.h>

#include "ops/EinsumFormula.h"
#include "ops/NewTensor.h"
#include "ops/Rows.h"

#include <tile/ops/Arithmetic.h>
#include <tile/ops/Reduce.h>

#include <algorithm>
#include <optional>

namespace tile::ops {

namespace {

/// A tensor whose dimensions have labels, each once; `memory` if it was made on the way.
struct Labelled {
  Operand view;
  Labels labels;
  Tensor memory = {};

  int dimOf(Label label) const {
    return static_cast<int>(std::ranges::find(labels.span(), label) - labels.span().begin());
  }
  bool has(Label label) const { return dimOf(label) < labels.count; }
  int64_t stride(Label label) const { return has(label) ? view.stride(dimOf(label)) : 0; }
};

/// Some labels that act as one dimension, or as none.
struct Group {
  std::optional<Labels> order = {};
  int64_t extent = 1, stride = 0;
};

class Contraction {
public:
  Contraction(CallSite site, const EinsumFormula &formula, const MatmulOptions &options,
              DType dtype)
      : site_(site), formula_(formula), options_(options), dtype_(dtype) {}

  void run(std::span<const Operand> operands, const Operand &y) {
    Labelled target = {y, formula_.output()}, product = operand(operands, 0);
    if (operands.size() == 1)
      return reduce(product, target);
    for (size_t i = 1; i < operands.size(); ++i) {
      LabelSet needed = target.labels.set();
      for (size_t later = i + 1; later < operands.size(); ++later)
        needed |= formula_.input(later).set();
      bool isLast = i + 1 == operands.size();
      product = contracted(product, operand(operands, i), needed, isLast ? &target : nullptr);
    }
  }

private:
  // --- Views -------------------------------------------------------------------------------------

  /// Dimensions of one label become their diagonal; those of `...` that are to be repeated go.
  Labelled operand(std::span<const Operand> operands, size_t i) const {
    const Operand &x = operands[i];
    const Labels &all = formula_.input(i);
    Labels labels;
    int64_t extents[kMaxRank], strides[kMaxRank];
    for (int dim = 0; dim < all.count; ++dim) {
      Label label = all.list[dim];
      if (x.extent(dim) != formula_.extent(label))
        continue;
      auto known = std::ranges::find(labels.span(), label) - labels.span().begin();
      if (known == labels.count)
        labels.append(label), extents[known] = x.extent(dim), strides[known] = 0;
      strides[known] += x.stride(dim);
    }
    auto rank = static_cast<size_t>(labels.count);
    return {x.strided({extents, rank}, {strides, rank}), labels};
  }
  /// x with dimensions in this order; it is repeated along those that it has not.
  Operand arranged(const Labelled &x, const Labels &order) const {
    int64_t extents[kMaxRank], strides[kMaxRank];
    for (int dim = 0; dim < order.count; ++dim)
      extents[dim] = formula_.extent(order.list[dim]), strides[dim] = x.stride(order.list[dim]);
    auto rank = static_cast<size_t>(order.count);
    return x.view.strided({extents, rank}, {strides, rank});
  }
  Labelled made(const Labels &labels, DType dtype) const {
    int64_t extents[kMaxRank];
    for (int dim = 0; dim < labels.count; ++dim)
      extents[dim] = formula_.extent(labels.list[dim]);
    Tensor memory = site_.stream.tensor(dtype, {extents, static_cast<size_t>(labels.count)});
    return {memory, labels, memory};
  }
  /// The labels of a set that x has, from its largest stride to its smallest.
  Labels ordered(const Labelled &x, LabelSet set) const {
    Labels result;
    for (Label label : x.labels.span())
      if (set & only(label))
        result.append(label);
    // By insertion: equal strides keep their order, and no memory is asked for.
    for (int end = 1; end < result.count; ++end)
      for (int i = end; i > 0 && x.stride(result.list[i]) > x.stride(result.list[i - 1]); --i)
        std::swap(result.list[i], result.list[i - 1]);
    return result;
  }
  /// Labels of both, one list after the other; Unsupported if they are too many.
  Labels joined(const Labels &a, const Labels &b) const {
    if (a.count + b.count > kMaxRank)
      Arguments("einsum", site_)
          .fail(ErrorCode::Unsupported, "a product on the way to y has " +
                                            std::to_string(a.count + b.count) +
                                            " dimensions; at most " + std::to_string(kMaxRank) +
                                            " are possible: give the operands in another order");
    Labels result = a;
    for (Label label : b.span())
      result.append(label);
    return result;
  }
  /// `order` as one dimension of x, if it lies as one there.
  std::optional<Group> folded(const Labelled &x, const Labels &order) const {
    Group group = {order};
    for (int i = order.count; i-- > 0;) {
      int64_t extent = formula_.extent(order.list[i]), stride = x.stride(order.list[i]);
      if (extent == 1)
        continue;
      if (group.extent == 1)
        group.stride = stride;
      else if (stride != group.stride * group.extent && x.view.numel() != 0)
        return {};
      group.extent *= extent;
    }
    return group;
  }
  bool folds(const Labelled &x, const Labels &order) const { return folded(x, order).has_value(); }
  /// An order of labels that are to act as one: in which both lie so, else `first` alone, else perhaps `second`.
  Labels commonOrder(const Labelled &first, const Labelled &second, LabelSet set) const {
    Labels own = ordered(first, set), others = ordered(second, set);
    if (folds(first, own) &&
        (folds(second, own) || !folds(first, others) || !folds(second, others)))
      return own;
    return others;
  }

  // --- Steps -------------------------------------------------------------------------------------

  void sumLast(const Operand &x, int count, const Operand &y) const {
    int axes[kMaxRank];
    for (int i = 0; i < count; ++i)
      axes[i] = x.rank() - count + i;
    sum(site_.stream, x, Axes(std::span<const int>(axes, static_cast<size_t>(count))), y,
        site_.where);
  }
  /// y = x, summed over the labels that y has not.
  void reduce(const Labelled &x, const Labelled &y) const {
    Labels gone = ordered(x, ~y.labels.set());
    Operand all = arranged(x, joined(y.labels, gone));
    if (gone.count == 0)
      copy(site_.stream, all, y.view, site_.where);
    else
      sumLast(all, gone.count, y.view);
  }
  Labelled summedTo(const Labelled &x, LabelSet kept) const {
    if ((x.labels.set() & ~kept) == 0)
      return x;
    Labelled result = made(ordered(x, kept), dtype_);
    reduce(x, result);
    return result;
  }
  void multiply(const Labelled &a, const Labelled &b, const Labelled &c) const {
    map(
        site_, [](Value a, Value b) { return a * b; }, arranged(c, c.labels), arranged(a, c.labels),
        arranged(b, c.labels));
  }
  Labelled copied(const Labelled &x, const Labels &order) const {
    Labelled result = made(order, x.view.dtype());
    copy(site_.stream, arranged(x, order), result.view, site_.where);
    return result;
  }

  /// The product of both, summed over labels that nobody needs, in the target if there is one.
  Labelled contracted(const Labelled &left, const Labelled &right, LabelSet needed,
                      const Labelled *target) const {
    Labelled a = summedTo(left, needed | right.labels.set());
    Labelled b = summedTo(right, needed | a.labels.set());
    LabelSet inA = a.labels.set(), inB = b.labels.set(), summed = inA & inB & ~needed;
    Labels own = joined(ordered(a, inA & inB & needed), ordered(a, inA & ~inB));
    Labelled c = target ? *target : made(joined(own, ordered(b, inB & ~inA)), dtype_);
    if (summed == 0) {
      multiply(a, b, c);
    } else if (inA == inB) {
      Labelled products = made(joined(c.labels, ordered(a, summed)), widestOf({dtype_}));
      multiply(a, b, products);
      reduce(products, c);
    } else {
      multiplyMatrices(a, b, c, summed);
    }
    return c;
  }

  /// Labels `first` and `second` as a matrix behind the batches.
  Operand matrices(const Labelled &x, const Labels &batch, const Labels &first,
                   const Labels &second) const {
    Operand outer = arranged(x, batch);
    Group rows = *folded(x, first), columns = *folded(x, second);
    int64_t extents[kMaxRank], strides[kMaxRank];
    for (int dim = 0; dim < batch.count; ++dim)
      extents[dim] = outer.extent(dim), strides[dim] = outer.stride(dim);
    auto rank = static_cast<size_t>(batch.count);
    for (Group group : {rows, columns})
      extents[rank] = group.extent, strides[rank++] = group.stride;
    return x.view.strided({extents, rank}, {strides, rank});
  }

  /// Batches from c's largest stride to its smallest. Where two do not lie as one, `matmul` launches once for each index of
  /// the first: that is the one with fewer.
  Labels batchesOf(const Labelled &a, const Labelled &b, const Labelled &c, LabelSet set) const {
    Labels batch = ordered(c, set);
    bool isOne = folds(a, batch) && folds(b, batch) && folds(c, batch);
    if (batch.count == 2 && !isOne &&
        formula_.extent(batch.list[0]) > formula_.extent(batch.list[1]))
      std::swap(batch.list[0], batch.list[1]);
    return batch;
  }

  /// The part that each letter plays in a matrix product, and which tensors lie in memory as that needs.
  struct Roles {
    Labels batch, m, n, k;
    bool fitsA = false, fitsB = false, fitsC = false;
    bool fit() const { return fitsA && fitsB && fitsC; }
  };
  /// `repeated` is a batch though only one operand has it.
  Roles rolesOf(const Labelled &a, const Labelled &b, const Labelled &c, LabelSet summed,
                LabelSet repeated) const {
    LabelSet inA = a.labels.set(), inB = b.labels.set();
    Roles roles = {.batch = batchesOf(a, b, c, (inA & inB & ~summed) | repeated),
                   .m = commonOrder(c, a, inA & ~inB & ~repeated),
                   .n = commonOrder(c, b, inB & ~inA & ~repeated),
                   .k = commonOrder(a, b, summed)};
    roles.fitsA = folds(a, roles.m) && folds(a, roles.k);
    roles.fitsB = folds(b, roles.k) && folds(b, roles.n);
    roles.fitsC = folds(c, roles.m) && folds(c, roles.n);
    return roles;
  }
  /// Copies are avoided if one letter, as the only batch, lets the others lie as one: `oi,bihw->bohw`.
  Roles bestRoles(const Labelled &a, const Labelled &b, const Labelled &c, LabelSet summed) const {
    Roles plain = rolesOf(a, b, c, summed, 0);
    if (plain.fit() || plain.batch.count > 0)
      return plain;
    Labels inOne = ordered(c, a.labels.set() ^ b.labels.set());
    for (Label label : inOne.span())
      if (Roles roles = rolesOf(a, b, c, summed, only(label)); roles.fit())
        return roles;
    return plain;
  }

  void multiplyMatrices(const Labelled &left, const Labelled &right, const Labelled &c,
                        LabelSet summed) const {
    Roles roles = bestRoles(left, right, c, summed);
    auto &[batch, m, n, k, fitsA, fitsB, fitsC] = roles;
    Labelled a = fitsA ? left : copied(left, joined(joined(batch, m), k));
    Labelled b = fitsB ? right : copied(right, joined(joined(batch, k), n));
    Labelled result = fitsC ? c : made(joined(joined(batch, m), n), c.view.dtype());
    matmul(site_.stream, matrices(a, batch, m, k), matrices(b, batch, k, n),
           matrices(result, batch, m, n), options_, site_.where);
    if (!fitsC)
      copy(site_.stream, arranged(result, c.labels), c.view, site_.where);
  }

  CallSite site_;
  const EinsumFormula &formula_;
  MatmulOptions options_;
  DType dtype_;
};

// --- Arguments -----------------------------------------------------------------------------------

constexpr const char *kNames[kMostEinsumOperands] = {
    "operand 0",  "operand 1",  "operand 2",  "operand 3", "operand 4",  "operand 5",
    "operand 6",  "operand 7",  "operand 8",  "operand 9", "operand 10", "operand 11",
    "operand 12", "operand 13", "operand 14", "operand 15"};

/// A tensor of the result's extents without memory.
Operand shapeOfResult(const EinsumFormula &formula, const Operand &like) {
  int64_t extents[kMaxRank], strides[kMaxRank] = {};
  for (int dim = 0; dim < formula.output().count; ++dim)
    extents[dim] = formula.extent(formula.output().list[dim]);
  auto rank = static_cast<size_t>(formula.output().count);
  return like.strided({extents, rank}, {strides, rank});
}

/// Before the formula speaks of them. Too many are refused by it.
void checkGiven(const Arguments &arguments, std::span<const Operand> operands) {
  for (size_t i = 0; i < std::min(operands.size(), std::size(kNames)); ++i)
    arguments.given({kNames[i], operands[i]});
}

void checkDtypes(const Arguments &arguments, std::span<const Operand> operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    arguments.dtypeIn({kNames[i], operands[i]}, {f16, bf16, f32, f64});
    arguments.sameDtype({kNames[0], operands[0]}, {kNames[i], operands[i]});
  }
}

void check(const Arguments &arguments, const EinsumFormula &formula,
           std::span<const Operand> operands, Named y) {
  checkDtypes(arguments, operands);
  arguments.dtypeIn(y, {f16, bf16, f32, f64});
  arguments.sameExtents(y, {"the result", shapeOfResult(formula, y.operand)});
  arguments.accessible({y});
  arguments.elementsDistinct(y);
  for (size_t i = 0; i < operands.size(); ++i) {
    arguments.accessible({{kNames[i], operands[i]}});
    arguments.disjoint(y, {kNames[i], operands[i]});
  }
}

} // namespace

void einsum(const Stream &stream, std::string_view formula, std::span<const Operand> operands,
            const Operand &y, const MatmulOptions &options, Loc loc) {
  Arguments arguments("einsum", {stream, loc});
  checkGiven(arguments, operands);
  EinsumFormula meaning(formula, operands, arguments);
  check(arguments, meaning, operands, {"y", y});
  if (y.numel() != 0)
    Contraction(CallSite(stream, loc), meaning, options, operands[0].dtype()).run(operands, y);
}
void einsum(const Stream &stream, std::string_view formula, std::initializer_list<Operand> operands,
            const Operand &y, const MatmulOptions &options, Loc loc) {
  einsum(stream, formula, std::span(operands.begin(), operands.size()), y, options, loc);
}

Tensor einsum(const Stream &stream, std::string_view formula, std::span<const Operand> operands,
              const MatmulOptions &options, Loc loc) {
  Arguments arguments("einsum", {stream, loc});
  checkGiven(arguments, operands);
  EinsumFormula meaning(formula, operands, arguments);
  checkDtypes(arguments, operands);
  Tensor y =
      newLike(arguments, {"the result", shapeOfResult(meaning, operands[0])}, operands[0].dtype());
  einsum(stream, formula, operands, y, options, loc);
  return y;
}
Tensor einsum(const Stream &stream, std::string_view formula,
              std::initializer_list<Operand> operands, const MatmulOptions &options, Loc loc) {
  return einsum(stream, formula, std::span(operands.begin(), operands.size()), options, loc);
}

} // namespace tile::ops
