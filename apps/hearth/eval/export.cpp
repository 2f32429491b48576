#include <iostream>
#include <memory>

#include "../choices.h"
#include "../names.h"
#include "../train/trained.h"
#include "commands.h"
#include "hearth/hearth.h"
#include "hearth/io/tensors.h"

namespace hearth::app {

namespace {

struct ExportOptions {
  std::string run, to;
};

void export_weights(const ExportOptions& options) {
  const Trained trained = load_trained(options.run, kCPU);
  io::NamedTensors tensors;
  for (const auto& item : trained.model.ptr()->state_dict())
    tensors.emplace_back(item.key(), item.value());
  io::save_tensors(tensors, options.to);
  std::cerr << tensors.size() << " tensors of " << printable(trained.checkpoint) << " are in "
            << printable(options.to) << "\n";
}

}  // namespace

void add_export(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "export", "Write the weights of a trained network to a file, in the format of its ending");
  auto options = std::make_shared<ExportOptions>();
  add_run(*command, options->run);
  suggest_values(command->add_option("to", options->to, "A .safetensors, .pt, .pth or .npz file"),
                 {{}, Values::Paths::kFiles})
      ->required();
  command->footer("Example: hearth export runs/tutorial-cnn-fashion-mnist weights.pt");
  command->callback([options] { export_weights(*options); });
}

}  // namespace hearth::app
