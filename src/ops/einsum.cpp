// Sums of products over named dimensions: einsum and tensordot.
#include <algorithm>
#include <string>

#include "hearth/autograd.h"
#include "ops/composed_out.h"

namespace hearth {

namespace {

/// Labels of dimensions: 0 … 51 for A-Z and a-z, then the dimensions of the ellipsis, last first.
constexpr int kFirstEllipsis = 52;
constexpr int kEllipsis = -1;  // "..." in a parsed subscript
using Labels = std::vector<int>;

bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

std::string name_of_label(int label) {
  if (label >= kFirstEllipsis) return "...";
  return std::string(1, char(label < 26 ? 'A' + label : 'a' + label - 26));
}

/// Returns the labels of one operand or of the output, as written.
Labels parse(std::string_view text, size_t start, const std::string& whose) {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      HEARTH_CHECK(!contains(labels, kEllipsis), "einsum(): found '.' for ", whose,
                   whose == "output" ? " but an ellipsis (...) was already found"
                                     : " for which an ellipsis was already found");
      HEARTH_CHECK(text.substr(i, 3) == "...", "einsum(): found '.' for ", whose,
                   " that is not part of any ellipsis (...)");
      labels.push_back(kEllipsis);
      i += 2;
      continue;
    }
    const bool is_upper = c >= 'A' && c <= 'Z', is_lower = c >= 'a' && c <= 'z';
    HEARTH_CHECK(is_upper || is_lower, "einsum(): invalid subscript given at index ", start + i,
                 " in the equation string, subscripts must be in [a-zA-Z]");
    labels.push_back(is_upper ? c - 'A' : c - 'a' + 26);
  }
  return labels;
}

/// A tensor with labelled dimensions.
struct Term {
  Tensor tensor;
  Labels labels;

  int64_t index_of(int label) const {
    return std::find(labels.begin(), labels.end(), label) - labels.begin();
  }
  int64_t size(int label) const { return tensor.size(index_of(label)); }
  /// Sums over the dimensions for which drop(label) holds.
  template <class Drop>
  void sum_out(const Drop& drop) {
    Dims dims;
    Labels kept;
    for (int label : labels) {
      if (drop(label))
        dims.push_back(index_of(label));
      else
        kept.push_back(label);
    }
    if (!dims.empty()) tensor = tensor.sum(OptionalIntArrayRef(IntArrayRef(dims)));
    labels = kept;
  }
  /// Removes a dimension of size 1.
  void squeeze(int label) {
    tensor = tensor.squeeze(index_of(label));
    labels.erase(labels.begin() + index_of(label));
  }
  /// Returns the tensor with its dimensions in this order.
  Tensor ordered(const Labels& order) const {
    Dims dims;
    for (int label : order) dims.push_back(index_of(label));
    return tensor.permute(dims);
  }
};

/// Labels the operand's dimensions; a repeated label selects their diagonal.
Term labelled(const Tensor& operand, const Labels& parsed, size_t operand_index) {
  Term term{operand, {}};
  const bool has_ellipsis = contains(parsed, kEllipsis);
  const int64_t num_labels = int64_t(parsed.size()) - has_ellipsis;
  const int64_t num_rest = operand.dim() - num_labels;
  HEARTH_CHECK(has_ellipsis ? num_rest >= 0 : num_rest == 0,
               "einsum(): the number of subscripts in the equation (", num_labels,
               has_ellipsis ? ") is more than" : ") does not match", " the number of dimensions (",
               operand.dim(), ") for operand ", operand_index,
               has_ellipsis ? "" : " and no ellipsis was given");
  for (int label : parsed) {
    if (label == kEllipsis) {
      for (int64_t k = num_rest; k-- > 0;) term.labels.push_back(kFirstEllipsis + int(k));
      continue;
    }
    const int64_t before = term.index_of(label), here = int64_t(term.labels.size());
    if (before == here) {
      term.labels.push_back(label);
      continue;
    }
    HEARTH_CHECK(term.tensor.size(before) == term.tensor.size(here), "einsum(): subscript ",
                 name_of_label(label), " is repeated for operand ", operand_index,
                 " but the sizes don't match, ", term.tensor.size(here),
                 " != ", term.tensor.size(before));
    term.tensor = term.tensor.diagonal(0, before, here).movedim(-1, before);
  }
  return term;
}

/// Returns the tensor with the dimensions of each group merged into one.
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

/// Multiplies two terms and sums over the labels that are not needed: a batched matrix product or,
/// without labels to sum over, an elementwise product.
template <class Needed>
Term contract(Term a, Term b, const Needed& needed) {
  for (const int label : Labels(a.labels)) {
    if (!contains(b.labels, label) || a.size(label) == b.size(label)) continue;
    (a.size(label) == 1 ? a : b).squeeze(label);
  }
  a.sum_out([&](int label) { return !needed(label) && !contains(b.labels, label); });
  b.sum_out([&](int label) { return !needed(label) && !contains(a.labels, label); });
  Labels batch, left, summed, right;
  for (int label : a.labels)
    (!contains(b.labels, label) ? left : needed(label) ? batch : summed).push_back(label);
  for (int label : b.labels)
    if (!contains(a.labels, label)) right.push_back(label);
  Term result;
  Dims sizes;
  for (const Labels* group : {&batch, &left, &right})
    for (int label : *group) {
      result.labels.push_back(label);
      sizes.push_back((contains(a.labels, label) ? a : b).size(label));
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
        HEARTH_CHECK(
            i != j && i < terms_.size() && j < terms_.size(),
            "einsum(): the path names an operand that does not exist, or the same one twice");
      }
      join(std::min(i, j), std::max(i, j), bool(path));
    }
    Term& last = terms_[0];
    last.sum_out([&](int label) { return !contains(output_, label); });
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
      terms_.push_back(labelled(operands[i], labels, i));
      input_labels_.insert(input_labels_.end(), labels.begin(), labels.end());
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
        if (label >= kFirstEllipsis)
          num_ellipsis_dims_ = std::max(num_ellipsis_dims_, label - kFirstEllipsis + 1);
      }
  }
  void add_ellipsis() {
    for (int k = num_ellipsis_dims_; k-- > 0;) output_.push_back(kFirstEllipsis + k);
  }
  void imply_output() {
    add_ellipsis();
    for (int label = 0; label < kFirstEllipsis; ++label)
      if (std::count(input_labels_.begin(), input_labels_.end(), label) == 1)
        output_.push_back(label);
  }
  void parse_output(std::string_view text, size_t start) {
    for (int label : parse(text, start, "output")) {
      if (label == kEllipsis) {
        add_ellipsis();
        continue;
      }
      HEARTH_CHECK(!contains(output_, label), "einsum(): output subscript ", name_of_label(label),
                   " appears more than once in the output");
      HEARTH_CHECK(contains(input_labels_, label), "einsum(): output subscript ",
                   name_of_label(label), " does not appear in the equation for any input operand");
      output_.push_back(label);
    }
  }
  /// Contracts terms i < j; the result becomes the first term or, if `at_end`, the last term.
  void join(size_t i, size_t j, bool at_end) {
    const Term b = terms_[j], a = terms_[i];
    terms_.erase(terms_.begin() + int64_t(j));
    terms_.erase(terms_.begin() + int64_t(i));
    const auto needed = [&](int label) {
      return contains(output_, label) ||
             std::any_of(terms_.begin(), terms_.end(),
                         [&](const Term& t) { return contains(t.labels, label); });
    };
    terms_.insert(at_end ? terms_.end() : terms_.begin(), contract(a, b, needed));
  }

  std::vector<Term> terms_;
  Labels input_labels_, output_;
  int num_ellipsis_dims_ = 0;
};

/// A tensor as a matrix [free, contracted], or [contracted, free] if `contracted_first`; the free
/// dimensions are those that are not contracted.
struct Unfolding {
  Unfolding(const Tensor& self, const Dims& contracted, bool contracted_first) {
    Dims order;
    for (int64_t d = 0; d < self.dim(); ++d) {
      if (std::find(contracted.begin(), contracted.end(), d) != contracted.end()) continue;
      order.push_back(d);
      free.push_back(self.size(d));
      free_numel *= self.size(d);
    }
    for (size_t i = 0; i < contracted.size(); ++i)
      order.insert(contracted_first ? i : order.size(), contracted[i]);
    int64_t contracted_numel = 1;
    for (int64_t d : contracted) contracted_numel *= self.size(d);
    matrix = contracted_first ? self.permute(order).reshape({contracted_numel, free_numel})
                              : self.permute(order).reshape({free_numel, contracted_numel});
  }
  Dims free;
  int64_t free_numel = 1;
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
    Dims dims_a, dims_b;
    for (size_t i = 0; i < args.dims_self.size(); ++i) {
      dims_a.push_back(wrap_dim(args.dims_self[i], a.dim()));
      dims_b.push_back(wrap_dim(args.dims_other[i], b.dim()));
      const int64_t x = a.size(dims_a[i]), y = b.size(dims_b[i]);
      HEARTH_CHECK(x == y || x == 1 || y == 1,
                   "contracted dimensions need to match, but first has size ", x, " in dim ",
                   dims_a[i], " and second has size ", y, " in dim ", dims_b[i]);
      if (x == 1 && y != 1) b = b.sum(OptionalIntArrayRef(dims_b[i]), true);
      if (y == 1 && x != 1) a = a.sum(OptionalIntArrayRef(dims_a[i]), true);
    }
    const Unfolding left(a, dims_a, false), right(b, dims_b, true);
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
