// Lists of parameters as arrays of the guards and the laws. Not for the control loop: errors are strings.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace @namespace@ {

// The forms of a list: as many numbers as the array has, one for all of it, or the diagonal of a
// square matrix.
enum class Form { plain, one_for_all, diagonal };

inline std::string count_error(const std::string &name, std::size_t got, std::size_t size, Form form) {
  std::string needed = std::to_string(size) + " numbers";
  if (form == Form::one_for_all) needed += ", or one for all";
  if (form == Form::diagonal) {
    const auto rows = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(size))));
    needed += ", or " + std::to_string(rows) + " for the diagonal";
  }
  return name + " must have " + needed + ", got " + std::to_string(got);
}

// Fills an array from a list. Returns what is wrong with the list; empty where nothing is.
template <std::size_t size>
std::string fill(const std::string &name, const std::vector<double> &list, std::array<double, size> &array,
                 Form form) {
  for (const double each : list) {
    if (!std::isfinite(each)) return name + " must be finite";
  }
  if (list.size() == size) {
    for (std::size_t k = 0; k < size; ++k) array[k] = list[k];
    return {};
  }
  if (form == Form::one_for_all && list.size() == 1) {
    array.fill(list[0]);
    return {};
  }
  if (form == Form::diagonal && list.size() * list.size() == size) {
    array.fill(0.0);
    for (std::size_t k = 0; k < list.size(); ++k) array[k * list.size() + k] = list[k];
    return {};
  }
  return count_error(name, list.size(), size, form);
}

template <std::size_t size>
std::string check_bounds(const std::string &name, const std::array<double, size> &array, double low, double high) {
  for (const double each : array) {
    if (!(each >= low && each <= high)) {
      return name + " must lie in " + std::to_string(low) + " .. " + std::to_string(high) + ", got " +
             std::to_string(each);
    }
  }
  return {};
}

// A spring must be symmetric and must not push: no eigenvalue below zero, by Cholesky's factors.
template <std::size_t size>
std::string check_stiffness(const std::string &name, const std::array<double, size> &matrix) {
  const auto n = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(size))));
  double largest = 1.0;
  for (const double each : matrix) largest = std::fmax(largest, std::fabs(each));
  std::array<double, size> factor = matrix;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      if (std::fabs(matrix[i * n + j] - matrix[j * n + i]) > 1e-9 * largest) {
        return name + " must be a symmetric matrix, or the numbers of its diagonal";
      }
      double sum = matrix[i * n + j] + (i == j ? 1e-9 * largest : 0.0);
      for (std::size_t k = 0; k < j; ++k) sum -= factor[i * n + k] * factor[j * n + k];
      if (i == j && !(sum > 0.0)) return name + " must not push: it has an eigenvalue below 0";
      factor[i * n + j] = i == j ? std::sqrt(sum) : sum / factor[j * n + j];
    }
  }
  return {};
}

}  // namespace @namespace@
