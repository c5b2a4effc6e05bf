#include "backend/ref/sample_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/ref/memory.h"
#include "backend/ref/pointwise.h"

namespace mezzotint {
namespace {

using Position = std::vector<std::int64_t>;

constexpr std::int64_t kTiles[] = {2, 4, 6, 8, 16, 32, 64};

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // In [0, bound); the bias of the remainder does not matter for choosing samples.
  std::int64_t below(std::int64_t bound) {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    z ^= z >> 31U;
    return static_cast<std::int64_t>(z % static_cast<std::uint64_t>(bound));
  }

 private:
  std::uint64_t state_;
};

Position random_position(const Shape& shape, Random& random) {
  Position position(shape.rank());
  for (std::size_t axis = 0; axis < position.size(); ++axis) {
    position[axis] = random.below(shape[axis]);
  }
  return position;
}

void add_corners(const Shape& shape, std::vector<Position>& positions) {
  for (std::uint64_t corner = 0; corner < std::uint64_t{1} << shape.rank(); ++corner) {
    Position position(shape.rank());
    for (std::size_t axis = 0; axis < position.size(); ++axis) {
      position[axis] = (corner >> axis & 1U) == 0 ? 0 : shape[axis] - 1;
    }
    positions.push_back(std::move(position));
  }
}

// Both sides of the first, the last and a random multiple of each tile size, the other axes random.
void add_seams(const Shape& shape, Random& random, std::vector<Position>& positions) {
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    for (const std::int64_t tile : kTiles) {
      const std::int64_t seams = (shape[axis] - 1) / tile;
      if (seams == 0) {
        continue;
      }
      for (const std::int64_t multiple : {std::int64_t{1}, seams, 1 + random.below(seams)}) {
        for (const std::int64_t side : {-1, 0}) {
          Position position = random_position(shape, random);
          position[axis] = multiple * tile + side;
          positions.push_back(std::move(position));
        }
      }
    }
  }
}

// Counts the reads of one element, to know what a sample costs.
class CountingElements : public ref::Elements {
 public:
  explicit CountingElements(const ref::Elements& elements) : elements_(elements) {}

  double input(std::size_t i, const std::int64_t* index) const override {
    ++reads_;
    return elements_.input(i, index);
  }
  std::optional<double> stored_output(std::size_t k, const std::int64_t* index) const override {
    ++reads_;
    return elements_.stored_output(k, index);
  }
  [[nodiscard]] std::int64_t reads() const { return reads_; }

 private:
  const ref::Elements& elements_;
  mutable std::int64_t reads_ = 0;
};

std::vector<Position> choose_positions(const OpView& view, std::size_t output,
                                       const ref::Elements& elements,
                                       const SampleOptions& options) {
  constexpr std::int64_t kLeastRandom = 64;
  const Shape& shape = view.output(output).type.shape;
  Random random(options.seed);

  const CountingElements counting(elements);
  const Position middle = [&] {
    Position position(shape.rank());
    for (std::size_t axis = 0; axis < position.size(); ++axis) {
      position[axis] = shape[axis] / 2;
    }
    return position;
  }();
  static_cast<void>(ref::element_at(view, output, middle.data(), counting));
  const std::int64_t affordable = options.read_budget / std::max<std::int64_t>(1, counting.reads());

  std::vector<Position> positions;
  add_corners(shape, positions);
  add_seams(shape, random, positions);
  const std::int64_t left = affordable - static_cast<std::int64_t>(positions.size());
  const std::int64_t count = std::min(options.random_samples, std::max(kLeastRandom, left));
  for (std::int64_t i = 0; i < count; ++i) {
    positions.push_back(random_position(shape, random));
  }
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

}  // namespace

SampleReport sample_check(const OpView& view, std::size_t output, std::span<const Buffer> inputs,
                          std::span<const Buffer> outputs, const ThreadTeam& team,
                          const SampleOptions& options) {
  const ValueType& type = view.output(output).type;
  SampleReport report;
  if (type.shape.elements() == 0) {
    return report;
  }
  std::vector<bool> stored(outputs.size(), true);
  stored[output] = false;
  const ref::MemoryElements elements(view, inputs, outputs, stored);
  const std::vector<Position> positions = choose_positions(view, output, elements, options);

  std::vector<double> truths(positions.size());
  team.parallel_for(static_cast<std::int64_t>(positions.size()), [&](std::int64_t i) {
    const auto sample = static_cast<std::size_t>(i);
    truths[sample] = ref::element_at(view, output, positions[sample].data(), elements);
  });

  double error_squares = 0;
  double truth_squares = 0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const double truth = truths[i];
    const double value = ref::load_element(type, outputs[output].data, positions[i].data());
    const double error = std::isfinite(value - truth) ? std::abs(value - truth)
                                                      : std::numeric_limits<double>::infinity();
    if (i == 0 || error > report.max_abs_error) {
      report.max_abs_error = error;
      report.worst = positions[i];
      report.worst_truth = truth;
      report.worst_value = value;
    }
    report.max_abs_truth = std::max(report.max_abs_truth, std::abs(truth));
    error_squares += error * error;
    truth_squares += truth * truth;
  }
  const auto count = static_cast<double>(positions.size());
  report.samples = static_cast<std::int64_t>(positions.size());
  report.rms_error = std::sqrt(error_squares / count);
  report.rms_truth = std::sqrt(truth_squares / count);
  report.relative_l2 = error_squares == 0 ? 0 : std::sqrt(error_squares / truth_squares);
  return report;
}

}  // namespace mezzotint
