#include "distributed/ddp/uneven_inputs.h"

#include "distributed/ddp/reducer.h"
#include "hearth/distributed/collectives.h"
#include "hearth/tensor_literal.h"

namespace hearth::nn::parallel::detail {

UnevenInputs::Round UnevenInputs::exchange(bool has_data) {
  constexpr int64_t kValues = 3;
  const bool reduces = GradMode::is_enabled() && model_.syncs_gradients_;
  const Tensor mine = hearth::tensor(
      std::vector<int64_t>{has_data, has_data && reduces, has_data && model_.will_sync_buffers()});
  const int size = model_.group_->getSize();
  Tensor all = empty({size, kValues}, mine.options()), input = mine;
  model_.group_->_allgather_base(all, input)->wait();
  const int64_t* row = all.data_ptr<int64_t>();
  Round round;
  for (int rank = 0; rank < size; ++rank, row += kValues) {
    if (!row[0]) continue;
    ++round.active;
    source_ = rank;
    round.reduces |= row[1] != 0;
    round.broadcasts |= row[2] != 0;
  }
  HEARTH_CHECK(!options_.throw_on_early_termination() || round.active == 0 || round.active == size,
               "Detected at least one rank that exhausted inputs. Throwing across all ranks.");
  if (!options_.divide_by_initial_world_size() && round.active > 0)
    model_.reducer_->set_divisor(round.active);
  return round;
}

int UnevenInputs::announce_forward() {
  exchange(true);
  return source_;
}

void UnevenInputs::finish() {
  for (Round round = exchange(false); round.active > 0; round = exchange(false)) {
    if (round.broadcasts) model_.sync_buffers(source_);
    model_.last_forward_synced_ = round.reduces;
    if (round.reduces) model_.reducer_->run_pass_of_others();
  }
  model_.reducer_->set_divisor(model_.group_->getSize());
  model_.sync_module_states(source_);
}

}  // namespace hearth::nn::parallel::detail
