// Sums of products over named dimensions: einsum and tensordot.
#include <algorithm>
#include <string>

#include "hearth/autograd.h"
#include "ops/composed_out.h"

namespace hearth {

namespace {

/// Labels of dimensions: 0 … 51 for A-Z and a-z, then those of the ellipsis, last dimension first.
constexpr int kEllipsis = 52;
using Labels = std::vector<int>;

bool has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

std::string name_of_label(int label) {
  if (label >= kEllipsis) return "...";
  return std::string(1, char(label < 26 ? 'A' + label : 'a' + label - 26));
}

/// The labels of one operand or of the output; -1 stands for an ellipsis.
Labels parse(std::string_view text, size_t start, const std::string& whose) {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      HEARTH_CHECK(!has(labels, -1), "einsum(): found '.' for ", whose,
                   whose == "output" ? " but an ellipsis (...) was already found"
                                     : " for which an ellipsis was already found");
      HEARTH_CHECK(text.substr(i, 3) == "...", "einsum(): found '.' for ", whose,
                   " that is not part of any ellipsis (...)");
      labels.push_back(-1);
      i += 2;
      continue;
    }
    const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
    HEARTH_CHECK(upper || lower, "einsum(): invalid subscript given at index ", start + i,
                 " in the equation string, subscripts must be in [a-zA-Z]");
    labels.push_back(upper ? c - 'A' : c - 'a' + 26);
  }
  return labels;
}

/// A tensor with labelled dimensions.
struct Term {
  Tensor tensor;
  Labels labels;

  int64_t place(int label) const {
    return std::find(labels.begin(), labels.end(), label) - labels.begin();
  }
  int64_t size(int label) const { return tensor.size(place(label)); }
  /// Sums over the dimensions for which drop(label) holds.
  template <class Drop>
  void sum_out(const Drop& drop) {
    Dims dims;
    Labels kept;
    for (int label : labels) {
      if (drop(label))
        dims.push_back(place(label));
      else
        kept.push_back(label);
    }
    if (!dims.empty()) tensor = tensor.sum(OptionalIntArrayRef(IntArrayRef(dims)));
    labels = kept;
  }
  /// Removes a dimension of size 1.
  void squeeze(int label) {
    tensor = tensor.squeeze(place(label));
    labels.erase(labels.begin() + place(label));
  }
  /// The dimensions in this order.
  Tensor ordered(const Labels& order) const {
    Dims dims;
    for (int label : order) dims.push_back(place(label));
    return tensor.permute(dims);
  }
};

/// Labels the operand's dimensions, and takes the diagonal of a label that is repeated.
Term named(const Tensor& operand, const Labels& parsed, size_t number) {
  Term term{operand, {}};
  const bool ellipsis = has(parsed, -1);
  const int64_t named_dims = int64_t(parsed.size()) - ellipsis;
  const int64_t rest = operand.dim() - named_dims;
  HEARTH_CHECK(
      ellipsis ? rest >= 0 : rest == 0, "einsum(): the number of subscripts in the equation (",
      named_dims, ellipsis ? ") is more than" : ") does not match", " the number of dimensions (",
      operand.dim(), ") for operand ", number, ellipsis ? "" : " and no ellipsis was given");
  for (int label : parsed) {
    if (label == -1) {
      for (int64_t k = rest; k-- > 0;) term.labels.push_back(kEllipsis + int(k));
      continue;
    }
    const int64_t before = term.place(label), here = int64_t(term.labels.size());
    if (before == here) {
      term.labels.push_back(label);
      continue;
    }
    HEARTH_CHECK(term.tensor.size(before) == term.tensor.size(here), "einsum(): subscript ",
                 name_of_label(label), " is repeated for operand ", number,
                 " but the sizes don't match, ", term.tensor.size(here),
                 " != ", term.tensor.size(before));
    term.tensor = term.tensor.diagonal(0, before, here).movedim(-1, before);
  }
  return term;
}

Tensor grouped(const Term& term, std::initializer_list<const Labels*> groups) {
  Labels order;
  Dims sizes;
  for (const Labels* group : groups) {
    int64_t size = 1;
    for (int label : *group) size *= term.size(label);
    order.insert(order.end(), group->begin(), group->end());
    sizes.push_back(size);
  }
  return term.ordered(order).reshape(sizes);
}

/// The product of two terms, summed over the labels that are not needed: a batched matrix product
/// or, if there are none, an elementwise product.
template <class Needed>
Term contract(Term a, Term b, const Needed& needed) {
  for (const int label : Labels(a.labels)) {
    if (!has(b.labels, label) || a.size(label) == b.size(label)) continue;
    (a.size(label) == 1 ? a : b).squeeze(label);
  }
  a.sum_out([&](int label) { return !needed(label) && !has(b.labels, label); });
  b.sum_out([&](int label) { return !needed(label) && !has(a.labels, label); });
  Labels batch, left, summed, right;
  for (int label : a.labels)
    (!has(b.labels, label) ? left : needed(label) ? batch : summed).push_back(label);
  for (int label : b.labels)
    if (!has(a.labels, label)) right.push_back(label);
  Term result;
  Dims sizes;
  for (const Labels* group : {&batch, &left, &right})
    for (int label : *group) {
      result.labels.push_back(label);
      sizes.push_back((has(a.labels, label) ? a : b).size(label));
    }
  const Tensor x = grouped(a, {&batch, &left, &summed}), y = grouped(b, {&batch, &summed, &right});
  result.tensor = (summed.empty() ? x.mul(y) : x.bmm(y)).reshape(sizes);
  return result;
}

class Einsum {
 public:
  Einsum(std::string_view equation, TensorList operands) {
    HEARTH_CHECK(!operands.empty(), "einsum(): must provide at least one operand");
    const size_t arrow = equation.find("->");
    parse_inputs(equation.substr(0, arrow), operands);
    check_sizes();
    if (arrow == std::string_view::npos)
      imply_output();
    else
      parse_output(equation.substr(arrow + 2), arrow + 2);
  }

  Tensor compute(OptionalIntArrayRef path) {
    for (size_t step = 0; terms_.size() > 1; ++step) {
      size_t i = 0, j = 1;
      if (path && 2 * step + 1 < path->size()) {
        i = size_t((*path)[2 * step]);
        j = size_t((*path)[2 * step + 1]);
        HEARTH_CHECK(i != j && i < terms_.size() && j < terms_.size(),
                     "einsum(): the path names operands that are not there");
      }
      join(std::min(i, j), std::max(i, j), bool(path));
    }
    Term& last = terms_[0];
    last.sum_out([&](int label) { return !has(output_, label); });
    return last.ordered(output_);
  }

 private:
  void parse_inputs(std::string_view text, TensorList operands) {
    size_t start = 0;
    for (size_t i = 0; i < operands.size(); ++i) {
      HEARTH_CHECK(start <= text.size(),
                   "einsum(): more operands were provided than specified in the equation");
      const size_t end = std::min(text.find(',', start), text.size());
      const Labels labels =
          parse(text.substr(start, end - start), start, detail::str("operand ", i));
      terms_.push_back(named(operands[i], labels, i));
      letters_.insert(letters_.end(), labels.begin(), labels.end());
      start = end + 1;
    }
    HEARTH_CHECK(start > text.size(),
                 "einsum(): fewer operands were provided than specified in the equation");
  }
  void check_sizes() {
    std::vector<int64_t> seen;
    for (size_t i = 0; i < terms_.size(); ++i)
      for (int label : terms_[i].labels) {
        if (size_t(label) >= seen.size()) seen.resize(size_t(label) + 1, 1);
        const int64_t size = terms_[i].size(label);
        HEARTH_CHECK(size == 1 || seen[size_t(label)] == 1 || size == seen[size_t(label)],
                     "einsum(): subscript ", name_of_label(label), " has size ", size,
                     " for operand ", i, " which does not broadcast with previously seen size ",
                     seen[size_t(label)]);
        if (size != 1) seen[size_t(label)] = size;
        if (label >= kEllipsis) ellipsis_ = std::max(ellipsis_, label - kEllipsis + 1);
      }
  }
  void add_ellipsis() {
    for (int k = ellipsis_; k-- > 0;) output_.push_back(kEllipsis + k);
  }
  void imply_output() {
    add_ellipsis();
    for (int label = 0; label < kEllipsis; ++label)
      if (std::count(letters_.begin(), letters_.end(), label) == 1) output_.push_back(label);
  }
  void parse_output(std::string_view text, size_t start) {
    for (int label : parse(text, start, "output")) {
      if (label == -1) {
        add_ellipsis();
        continue;
      }
      HEARTH_CHECK(!has(output_, label), "einsum(): output subscript ", name_of_label(label),
                   " appears more than once in the output");
      HEARTH_CHECK(has(letters_, label), "einsum(): output subscript ", name_of_label(label),
                   " does not appear in the equation for any input operand");
      output_.push_back(label);
    }
  }
  /// Contracts terms i < j; the result becomes the first term, or the last one if a path is given.
  void join(size_t i, size_t j, bool last) {
    const Term b = terms_[j], a = terms_[i];
    terms_.erase(terms_.begin() + int64_t(j));
    terms_.erase(terms_.begin() + int64_t(i));
    const auto needed = [&](int label) {
      return has(output_, label) || std::any_of(terms_.begin(), terms_.end(), [&](const Term& t) {
               return has(t.labels, label);
             });
    };
    terms_.insert(last ? terms_.end() : terms_.begin(), contract(a, b, needed));
  }

  std::vector<Term> terms_;
  Labels letters_, output_;
  int ellipsis_ = 0;  // the number of its dimensions
};

/// The dimensions of self in the order free, contracted (or the other way round), as a matrix.
struct Unfolding {
  Unfolding(const Tensor& self, const Dims& contracted, bool contracted_first) {
    Dims order;
    for (int64_t d = 0; d < self.dim(); ++d) {
      if (std::find(contracted.begin(), contracted.end(), d) != contracted.end()) continue;
      order.push_back(d);
      free.push_back(self.size(d));
      rows *= self.size(d);
    }
    for (size_t i = 0; i < contracted.size(); ++i)
      order.insert(contracted_first ? i : order.size(), contracted[i]);
    int64_t inner = 1;
    for (int64_t d : contracted) inner *= self.size(d);
    matrix = contracted_first ? self.permute(order).reshape({inner, rows})
                              : self.permute(order).reshape({rows, inner});
  }
  Dims free;
  int64_t rows = 1;
  Tensor matrix;
};

struct Tensordot {
  struct Args {
    Dims dims_self, dims_other;
    HEARTH_FIELDS(dims_self, dims_other)
  };
  static constexpr OpInfo info{.name = "tensordot", .amp = Amp::kWidest, .amp_cpu = Amp::kKeep};
  static Tensor compute(const Args& args, const Tensor& self, const Tensor& other) {
    HEARTH_CHECK(args.dims_self.size() == args.dims_other.size(),
                 "both dimension lists should have same length");
    HEARTH_CHECK(self.scalar_type() == other.scalar_type(), "both inputs should have same dtype");
    Tensor a = self, b = other;
    Dims mine, its;
    for (size_t i = 0; i < args.dims_self.size(); ++i) {
      mine.push_back(wrap_dim(args.dims_self[i], a.dim()));
      its.push_back(wrap_dim(args.dims_other[i], b.dim()));
      const int64_t x = a.size(mine[i]), y = b.size(its[i]);
      HEARTH_CHECK(x == y || x == 1 || y == 1,
                   "contracted dimensions need to match, but first has size ", x, " in dim ",
                   mine[i], " and second has size ", y, " in dim ", its[i]);
      if (x == 1 && y != 1) b = b.sum(OptionalIntArrayRef(its[i]), true);
      if (y == 1 && x != 1) a = a.sum(OptionalIntArrayRef(mine[i]), true);
    }
    const Unfolding left(a, mine, false), right(b, its, true);
    Dims sizes = left.free;
    for (int64_t size : right.free) sizes.push_back(size);
    return left.matrix.mm(right.matrix).reshape(sizes);
  }
};

}  // namespace

Tensor einsum(std::string_view equation, TensorList tensors, OptionalIntArrayRef path) {
  return Einsum(equation, tensors).compute(path);
}

Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self,
                 IntArrayRef dims_other) {
  return compose<Tensordot>({Dims(dims_self), Dims(dims_other)}, self, other);
}

HEARTH_DEFINE_WRITE_OUT(tensordot,
                        (const Tensor& self, const Tensor& other, IntArrayRef dims_self,
                         IntArrayRef dims_other),
                        tensordot(self, other, dims_self, dims_other))

}  // namespace hearth
