// Writes pages for the test in a browser: of the sample profile, of one whose texts would do harm
// if they were taken for markup, and of one that holds nothing.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "report/profile_html.h"
#include "report/sample_profile.h"

namespace {

bool write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  return file.good();
}

}  // namespace

int main(int count, char** arguments) {
  using namespace mezzotint;
  if (count != 2) {
    fmt::print(stderr, "usage: write_reports FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  const Profile plain = sample_profile();
  const bool good = write(folder / "sample.html", profile_html(plain)) &&
                    write(folder / "hostile.html", profile_html(hostile_profile())) &&
                    write(folder / "empty.html", profile_html(Profile()));
  return good ? 0 : 1;
}
