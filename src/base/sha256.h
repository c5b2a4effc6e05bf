// SHA-256 (FIPS 180-4), by OpenSSL's libcrypto.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace mezzotint {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const std::byte> bytes);
  // 64 lower-case hexadecimal digits. Call once.
  [[nodiscard]] std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace mezzotint
