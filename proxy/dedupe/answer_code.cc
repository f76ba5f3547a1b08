// SPDX-License-Identifier: Apache-2.0
#include "dedupe/answer_code.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace levee {
namespace {

// The first byte. Another form gets another one, so that sidecars of two versions can share keys.
constexpr char kForm = '1';

void AppendNumber(size_t number, std::string& to) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    to += static_cast<char>(static_cast<uint8_t>(number >> shift));
  }
}

void AppendText(std::string_view text, std::string& to) {
  AppendNumber(text.size(), to);
  to += text;
}

void AppendFields(const StoredAnswer::Fields& fields, std::string& to) {
  AppendNumber(fields.size(), to);
  for (const StoredAnswer::Field& field : fields) {
    AppendText(field.name, to);
    AppendText(field.value, to);
    to += field.never_index ? '\1' : '\0';
  }
}

// Reads from the front; what is wrong leaves `ok` false.
struct Reader {
  std::string_view bytes;
  bool ok = true;

  std::string_view Take(size_t size) {
    ok = ok && size <= bytes.size();
    if (!ok) return {};
    const std::string_view taken = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return taken;
  }
  uint8_t Byte() {
    const std::string_view byte = Take(1);
    return byte.empty() ? 0 : static_cast<uint8_t>(byte[0]);
  }
  size_t Number() {
    size_t number = 0;
    for (int i = 0; i < 4; ++i) number = number << 8 | Byte();
    return number;
  }
  std::string Text() { return std::string(Take(Number())); }
  StoredAnswer::Fields Fields() {
    StoredAnswer::Fields fields;
    const size_t count = Number();
    for (size_t i = 0; ok && i < count; ++i) {
      StoredAnswer::Field field;
      field.name = Text();
      field.value = Text();
      field.never_index = Byte() != 0;
      fields.push_back(std::move(field));
    }
    return fields;
  }
};

}  // namespace

std::string EncodeAnswer(const StoredAnswer& answer) {
  std::string bytes = {kForm, static_cast<char>(answer.code), answer.whole ? '\1' : '\0'};
  AppendFields(answer.head, bytes);
  AppendText(answer.body, bytes);
  AppendFields(answer.trailers, bytes);
  return bytes;
}

StoredAnswerPtr DecodeAnswer(std::string_view bytes) {
  Reader reader{bytes};
  if (reader.Take(1) != std::string_view(&kForm, 1)) return nullptr;
  StoredAnswer answer;
  const uint8_t code = reader.Byte();
  constexpr auto kLastCode = static_cast<uint8_t>(StatusCode::kUnauthenticated);
  answer.code = static_cast<StatusCode>(code);
  answer.whole = reader.Byte() != 0;
  answer.head = reader.Fields();
  answer.body = reader.Text();
  answer.trailers = reader.Fields();
  if (!reader.ok || !reader.bytes.empty() || code > kLastCode) return nullptr;
  return std::make_shared<const StoredAnswer>(std::move(answer));
}

}  // namespace levee
