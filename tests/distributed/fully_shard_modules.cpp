#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hearth/optim/swa_utils.h"
#include "hearth/shards.h"
#include "hearth/utils/checkpoint.h"
#include "tests/distributed/ranks.h"
#include "tests/distributed/sharded_nets.h"

// fully_shard in modules of many kinds; accumulated and clipped gradients, evaluation, errors.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
using Parts = std::vector<dist::FSDPModule>;
using MakeNet = std::function<std::shared_ptr<nn::Module>()>;

/// An embedding, a recurrent layer, whose result is a tuple, and a block that is called twice.
struct RecurrentNetImpl : nn::Module {
  explicit RecurrentNetImpl(bool checkpoint)
      : words(register_module("words", nn::Embedding(13, 6))),
        recurrent(register_module("recurrent", nn::LSTM(nn::LSTMOptions(6, 5).batch_first(true)))),
        twice(register_module("twice", Residual(5, 9))),
        checkpointed(checkpoint) {}
  Tensor forward(Tensor x) {
    const auto [all, state] = recurrent(words(x));
    const Tensor once = call(all);
    return call(once).mean() + std::get<0>(state).sum();
  }
  Tensor call(const Tensor& x) { return checkpointed ? utils::checkpoint(twice, x) : twice(x); }
  nn::Embedding words;
  nn::LSTM recurrent;
  Residual twice;
  bool checkpointed;
};
HEARTH_MODULE(RecurrentNet);

RecurrentNet make_recurrent_net(bool checkpointed) {
  manual_seed(5);
  RecurrentNet net(checkpointed);
  net->to(kDouble);
  return net;
}

Tensor whole_words() { return (arange(24 * 4, kLong) * 7).remainder(13).view({24, 4}); }

template <class Net>
void train_with_sgd(Net& net, const Tensor& batch) {
  optim::SGD sgd(net->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  for (int i = 0; i < 4; ++i) {
    sgd.zero_grad();
    net(batch).square().mean().backward();
    sgd.step();
  }
}

void require_close(Parts& parts, nn::Module& net, const nn::Module& alone) {
  for (auto& part : parts) part.unshard();
  const double error = difference(net.parameters(), alone.parameters());
  std::printf("largest difference %g\n", error);
  REQUIRE(error < 1e-12);
  for (auto& part : parts) part.reshard();
}

const RankFunction modules_of_many_kinds("modules_of_many_kinds", [] {
  in_group([](int, int) {
    for (const bool checkpointed : {false, true}) {
      RecurrentNet alone = make_recurrent_net(false), net = make_recurrent_net(checkpointed);
      // The loss squares a mean over the batch, so the mean loss of the batch's parts would differ:
      // each rank trains with the whole batch.
      train_with_sgd(alone, whole_words());
      Parts parts{dist::fully_shard(net->words), dist::fully_shard(net->recurrent),
                  dist::fully_shard(net->twice), dist::fully_shard(net)};
      train_with_sgd(net, whole_words());
      require_close(parts, *net, *alone);
    }
  });
});

TEST(FullyShard, TrainsModulesOfManyKinds) { run_ranks_well(modules_of_many_kinds, 3); }

const RankFunction frozen_parameters("frozen_parameters", [] {
  in_group([](int, int) {
    const auto freeze = [](ShardedNet& net) {
      net->block1->up->weight.set_requires_grad(false);
      net->block2->requires_grad_(false);
    };
    ShardedNet alone = make_net(), net = make_net();
    freeze(alone);
    freeze(net);
    train_with_sgd(alone, whole_batch());
    Parts parts{dist::fully_shard(net->block1), dist::fully_shard(net->block2),
                dist::fully_shard(net)};
    train_with_sgd(net, part_of_batch(whole_batch()));
    require_close(parts, *net, *alone);
    REQUIRE(!net->block2->up->weight.grad().defined());
  });
});

TEST(FullyShard, KeepsFrozenParameters) { run_ranks_well(frozen_parameters, 2); }

const RankFunction accumulated_gradients("accumulated_gradients", [] {
  in_group([](int, int) {
    for (const bool reduces_each : {false, true}) {
      ShardedNet alone = make_net(), net = make_net();
      alone(whole_batch()).square().mean().backward();
      Parts parts{dist::fully_shard(net->block1), dist::fully_shard(net)};
      const std::vector<Tensor> halves = part_of_batch(whole_batch()).chunk(2);
      parts.back().set_requires_gradient_sync(reduces_each);
      (net(halves[0]).square().mean() / 2).backward();
      REQUIRE(net->first->weight.grad().defined() == reduces_each);
      parts.back().set_requires_gradient_sync(true);
      (net(halves[1]).square().mean() / 2).backward();
      optim::SGD(net->parameters(), 1.0).step();
      optim::SGD(alone->parameters(), 1.0).step();
      require_close(parts, *net, *alone);
    }
  });
});

TEST(FullyShard, AccumulatesGradients) { run_ranks_well(accumulated_gradients, 2); }

const RankFunction clips_gradients("clips_gradients", [] {
  in_group([](int, int) {
    for (const double norm_type : {2.0, 1.0, std::numeric_limits<double>::infinity()}) {
      ShardedNet alone = make_net(), net = make_net();
      Parts parts{dist::fully_shard(net->block1), dist::fully_shard(net)};
      alone(whole_batch()).square().mean().backward();
      net(part_of_batch(whole_batch())).square().mean().backward();
      const double norm = nn::utils::clip_grad_norm_(alone->parameters(), 0.1, norm_type);
      REQUIRE(std::abs(parts.back().get_total_norm(norm_type) - norm) < 1e-12);
      REQUIRE(std::abs(parts.back().clip_grad_norm_(0.1, norm_type) - norm) < 1e-12);
      optim::SGD(net->parameters(), 1.0).step();
      optim::SGD(alone->parameters(), 1.0).step();
      require_close(parts, *net, *alone);
    }
    ShardedNet net = make_net();
    auto part = dist::fully_shard(net);
    REQUIRE_ERROR(part.get_total_norm(0), "norm_type must be above 0");
    REQUIRE(part.get_total_norm() == 0);
  });
});

TEST(FullyShard, ClipsGradientsOfAllShards) { run_ranks_well(clips_gradients, 3); }

const RankFunction clips_as_whole_parameters("clips_as_whole_parameters", [] {
  in_group([](int, int) {
    for (const double norm_type : {2.0, 1.0, std::numeric_limits<double>::infinity(), 0.0}) {
      ShardedNet alone = make_net(), net = make_net();
      // `scale` stays whole; block1 is divided among another group than the other parameters.
      const auto options = dist::FullyShardOptions().ignored_params({net->scale});
      Parts parts{dist::fully_shard(net->block1,
                                    dist::FullyShardOptions().process_group(dist::new_group())),
                  dist::fully_shard(net, options)};
      alone(whole_batch()).square().mean().backward();
      net(part_of_batch(whole_batch())).square().mean().backward();
      dist::all_reduce(net->scale.grad(), dist::ReduceOp::AVG);
      const double norm = nn::utils::clip_grad_norm_(alone->parameters(), 0.1, norm_type);
      REQUIRE(std::abs(nn::utils::clip_grad_norm_(net->parameters(), 0.1, norm_type) - norm) <
              1e-12);
      optim::SGD(net->parameters(), 1.0).step();
      optim::SGD(alone->parameters(), 1.0).step();
      require_close(parts, *net, *alone);
    }
  });
});

TEST(FullyShard, ClipsGradientsLikeWholeParameters) {
  run_ranks_well(clips_as_whole_parameters, 3);
}

const RankFunction skips_steps_together("skips_steps_together", [] {
  in_group([](int rank, int) {
    ShardedNet net = make_net(kFloat);
    dist::fully_shard(net);
    optim::SGD sgd(net->parameters(), 0.1);
    amp::GradScaler scaler(kCPU);
    const auto step = [&](bool overflows) {
      sgd.zero_grad();
      scaler.scale(net(part_of_batch(whole_batch()).to(kFloat)).square().mean()).backward();
      // Only rank 1's part of one gradient is infinite.
      if (overflows && rank == 1) net->first->weight.mutable_grad()[0][0] = HUGE_VAL;
      const Tensor before = net->first->weight.detach().clone();
      scaler.step(sgd);
      scaler.update();
      return !equal(before, net->first->weight);
    };
    REQUIRE(step(false) && scaler.get_scale() == 65536);
    REQUIRE(!step(true) && scaler.get_scale() == 32768);
    REQUIRE(scaler.non_finite() && scaler.non_finite()->parameter.defined() == (rank == 1));
    REQUIRE(scaler.explain(*net).find(rank == 1 ? "first.weight" : "another rank's part") !=
            std::string::npos);
    REQUIRE(step(false) && scaler.get_scale() == 32768);
    REQUIRE(scaler.non_finite() && scaler.non_finite()->scale == 65536);
    sgd.zero_grad();
    REQUIRE_ERROR(scaler.step(sgd), "None of its parameters has a gradient");
  });
});

TEST(FullyShard, GradScalerSkipsStepsOnAllRanks) { run_ranks_well(skips_steps_together, 2); }

const RankFunction needs_whole_parameters("needs_whole_parameters", [] {
  in_group([](int, int) {
    ShardedNet net = make_net();
    dist::fully_shard(net);
    const auto closure = [&net] {
      const Tensor loss = net(part_of_batch(whole_batch())).square().mean();
      loss.backward();
      return loss;
    };
    optim::LBFGS lbfgs(net->parameters());
    REQUIRE_ERROR(lbfgs.step(closure), "LBFGS needs whole parameters");
    optim::Adafactor adafactor(net->parameters());
    REQUIRE_ERROR(adafactor.step(closure), "Adafactor needs whole parameters");
    optim::Muon muon({net->first->weight});
    REQUIRE_ERROR(muon.step(closure), "Muon needs whole parameters");
    for (const double norm_type : {0.0, -1.0, -std::numeric_limits<double>::infinity()})
      REQUIRE_ERROR(nn::utils::norm_of_gradients(net->parameters(), norm_type),
                    "norm_type must be above 0");
  });
});

TEST(FullyShard, RefusesOptimizersOfWholeParametersAndOtherNorms) {
  run_ranks_well(needs_whole_parameters, 2);
}

const RankFunction one_rank_has_all("one_rank_has_all", [] {
  in_group([](int, int) {
    ShardedNet net = make_net();
    dist::fully_shard(net);
    optim::Adafactor adafactor(net->parameters());
    net(whole_batch()).square().mean().backward();
    adafactor.step();
  });
});

TEST(FullyShard, OneRankHasWholeParameters) { run_ranks_well(one_rank_has_all, 1); }

const RankFunction low_precision("low_precision", [] {
  in_group([](int, int) {
    ShardedNet alone = make_net(kBFloat16), net = make_net(kFloat);
    const Tensor x = part_of_batch(whole_batch()).to(kFloat);
    const auto policy = dist::MixedPrecisionPolicy().param_dtype(kBFloat16).output_dtype(kDouble);
    const auto options = dist::FullyShardOptions().mp_policy(policy);
    dist::fully_shard(net->block1, dist::FullyShardOptions().mp_policy(
                                       dist::MixedPrecisionPolicy().param_dtype(kBFloat16)));
    dist::fully_shard(net, options);
    const Tensor output = net(x), expected = alone(x.to(kBFloat16));
    REQUIRE(output.scalar_type() == kDouble && equal(output, expected.to(kDouble)));
    output.square().mean().backward();
    expected.to(kDouble).square().mean().backward();
    // Gradients are computed in bfloat16, and reduced in float.
    const auto params = net->parameters(), others = alone->parameters();
    for (size_t i = 0; i < params.size(); ++i) {
      const Tensor mean = others[i].grad().to(kFloat);
      dist::all_reduce(mean, dist::ReduceOp::AVG);
      const Tensor& grad = params[i].grad();
      REQUIRE(params[i].scalar_type() == kFloat && grad.scalar_type() == kFloat);
      const int64_t begin = dist::get_rank() * ((mean.size(0) + 1) / 2);
      REQUIRE(equal(grad, mean.narrow(0, std::min(begin, mean.size(0)), grad.size(0))));
    }
  });
});

TEST(FullyShard, ComputesInLowPrecision) { run_ranks_well(low_precision, 2); }

const RankFunction evaluation("evaluation", [] {
  in_group([](int, int) {
    ShardedNet alone = make_net(), net = make_net();
    optim::SGD sgd(net->parameters(), optim::SGDOptions(0.1).momentum(0.9));  // not sharded yet
    Parts parts{dist::fully_shard(net->block1), dist::fully_shard(net)};
    const int64_t rows = net->block1->up->weight.size(0);
    const auto evaluate = [&] {
      REQUIRE(difference({net(whole_batch())}, {alone(whole_batch())}) < 1e-12);
    };
    {
      const InferenceMode inference;
      evaluate();
    }
    {
      const NoGradGuard no_grad;
      evaluate();
    }
    // All parameters are shards again, so that the optimizer can step.
    REQUIRE(rows < 11 && net->block1->up->weight.size(0) == rows && net->first->weight.size(0) < 7);
    net(part_of_batch(whole_batch())).square().mean().backward();
    sgd.step();
    alone(whole_batch()).square().mean().backward();
    optim::SGD(alone->parameters(), 0.1).step();
    require_close(parts, *net, *alone);
    // Whole parameters can be loaded.
    net->load_state_dict(make_net()->state_dict());
    require_close(parts, *net, *make_net());
  });
});

TEST(FullyShard, Evaluates) { run_ranks_well(evaluation, 2); }

const RankFunction recovers("recovers", [] {
  in_group([](int, int) {
    ShardedNet alone = make_net(), net = make_net();
    Parts parts{dist::fully_shard(net->block1), dist::fully_shard(net->block2),
                dist::fully_shard(net)};
    train_with_sgd(alone, whole_batch());
    REQUIRE_ERROR(net(ones({4, 3}, kDouble)), "mat1 and mat2 shapes cannot be multiplied");
    Tensor result = net->block1(net->first(whole_batch()));
    result.register_hook([](const Tensor&) { throw Error("stopped"); });
    REQUIRE_ERROR(net->block2(result).sum().backward(), "stopped");
    net->zero_grad();
    train_with_sgd(net, part_of_batch(whole_batch()));
    require_close(parts, *net, *alone);
  });
});

TEST(FullyShard, ContinuesAfterErrors) { run_ranks_well(recovers, 2); }

const RankFunction clones("clones", [] {
  in_group([](int, int) {
    const char* const refusal =
        "clone() does not support modules to which fully_shard was applied: this rank has only a "
        "part of 'weight' of torch::nn::LinearImpl";
    nn::Sequential net(nn::Linear(4, 3), nn::ReLU(), nn::Linear(3, 2));
    const std::shared_ptr<nn::Module> before = net->clone();
    dist::fully_shard(net->ptr(0));
    REQUIRE_ERROR(net->clone(), refusal);
    REQUIRE_ERROR(optim::swa_utils::AveragedModel<nn::SequentialImpl> average(net), refusal);
    REQUIRE(net->children()[2]->clone()->parameters()[0].size(0) == 2);
    dist::fully_shard(net);
    REQUIRE_ERROR(net->clone(), refusal);
    dist::fsdp_module(*net->ptr(0)).unshard();
    REQUIRE_ERROR(net->clone(), refusal);
    dist::fsdp_module(*net->ptr(0)).reshard();
    nn::ParameterList list(ones({4}));
    nn::ParameterDict dict;
    dict->insert("one", ones({4}));
    dist::fully_shard(list);
    dist::fully_shard(dict);
    REQUIRE_ERROR(list->clone(), "this rank has only a part of '0'");
    REQUIRE_ERROR(dict->clone(), "this rank has only a part of 'one'");
    // The module that was cloned before can be divided like the original, and take its values.
    dist::fully_shard(*before);
    before->load_state_dict(net->state_dict());
    for (size_t i = 0; i < 4; ++i) REQUIRE(before->parameters()[i].equal(net->parameters()[i]));
  });
});

TEST(FullyShard, RefusesClonesOfShards) { run_ranks_well(clones, 2); }

const RankFunction one_default_group("one_default_group", [] {
  in_group([](int, int) {
    nn::Linear implied(4, 3), named(4, 3);
    dist::fully_shard(implied);
    dist::fully_shard(named, dist::FullyShardOptions().process_group(dist::default_group()));
    const std::vector<Tensor> parameters{implied->weight, named->weight};
    REQUIRE(shard_ranks_of(parameters).size() == 1);
    REQUIRE(shard_ranks_of(parameters[0]) == shard_ranks_of(parameters[1]));
  });
});

TEST(FullyShard, TheDefaultGroupIsOneGroupWhetherNamedOrNot) {
  run_ranks_well(one_default_group, 2);
}

const RankFunction wrong_modules("wrong_modules", [] {
  in_group([](int rank, int) {
    nn::Linear different(4, rank == 1 ? 3 : 2);
    REQUIRE_ERROR(dist::fully_shard(different),
                  "Number 0 of rank 1 is 'weight': Float [3, 4], but that of rank 0 is 'weight': "
                  "Float [2, 4]");
    nn::Linear more(nn::LinearOptions(4, 2).bias(rank == 0));
    REQUIRE_ERROR(dist::fully_shard(more),
                  "Number 1 of rank 1 is nothing, but that of rank 0 is "
                  "'bias': Float [2]");
    ShardedNet scalar = make_net();
    scalar->register_parameter("number", ones({}, kDouble));
    REQUIRE_ERROR(dist::fully_shard(scalar),
                  "fully_shard does not support scalar parameters. Change number to a 1D tensor "
                  "with numel equal to 1.");
    ShardedNet net = make_net();
    REQUIRE_ERROR(dist::fsdp_module(*net), "fully_shard was not applied to this module");
    dist::fully_shard(net);
    REQUIRE_ERROR(dist::fully_shard(net), "already been applied to this module");
    ShardedNet shared = make_net();
    shared->block2->up->weight = shared->block1->up->weight;
    shared->block2->up->unregister_parameter("weight");
    shared->block2->up->register_parameter("weight", shared->block1->up->weight);
    dist::fully_shard(shared->block1);
    REQUIRE_ERROR(dist::fully_shard(shared),
                  "Parameter 'block2.up.weight' is shared with the module 'block1'");
    nn::Linear mixed(2, 2);
    mixed->bias.set_data(zeros({2}, kDouble));
    REQUIRE_ERROR(dist::fully_shard(mixed), "'weight' is Float on cpu and 'bias' is Double on cpu");
    REQUIRE(mixed->weight.size(0) == 2 && mixed->bias.size(0) == 2);  // nothing was divided
    // A parameter that is used while it is a shard.
    net->first->weight.square().sum().backward();
  });
});

TEST(FullyShard, RefusesWrongModules) {
  const RankResult result = run_ranks(wrong_modules, 2)[0];
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.output.find("parameter 'first.weight' has a gradient of the sizes [4, 5] "
                               "instead of [7, 5], because it was used while it was not gathered"),
            std::string::npos)
      << result.output;
}

}  // namespace
}  // namespace hearth::testing
