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

}  // namespace
}  // namespace hearth::testing
