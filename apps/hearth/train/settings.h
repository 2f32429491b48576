#pragma once

#include "hearth/io/archive.h"
#include "hearth/io/safetensors.h"
#include "images.h"
#include "options.h"

namespace hearth::app {

/// What the results of a run depend on, whatever machine it is on; its checkpoints keep it.
class Settings {
 public:
  Settings(const TrainOptions& all, const RunOptions& own, const ImageSets& images);

  void save(serialize::OutputArchive& archive) const;
  /// Throws unless the saved ones are the same.
  void load(serialize::InputArchive& archive) const;
  /// What it takes to make the network again.
  io::Metadata of_weights() const { return network_; }

 private:
  io::Metadata network_, training_, data_;
};

}  // namespace hearth::app
