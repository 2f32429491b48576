// Products, reductions, scans, views and copies of complex tensors, as rows of the op table whose
// inputs are real and imaginary parts; the creation, casts and backward calls of complex tensors.
#include <gtest/gtest.h>

#include "hearth/autograd.h"
#include "hearth/indexing.h"
#include "hearth/tensor_literal.h"
#include "tests/ops/complex_rows.h"

namespace hearth::testing {
namespace {

/// An array of complex numbers, row-major.
struct ComplexArray {
  std::vector<int64_t> sizes;
  ComplexNumbers values;
  int64_t rows() const { return sizes[sizes.size() - 2]; }
  int64_t columns() const { return sizes.back(); }
  const C& at(int64_t row, int64_t column) const {
    return values[size_t(row * columns() + column)];
  }
};

ComplexArray complex_array_of(const Array& re, const Array& im) {
  ComplexArray result{re.sizes, {}};
  for (size_t i = 0; i < re.values.size(); ++i)
    result.values.emplace_back(re.values[i], im.values[i]);
  return result;
}

Arrays parts_of(const ComplexArray& z) {
  Arrays result{{z.sizes, {}}, {z.sizes, {}}};
  for (const C& value : z.values) {
    result[0].values.push_back(value.real());
    result[1].values.push_back(value.imag());
  }
  return result;
}

using Op = std::function<Tensor(const Tensors&)>;
using Reference = std::function<ComplexArray(const std::vector<ComplexArray>&)>;

/// A row for complex inputs of these sizes.
Row row_of(std::string name, std::vector<std::string> covers,
           std::vector<std::vector<int64_t>> sizes, Op op, Reference reference,
           bool real_result = false) {
  Row row = complex_row(std::move(name), int(sizes.size()), std::move(op), nullptr);
  row.covers = std::move(covers);
  row.cases.clear();
  Case inputs;
  for (const auto& each : sizes) inputs.insert(inputs.end(), 2, Input{each});
  row.cases.push_back(inputs);
  row.reference = [reference, real_result](const Arrays& in) {
    std::vector<ComplexArray> operands;
    for (size_t i = 0; i + 1 < in.size(); i += 2)
      operands.push_back(complex_array_of(in[i], in[i + 1]));
    Arrays parts = parts_of(reference(operands));
    if (real_result) parts.pop_back();
    return parts;
  };
  return row;
}

ComplexArray product(const ComplexArray& a, const ComplexArray& b) {
  ComplexArray result{{a.rows(), b.columns()}, {}};
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t j = 0; j < b.columns(); ++j) {
      C sum;
      for (int64_t k = 0; k < a.columns(); ++k) sum += a.at(i, k) * b.at(k, j);
      result.values.push_back(sum);
    }
  return result;
}

/// An array whose element i, in row-major order, is f(i).
ComplexArray filled(std::vector<int64_t> sizes, const std::function<C(int64_t)>& f) {
  ComplexArray result{std::move(sizes), {}};
  const int64_t count = count_of(result.sizes);
  for (int64_t i = 0; i < count; ++i) result.values.push_back(f(i));
  return result;
}

C sum_of(const ComplexNumbers& values) {
  C sum;
  for (const C& value : values) sum += value;
  return sum;
}

const Register products[] = {
    Register(row_of(
        "mm", {"mm"}, {{3, 4}, {4, 2}}, [](const Tensors& in) { return in[0].mm(in[1]); },
        [](const auto& in) { return product(in[0], in[1]); })),
    Register(row_of(
        "mm_adjoint", {"mm", "conj"}, {{4, 3}, {4, 2}},
        [](const Tensors& in) { return in[0].mH().matmul(in[1]); },
        [](const auto& in) {
          const ComplexArray& a = in[0];
          return product(filled({3, 4}, [&](int64_t i) { return std::conj(a.at(i % 4, i / 4)); }),
                         in[1]);
        })),
    Register(row_of(
        "addmm", {"addmm"}, {{2}, {3, 4}, {4, 2}},
        [](const Tensors& in) {
          return in[0].addmm(in[1], in[2], complex<double>(0, 1), complex<double>(2, 1)) +
                 in[0].addmm(in[1], in[2], 2, 0.5);
        },
        [](const auto& in) {
          const ComplexArray ab = product(in[1], in[2]);
          return filled({3, 2}, [&](int64_t i) {
            return C(2, 1) * in[0].values[size_t(i % 2)] + C(2.5, 1) * ab.values[size_t(i)];
          });
        })),
    Register(row_of(
        "bmm", {"bmm", "baddbmm"}, {{1, 3, 4}, {1, 4, 2}, {1, 1, 2}},
        [](const Tensors& in) { return in[2].baddbmm(in[0], in[1]) - in[0].bmm(in[1]) * 2; },
        [](const auto& in) {
          const ComplexArray ab = product(in[0], in[1]);
          return filled({1, 3, 2}, [&](int64_t i) {
            return in[2].values[size_t(i % 2)] - ab.values[size_t(i)];
          });
        })),
    Register(row_of(
        "dot", {"dot", "vdot", "linalg_vecdot"}, {{5}, {5}},
        [](const Tensors& in) {
          return in[0].dot(in[1]) * (in[0].vdot(in[1]) + linalg_vecdot(in[0], in[1])) / 2;
        },
        [](const auto& in) {
          C plain, conjugated;
          for (size_t i = 0; i < 5; ++i) {
            plain += in[0].values[i] * in[1].values[i];
            conjugated += std::conj(in[0].values[i]) * in[1].values[i];
          }
          return ComplexArray{{}, {plain * conjugated}};
        })),
    Register(row_of(
        "mv", {"mv", "addmv"}, {{3, 4}, {4}, {3}},
        [](const Tensors& in) { return in[2].addmv(in[0], in[1]) + in[0].mv(in[1]); },
        [](const auto& in) {
          return filled({3}, [&](int64_t i) {
            C sum = in[2].values[size_t(i)];
            for (int64_t k = 0; k < 4; ++k) sum += 2.0 * in[0].at(i, k) * in[1].values[size_t(k)];
            return sum;
          });
        })),
    Register(row_of(
        "einsum", {"bmm"}, {{3, 4}, {2, 4}},
        [](const Tensors& in) {
          return einsum("ik,jk->ij", {in[0], in[1]});
        },
        [](const auto& in) {
          return filled({3, 2}, [&](int64_t i) {
            C sum;
            for (int64_t k = 0; k < 4; ++k) sum += in[0].at(i / 2, k) * in[1].at(i % 2, k);
            return sum;
          });
        })),
};

const Register reductions[] = {
    Register(row_of(
        "sum", {"sum", "mean"}, {{3, 4}},
        [](const Tensors& in) { return in[0].sum({0}) + in[0].mean() * 2; },
        [](const auto& in) {
          return filled({4}, [&](int64_t j) {
            return in[0].at(0, j) + in[0].at(1, j) + in[0].at(2, j) + sum_of(in[0].values) / 6.0;
          });
        })),
    Register(row_of(
        "prod", {"prod"}, {{2, 3}}, [](const Tensors& in) { return in[0].prod(1) * in[0].prod(); },
        [](const auto& in) {
          const auto row = [&](int64_t i) {
            return in[0].at(i, 0) * in[0].at(i, 1) * in[0].at(i, 2);
          };
          return ComplexArray{{2}, {row(0) * row(0) * row(1), row(1) * row(0) * row(1)}};
        })),
    Register(row_of(
        "cumsum", {"cumsum", "cumprod"}, {{4}},
        [](const Tensors& in) { return in[0].cumsum(0) * in[0].cumprod(0); },
        [](const auto& in) {
          C sum, factor = 1;
          return filled({4}, [&](int64_t i) {
            sum += in[0].values[size_t(i)];
            factor *= in[0].values[size_t(i)];
            return sum * factor;
          });
        })),
    Register(row_of(
        "norm", {"linalg_vector_norm"}, {{3, 4}},
        [](const Tensors& in) { return linalg_vector_norm(in[0]) + in[0].norm(3); },
        [](const auto& in) {
          double squares = 0, cubes = 0;
          for (const C& z : in[0].values) {
            squares += std::norm(z);
            cubes += std::pow(std::abs(z), 3);
          }
          return ComplexArray{{}, {std::sqrt(squares) + std::cbrt(cubes)}};
        },
        true)),
    Register(row_of(
        "var", {"var", "std"}, {{5}},
        [](const Tensors& in) { return in[0].var() + in[0].std(int64_t{0}, false); },
        [](const auto& in) {
          double squares = 0;
          for (const C& z : in[0].values) squares += std::norm(z - sum_of(in[0].values) / 5.0);
          return ComplexArray{{}, {squares / 4 + std::sqrt(squares / 5)}};
        },
        true)),
};

const Register moves[] = {
    Register(row_of(
        "views", {"select", "slice", "view", "transpose", "expand", "split"}, {{3, 4}},
        [](const Tensors& in) {
          const Tensor& z = in[0];
          return z.t().reshape({2, 6})[1].slice(0, 0, 6, 2).unsqueeze(1).expand({3, 2}) *
                 z.split(2, 1).back().squeeze();
        },
        [](const auto& in) {
          return filled({3, 2}, [&](int64_t i) {
            const int64_t place = 6 + 2 * (i / 2);
            return in[0].at(place % 3, place / 3) * in[0].at(i / 2, 2 + i % 2);
          });
        })),
    Register(row_of(
        "joins", {"cat", "stack", "flip", "roll", "clone"}, {{4}, {2}},
        [](const Tensors& in) {
          return cat({in[0].flip({0}), in[1]}) *
                 stack({in[1], in[1], in[1]}).view({6}).roll({1}, {0}).clone();
        },
        [](const auto& in) {
          return filled({6}, [&](int64_t i) {
            return (i < 4 ? in[0].values[size_t(3 - i)] : in[1].values[size_t(i - 4)]) *
                   in[1].values[size_t(1 - i % 2)];
          });
        })),
    Register(row_of(
        "indexing", {"index", "index_select", "gather", "index_put", "scatter_add"}, {{4}, {3}},
        [](const Tensors& in) {
          const Tensor places = tensor({2, 0, 2}, kLong).to(in[0].device());
          Tensor target = in[0].clone();
          target.index_put_({places}, in[1], true);
          return target.index({places}) * in[0].index_select(0, places) +
                 in[0].gather(0, places) * in[0].scatter_add(0, places, in[1]).narrow(0, 0, 3);
        },
        [](const auto& in) {
          const ComplexNumbers &z = in[0].values, &w = in[1].values;
          const ComplexNumbers sum{z[0] + w[1], z[1], z[2] + w[0] + w[2]};
          const size_t places[] = {2, 0, 2};
          return filled({3}, [&](int64_t i) {
            const size_t p = places[i];
            return sum[p] * z[p] + z[p] * sum[size_t(i)];
          });
        })),
    Register(row_of(
        "masks", {"tril", "masked_fill", "constant_pad_nd", "copy_"}, {{2, 2}, {2}},
        [](const Tensors& in) {
          Tensor target = in[0].tril() * 1;
          target[0].copy_(in[1]);
          const Tensor mask = tensor({{false, false}, {true, false}}).to(target.device());
          return target.masked_fill(mask, 3).view({4}).constant_pad_nd({1, 0}, 2);
        },
        [](const auto& in) {
          return ComplexArray{{5}, {2, in[1].values[0], in[1].values[1], 3, in[0].at(1, 1)}};
        })),
    Register(row_of(
        "conversions", {"_to_copy", "view_as_complex"}, {{3, 2}},
        [](const Tensors& in) {
          const ScalarType dtype = in[0].scalar_type();
          const Tensor round_trip = in[0].to(kComplexDouble).to(dtype);
          return view_as_complex((real(round_trip) * imag(round_trip)).contiguous()) *
                 round_trip.select(1, 0);
        },
        [](const auto& in) {
          return filled({3}, [&](int64_t i) {
            const C a = in[0].at(i, 0), b = in[0].at(i, 1);
            return C(a.real() * a.imag(), b.real() * b.imag()) * a;
          });
        })),
};

TEST(ComplexShapes, BackwardOfAComplexResultNeedsAGradient) {
  const Tensor z = ones({2}, TensorOptions(kComplexFloat)).requires_grad_();
  try {
    (z * z).sum().backward();
    FAIL() << "backward of a complex number needs a gradient";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("grad can be computed only for real scalar outputs but got "),
              std::string::npos);
  }
  const Tensor loss = (z * z).sum();
  loss.backward(full({}, Scalar(complex<double>(0, 1)), kComplexFloat));
  EXPECT_TRUE(z.grad().equal(full({2}, Scalar(complex<double>(0, 2)), kComplexFloat)));
}

TEST(ComplexShapes, CreationAndRandomNumbers) {
  const TensorOptions options(kComplexFloat);
  manual_seed(3);
  const Tensor z = randn({4000}, options), u = rand({4000}, options);
  EXPECT_NEAR(z.var().item<double>(), 1, 0.05);
  EXPECT_NEAR(real(z).var().item<double>(), 0.5, 0.03);
  EXPECT_NEAR(imag(u).mean().item<double>(), 0.5, 0.02);
  manual_seed(3);
  EXPECT_TRUE(view_as_real(z).allclose(randn({4000, 2}) * std::sqrt(0.5)));
  EXPECT_TRUE(eye(2, options).equal(eye(2).to(kComplexFloat)));
  EXPECT_TRUE(zeros({2}, options)
                  .fill_(Scalar(complex<double>(1, 2)))
                  .equal(full({2}, Scalar(complex<double>(1, 2)))));
  EXPECT_TRUE(ones_like(z).eq(1).all().item<bool>());
}

TEST(ComplexShapes, CastsToFloatKeepTheRealPartAndItemThrows) {
  const Tensor z = full({2}, Scalar(complex<double>(3, 4)));
  EXPECT_TRUE(z.to(kFloat).equal(full({2}, 3.f)));
  EXPECT_TRUE(z.to(kBool).all().item<bool>() && (z * 0).to(kBool).logical_not().all().item<bool>());
  EXPECT_EQ(z.sum().item<complex<double>>(), complex<double>(6, 8));
  EXPECT_THROW(z.sum().item<double>(), Error);
}

}  // namespace
}  // namespace hearth::testing
