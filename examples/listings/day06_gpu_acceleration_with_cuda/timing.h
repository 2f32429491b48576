#pragma once

#include <chrono>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

/// Seconds of a steady clock, in place of Python's time.time().
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Prints f"{label}: {seconds:.4f} seconds".
inline void print_time(const std::string& label, double seconds) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(4) << seconds;
  std::cout << label << ": " << text.str() << " seconds\n";
}
