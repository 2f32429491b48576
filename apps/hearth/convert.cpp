#include "convert.h"

#include <iostream>

#include "choices.h"
#include "hearth/io/safetensors.h"
#include "hearth/io/tensors.h"
#include "names.h"

namespace hearth::app {

namespace {

struct ConvertOptions {
  std::string from, to;
};

void convert(const ConvertOptions& options) {
  const io::FileContent content = io::load_file(options.from);
  io::NamedTensors tensors;
  for (const auto& [name, value] : content.values)
    if (value.isTensor())
      tensors.emplace_back(name, value.toTensor());
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
  command->footer("Example: hearth convert model.pt model.safetensors");
  command->callback([options] { convert(*options); });
}

}  // namespace hearth::app
