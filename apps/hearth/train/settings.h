#pragma once

#include "data_sets.h"
#include "hearth/io/archive.h"
#include "hearth/io/safetensors.h"
#include "options.h"

namespace hearth::app {

// The names under which a checkpoint stores the Standard of a table.
inline constexpr const char *kMean = "input_mean", *kDeviation = "input_deviation";

/// The settings that determine a run's results on any machine, stored in its checkpoints.
class Settings {
 public:
  Settings(const TrainOptions& options, const RunOptions& run, const DataSets& data,
           int64_t steps_per_epoch);

  void save(serialize::OutputArchive& archive) const;
  /// Throws unless the archive has the same settings.
  void load(serialize::InputArchive& archive) const;
  /// The settings needed to create the network again, stored with the weights.
  io::Metadata of_network() const { return network_; }

 private:
  io::Metadata network_, training_, data_;
  // Of a table. load() does not compare it, because it follows from the data and old checkpoints
  // have none.
  io::Metadata standard_;
};

}  // namespace hearth::app
