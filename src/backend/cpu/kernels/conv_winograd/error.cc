#include "backend/cpu/kernels/conv_winograd/error.h"

#include <algorithm>
#include <cmath>

#include "base/rounding.h"

namespace mezzotint::kernels {
namespace {

constexpr int kAxes = 3;
constexpr int kTaps = 3;  // per axis

// Most roundings between an input and a result of a one-dimensional transform of tiles-inl.h, whose
// constants are exact in float32.
struct TransformRoundings {
  int input = 0;
  int output = 0;
};

TransformRoundings roundings_of(const WinogradMatrices& matrices) {
  return matrices.outputs == 2 ? TransformRoundings{1, 2} : TransformRoundings{2, 3};
}

double cubed(double x) {
  return x * x * x;
}

// Sum over the products j of |A^T[i][j]|^power times the sums of |B^T[j][.]|^power and of
// |G[j][.]|^power.
double amplification(const WinogradMatrices& matrices, int i, double power) {
  const auto sum_of = [power](const double* row, int count) {
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      sum += std::pow(std::abs(row[k]), power);
    }
    return sum;
  };
  double sum = 0;
  for (int j = 0; j < matrices.inputs; ++j) {
    sum += sum_of(&matrices.output[i][j], 1) * sum_of(matrices.input[j], matrices.inputs) *
           sum_of(matrices.weight[j], kTaps);
  }
  return sum;
}

}  // namespace

double winograd_hard_bound(const WinogradMatrices& matrices, const WinogradMagnitudes& largest) {
  double worst = 0;
  for (int i = 0; i < matrices.outputs; ++i) {
    worst = std::max(worst, amplification(matrices, i, 1));
  }
  const TransformRoundings roundings = roundings_of(matrices);
  const auto channels = static_cast<double>(largest.channels);
  // A weight is rounded once; a product is added with one rounding.
  const double chain = kAxes * (roundings.input + roundings.output) + 1 + channels;
  const double gamma = chain * kFloatRoundoff / (1 - chain * kFloatRoundoff);
  return gamma * channels * largest.input * largest.weight * cubed(worst);
}

double winograd_rms_error(const WinogradMatrices& matrices, const WinogradMagnitudes& rms) {
  double mean = 0;
  for (int i = 0; i < matrices.outputs; ++i) {
    mean += amplification(matrices, i, 2) / matrices.outputs;
  }
  const TransformRoundings roundings = roundings_of(matrices);
  const auto channels = static_cast<double>(rms.channels);
  const double chain = kAxes * (roundings.input + roundings.output) + 1 + (channels + 1) / 2;
  return kFloatRoundoff * rms.input * rms.weight * std::sqrt(channels * chain / 3 * cubed(mean));
}

double direct_rms_error(const WinogradMagnitudes& rms) {
  const double terms = cubed(kTaps) * static_cast<double>(rms.channels);
  return kFloatRoundoff * rms.input * rms.weight * std::sqrt(terms * (terms + 1) / 6);
}

double winograd_error_growth(const WinogradMatrices& matrices, std::int64_t channels) {
  const WinogradMagnitudes unit{channels, 1, 1};
  return std::max(1.0, winograd_rms_error(matrices, unit) / direct_rms_error(unit));
}

}  // namespace mezzotint::kernels
