// Creates the modules and functions of tests/oracle/nn_cases_upsampling.py.
#include "hearth/operators.h"
#include "tests/nn/cases.h"

namespace hearth::testing {

namespace {

using namespace hearth::nn;
namespace F = hearth::nn::functional;
using Sizes = std::vector<int64_t>;
using Factors = std::vector<double>;

template <class Holder>
Make module(Holder holder) {
  return [holder]() -> Subject {
    Holder copy = holder;
    return {copy.ptr(), [copy](const Tensors& in) mutable -> Tensors { return {copy(in[0])}; }};
  };
}

Make function(std::function<Tensor(const Tensors&)> call) {
  return [call]() -> Subject {
    return {Identity().ptr(), [call](const Tensors& in) -> Tensors { return {call(in)}; }};
  };
}

Make resized(F::InterpolateFuncOptions options) {
  return function([options](const Tensors& in) { return F::interpolate(in[0], options); });
}

void add_modules(Table& table) {
  using Options = UpsampleOptions;
  table.insert({
      {"upsample_nearest", module(Upsample(Options().scale_factor(Factors{2, 2})))},
      {"upsample_nearest1d", module(Upsample(Options().size(Sizes{3})))},
      {"upsample_nearest3d", module(Upsample(Options().scale_factor(Factors{1.4, 2, 0.49})))},
      {"upsample_linear",
       module(Upsample(Options().size(Sizes{11}).mode(kLinear).align_corners(true)))},
      {"upsample_bilinear",
       module(Upsample(Options().scale_factor(Factors{1.3, 0.49}).mode(kBilinear)))},
      {"upsample_bicubic",
       module(Upsample(Options().size(Sizes{1, 13}).mode(kBicubic).align_corners(false)))},
      {"upsample_trilinear",
       module(Upsample(Options().size(Sizes{5, 1, 7}).mode(kTrilinear).align_corners(true)))},
      {"upsampling_nearest2d", module(UpsamplingNearest2d(UpsamplingOptions().size(Sizes{7, 4})))},
      {"upsampling_bilinear2d",
       module(UpsamplingBilinear2d(UpsamplingOptions().scale_factor(Factors{2, 2})))},
  });
}

void add_functions(Table& table) {
  using Options = F::InterpolateFuncOptions;
  for (size_t rank = 1; rank <= 3; ++rank) {
    Sizes size{4, 9, 2};
    size.resize(rank);
    const std::string suffix = std::to_string(rank) + "d";
    table["interpolate_exact" + suffix] = resized(Options().size(size).mode(kNearestExact));
    table["interpolate_area" + suffix] = resized(Options().size(size).mode(kArea));
  }
  table["interpolate_recomputed"] = resized(Options()
                                                .scale_factor(Factors{1.3, 1.7})
                                                .mode(kBilinear)
                                                .align_corners(false)
                                                .recompute_scale_factor(true));
  table["interpolate_pixel"] =
      resized(Options().size(Sizes{3, 2}).mode(kBicubic).align_corners(true));
  const auto antialias = [&](const std::string& name, const Options::mode_t& mode) {
    table["interpolate_" + name + "_antialias"] =
        resized(Options().size(Sizes{2, 9}).mode(mode).antialias(true).align_corners(false));
    table["interpolate_" + name + "_antialias_corners"] = resized(
        Options().scale_factor(Factors{0.49, 0.7}).mode(mode).antialias(true).align_corners(true));
  };
  antialias("bilinear", kBilinear);
  antialias("bicubic", kBicubic);
}

void add_grids(Table& table) {
  using Options = F::GridSampleFuncOptions;
  const auto sample = [&](const std::string& name, const Options& options) {
    table["grid_sample_" + name] =
        function([options](const Tensors& in) { return F::grid_sample(in[0], in[1], options); });
    table["grid_of_" + name] =
        function([options](const Tensors& in) { return F::grid_sample(in[1], in[0], options); });
  };
  sample("bilinear_zeros", Options().align_corners(false));
  sample("bilinear_reflection", Options().padding_mode(kReflection).align_corners(true));
  sample("nearest_border", Options().mode(kNearest).padding_mode(kBorder).align_corners(false));
  sample("bicubic_border", Options().mode(kBicubic).padding_mode(kBorder).align_corners(true));
  const auto volume = [](const Options::mode_t& mode) {
    return function([mode](const Tensors& in) {
      return F::grid_sample(in[0], in[1], Options().mode(mode).align_corners(false));
    });
  };
  table["grid_sample3d_bilinear"] = volume(kBilinear);
  table["grid_sample3d_bicubic"] = volume(kBicubic);
  table["affine_grid"] = function([](const Tensors& in) {
    return F::affine_grid(in[0], {2, 1, 3, 4});
  });
  table["affine_grid3d"] = function([](const Tensors& in) {
    return F::affine_grid(in[0], {1, 1, 2, 1, 3}, true);
  });
}

}  // namespace

Table upsampling_subjects() {
  Table table;
  add_modules(table);
  add_functions(table);
  add_grids(table);
  return table;
}

}  // namespace hearth::testing
