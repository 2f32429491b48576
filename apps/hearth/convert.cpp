#include "convert.h"

#include <algorithm>
#include <iostream>
#include <iterator>

#include "choices.h"
#include "hearth/io/safetensors.h"
#include "hearth/io/tensors.h"
#include "names.h"

namespace hearth::app {

namespace {

struct ConvertOptions {
  std::string from, to, dtype;
};

/// The floating-point dtypes that tensors can be converted to.
constexpr ScalarType kDtypes[] = {kDouble,          kFloat,          kHalf,
                                  kBFloat16,        kFloat8_e4m3fn,  kFloat8_e5m2,
                                  kFloat8_e4m3fnuz, kFloat8_e5m2fnuz};

/// Converts a floating-point tensor to the dtype of this name; leaves others as they are.
Tensor in_dtype(const Tensor& tensor, const std::string& name) {
  if (name.empty() || !tensor.is_floating_point()) return tensor;
  const auto* dtype = std::find_if(std::begin(kDtypes), std::end(kDtypes),
                                   [&](ScalarType type) { return name == python_name_of(type); });
  return tensor.to(*dtype);
}

void convert(const ConvertOptions& options) {
  const io::FileContent content = io::load_file(options.from);
  io::NamedTensors tensors;
  for (const auto& [name, value] : content.values)
    if (value.isTensor())
      tensors.emplace_back(name, in_dtype(value.toTensor(), options.dtype));
    else
      std::cerr << "hearth: note: '" << printable(name) << "' is no tensor and is left out\n";
  if (options.to.ends_with(".safetensors"))
    return io::save_safetensors(tensors, options.to, content.metadata);
  for (const auto& [key, value] : content.metadata)
    std::cerr << "hearth: note: the metadata '" << printable(key) << "' are left out\n";
  io::save_tensors(tensors, options.to);
}

}  // namespace

void add_convert(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "convert", "Copy tensors to a file in another format, chosen by the file's ending");
  auto options = std::make_shared<ConvertOptions>();
  const auto add = [&](const char* name, std::string& file, const char* description) {
    suggest_values(command->add_option(name, file, description), {{}, Values::Paths::kFiles})
        ->required();
  };
  add("from", options->from,
      "A .safetensors, .pt, .pth, .npz or .npy file, or a folder with shards");
  add("to", options->to, "A .safetensors, .pt, .pth, .npz or .npy file");
  std::vector<std::string> names;
  for (const ScalarType dtype : kDtypes) names.emplace_back(python_name_of(dtype));
  accept_only(command->add_option("--dtype", options->dtype,
                                  "Convert floating-point tensors to this dtype"),
              "dtype", std::move(names));
  command->footer("Example: hearth convert model.pt model.safetensors");
  command->callback([options] { convert(*options); });
}

}  // namespace hearth::app
