#include <gtest/gtest.h>

#include "hearth/utils/checkpoint.h"
#include "tests/distributed/ddp_models.h"
#include "tests/support/throws.h"

// DistributedDataParallel with several or nested backward passes, unused parameters, checkpoints
// and autocast; refused higher derivatives.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
using nn::parallel::DistributedDataParallel;

/// The gradients of the whole batches of several steps, added up.
Tensor gradients_alone(nn::Sequential net, const std::vector<Batch>& batches) {
  net->zero_grad();
  for (const Batch& batch : batches) mse_loss(net->forward(batch.x), batch.y).backward();
  return flattened(net->parameters(), true);
}

const RankFunction accumulation("ddp_accumulation", [] {
  in_group([](int rank, int size) {
    const std::vector<Batch> batches{Batch(0, 12), Batch(1, 12), Batch(2, 12)};
    const Tensor expected = gradients_alone(make_mlp(), batches);
    for (const bool as_view : {false, true}) {
      nn::Sequential net = make_mlp();
      DistributedDataParallel model(net, DDPOptions().gradient_as_bucket_view(as_view));
      const auto backward = [&](const Batch& batch) {
        const Batch part = batch.of_rank(rank, size);
        mse_loss(model(part.x), part.y).backward();
      };
      for (int repeat = 0; repeat < 2; ++repeat) {
        model->zero_grad();
        {
          const auto local = model->no_sync();
          backward(batches[0]);
          backward(batches[1]);
        }
        REQUIRE(!is_equal_on_all_ranks(flattened(net->parameters(), true)));
        backward(batches[2]);
        const Tensor sum = flattened(net->parameters(), true);
        REQUIRE(is_equal_on_all_ranks(sum) && distance(sum, expected) < 1e-13);
        // Without no_sync(), each pass averages its gradients.
        model->zero_grad();
        for (const Batch& batch : batches) backward(batch);
        REQUIRE(distance(flattened(net->parameters(), true), expected) < 1e-13);
      }
    }
  });
});
TEST(DistributedPasses, GradientsAreAccumulated) { run_ranks_well(accumulation, 2); }

const RankFunction several_passes("ddp_several_passes", [] {
  in_group([](int rank, int size) {
    const std::vector<Batch> batches{Batch(0, 12), Batch(1, 12)};
    const Tensor expected = gradients_alone(make_mlp(), batches);
    nn::Sequential net = make_mlp();
    DistributedDataParallel model(net);
    const Batch a = batches[0].of_rank(rank, size), b = batches[1].of_rank(rank, size);
    // Two forward passes, then two backward passes.
    const Tensor loss_a = mse_loss(model(a.x), a.y), loss_b = mse_loss(model(b.x), b.y);
    loss_a.backward();
    loss_b.backward();
    REQUIRE(distance(flattened(net->parameters(), true), expected) < 1e-13);
    // Two backward passes through one graph.
    model->zero_grad();
    const Tensor y = model(cat({a.x, b.x}));
    mse_loss(y.narrow(0, 0, a.x.size(0)), a.y).backward({}, /*retain_graph=*/true);
    mse_loss(y.narrow(0, a.x.size(0), b.x.size(0)), b.y).backward();
    const Tensor sum = flattened(net->parameters(), true);
    REQUIRE(distance(sum, expected) < 1e-13 && is_equal_on_all_ranks(sum));
    // The module itself does not communicate.
    model->zero_grad();
    if (rank == 0) mse_loss(net->forward(a.x), a.y).backward();
    dist::barrier();
  });
});
TEST(DistributedPasses, SeveralBackwardPasses) { run_ranks_well(several_passes, 2); }

const RankFunction unused("ddp_unused", [] {
  in_group([](int rank, int size) {
    for (const bool as_view : {false, true}) {
      TwoBranches net;
      DistributedDataParallel model(
          net,
          DDPOptions().find_unused_parameters(true).bucket_cap_mb(0.0001).gradient_as_bucket_view(
              as_view));
      for (int step = 0; step < 4; ++step) {
        model->zero_grad();
        const Tensor x = Batch(step, 2).x;
        // Rank 0 uses the first branch, all ranks the second one.
        model(x, rank == 0, true).backward();
        const Tensor mean = net->first->weight.grad(), full = net->second->weight.grad();
        REQUIRE(is_equal_on_all_ranks(mean) && is_equal_on_all_ranks(full));
        REQUIRE(!net->never->weight.grad().defined());
        TwoBranches alone;
        alone->load_state_dict(net->state_dict());
        alone(x, true, true).backward();
        REQUIRE(distance(mean * size, alone->first->weight.grad()) < 1e-13);
        REQUIRE(distance(full, alone->second->weight.grad()) < 1e-13);
      }
    }
  });
});
TEST(DistributedPasses, FindsUnusedParameters) { run_ranks_well(unused, 3); }

const RankFunction unused_after_local("ddp_unused_after_local", [] {
  in_group([](int rank, int) {
    TwoBranches net;
    DistributedDataParallel model(net, DDPOptions().find_unused_parameters(true));
    const Tensor local_x = Batch(rank, 2).x, x = Batch(5, 2).x;
    Tensor local;
    {
      const auto guard = model->no_sync();
      model(local_x, true, true).backward();
      local = net->first->weight.grad().clone();
    }
    REQUIRE(!is_equal_on_all_ranks(local));
    model(x, false, true).backward();
    // The second pass does not use the first branch, but averages the local gradient of its weight.
    const Tensor mean = net->first->weight.grad().clone();
    dist::all_reduce(local, dist::ReduceOp::AVG);
    REQUIRE(distance(mean, local) < 1e-13);
    REQUIRE(is_equal_on_all_ranks(net->second->weight.grad()));
  });
});
TEST(DistributedPasses, AveragesGradientsOfLocalPasses) { run_ranks_well(unused_after_local, 2); }

/// Returns the results of two layers; a loss may use only one of them.
struct TwoHeadsImpl : nn::Module {
  TwoHeadsImpl() {
    first = register_module("first", nn::Linear(6, 4));
    second = register_module("second", nn::Linear(6, 4));
    to(kDouble);
  }
  std::tuple<Tensor, Tensor> forward(const Tensor& x) { return {first(x), second(x)}; }
  nn::Linear first{nullptr}, second{nullptr};
};
HEARTH_MODULE(TwoHeads);

const RankFunction some_outputs("ddp_some_outputs", [] {
  in_group([](int rank, int) {
    TwoHeads net;
    DistributedDataParallel model(net, DDPOptions().find_unused_parameters(true));
    for (int step = 0; step < 3; ++step) {
      model->zero_grad();
      std::get<0>(model(Batch(step + 7 * rank, 2).x)).pow(2).sum().backward();
      REQUIRE(is_equal_on_all_ranks(net->first->weight.grad()));
      REQUIRE(net->first->weight.grad().abs().sum().item<double>() > 0);
    }
  });
});
TEST(DistributedPasses, ALossMayUseSomeOutputs) { run_ranks_well(some_outputs, 2); }

const RankFunction unused_error("ddp_unused_error", [] {
  in_group([](int rank, int) {
    TwoBranches net;
    DistributedDataParallel model(net);
    const Tensor x = Batch(0, 2).x;
    model(x, true, false).backward();
    const std::string rank_text = std::to_string(rank);
    REQUIRE_ERROR(
        model(x, true, true),
        "Expected to have finished reduction in the prior iteration before starting a new "
        "one. This error indicates that your module has parameters that were not used in "
        "producing loss. You can enable unused parameter detection by passing the keyword "
        "argument `find_unused_parameters=True`");
    REQUIRE_ERROR(model(x, true, true),
                  "Parameters which did not receive grad for rank " + rank_text +
                      ": second.weight, second.bias, never.weight, never.bias");
    REQUIRE_ERROR(model(x, true, true), "\nParameter indices which did not receive grad for rank " +
                                            rank_text + ": 2 3 4 5");
  });
});
TEST(DistributedPasses, AnUnusedParameterIsAnErrorInTheNextForward) {
  run_ranks_well(unused_error, 2);
}

const RankFunction static_graph("ddp_static_graph", [] {
  in_group([](int, int) {
    for (const bool as_view : {false, true}) {
      TwoBranches net;
      DistributedDataParallel model(
          net, DDPOptions().bucket_cap_mb(0.0001).gradient_as_bucket_view(as_view));
      model->_set_static_graph();
      for (int step = 0; step < 3; ++step) {
        model->zero_grad();
        const Tensor x = Batch(step + 5 * dist::get_rank(), 2).x;
        model(x, true, true).backward();
        REQUIRE(is_equal_on_all_ranks(net->second->weight.grad()));
        REQUIRE(!net->never->weight.grad().defined());
      }
      model(Batch(0, 2).x, true, false).backward();
      REQUIRE_ERROR(model(Batch(0, 2).x, true, true),
                    "This error indicates that your training graph has changed in this iteration");
    }
  });
});
TEST(DistributedPasses, AStaticGraphMayHaveUnusedParameters) { run_ranks_well(static_graph, 2); }

/// Computes its layer inside a nested backward pass, as PyTorch's re-entrant checkpoint does.
struct Reentrant : autograd::Function<Reentrant> {
  static Tensor forward(autograd::AutogradContext* context, const Tensor& x);
  static std::vector<Tensor> backward(autograd::AutogradContext* context,
                                      std::vector<Tensor> grads);
};
nn::Linear shared_layer{nullptr};
Tensor Reentrant::forward(autograd::AutogradContext* context, const Tensor& x) {
  context->save_for_backward({x});
  return shared_layer(x).tanh();
}
std::vector<Tensor> Reentrant::backward(autograd::AutogradContext* context,
                                        std::vector<Tensor> grads) {
  const AutoGradMode enabled(true);
  const Tensor x = context->get_saved_variables()[0].detach().requires_grad_();
  shared_layer(x).tanh().backward(grads[0]);
  return {x.grad()};
}
struct UsesTwiceImpl : nn::Module {
  UsesTwiceImpl() {
    layer = register_module("layer", nn::Linear(6, 6));
    to(kDouble);
    shared_layer = layer;
  }
  Tensor forward(const Tensor& x) { return Reentrant::apply(Reentrant::apply(x)); }
  nn::Linear layer{nullptr};
};
HEARTH_MODULE(UsesTwice);

const RankFunction reentrant("ddp_reentrant", [] {
  in_group([](int rank, int size) {
    UsesTwice net;
    const Batch whole(0, 12), part = whole.of_rank(rank, size);
    const auto loss_of = [](const Tensor& y) { return y.square().mean(); };
    loss_of(net(whole.x.clone().requires_grad_())).backward();
    const Tensor expected = flattened(net->parameters(), true);
    net->zero_grad();
    {
      DistributedDataParallel model(net, DDPOptions().static_graph(true));
      for (int step = 0; step < 3; ++step) {
        model->zero_grad();
        loss_of(model(part.x.clone().requires_grad_())).backward();
        REQUIRE(distance(flattened(net->parameters(), true), expected) < 1e-13);
      }
    }
    DistributedDataParallel model(net);
    REQUIRE_ERROR(loss_of(model(part.x.clone().requires_grad_())).backward(),
                  "Expected to mark a variable ready only once. Parameter at index");
  });
});
TEST(DistributedPasses, AParameterMayGetSeveralGradientsInAStaticGraph) {
  run_ranks_well(reentrant, 1);
}

const RankFunction checkpointed("ddp_checkpointed", [] {
  in_group([](int rank, int size) {
    const std::vector<Batch> batches{Batch(0, 12)};
    const Tensor expected = gradients_alone(make_mlp(), batches);
    struct CheckpointedImpl : nn::Module {
      CheckpointedImpl() { net = register_module("net", make_mlp()); }
      Tensor forward(const Tensor& x) { return utils::checkpoint_sequential(net, 3, x); }
      nn::Sequential net{nullptr};
    };
    const auto net = std::make_shared<CheckpointedImpl>();
    for (const bool finds_unused : {false, true}) {
      DistributedDataParallel model(net, DDPOptions().find_unused_parameters(finds_unused));
      for (int step = 0; step < 2; ++step) {
        model->zero_grad();
        const Batch part = batches[0].of_rank(rank, size);
        mse_loss(model(part.x), part.y).backward();
        REQUIRE(distance(flattened(net->parameters(), true), expected) < 1e-13);
      }
    }
  });
});
TEST(DistributedPasses, WorkWithCheckpoints) { run_ranks_well(checkpointed, 2); }

const RankFunction autocast("ddp_autocast", [] {
  in_group([](int rank, int size) {
    const auto gradients = [](nn::Sequential net, const auto& forward, const Batch& batch) {
      net->zero_grad();
      {
        const AutocastMode mode(kCPU, kBFloat16);
        const Tensor y = forward(batch.x.to(kFloat));
        REQUIRE(y.scalar_type() == kBFloat16);
        mse_loss(y.to(kFloat), batch.y.to(kFloat)).backward();
      }
      return flattened(net->parameters(), true);
    };
    nn::Sequential net = make_mlp();
    net->to(kFloat);
    const Batch whole(0, 16);
    const auto alone = [&](const Tensor& x) { return net->forward(x); };
    Tensor expected = gradients(net, alone, whole);
    DistributedDataParallel model(net);
    const Tensor mean = gradients(
        net, [&](const Tensor& x) { return model(x); }, whole.of_rank(rank, size));
    REQUIRE(mean.scalar_type() == kFloat && is_equal_on_all_ranks(mean));
    REQUIRE(distance(mean, expected) < 2e-2 * expected.abs().max().item<double>());
  });
});
TEST(DistributedPasses, WorkUnderAutocast) { run_ranks_well(autocast, 2); }

const RankFunction create_graph("ddp_create_graph", [] {
  in_group([](int, int) {
    nn::Sequential net = make_mlp();
    DistributedDataParallel model(net);
    const Tensor loss = model(Batch(0, 2).x).square().sum();
    REQUIRE_ERROR(loss.backward({}, /*retain_graph=*/true, /*create_graph=*/true),
                  "Using DistributedDataParallel with create_graph=True");
    // The error ends the pass, and the next one works.
    net->zero_grad();
    model(Batch(0, 2).x).square().sum().backward();
    REQUIRE(is_equal_on_all_ranks(flattened(net->parameters(), true)));
  });
});
TEST(DistributedPasses, HigherDerivativesAreRefused) { run_ranks_well(create_graph, 2); }

}  // namespace
}  // namespace hearth::testing
