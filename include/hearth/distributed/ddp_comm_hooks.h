#pragma once

#include <memory>

#include "hearth/arg.h"
#include "hearth/distributed/grad_bucket.h"
#include "hearth/distributed/process_group.h"

/// Communication hooks for DistributedDataParallel::register_comm_hook. A null group is the default
/// group.
namespace hearth::distributed::algorithms::ddp_comm_hooks {

/// The mean, as DDP computes it without a hook.
HEARTH_API CommHook allreduce_hook(ProcessGroupPtr group = nullptr);
/// The mean of gradients that are sent as float16.
HEARTH_API CommHook fp16_compress_hook(ProcessGroupPtr group = nullptr);
/// The mean of gradients that are sent as bfloat16.
HEARTH_API CommHook bf16_compress_hook(ProcessGroupPtr group = nullptr);
/// `hook` on a copy of the bucket in float16; its result is cast back.
HEARTH_API CommHook fp16_compress_wrapper(CommHook hook);
/// `hook` on a copy of the bucket in bfloat16; its result is cast back.
HEARTH_API CommHook bf16_compress_wrapper(CommHook hook);

/// Options of PowerSGD, with Python's names and defaults.
struct HEARTH_API PowerSGDOptions {
  HEARTH_ARG(ProcessGroupPtr, process_group);
  HEARTH_ARG(int64_t, matrix_approximation_rank) = 1;
  HEARTH_ARG(int64_t, start_powerSGD_iter) = 1000;  ///< until then, gradients are not compressed
  /// Matrices are compressed if this makes them smaller by more than this factor.
  HEARTH_ARG(double, min_compression_rate) = 2;
  HEARTH_ARG(bool, use_error_feedback) = true;  ///< adds what was lost to the next gradients
  HEARTH_ARG(bool, warm_start) = true;          ///< begins with the last step's factors
  /// Added to the norms in a Gram-Schmidt process; 0: a QR decomposition is used instead.
  HEARTH_ARG(double, orthogonalization_epsilon) = 0;
  HEARTH_ARG(uint64_t, random_seed) = 0;  ///< of the first factors
};

/// PowerSGD's state between steps: factors and errors of the compressed gradients.
class PowerSGDState;
HEARTH_API std::shared_ptr<PowerSGDState> make_powerSGD_state(const PowerSGDOptions& options = {});

/// Sends matrices as products of two thin ones (Vogels et al. 2019), vectors uncompressed.
HEARTH_API CommHook powerSGD_hook(std::shared_ptr<PowerSGDState> state);

}  // namespace hearth::distributed::algorithms::ddp_comm_hooks
