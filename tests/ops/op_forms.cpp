// In-place and out= forms, memory formats and errors for wrong inputs, derived from the op table.
#include <gtest/gtest.h>

#include "hearth/autograd.h"
#include "hearth/cuda.h"
#include "tests/support/devices.h"
#include "tests/support/op_table.h"
#include "tests/support/warnings.h"

namespace hearth::testing {
namespace {

/// A window into a larger tensor, surrounded by ones on all sides.
struct Framed {
  Tensor frame, window;
  explicit Framed(const Tensor& like) {
    std::vector<int64_t> sizes = like.sizes().vec();
    for (int64_t& size : sizes) size += 2;
    frame = ones(sizes, like.options());
    window = frame;
    for (int64_t d = 0; d < like.dim(); ++d) window = window.slice(d, 1, 1 + like.size(d));
  }
  /// Whether only the window was written to.
  bool intact() const {
    window.fill_(1);
    return frame.eq(1).all().item<bool>();
  }
};

/// The tolerance between forms: with another memory layout, a GPU's library may choose another
/// algorithm.
double form_slack(const Tensor& tensor) { return is_real_gpu(tensor.device()) ? 4 : 0; }

class OpForms : public ::testing::TestWithParam<Row> {
 protected:
  /// Calls f(inputs, description) for every case, dtype and device.
  template <class F>
  void for_each_case(F f) const {
    const Row& row = GetParam();
    const NoGradGuard off;
    for (const Device device : devices())
      for (const ScalarType dtype : dtypes_in(row.dtypes))
        for (size_t i = 0; i < row.cases.size(); ++i)
          f(make_inputs(row.cases[i], dtype, device, MemoryLayout::kSliced, 3),
            describe(row, i, dtype, device, MemoryLayout::kSliced));
  }
};

/// An integer out= is refused, or the op computes with the inputs converted to integers, as
/// PyTorch's sums do.
void expect_no_silent_rounding(const Row& row, const Tensors& in, const std::string& description) {
  Tensor integers = empty({0}, in[0].options().dtype(kLong));
  try {
    row.out(integers, in);
  } catch (const Error&) {
    return;
  }
  Tensors converted;
  for (const Tensor& t : in) converted.push_back(t.defined() ? t.to(kLong) : t);
  expect_close(integers, to_array(row.call(converted)[0]), 0, description + " out= in integers");
}

TEST_P(OpForms, OutWritesOnlyTheResult) {
  const Row& row = GetParam();
  if (!row.out) GTEST_SKIP() << "no out= form in the row; tests/ops/forms.cpp calls every form";
  for_each_case([&](const Tensors& in, const std::string& description) {
    const Tensor wanted = row.call(in)[0];
    Tensor fresh = empty({0}, wanted.options());
    row.out(fresh, in);
    expect_close(fresh, to_array(wanted), 0, description + " out=");
    Framed framed(wanted);
    row.out(framed.window, in);
    expect_close(framed.window, to_array(wanted), form_slack(wanted),
                 description + " strided out=");
    EXPECT_TRUE(framed.intact()) << description;
    if (is_floating_point(wanted.scalar_type())) {
      Tensor wider = empty({0}, wanted.options().dtype(kDouble));
      row.out(wider, in);
      expect_close(wider.to(wanted.scalar_type()), to_array(wanted), 4,
                   description + " out= in double");
      expect_no_silent_rounding(row, in, description);
    }
  });
}

TEST_P(OpForms, OutMayBeAnInput) {
  const Row& row = GetParam();
  if (!row.out) GTEST_SKIP() << "no out= form in the row; tests/ops/forms.cpp calls every form";
  for_each_case([&](const Tensors& in, const std::string& description) {
    const Tensor wanted = row.call(in)[0];
    for (size_t k = 0; k < in.size(); ++k) {
      if (!in[k].defined() || !in[k].sizes().equals(wanted.sizes()) ||
          in[k].scalar_type() != wanted.scalar_type())
        continue;
      Tensors copies = in;
      copies[k] = in[k].clone();
      row.out(copies[k], copies);
      // The clone's layout may differ, and with it the order of additions.
      expect_close(copies[k], to_array(wanted), 4, description + " out= an input");
    }
  });
}

TEST_P(OpForms, OutIsResizedWithAWarning) {
  const Row& row = GetParam();
  if (!row.out) GTEST_SKIP() << "no out= form in the row; tests/ops/forms.cpp calls every form";
  const Warnings warnings;
  const Tensors in = make_inputs(row.cases[0], dtypes_in(row.dtypes)[0], Device("cpu"),
                                 MemoryLayout::kContiguous, 3);
  const Tensor wanted = row.call(in)[0];
  Tensor out = ones({1, 7, 1, 3}, wanted.options());
  row.out(out, in);
  EXPECT_EQ(Warnings::said().size(), 1U);
  expect_close(out, to_array(wanted), 0, row.name + " resized out=");
}

TEST_P(OpForms, InplaceWritesOnlyTheResult) {
  const Row& row = GetParam();
  if (!row.inplace)
    GTEST_SKIP() << "no in-place form in the row; tests/ops/forms.cpp calls every form";
  for_each_case([&](const Tensors& in, const std::string& description) {
    const Tensor wanted = row.call(in)[0];
    if (!wanted.sizes().equals(in[0].sizes()) || wanted.scalar_type() != in[0].scalar_type())
      return;
    Framed framed(wanted);
    framed.window.copy_(in[0]);
    Tensors copies = in;
    copies[0] = framed.window;
    const int64_t version = framed.window._version();
    row.inplace(framed.window, copies);
    if (wanted.numel() > 0) {
      EXPECT_GT(framed.window._version(), version) << description;
    }
    // In non-contiguous memory, random numbers may be drawn in another order.
    if (row.reference)
      expect_close(framed.window, to_array(wanted), form_slack(wanted), description + " in place");
    EXPECT_TRUE(framed.intact()) << description;
  });
}

TEST_P(OpForms, ChannelsLastIsKept) {
  const Row& row = GetParam();
  if (!row.keeps_memory_format) GTEST_SKIP() << "does not keep the memory format";
  int num_tried = 0;
  const DtypeSet floats = row.dtypes & (1u << int(kFloat) | 1u << int(kBFloat16));
  for (const Device device : devices())
    for (const ScalarType dtype : dtypes_in(floats != 0 ? floats : row.dtypes))
      for (const Case& inputs : row.cases) {
        Tensors in = make_inputs(inputs, dtype, device, MemoryLayout::kContiguous, 3);
        if (in[0].dim() != 4) continue;
        const Tensor wanted = row.call(in)[0];
        for (Tensor& t : in)
          if (t.defined() && t.dim() == 4) t = t.contiguous(MemoryFormat::ChannelsLast);
        if (in[0].is_contiguous()) continue;  // the tensor has both formats
        const Tensor out = row.call(in)[0];
        EXPECT_TRUE(out.is_contiguous(MemoryFormat::ChannelsLast)) << row.name;
        if (row.reference)
          expect_close(out, to_array(wanted), row.slack,
                       row.name + " in channels_last in " + name_of(dtype));
        ++num_tried;
      }
  EXPECT_GT(num_tried, 0) << row.name << " has no case of four dimensions";
}

TEST_P(OpForms, InputsOnDifferentDevicesThrow) {
  const Row& row = GetParam();
  if (row.mixes_devices || devices().size() < 2)
    GTEST_SKIP() << "the op allows different devices, or there is only one";
  const Device gpu = devices()[1];
  for (const Case& inputs : row.cases) {
    const Tensors in =
        make_inputs(inputs, dtypes_in(row.dtypes)[0], Device("cpu"), MemoryLayout::kContiguous, 3);
    for (size_t k = 0; k < in.size(); ++k) {
      Tensors mixed = in;
      // Whether another input has dimensions, so that its device counts.
      bool other_has_dims = false;
      for (size_t i = 0; i < in.size(); ++i)
        other_has_dims |= i != k && in[i].defined() && in[i].dim() > 0;
      if (!other_has_dims || !in[k].defined() || in[k].dim() == 0) continue;
      mixed[k] = in[k].to(gpu, in[k].scalar_type());
      try {
        row.call(mixed);
        ADD_FAILURE() << row.name << " accepted inputs on two devices";
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("the same device"), std::string::npos)
            << error.what();
      }
    }
  }
}

TEST_P(OpForms, UndefinedInputsThrowOrAreOptional) {
  const Row& row = GetParam();
  const Case& inputs = row.cases[0];
  const Tensors in =
      make_inputs(inputs, dtypes_in(row.dtypes)[0], Device("cpu"), MemoryLayout::kContiguous, 3);
  for (size_t k = 0; k < in.size(); ++k) {
    Tensors fewer = in;
    fewer[k] = Tensor();
    try {
      row.call(fewer);  // an optional input may be absent
    } catch (const Error& error) {
      EXPECT_FALSE(std::string(error.what()).empty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, OpForms, ::testing::ValuesIn(rows()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::testing
