// CartPole by policy gradient: a network learns by trying to balance a pole on a cart, until the
// pole stands for 475 of 500 steps on average. That takes about 25 updates and half a second.
//
// Many carts move at once: the state of all is one tensor [carts, 4].
#include <hearth/hearth.h>

#include <iostream>

using namespace hearth;

namespace {

constexpr int64_t kCarts = 64, kMaxSteps = 500;

/// Carts with the physics of Barto, Sutton and Anderson (1983). The columns of the state are
/// position, velocity, angle and angular velocity.
class Carts {
 public:
  explicit Carts(Device device)
      : state_((rand({kCarts, 4}) * 0.1 - 0.05).to(device)),
        alive_(ones({kCarts}, TensorOptions(kBool).device(device))) {}

  const Tensor& state() const { return state_; }
  const Tensor& alive() const { return alive_; }

  /// Pushes each cart to the left (0) or to the right (1) for 0.02 s.
  void step(const Tensor& actions) {
    constexpr double kGravity = 9.8, kCartMass = 1, kPoleMass = 0.1, kHalfLength = 0.5, kForce = 10;
    constexpr double kMass = kCartMass + kPoleMass, kSeconds = 0.02;
    const std::vector<Tensor> s = state_.unbind(1);
    const Tensor &velocity = s[1], &angle = s[2], &angular_velocity = s[3];
    const Tensor sine = angle.sin(), cosine = angle.cos();
    const Tensor push =
        ((actions * 2 - 1) * kForce + kPoleMass * kHalfLength * angular_velocity.square() * sine) /
        kMass;
    const Tensor angular_acceleration =
        (kGravity * sine - cosine * push) /
        (kHalfLength * (4.0 / 3 - kPoleMass * cosine.square() / kMass));
    const Tensor acceleration =
        push - kPoleMass * kHalfLength * angular_acceleration * cosine / kMass;
    state_ = state_ +
             kSeconds * stack({velocity, acceleration, angular_velocity, angular_acceleration}, 1);
    // A cart fails beyond 2.4 m or 12 degrees.
    alive_ = alive_ & state_.select(1, 0).abs().lt(2.4) & state_.select(1, 2).abs().lt(0.2095);
  }

 private:
  Tensor state_, alive_;
};

/// One episode of all carts: tensors [steps, carts].
struct Episode {
  Tensor log_probabilities;  // of the actions taken
  Tensor alive;              // 1 if the pole stood before the step
  double mean_length() const { return alive.sum(0).mean().item<double>(); }
};

Episode play(nn::Sequential& policy, Device device) {
  Carts carts(device);
  std::vector<Tensor> log_probabilities, alive;
  for (int64_t step = 0; step < kMaxSteps && carts.alive().any().item<bool>(); ++step) {
    const Tensor scores = policy->forward(carts.state()).log_softmax(1);
    const Tensor actions = multinomial(scores.detach().exp(), 1);
    log_probabilities.push_back(scores.gather(1, actions).squeeze(1));
    alive.push_back(carts.alive().to(kFloat));
    carts.step(actions.squeeze(1));
  }
  return {stack(log_probabilities), stack(alive)};
}

/// REINFORCE: makes an action likelier if its cart had more steps left than the carts had on
/// average at that time, and less likely if it had fewer.
Tensor loss_of(const Episode& episode) {
  const Tensor steps_left = episode.alive.flip(0).cumsum(0).flip(0);
  const Tensor count = episode.alive.sum(1, true).clamp_min(1);
  const Tensor advantage =
      (steps_left - (steps_left * episode.alive).sum(1, true) / count) * episode.alive;
  const Tensor deviation = (advantage.square().sum() / episode.alive.sum()).sqrt();
  return -(episode.log_probabilities * advantage).sum() / (deviation + 1e-6) / episode.alive.sum();
}

}  // namespace

int main() {
  manual_seed(0);
  const Device device = cuda::is_available() ? kCUDA : kCPU;
  nn::Sequential policy(nn::Linear(4, 32), nn::Tanh(), nn::Linear(32, 2));
  policy->to(device);
  optim::Adam optimizer(policy->parameters(), optim::AdamOptions(0.02));
  Episode episode = play(policy, device);
  std::cout << "untrained: " << episode.mean_length() << " of " << kMaxSteps << " steps\n";
  int64_t updates = 0;
  for (; updates < 200 && episode.mean_length() < 475; ++updates) {
    optimizer.zero_grad();
    loss_of(episode).backward();
    optimizer.step();
    episode = play(policy, device);
  }
  std::cout << "after " << updates << " updates: " << episode.mean_length() << " steps\n";
}
