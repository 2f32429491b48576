#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "../choices.h"
#include "../names.h"
#include "../text_table.h"
#include "../train/data_sets.h"
#include "../train/display.h"
#include "../train/evaluate.h"
#include "../train/models.h"
#include "../train/trained.h"
#include "commands.h"
#include "confusion.h"
#include "hearth/hearth.h"
#include "hearth/io/file.h"

namespace hearth::app {

namespace {

constexpr int64_t kMaxClassesAsText = 30;

struct EvalOptions {
  std::string run, data, device, picture;
  std::optional<int64_t> limit;
  int64_t num_workers = 0;
  bool as_json = false;
};

std::vector<std::string> class_names_of(const Trained& trained) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < trained.classes; ++i) names.push_back(trained.class_name(i));
  return names;
}

void check_fits(const DataSets& data, const Trained& trained) {
  HEARTH_CHECK(data.test.input_sizes() == trained.input_sizes, "the model of '", trained.checkpoint,
               "' was trained on examples of sizes ", IntArrayRef(trained.input_sizes),
               ", but these have ", IntArrayRef(data.test.input_sizes()));
  HEARTH_CHECK(data.classes <= trained.classes, "the model of '", trained.checkpoint, "' knows ",
               trained.classes, " classes, but these examples have ", data.classes);
  HEARTH_CHECK(
      data.class_names.empty() || trained.class_names.empty() ||
          std::equal(data.class_names.begin(), data.class_names.end(), trained.class_names.begin()),
      "the classes of these examples have other names, or another order, than those of '",
      trained.checkpoint, "'");
}

void print_json(const EvalOptions& options, const Trained& trained, const Evaluation& evaluation,
                const std::string& picture) {
  const Tensor rows = evaluation.confusion.contiguous();
  nlohmann::ordered_json json{{"checkpoint", trained.checkpoint},
                              {"model", trained.name},
                              {"data", options.data},
                              {"loss", evaluation.loss},
                              {"accuracy", evaluation.accuracy},
                              {"classes", class_names_of(trained)},
                              {"confusion", nlohmann::ordered_json::array()},
                              {"picture", picture}};
  for (int64_t row = 0; row < trained.classes; ++row) {
    const int64_t* const counts = rows.data_ptr<int64_t>() + row * trained.classes;
    json["confusion"].push_back(std::vector<int64_t>(counts, counts + trained.classes));
  }
  std::cout << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
}

void print_text(const Trained& trained, const Evaluation& evaluation, const std::string& picture) {
  std::cout << "accuracy  " << fixed(evaluation.accuracy, 4) << "\nloss      "
            << fixed(evaluation.loss, 4) << "\n\n";
  if (trained.classes <= kMaxClassesAsText)
    std::cout << confusion_text(evaluation.confusion, class_names_of(trained)) << "\n";
  std::cout << printable(picture) << "\n";
}

void evaluate_run(EvalOptions& options) {
  const Device device = device_of(options.device);
  Trained trained = load_trained(options.run, device);
  if (options.data.empty()) {
    options.data = trained.data;
    if (!options.limit) options.limit = trained.limit;
  }
  DataOptions data_options{.limit = options.limit, .standard = trained.standard};
  if (trained.input_sizes.size() == 3) data_options.image_size = trained.input_sizes[1];
  const DataSets data = data_for(trained.name, load_data(options.data, data_options));
  check_fits(data, trained);
  std::cerr << trained.name << " of " << printable(trained.checkpoint) << " on "
            << with_commas(data.test.count()) << " test examples of " << printable(options.data)
            << "\n";
  const Evaluation evaluation =
      evaluate(trained.model, data.test,
               {device, options.num_workers, amp_dtype(trained.amp), trained.classes});
  const std::string folder = std::filesystem::path(trained.checkpoint).parent_path().string();
  const std::string picture = !options.picture.empty()
                                  ? options.picture
                                  : (folder.empty() ? "" : folder + "/") + "confusion.png";
  // The results come first, because writing the picture may fail.
  if (options.as_json)
    print_json(options, trained, evaluation, picture);
  else
    print_text(trained, evaluation, picture);
  io::write_file(picture, confusion_png(evaluation.confusion, class_names_of(trained)));
}

}  // namespace

void add_eval(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "eval", "Accuracy, loss and confusion matrix of a trained network on test data");
  auto options = std::make_shared<EvalOptions>();
  add_run(*command, options->run);
  add_data(*command, options->data)->description("Data to test on (default: that of the run)");
  command->add_option("--limit", options->limit, "Use at most this many examples")
      ->check(whole_number(1));
  add_device(*command, options->device);
  command->add_option("--num-workers", options->num_workers, "Threads that load batches in advance")
      ->check(whole_number(0, 1024))
      ->capture_default_str();
  suggest_values(
      command->add_option("--picture", options->picture,
                          "PNG file of the confusion matrix (default: confusion.png beside the "
                          "checkpoint)"),
      {{}, Values::Paths::kFiles})
      ->type_name("FILE");
  command->add_flag("--json", options->as_json, "Print JSON");
  command->footer("Example: hearth eval runs/tutorial-cnn-fashion-mnist");
  command->callback([options] { evaluate_run(*options); });
}

}  // namespace hearth::app
