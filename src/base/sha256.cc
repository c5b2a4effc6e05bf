#include "base/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "base/check.h"

namespace mezzotint {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  check(
      state_->context != nullptr && EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1,
      "libcrypto offers no SHA-256");
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> bytes) {
  check(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1,
        "SHA-256 update failed");
}

std::string Sha256::hex() {
  std::array<unsigned char, 32> digest{};
  check(EVP_DigestFinal_ex(state_->context, digest.data(), nullptr) == 1, "SHA-256 final failed");
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

}  // namespace mezzotint
