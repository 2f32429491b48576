#pragma once

#include <array>
#include <streambuf>

namespace hearth::app {

/// The buffer of std::cout during its lifetime; unlike the stream, it keeps the errno of the first
/// failed write.
class Output : public std::streambuf {
 public:
  Output();
  ~Output() override;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Flushes; throws if any write has failed.
  void check();

 protected:
  int_type overflow(int_type letter) override;
  int sync() override;

 private:
  std::streambuf* previous_;
  std::array<char, 4096> buffer_;
  int error_ = 0;
};

}  // namespace hearth::app
