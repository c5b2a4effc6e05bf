#include "profile/groups.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "profile/bottleneck.h"

namespace mezzotint {
namespace {

double median(std::vector<double> samples) {
  return spread_of(std::move(samples)).median;
}

OpProfile profile_op(const OpRecord& record, const Calibration& machine) {
  OpProfile op;
  op.op = record.op.name;
  op.kind = record.kind;
  op.level = record.level;
  op.implementation = record.op.implementation;
  op.unit = record.op.work.unit;
  op.seconds = spread_of(record.seconds);
  op.flops = record.op.work.flops;
  op.direct_flops = record.op.flops;
  op.bytes = record.op.work.bytes;
  const auto runs = static_cast<double>(record.seconds.size());
  op.loops = record.loops / runs;
  op.tasks = record.tasks / runs;
  // Without a loop the launch is the one kernel.
  op.kernels = record.op.kernels > 0 ? record.op.kernels : std::max(op.tasks, 1.0);
  for (const double seconds : record.busy_seconds) {
    op.busy_seconds.push_back(seconds / runs);
  }
  op.imbalance = median(record.imbalance);
  op.begin = record.begin;
  op.end = record.end;
  op.live_bytes = record.op.live_bytes;
  op.packed_bytes = record.op.packed_bytes;
  op.attainable_seconds = roofline_of(op, machine).attainable_seconds();
  op.bottleneck = classify(op, machine);
  return op;
}

// Nothing where the machine has none of the units, and no op says that it used one.
std::optional<WorkShare> share_of(const Profile& profile, bool (*counts)(MathUnit)) {
  WorkShare part;
  UnitWork whole;
  bool is_here = false;
  for (const UnitWork& work : profile.units) {
    whole.flops += work.flops;
    whole.seconds += work.seconds;
    if (counts(work.unit)) {
      is_here = is_here || work.seconds > 0 || profile.machine.find(work.unit) != nullptr;
      part.flops += work.flops;
      part.time += work.seconds;
    }
  }
  if (!is_here) {
    return std::nullopt;
  }
  return WorkShare{whole.flops > 0 ? part.flops / whole.flops : 0,
                   whole.seconds > 0 ? part.time / whole.seconds : 0};
}

// One group while ops are added to it.
struct Gathering {
  GroupProfile group;
  std::vector<double> seconds;  // by run
  std::array<double, kAllBottlenecks.size()> by_class{};
};

void add(const OpRecord& record, const OpProfile& op, Gathering& gathering) {
  GroupProfile& group = gathering.group;
  group.level = op.level;
  group.kind = op.kind;
  ++group.ops;
  group.share += op.share;
  group.flops += op.flops;
  group.direct_flops += op.direct_flops;
  group.bytes += op.bytes;
  group.attainable_seconds += op.attainable_seconds;
  group.tasks += op.tasks;
  gathering.seconds.resize(record.seconds.size());
  for (std::size_t run = 0; run < record.seconds.size(); ++run) {
    gathering.seconds[run] += record.seconds[run];
  }
  gathering.by_class[static_cast<std::size_t>(op.bottleneck)] += op.seconds.median;
}

}  // namespace

std::vector<OpProfile> profile_ops(std::span<const OpRecord> records, const Calibration& machine) {
  std::vector<OpProfile> ops;
  double total = 0;
  for (const OpRecord& record : records) {
    ops.push_back(profile_op(record, machine));
    total += ops.back().seconds.median;
  }
  for (OpProfile& op : ops) {
    op.share = total > 0 ? op.seconds.median / total : 0;
  }
  return ops;
}

std::vector<GroupProfile> group_ops(std::span<const OpRecord> records,
                                    std::span<const OpProfile> ops) {
  std::map<std::pair<std::string, std::string>, Gathering> gatherings;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    add(records[i], ops[i], gatherings[{ops[i].level, ops[i].kind}]);
  }
  std::vector<GroupProfile> groups;
  for (auto& [key, gathering] : gatherings) {
    const auto& by_class = gathering.by_class;
    const auto most = std::ranges::max_element(by_class) - by_class.begin();
    gathering.group.bottleneck = static_cast<Bottleneck>(most);
    gathering.group.seconds = spread_of(std::move(gathering.seconds));
    groups.push_back(std::move(gathering.group));
  }
  std::ranges::stable_sort(groups, std::ranges::greater{},
                           [](const GroupProfile& group) { return group.seconds.median; });
  return groups;
}

void share_among_units(Profile& profile) {
  profile.units.clear();
  for (const MathUnit unit : kAllMathUnits) {
    UnitWork& work = profile.units.emplace_back(UnitWork{unit});
    for (const OpProfile& op : profile.ops) {
      if (op.unit == unit) {
        work.flops += op.flops;
        work.seconds += op.seconds.median;
      }
    }
  }
  profile.matrix_share = share_of(profile, is_matrix_unit);
  profile.narrow_share = share_of(profile, is_narrow_vector_unit);
}

}  // namespace mezzotint
