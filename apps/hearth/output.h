#pragma once

#include <array>
#include <streambuf>

namespace hearth::app {

/// While one lives, std::cout writes through it, and it keeps the reason of the first failure.
class Output : public std::streambuf {
 public:
  Output();
  ~Output() override;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Writes what is left; throws if anything could not be written.
  void check();

 protected:
  int_type overflow(int_type letter) override;
  int sync() override;

 private:
  std::streambuf* before_;
  std::array<char, 4096> buffer_;
  int error_ = 0;
};

}  // namespace hearth::app
