#include <ctime>
#include <utility>

#include "hearth/operators.h"
#include "log/event_writer.h"
#include "log/events.h"
#include "log/histogram.h"
#include "log/pictures.h"
#include "plot/plugin.h"

namespace hearth::utils::tensorboard {

using detail::Stamp;

namespace {

/// runs/<date>_<host><comment>
std::string default_log_dir(const std::string& comment) {
  const std::time_t seconds = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  char date[64];
  std::strftime(date, sizeof date, "%b%d_%H-%M-%S", &local);
  return hearth::detail::str("runs/", date, "_", detail::host_name(), comment);
}

SummaryWriterOptions with_log_dir(SummaryWriterOptions options) {
  if (options.log_dir().empty()) options.log_dir(default_log_dir(options.comment()));
  return options;
}

double number_in(const Tensor& tensor) {
  HEARTH_CHECK(tensor.defined() && tensor.numel() == 1,
               "Tensor should contain one element (0 dimensions). Was given size: ",
               tensor.defined() ? tensor.numel() : 0, " and ", tensor.defined() ? tensor.dim() : 0,
               " dimensions.");
  HEARTH_CHECK_AS(TypeError, !tensor.is_complex(), "A scalar cannot be complex");
  return tensor.detach().item<double>();
}

/// The subfolder for one of the scalars of add_scalars().
std::string folder_of_scalar(std::string main_tag, const std::string& tag) {
  for (char& c : main_tag)
    if (c == '/') c = '_';
  return main_tag + "_" + tag;
}

}  // namespace

SummaryWriter::SummaryWriter(const SummaryWriterOptions& options)
    : options_(with_log_dir(options)), writer_(new detail::EventWriter(options_)) {}
SummaryWriter::SummaryWriter(const std::string& log_dir)
    : SummaryWriter(SummaryWriterOptions().log_dir(log_dir)) {}
SummaryWriter::~SummaryWriter() = default;
SummaryWriter::SummaryWriter(SummaryWriter&& other) noexcept = default;
SummaryWriter& SummaryWriter::operator=(SummaryWriter&& other) noexcept = default;

void SummaryWriter::flush() { writer_->flush(); }
void SummaryWriter::close() { writer_->close(); }

void SummaryWriter::add_scalar(const std::string& tag, double scalar_value, Step global_step,
                               Walltime walltime, bool new_style, bool double_precision) {
  std::string event =
      summary_event(Stamp(global_step, walltime),
                    detail::scalar_message(tag, scalar_value, new_style, double_precision));
  writer_->check_step(tag, global_step.value_or(0));
  writer_->add(std::move(event));
}

void SummaryWriter::add_scalar(const std::string& tag, const Tensor& scalar_value, Step global_step,
                               Walltime walltime, bool new_style, bool double_precision) {
  add_scalar(tag, number_in(scalar_value), global_step, walltime, new_style, double_precision);
}

void SummaryWriter::add_scalars(const std::string& main_tag, const NamedNumbers& tag_scalar_dict,
                                Step global_step, Walltime walltime) {
  const Stamp stamp(global_step, walltime);
  for (const auto& [tag, value] : tag_scalar_dict) {
    const std::string folder = folder_of_scalar(main_tag, tag);
    std::string event = summary_event(stamp, detail::scalar_message(main_tag, value, false, false));
    writer_->check_step(main_tag, global_step.value_or(0), folder);
    writer_->add(std::move(event), folder);
  }
}

void SummaryWriter::add_tensor(const std::string& tag, const Tensor& tensor, Step global_step,
                               Walltime walltime) {
  const Tensor values = detail::snapshot(tensor, "add_tensor", "tensor");
  writer_->add(summary_event(Stamp(global_step, walltime), detail::tensor_message(tag, values)));
}

void SummaryWriter::add_histogram(const std::string& tag, const Tensor& values, Step global_step,
                                  const Bins& bins, Walltime walltime,
                                  std::optional<int64_t> max_bins) {
  const Tensor copy = detail::snapshot(values, "add_histogram", "values");
  HEARTH_CHECK_AS(ValueError, copy.numel() > 0, "The input has no element.");
  HEARTH_CHECK_AS(TypeError, !copy.is_complex(), "A histogram cannot have complex values");
  HEARTH_CHECK_AS(ValueError, !max_bins || *max_bins > 0, "max_bins must be positive");
  detail::check_bins(bins);
  detail::check_utf8("The tag", tag);
  writer_->add_later(copy.nbytes(), [=, stamp = Stamp(global_step, walltime)]() -> std::string {
    try {
      const auto counted = detail::count_values(detail::elements<double>(copy), bins, max_bins);
      return summary_event(stamp, detail::histogram_message(tag, counted));
    } catch (Error& error) {
      error.append_line("in the histogram '" + tag + "'");
      throw;
    }
  });
}

void SummaryWriter::add_histogram_raw(const std::string& tag, double min, double max, double num,
                                      double sum, double sum_squares,
                                      const std::vector<double>& bucket_limits,
                                      const std::vector<double>& bucket_counts, Step global_step,
                                      Walltime walltime) {
  HEARTH_CHECK_AS(ValueError, bucket_limits.size() == bucket_counts.size(),
                  "len(bucket_limits) != len(bucket_counts), see the document.");
  const detail::Histogram histogram{min, max, num, sum, sum_squares, bucket_limits, bucket_counts};
  writer_->add(
      summary_event(Stamp(global_step, walltime), detail::histogram_message(tag, histogram)));
}

void SummaryWriter::add_image(const std::string& tag, const Tensor& img_tensor, Step global_step,
                              Walltime walltime, const std::string& dataformats) {
  const Tensor image = detail::snapshot(img_tensor, "add_image", "img_tensor");
  detail::check_image(image.sizes(), image.scalar_type(), dataformats);
  detail::check_utf8("The tag", tag);
  writer_->add_later(image.nbytes(), [=, stamp = Stamp(global_step, walltime)] {
    return summary_event(stamp, detail::image_message(tag, image, dataformats));
  });
}

void SummaryWriter::add_images(const std::string& tag, const Tensor& img_tensor, Step global_step,
                               Walltime walltime, const std::string& dataformats) {
  add_image(tag, img_tensor, global_step, walltime, dataformats);
}

void SummaryWriter::add_figure(const std::string& tag, const plot::Figure& figure, Step global_step,
                               bool close, Walltime walltime) {
  add_figure(tag, std::vector<plot::Figure>{figure}, global_step, close, walltime);
}

void SummaryWriter::add_figure(const std::string& tag, const std::vector<plot::Figure>& figures,
                               Step global_step, bool, Walltime walltime) {
  HEARTH_CHECK_AS(ValueError, !figures.empty(), "add_figure was given no figures");
  plot::detail::check_available();
  detail::check_utf8("The tag", tag);
  size_t bytes = 0;
  for (const plot::Figure& figure : figures) bytes += detail::bytes_of(figure);
  writer_->add_later(bytes, [=, stamp = Stamp(global_step, walltime)]() -> std::string {
    try {
      return summary_event(stamp, detail::figure_message(tag, figures));
    } catch (Error& error) {
      error.append_line("in the figure '" + tag + "'");
      throw;
    }
  });
}

void SummaryWriter::add_video(const std::string& tag, const Tensor& vid_tensor, Step global_step,
                              double fps, Walltime walltime) {
  const Tensor video = detail::snapshot(vid_tensor, "add_video", "vid_tensor");
  HEARTH_CHECK_AS(ValueError, video.dim() == 5 && video.numel() > 0,
                  "A video has sizes [N, T, C, H, W], but got ", video.sizes());
  HEARTH_CHECK_AS(ValueError, fps > 0, "fps must be positive, but got ", fps);
  detail::check_image(video[0].sizes(), video.scalar_type(), "NCHW");
  detail::check_utf8("The tag", tag);
  writer_->add_later(video.nbytes(), [=, stamp = Stamp(global_step, walltime)] {
    return summary_event(stamp, detail::video_message(tag, video, fps));
  });
}

void SummaryWriter::add_audio(const std::string& tag, const Tensor& snd_tensor, Step global_step,
                              int64_t sample_rate, Walltime walltime) {
  const Tensor sound = detail::snapshot(snd_tensor, "add_audio", "snd_tensor").squeeze();
  HEARTH_CHECK(sound.dim() == 1, "input tensor should be 1 dimensional.");
  HEARTH_CHECK_AS(ValueError, sound.numel() > 0, "The sound has no samples");
  constexpr int64_t kMaxSamples = INT32_MAX / 2 - 4096;  // an event has less than 2 GiB
  HEARTH_CHECK_AS(ValueError, sound.numel() <= kMaxSamples, "A sound has at most ", kMaxSamples,
                  " samples, but got ", sound.numel());
  HEARTH_CHECK_AS(TypeError, !sound.is_complex(), "A sound cannot be complex");
  HEARTH_CHECK_AS(ValueError, sample_rate > 0 && sample_rate <= INT32_MAX,
                  "sample_rate must be from 1 to 2147483647, but got ", sample_rate);
  if (sound.to(kDouble).abs().max().item<double>() > 1)
    warn("audio amplitude out of range, auto clipped.");
  detail::check_utf8("The tag", tag);
  writer_->add_later(sound.nbytes(), [=, stamp = Stamp(global_step, walltime)] {
    return summary_event(stamp, detail::audio_message(tag, sound, sample_rate));
  });
}

void SummaryWriter::add_graph(const Graph& traced) {
  for (std::string& event : detail::graph_events(traced)) writer_->add(std::move(event));
}

}  // namespace hearth::utils::tensorboard
