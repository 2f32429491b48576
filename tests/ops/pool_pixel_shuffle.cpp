#include <gtest/gtest.h>

#include "tests/support/op_table.h"

namespace hearth::testing {
namespace {

/// A row for pixel_shuffle or pixel_unshuffle with a factor of 2.
Row pixel_row(std::string name, Tensor (*op)(const Tensor&, int64_t), std::vector<Case> cases,
              bool is_shuffle) {
  Row row;
  row.covers = {name};
  row.name = std::move(name);
  row.cases = std::move(cases);
  row.dtypes = dtypes::kRealAndBool;
  row.call = [op](const Tensors& in) { return Tensors{op(in[0], 2)}; };
  row.reference = [is_shuffle](const Arrays& in) {
    const Array& x = in[0];
    std::vector<int64_t> sizes = x.sizes;
    const size_t c = sizes.size() - 3, h = c + 1, w = c + 2;
    sizes[c] = is_shuffle ? sizes[c] / 4 : sizes[c] * 4;
    for (const size_t d : {h, w}) sizes[d] = is_shuffle ? sizes[d] * 2 : sizes[d] / 2;
    return Arrays{build(sizes, [&](Position p) {
      if (is_shuffle) {
        p[c] = p[c] * 4 + p[h] % 2 * 2 + p[w] % 2;
        p[h] /= 2;
        p[w] /= 2;
      } else {
        p[h] = p[h] * 2 + p[c] % 4 / 2;
        p[w] = p[w] * 2 + p[c] % 2;
        p[c] /= 4;
      }
      return at(x, p);
    })};
  };
  return row;
}

Row pixel_shuffle_row() {
  Row row =
      pixel_row("pixel_shuffle", &hearth::pixel_shuffle, {{{{2, 8, 2, 3}}}, {{{4, 1, 2}}}}, true);
  row.refusals = {{[] {
                     pixel_shuffle(ones({1, 3, 2, 2}), 2);
                   },
                   "pixel_shuffle expects its input's 'channel' dimension to be divisible by the "
                   "square of upscale_factor, but input.size(-3)=3 is not divisible by 4"},
                  {[] {
                     pixel_shuffle(ones({2, 2}), 2);
                   },
                   "pixel_shuffle expects input to have at least 3 dimensions, but got input with "
                   "2 dimension(s)"}};
  return row;
}

const Register shuffle{pixel_shuffle_row()};
const Register unshuffle{pixel_row("pixel_unshuffle", &hearth::pixel_unshuffle,
                                   {{{{2, 2, 4, 6}}}, {{{1, 2, 4}}}}, false)};

}  // namespace
}  // namespace hearth::testing
