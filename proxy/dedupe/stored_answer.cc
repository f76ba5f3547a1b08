// SPDX-License-Identifier: Apache-2.0
#include "dedupe/stored_answer.h"

#include <array>
#include <cstdint>

namespace levee {
namespace {

// A text is: its form; the status; 1 if it is whole; the fields of the head; the body; those of the
// trailers. Fields are their number, and of each the name, the value, and 1 if it is never indexed.
// Numbers have four bytes, the highest first, and stand before each name, value and body.

// The first byte. Another form gets another one, so that sidecars of two versions can share keys.
constexpr char kForm = '1';
constexpr size_t kHead = 3;
constexpr size_t kNumber = 4;

// Enough for usual answers.
constexpr size_t kUsualBytes = 448;

void PutNumber(size_t number, char* to) {
  for (size_t i = 0; i < kNumber; ++i) {
    to[i] = static_cast<char>(static_cast<uint8_t>(number >> (8 * (kNumber - 1 - i))));
  }
}

void AppendNumber(size_t number, BlockString& to) {
  char bytes[kNumber];
  PutNumber(number, bytes);
  to.append(bytes, kNumber);
}

void AppendFields(const Metadata& fields, BlockString& to) {
  AppendNumber(fields.size(), to);
  for (size_t i = 0; i < fields.size(); ++i) {
    const Metadata::Field field = fields[i];
    AppendNumber(field.name.size(), to);
    to += field.name;
    AppendNumber(field.value.size(), to);
    to += field.value;
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
  size_t Number() {
    size_t number = 0;
    for (const char byte : Take(kNumber)) number = number << 8 | static_cast<uint8_t>(byte);
    return number;
  }
  std::string_view Text() { return Take(Number()); }
  // `to`: nullptr if the fields are only passed.
  void Fields(Metadata* to) {
    const size_t count = Number();
    for (size_t i = 0; ok && i < count; ++i) {
      const std::string_view name = Text();
      const std::string_view value = Text();
      const bool never_index = Take(1) == std::string_view("\1", 1);
      ok = ok && !name.empty();
      if (ok && to != nullptr) to->Add(name, value, never_index);
    }
  }
};

Reader HeadOf(std::string_view text) { return {.bytes = std::string_view(text).substr(kHead)}; }

// A copy has room for no more than it needs.
StoredAnswerPtr Stored(std::string_view text) {
  return std::allocate_shared<const StoredAnswer>(BlockAllocator<StoredAnswer>(),
                                                  BlockString(text));
}

}  // namespace

StoredAnswerPtr StoredAnswer::OfStatus(StatusCode code) {
  std::array<char, kHead + 3 * kNumber> text{};
  text[0] = kForm;
  text[kCode] = static_cast<char>(code);
  return Stored({text.data(), text.size()});
}

StoredAnswerPtr StoredAnswer::Read(std::string_view text) {
  constexpr auto kLastCode = static_cast<uint8_t>(StatusCode::kUnauthenticated);
  if (text.size() < kHead || text[0] != kForm || static_cast<uint8_t>(text[kCode]) > kLastCode) {
    return nullptr;
  }
  Reader reader{text.substr(kHead)};
  reader.Fields(nullptr);
  reader.Text();
  reader.Fields(nullptr);
  if (!reader.ok || !reader.bytes.empty()) return nullptr;
  return Stored(text);
}

size_t StoredAnswer::bytes() const {
  constexpr size_t kCounts = 16;  // of the pointers to it
  const bool inside = text_.capacity() <= BlockString().capacity();
  return BlockBytes(kCounts + sizeof *this) + (inside ? 0 : BlockBytes(text_.capacity() + 1));
}

bool StoredAnswer::trailers_only() const { return HeadOf(text_).Number() == 0; }

std::string_view StoredAnswer::body() const {
  Reader reader = HeadOf(text_);
  reader.Fields(nullptr);
  return reader.Text();
}

void StoredAnswer::AppendHead(Metadata& to) const { HeadOf(text_).Fields(&to); }

void StoredAnswer::AppendTrailers(Metadata& to) const {
  Reader reader = HeadOf(text_);
  reader.Fields(nullptr);
  reader.Text();
  reader.Fields(&to);
}

AnswerWriter::AnswerWriter() {
  text_.reserve(kUsualBytes);
  text_.assign(kHead, '\0');
  text_[0] = kForm;
  text_[StoredAnswer::kWhole] = '\1';
}

void AnswerWriter::AddHead(const Metadata& head) {
  AppendFields(head, text_);
  body_at_ = text_.size();
  AppendNumber(0, text_);
}

void AnswerWriter::AddBody(std::string_view bytes) {
  if (body_at_ == 0) AddHead(Metadata());
  text_ += bytes;
}

StoredAnswerPtr AnswerWriter::End(StatusCode code, const Metadata& trailers) {
  AddBody({});
  PutNumber(text_.size() - body_at_ - kNumber, &text_[body_at_]);
  AppendFields(trailers, text_);
  text_[StoredAnswer::kCode] = static_cast<char>(code);
  return Stored(text_);
}

}  // namespace levee
