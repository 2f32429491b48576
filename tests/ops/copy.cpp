#include <gtest/gtest.h>

#include "hearth/cuda.h"
#include "hearth/tensor_literal.h"
#include "tests/support/op_table.h"
#include "tests/support/throws.h"

namespace hearth::testing {
namespace {

/// The GPU for a tensor on the CPU and the CPU for one on a GPU; the same device for a meta tensor
/// or if there is no GPU.
Device other_device(const Tensor& x) {
  if (x.is_meta() || !cuda::is_available()) return x.device();
  return x.is_cpu() ? Device(DeviceType::CUDA, 0) : Device(DeviceType::CPU);
}

Row identity_row(std::string name, std::vector<std::string> covers,
                 std::function<Tensor(const Tensor&)> op) {
  Row row = unary_row(std::move(name), nullptr, [](double x) { return x; });
  row.covers = std::move(covers);
  row.call = [op = std::move(op)](const Tensors& in) { return Tensors{op(in[0])}; };
  row.dtypes = dtypes::kRealAndBool;
  return row;
}

Row clone_row() {
  Row row = identity_row("clone", {"clone"}, [](const Tensor& x) { return x.clone(); });
  row.refusals = {{[] {
                     ones({2, 3}).clone(MemoryFormat::ChannelsLast);
                   },
                   "required rank 4 tensor to use channels_last format"}};
  return row;
}

Row contiguous_row() {
  Row row = identity_row("contiguous", {"clone"}, [](const Tensor& x) { return x.contiguous(); });
  row.keeps_memory_format = false;
  return row;
}

Row to_row() {
  Row row = identity_row("to_double", {"_to_copy"},
                         [](const Tensor& x) { return x.to(kDouble, false, true); });
  row.results = {Result::kDouble};
  return row;
}

Row transfer_row() {
  Row row = identity_row("to_another_device_and_back", {"_transfer"}, [](const Tensor& x) {
    return x.to(other_device(x), x.scalar_type()).to(x.device(), x.scalar_type());
  });
  row.cases = {{{{3, 5}}}, {{{2, 3, 4, 2}}}, {{{}}}};
  return row;
}

/// A row for a copy of the first input that is overwritten with the second.
Row copy_row() {
  Row row;
  row.name = "copy_";
  row.covers = {"copy_"};
  row.cases = {{{{3, 5}}, {{3, 5}}},
               {{{2, 3, 4}}, {{3, 1}}},
               {{{4}}, {{}}},
               {{{0, 2}}, {{2}}},
               {{{}}, {{}}}};
  row.dtypes = dtypes::kRealAndBool;
  row.call = [](const Tensors& in) {
    Tensor copy = in[0].clone();
    copy.copy_(in[1]);
    return Tensors{copy};
  };
  row.reference = [](const Arrays& in) {
    return Arrays{map(in, [](const double* x) { return x[1]; })};
  };
  row.inplace = [](Tensor& self, const Tensors& in) { self.copy_(in[1]); };
  row.mixes_devices = true;
  row.refusals = {{[] { ones({2}).copy_(ones({3})); },
                   "must match the size of tensor b (3) at non-singleton dimension 0"},
                  {[] {
                     ones({2}).copy_(ones({3, 2}));
                   },
                   "output with shape [2] doesn't match the broadcast shape [3, 2]"},
                  {[] { ones({1}).expand({3}).copy_(ones({3})); },
                   "more than one element of the written-to tensor"},
                  {[] { ones({2}).copy_(empty({2}, TensorOptions(kMeta))); },
                   "Cannot copy out of meta tensor; no data!"},
                  {[] { ones({2}).copy_(Tensor()); }, "undefined"}};
  return row;
}

Row fill_row() {
  Row row;
  row.name = "fill_";
  row.covers = {"fill_"};
  row.cases = {{{{3, 5}}, {{}}}, {{{}}, {{}}}, {{{0}}, {{}}}};
  row.dtypes = dtypes::kRealAndBool;
  row.call = [](const Tensors& in) {
    Tensor copy = in[0].clone();
    copy.fill_(in[1]);
    return Tensors{copy};
  };
  row.reference = [](const Arrays& in) {
    return Arrays{map(in, [](const double* x) { return x[1]; })};
  };
  row.inplace = [](Tensor& self, const Tensors& in) { self.fill_(in[1]); };
  row.refusals = {
      {[] { ones({2}).fill_(ones({2})); },
       "fill_ only supports 0-dimension value tensor but got tensor with 1 dimensions."},
      {[] { ones({1}).expand({3}).fill_(ones({})); },
       "more than one element of the written-to tensor"}};
  return row;
}

Row zero_row() {
  Row row = unary_row("zero_", nullptr, [](double) { return 0.0; });
  row.covers = {"fill_"};
  row.dtypes = dtypes::kRealAndBool;
  row.call = [](const Tensors& in) {
    Tensor copy = in[0].clone();
    copy.zero_();
    return Tensors{copy};
  };
  row.inplace = [](Tensor& self, const Tensors&) { self.zero_(); };
  return row;
}

const Register registered_copy[] = {Register(clone_row()), Register(contiguous_row()),
                                    Register(to_row()),    Register(transfer_row()),
                                    Register(copy_row()),  Register(fill_row()),
                                    Register(zero_row())};

/// The expected strides are PyTorch's.
TEST(Copy, ToAnotherDeviceKeepsTheOrderOfDimensions) {
  const auto strides_on_meta = [](const Tensor& x, std::optional<MemoryFormat> format = {}) {
    return x.to(Device(DeviceType::Meta), kFloat, false, false, format).strides().vec();
  };
  using Strides = std::vector<int64_t>;
  const Tensor transposed = ones({2, 3}).t();
  EXPECT_EQ(strides_on_meta(transposed), (Strides{1, 3}));
  EXPECT_EQ(strides_on_meta(transposed, MemoryFormat::Preserve), (Strides{1, 3}));
  EXPECT_EQ(strides_on_meta(transposed, MemoryFormat::Contiguous), (Strides{2, 1}));
  const Tensor images = ones({2, 3, 4, 8}).contiguous(MemoryFormat::ChannelsLast);
  EXPECT_EQ(strides_on_meta(images.slice(3, 0, 8, 2)), (Strides{48, 1, 12, 3}));
  EXPECT_EQ(strides_on_meta(ones({2, 3, 4, 5}), MemoryFormat::ChannelsLast),
            (Strides{60, 1, 15, 3}));
  EXPECT_EQ(strides_on_meta(ones({3, 1, 4}).expand({3, 5, 4})), (Strides{20, 4, 1}));
  EXPECT_EQ(strides_on_meta(ones({4, 5, 6}).permute({2, 0, 1}).slice(1, 0, 4, 2)),
            (Strides{1, 30, 6}));
}

TEST(Copy, ToAnotherDeviceHasTheStridesOfACopyOnTheSame) {
  const Tensor x = arange(120, kDouble).view({2, 3, 4, 5});
  const Tensor inputs[] = {x,
                           x.permute({3, 1, 0, 2}),
                           x.slice(3, 0, 5, 2),
                           x.contiguous(MemoryFormat::ChannelsLast).slice(2, 1),
                           x.select(1, 0).unsqueeze(1),
                           x.narrow(0, 0, 1).expand({3, 3, 4, 5}),
                           x.permute({3, 1, 0, 2}).slice(0, 0, 0),
                           x.slice(3, 0, 1).permute({3, 2, 1, 0})};
  std::vector<Device> places = devices();
  places[0] = Device(DeviceType::Meta);  // in place of the inputs' device, the CPU
  for (size_t k = 0; k < std::size(inputs); ++k)
    for (const MemoryFormat format :
         {MemoryFormat::Preserve, MemoryFormat::Contiguous, MemoryFormat::ChannelsLast})
      for (const ScalarType dtype : {kDouble, kFloat})
        for (const Device place : places) {
          const Tensor& input = inputs[k];
          const Tensor expected = input.to(input.device(), dtype, false, /*copy=*/true, format),
                       moved = input.to(place, dtype, false, false, format);
          EXPECT_EQ(moved.strides().vec(), expected.strides().vec()) << "input " << k;
          EXPECT_TRUE(place.is_meta() || moved.cpu().equal(expected)) << "input " << k;
        }
}

TEST(Copy, ConversionsBetweenAllDtypesKeepOnes) {
  for (const ScalarType from : dtypes_in(dtypes::kAll))
    for (const ScalarType to : dtypes_in(dtypes::kAll)) {
      const Tensor x = ones({3}, from);
      EXPECT_TRUE(x.to(to).equal(ones({3}, to))) << name_of(from) << " to " << name_of(to);
      EXPECT_TRUE(zeros({3}, to).copy_(x).equal(ones({3}, to)))
          << name_of(from) << " into " << name_of(to);
    }
}

TEST(Copy, ConversionToIntegersTruncates) {
  EXPECT_EQ(full({1}, -1.75).to(kInt).item<int64_t>(), -1);
  EXPECT_EQ(full({1}, 0.5).to(kBool).item<bool>(), true);
}

/// As in LibTorch.
TEST(Copy, RefusesAPartOfItself) {
  const Tensor x = arange(4, kFloat).view({2, 2}), lines = arange(3, kFloat);
  EXPECT_ERROR(x.copy_(x.t()), "refer to a single memory location");
  EXPECT_ERROR(lines.narrow(0, 0, 2).copy_(lines.narrow(0, 1, 2)), "refer to a single memory");
  EXPECT_ERROR(x.copy_(x[1][1]), "refer to a single memory location");
  x.copy_(x.view({2, 2}));
  x.select(1, 0).copy_(x.select(1, 1));  // interleaved
  EXPECT_TRUE(x.equal(tensor({{1.f, 1.f}, {3.f, 3.f}})));
  x[0].expand({3, 2}).copy_(x[0].expand({3, 2}));
  x.view(kInt).copy_(x);
  EXPECT_TRUE(x.view(kInt).equal(tensor({{1, 1}, {3, 3}}, kInt)));
}

}  // namespace
}  // namespace hearth::testing
