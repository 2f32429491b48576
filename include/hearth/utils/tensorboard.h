#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hearth/arg.h"
#include "hearth/tensor.h"
#include "hearth/utils/graph.h"
#include "hearth/utils/plot.h"

// Logs for TensorBoard, as Python's torch.utils.tensorboard writes them.
namespace hearth::utils::tensorboard {

using Step = std::optional<int64_t>;     ///< the step that a record belongs to; none counts as 0
using Walltime = std::optional<double>;  ///< seconds since 1970; none is the time of the call
using NamedNumbers = std::vector<std::pair<std::string, double>>;

/// A hyperparameter. As in Python, TensorBoard shows a bool as 0 or 1.
using HParam = std::variant<std::string, int64_t, double, bool>;
using HParams = std::vector<std::pair<std::string, HParam>>;
/// All values that a hyperparameter can have, by its name.
using HParamDomains = std::vector<std::pair<std::string, std::vector<HParam>>>;

/// The choice of a histogram's bins: one of Python's names ("tensorflow", "auto", "fd", "doane",
/// "scott", "rice", "sturges", "sqrt"), a number of bins of equal width, or the edges.
using Bins = std::variant<std::string, int64_t, std::vector<double>>;

/// A chart of add_custom_scalars. A "Margin" chart has three tags: value, lower and upper bound.
struct Chart {
  std::string title;
  std::string type = "Multiline";  ///< or "Margin"
  std::vector<std::string> tags;   ///< tags of add_scalar
};
/// Charts by category.
using ChartLayout = std::vector<std::pair<std::string, std::vector<Chart>>>;

/// Options of SummaryWriter, with Python's names and defaults.
struct HEARTH_API SummaryWriterOptions {
  HEARTH_ARG(std::string, log_dir);  ///< empty: `runs/<date>_<host><comment>`
  HEARTH_ARG(std::string, comment);  ///< end of the default log_dir
  /// TensorBoard hides the records of former writers from this step on; in a subfolder, as soon as
  /// the writer adds a record to it.
  HEARTH_ARG(Step, purge_step);
  /// Records that may wait before they are written. A call blocks only if more than 64 MiB wait.
  HEARTH_ARG(int64_t, max_queue) = 10;
  /// Seconds that a record may wait; values above 1 count as 1.
  HEARTH_ARG(double, flush_secs) = 120;
  HEARTH_ARG(std::string, filename_suffix);  ///< end of the names of all files
};

/// Options of add_embedding.
struct HEARTH_API EmbeddingOptions {
  HEARTH_ARG(std::vector<std::string>, metadata);  ///< a label per row; tabs separate columns
  HEARTH_ARG(Tensor, label_img);                   ///< an image per row: [N, C, H, W], 0 to 1
  HEARTH_ARG(Step, global_step);
  HEARTH_ARG(std::string, tag) = "default";
  HEARTH_ARG(std::vector<std::string>, metadata_header);  ///< the names of the columns
};

namespace detail {
class EventWriter;
}  // namespace detail

/// Writes records for TensorBoard to files in a folder. The writer's own thread encodes and writes
/// them. If the folder cannot be written to, records are lost with one warning, and the program
/// goes on. Several threads may use one writer; a forked process needs one of its own.
class HEARTH_API SummaryWriter {
 public:
  explicit SummaryWriter(const SummaryWriterOptions& options = {});
  explicit SummaryWriter(const std::string& log_dir);  ///< with default options
  ~SummaryWriter();                                    ///< closes the writer
  SummaryWriter(SummaryWriter&& other) noexcept;
  SummaryWriter& operator=(SummaryWriter&& other) noexcept;

  /// Adds a number; with `new_style`, as a tensor of floats, or of doubles with `double_precision`.
  void add_scalar(const std::string& tag, double scalar_value, Step global_step = {},
                  Walltime walltime = {}, bool new_style = false, bool double_precision = false);
  /// Adds the value of a tensor with one element; waits for its device.
  void add_scalar(const std::string& tag, const Tensor& scalar_value, Step global_step = {},
                  Walltime walltime = {}, bool new_style = false, bool double_precision = false);
  /// Adds a number that Tensor::item() returned.
  template <class Number>
  requires(std::is_same_v<Number, Scalar>) void add_scalar(
      const std::string& tag, const Number& scalar_value, Step global_step = {},
      Walltime walltime = {}, bool new_style = false, bool double_precision = false) {
    add_scalar(tag, scalar_value.toDouble(), global_step, walltime, new_style, double_precision);
  }
  /// Adds one number per name to one chart; each name gets a subfolder, a run of its own.
  void add_scalars(const std::string& main_tag, const NamedNumbers& tag_scalar_dict,
                   Step global_step = {}, Walltime walltime = {});
  /// Adds a tensor with its dtype and sizes.
  void add_tensor(const std::string& tag, const Tensor& tensor, Step global_step = {},
                  Walltime walltime = {});
  /// Adds a histogram of all elements. Elements outside of the bins and NaN are not counted.
  void add_histogram(const std::string& tag, const Tensor& values, Step global_step = {},
                     const Bins& bins = "tensorflow", Walltime walltime = {},
                     std::optional<int64_t> max_bins = {});
  /// Adds a histogram that the program has counted: upper limits of the buckets and their counts.
  void add_histogram_raw(const std::string& tag, double min, double max, double num, double sum,
                         double sum_squares, const std::vector<double>& bucket_limits,
                         const std::vector<double>& bucket_counts, Step global_step = {},
                         Walltime walltime = {});
  /// Adds an image: bytes, or numbers from 0 to 1, which are clipped. `dataformats` names the
  /// dimensions: CHW, HWC, HW, WH …; with an N, several images in a grid.
  void add_image(const std::string& tag, const Tensor& img_tensor, Step global_step = {},
                 Walltime walltime = {}, const std::string& dataformats = "CHW");
  /// Adds a batch of images as one grid.
  void add_images(const std::string& tag, const Tensor& img_tensor, Step global_step = {},
                  Walltime walltime = {}, const std::string& dataformats = "NCHW");
  /// Adds a picture of charts, or several as one grid. The writer's thread draws it, so `figure` is
  /// copied; `close` is Python's and has no effect.
  void add_figure(const std::string& tag, const plot::Figure& figure, Step global_step = {},
                  bool close = true, Walltime walltime = {});
  void add_figure(const std::string& tag, const std::vector<plot::Figure>& figures,
                  Step global_step = {}, bool close = true, Walltime walltime = {});
  /// Adds a video [N, T, C, H, W] as an animated PNG; the N videos are shown side by side.
  void add_video(const std::string& tag, const Tensor& vid_tensor, Step global_step = {},
                 double fps = 4, Walltime walltime = {});
  /// Adds a sound [1, L] of numbers from -1 to 1 as WAV.
  void add_audio(const std::string& tag, const Tensor& snd_tensor, Step global_step = {},
                 int64_t sample_rate = 44100, Walltime walltime = {});
  /// Adds a text in Markdown.
  void add_text(const std::string& tag, const std::string& text_string, Step global_step = {},
                Walltime walltime = {});
  /// Adds the hyperparameters and results of a run, as a run in a subfolder (by default named by
  /// the time).
  void add_hparams(const HParams& hparam_dict, const NamedNumbers& metric_dict,
                   const HParamDomains& hparam_domain_discrete = {},
                   const std::string& run_name = "", Step global_step = {});
  /// Adds a precision-recall curve from true or false labels and predicted probabilities.
  void add_pr_curve(const std::string& tag, const Tensor& labels, const Tensor& predictions,
                    Step global_step = {}, int64_t num_thresholds = 127, const Tensor& weights = {},
                    Walltime walltime = {});
  /// Adds a precision-recall curve that the program has computed, with an element per threshold.
  void add_pr_curve_raw(const std::string& tag, const Tensor& true_positive_counts,
                        const Tensor& false_positive_counts, const Tensor& true_negative_counts,
                        const Tensor& false_negative_counts, const Tensor& precision,
                        const Tensor& recall, Step global_step = {}, int64_t num_thresholds = 127,
                        Walltime walltime = {});
  /// Adds points [N, D] for the projector: files in a subfolder, and an entry in
  /// projector_config.pbtxt.
  void add_embedding(const Tensor& mat, const EmbeddingOptions& options = {});
  /// Adds charts that combine several tags.
  void add_custom_scalars(const ChartLayout& layout);
  /// Adds one chart with a line per tag.
  void add_custom_scalars_multilinechart(const std::vector<std::string>& tags,
                                         const std::string& category = "default",
                                         const std::string& title = "untitled");
  /// Adds one chart of a value with its lower and upper bound: three tags.
  void add_custom_scalars_marginchart(const std::vector<std::string>& tags,
                                      const std::string& category = "default",
                                      const std::string& title = "untitled");
  /// Adds meshes or point clouds: coordinates, colors and the corners of triangles, [B, N, 3] each.
  /// `config_dict`: the settings of Three.js as JSON.
  void add_mesh(const std::string& tag, const Tensor& vertices, const Tensor& colors = {},
                const Tensor& faces = {}, const std::string& config_dict = "{}",
                Step global_step = {}, Walltime walltime = {});
  /// Adds a model's graph; runs the model once on the inputs, in evaluation mode.
  template <class Model, class... Inputs>
  requires(sizeof...(Inputs) > 0) void add_graph(Model& model, const Inputs&... input_to_model) {
    add_graph(utils::trace(model, input_to_model...));
  }
  void add_graph(const Graph& traced);  ///< adds the result of utils::trace

  const std::string& get_logdir() const { return options_.log_dir(); }  ///< the folder
  void flush();  ///< returns when all records are in the files
  void close();  ///< writes all records and closes the files; a later add_… opens new files

 private:
  SummaryWriterOptions options_;
  std::unique_ptr<detail::EventWriter> writer_;
};

}  // namespace hearth::utils::tensorboard
