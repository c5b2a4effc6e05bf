#include "backend/cpu/kernels/conv_winograd/error.h"

#include <algorithm>
#include <cmath>

#include "base/rounding.h"

namespace mezzotint::kernels {
namespace {

constexpr int kAxes = 3;
constexpr int kTaps = 3;  // per axis

// Most roundings that one value goes through in the transforms of tiles-inl.h, whose constants are
// exact in float32: per axis of an input 1 or 2, of a product 2 or 3, and 1 of a weight.
int transform_roundings(const WinogradMatrices& matrices) {
  return matrices.outputs == 2 ? kAxes * (1 + 2) + 1 : kAxes * (2 + 3) + 1;
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

double winograd_hard_bound(const WinogradMatrices& matrices, const ConvMagnitudes& largest) {
  double worst = 0;
  for (int i = 0; i < matrices.outputs; ++i) {
    worst = std::max(worst, amplification(matrices, i, 1));
  }
  const auto channels = static_cast<double>(largest.channels);
  const double chain = transform_roundings(matrices) + largest.load_roundings + channels;
  const double gamma = chain * kFloatRoundoff / (1 - chain * kFloatRoundoff);
  return gamma * channels * largest.input * largest.weight * cubed(worst);
}

double winograd_rms_error(const WinogradMatrices& matrices, const ConvMagnitudes& rms) {
  double mean = 0;
  for (int i = 0; i < matrices.outputs; ++i) {
    mean += amplification(matrices, i, 2) / matrices.outputs;
  }
  const auto channels = static_cast<double>(rms.channels);
  // After k of K products a sum has k / K of its final variance.
  const double chain = transform_roundings(matrices) + rms.load_roundings + (channels + 1) / 2;
  return kFloatRoundoff * rms.input * rms.weight * std::sqrt(channels * chain / 3 * cubed(mean));
}

double direct_rms_error(const ConvMagnitudes& rms) {
  const double terms = cubed(kTaps) * static_cast<double>(rms.channels);
  return kFloatRoundoff * rms.input * rms.weight * std::sqrt(terms * (terms + 1) / 6);
}

double winograd_error_growth(const WinogradMatrices& matrices, std::int64_t channels) {
  const ConvMagnitudes unit{channels, 1, 1};
  return std::max(1.0, winograd_rms_error(matrices, unit) / direct_rms_error(unit));
}

}  // namespace mezzotint::kernels
