#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/json_fields.h"
#include "report/profile_fields.h"
#include "report/profile_json.h"

namespace mezzotint {
namespace {

// Visits as the writer does, and fills what it visits.
class Reader {
 public:
  explicit Reader(JsonFields& fields) : fields_(fields) {}

  void number(const char* key, double& out, double most) { out = fields_.number(key, 0, most); }
  void optional_number(const char* key, std::optional<double>& out, double most) {
    if (!fields_.is_null(key)) {
      number(key, out.emplace(), most);
    }
  }
  void number_unless(bool absent, const char* key, double& out, double most) {
    if (!absent) {
      number(key, out, most);
    } else if (!fields_.is_null(key)) {
      fields_.refuse(key, "null beside a reason why it is absent");
    }
  }
  void numbers(const char* key, std::vector<double>& out, std::size_t most_values, double most) {
    out = fields_.numbers(key, most_values, 0, most);
  }

  template <typename T>
  void whole(const char* key, T& out, T most) {
    out = static_cast<T>(fields_.whole(key, 0, static_cast<std::int64_t>(most)));
  }
  void whole_or_null(const char* key, std::uint64_t& out, std::uint64_t most) {
    if (!fields_.is_null(key)) {
      whole(key, out, most);
    }
  }

  void text(const char* key, std::string& out) { out = fields_.text(key, profile_limits::kText); }
  void optional_text(const char* key, std::string& out) {
    if (!fields_.is_null(key)) {
      text(key, out);
    }
  }
  void texts(const char* key, std::vector<std::string>& out, std::size_t most) {
    out = fields_.texts(key, most, profile_limits::kText);
  }

  void grid(const char* key, std::array<std::int64_t, 3>& out) {
    out = fields_.three_wholes(key, 1, profile_limits::kWhole);
  }

  template <typename T, typename FromName>
  void named(const char* key, T& out, FromName from_name) {
    out = fields_.named(key, from_name, "one of the names that this schema has");
  }

  template <typename T, typename Visit>
  void object(const char* key, T& out, Visit visit) {
    fields_.object(key, visitor(out, visit));
  }
  template <typename T, typename Visit>
  void optional_object(const char* key, std::optional<T>& out, Visit visit) {
    if (!fields_.is_null(key)) {
      object(key, out.emplace(), visit);
    }
  }
  template <typename T, typename Visit>
  void list(const char* key, std::vector<T>& out, std::size_t most, Visit visit) {
    fields_.objects(key, most,
                    [&](JsonFields& fields) { visitor(out.emplace_back(), visit)(fields); });
  }

  void trace(const char* key, std::vector<TraceSpan>& out, std::size_t most) {
    fields_.object(key, [&](JsonFields& columns) { out = read_trace(columns, most); });
  }

 private:
  template <typename T, typename Visit>
  static ReadFields visitor(T& out, Visit visit) {
    return [&out, visit](JsonFields& fields) {
      Reader part(fields);
      visit(part, out);
    };
  }

  static std::vector<TraceSpan> read_trace(JsonFields& columns, std::size_t most) {
    const auto ops = columns.wholes("op", most, 0, profile_limits::kOps);
    const auto threads = columns.wholes("thread", most, 0, profile_limits::kThreads);
    const auto begins = columns.numbers("begin", most, 0, profile_limits::kSeconds);
    const auto ends = columns.numbers("end", most, 0, profile_limits::kSeconds);
    const std::size_t count = ops.size();
    if (threads.size() != count || begins.size() != count || ends.size() != count) {
      columns.refuse("op", "as many as in `thread`, `begin` and `end`");
    }
    std::vector<TraceSpan> spans;
    for (std::size_t i = 0; columns.good() && i < count; ++i) {
      spans.push_back(
          {static_cast<std::uint32_t>(ops[i]), static_cast<int>(threads[i]), begins[i], ends[i]});
    }
    return spans;
  }

  JsonFields& fields_;
};

bool is_ordered(const Spread& spread) {
  return spread.low <= spread.median && spread.median <= spread.high;
}

// What no single field shows; empty when all fits.
std::string contradiction(const Profile& profile) {
  if (profile.machine.threads < 1) {
    return "`machine.threads`: expected at least 1";
  }
  if (!is_ordered(profile.seconds) || !is_ordered(profile.plain_seconds)) {
    return "`seconds`, `plain_seconds`: the median is not between the quartiles";
  }
  for (std::size_t i = 0; i < profile.ops.size(); ++i) {
    const OpProfile& op = profile.ops[i];
    if (!is_ordered(op.seconds)) {
      return fmt::format("`ops[{}].seconds`: the median is not between the quartiles", i);
    }
    if (op.end < op.begin) {
      return fmt::format("`ops[{}]`: ends before it begins", i);
    }
    if (op.busy_seconds.size() > static_cast<std::size_t>(profile.machine.threads)) {
      return fmt::format("`ops[{}].busy_seconds`: more than `machine.threads`", i);
    }
  }
  for (std::size_t i = 0; i < profile.groups.size(); ++i) {
    if (!is_ordered(profile.groups[i].seconds)) {
      return fmt::format("`groups[{}].seconds`: the median is not between the quartiles", i);
    }
  }
  for (std::size_t i = 0; i < profile.trace.size(); ++i) {
    const TraceSpan& span = profile.trace[i];
    if (span.op >= profile.ops.size() || span.thread >= profile.machine.threads) {
      return fmt::format("`trace`: entry {} names an op or a thread that is not there", i);
    }
    if (span.end < span.begin) {
      return fmt::format("`trace`: entry {} ends before it begins", i);
    }
  }
  return {};
}

}  // namespace

Result<Profile> read_profile(std::string_view json, std::string_view name) {
  Profile profile;
  const JsonForm form{Profile::kKind, Profile::kSchema, "make it again with `mezzotint profile`"};
  const Status status =
      read_json(json, name, profile_limits::kBytes, form, [&](JsonFields& fields) {
        Reader reader(fields);
        visit_profile(reader, profile);
        if (const std::string problem = contradiction(profile); !problem.empty()) {
          fields.fail(problem);
        }
      });
  return status ? Result<Profile>(std::move(profile)) : status.error();
}

}  // namespace mezzotint
