#pragma once

#include <string>

#include "hearth/arg.h"
#include "hearth/distributed/process_group.h"
#include "hearth/nn/module.h"
#include "hearth/optim/optimizer.h"

/// Checkpoints of modules and optimizers whose parameters may be divided among ranks, with names of
/// torch.distributed.checkpoint. A checkpoint is a folder. It can be loaded with any number of
/// ranks. All ranks of the group must call these functions.
namespace hearth::distributed::checkpoint {

/// Options of save and load.
struct HEARTH_API Options {
  /// The ranks that save or load together; null: the default group.
  HEARTH_ARG(ProcessGroupPtr, process_group);
  /// Whether rank 0 gathers and saves everything in one file; otherwise, each rank saves its part.
  HEARTH_ARG(bool, full_state_dict) = false;
  /// Whether the model must have all parameters and buffers of the checkpoint, and no others.
  HEARTH_ARG(bool, strict) = true;
};

/// Saves a model, or a model and its optimizer, in a folder that all ranks can access. A former
/// checkpoint in the folder stays valid until all ranks have written their files.
HEARTH_API void save(const nn::Module& model, const std::string& checkpoint_id,
                     const Options& options = {});
HEARTH_API void save(const nn::Module& model, const optim::Optimizer& optimizer,
                     const std::string& checkpoint_id, const Options& options = {});
/// Loads a checkpoint of save(), each rank its part. If a rank fails, all ranks throw its error,
/// and nothing is changed.
HEARTH_API void load(nn::Module& model, const std::string& checkpoint_id,
                     const Options& options = {});
HEARTH_API void load(nn::Module& model, optim::Optimizer& optimizer,
                     const std::string& checkpoint_id, const Options& options = {});

/// The whole parameters and buffers on rank 0, in the host's memory; on other ranks, nothing.
HEARTH_API OrderedDict<std::string, Tensor> get_model_state_dict(
    const nn::Module& model, const ProcessGroupPtr& process_group = nullptr);

}  // namespace hearth::distributed::checkpoint
