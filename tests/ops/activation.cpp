#include <cmath>

#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

double gelu_reference(double x) {
  if (std::isinf(x)) return x > 0 ? x : std::nan("");
  return x * 0.5 * std::erfc(-x * std::sqrt(0.5));
}

Row gelu_row() {
  Row row = unary_row("gelu", &hearth::gelu, gelu_reference);
  row.out = [](Tensor& out, const Tensors& in) { gelu_out(out, in[0]); };
  row.inplace = [](Tensor& self, const Tensors&) { self.gelu_(); };
  row.refusals = {{[] { gelu(ones({2}, kLong)); }, "\"gelu\" not implemented for 'Long'"}};
  return row;
}

const Register gelu_registered{gelu_row()};

Row softsign_row() {
  Row row =
      unary_row("softsign", &hearth::softsign, [](double x) { return x / (1 + std::abs(x)); });
  row.out = [](Tensor& out, const Tensors& in) { softsign_out(out, in[0]); };
  row.inplace = [](Tensor& self, const Tensors&) { self.softsign_(); };
  return row;
}

const Register softsign_registered{softsign_row()};

Row glu_row(std::string name, int64_t dim, std::vector<Case> cases) {
  Row row;
  row.name = std::move(name);
  row.covers = {"glu", "glu_backward"};
  row.cases = std::move(cases);
  row.call = [dim](const Tensors& in) { return Tensors{glu(in[0], dim)}; };
  row.reference = [dim](const Arrays& in) {
    std::vector<int64_t> sizes = in[0].sizes;
    const size_t d = size_t(dim < 0 ? dim + int64_t(sizes.size()) : dim);
    sizes[d] /= 2;
    return Arrays{build(sizes, [&](Position p) {
      const double a = at(in[0], p);
      p[d] += sizes[d];
      return a / (1 + std::exp(-at(in[0], p)));
    })};
  };
  row.out = [dim](Tensor& out, const Tensors& in) { glu_out(out, in[0], dim); };
  row.refusals = {{[] { glu(ones({})); }, "glu does not support 0-dimensional tensors"},
                  {[] {
                     glu(ones({2, 5}));
                   },
                   "Halving dimension must be even, but dimension 1 is size 5"},
                  {[] { glu(ones({4}, kLong)); }, "\"glu\" not implemented for 'Long'"}};
  return row;
}

const Register glu_last{glu_row("glu", -1, {{{{6}}}, {{{3, 4}}}, {{{2, 0}}}})};
const Register glu_first{glu_row("glu_first", 0, {{{{6}}}, {{{4, 3, 2}}}, {{{2, 0}}}})};

}  // namespace
}  // namespace hearth::testing
