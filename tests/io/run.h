// A training run with objects of several classes that have a state.
#pragma once

#include "hearth/data/samplers.h"
#include "hearth/io/checkpoint.h"
#include "hearth/nn/linear.h"
#include "hearth/optim/optim.h"

namespace hearth::testing {

struct Run {
  nn::Linear model{2, 2};
  optim::SGD sgd{model->parameters(), optim::SGDOptions(0.1).momentum(0.9)};
  optim::Adam adam{model->parameters(), optim::AdamOptions(0.1).amsgrad(true)};
  optim::StepLR step_lr{sgd, 2};
  optim::OneCycleLR one_cycle{adam, 0.5, 10};
  optim::ReduceLROnPlateau plateau{sgd};
  data::samplers::RandomSampler sampler{8};
  int64_t epoch = 0;

  io::Checkpoint checkpoint() {
    io::Checkpoint parts;
    parts.add("model", model).add("sgd", sgd).add("adam", adam).add("step_lr", step_lr);
    parts.add("one_cycle", one_cycle).add("plateau", plateau).add("sampler", sampler);
    parts.add("epoch", epoch);
    return parts;
  }

  /// Trains for one epoch and uses every object.
  void train_epoch() {
    model->forward(ones({1, 2})).sum().backward();
    sgd.step();
    adam.step();
    step_lr.step();
    one_cycle.step();
    plateau.step(1);
    (void)sampler.next(3);
    sgd.zero_grad();
    ++epoch;
  }
};

}  // namespace hearth::testing
