// SPDX-License-Identifier: Apache-2.0
#include "hpack/decoder.h"

#include "base/block_cache.h"
#include "base/check.h"
#include "hpack/huffman.h"

namespace levee::hpack {
namespace {

// The bits that say how a field is represented (section 6).
constexpr uint8_t kIndexedBit = 0x80;
constexpr uint8_t kIncrementalBit = 0x40;
constexpr uint8_t kSizeUpdateBit = 0x20;
constexpr uint8_t kNeverIndexedBit = 0x10;
constexpr uint8_t kHuffman = 0x80;

// A block may begin with two size updates: the least size since the last block, and the size now
// (section 4.2).
constexpr int kMaxSizeUpdates = 2;

}  // namespace

// The block that is being decoded, and the decoded text of its Huffman-coded strings.
class Decoder::Block {
 public:
  explicit Block(ByteSpan bytes) : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  ~Block() { FreeBlock(decoded_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  bool empty() const { return next_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - next_); }
  uint8_t front() const { return *next_; }

  // Reads an integer from the lowest `prefix_bits` bits of the first byte and the bytes after it
  // (section 5.1). The block must not be empty(). False: the integer is cut off, is larger than 32
  // bits, or takes more bytes than 32 bits need.
  bool Integer(int prefix_bits, size_t& value) {
    const uint8_t prefix = static_cast<uint8_t>((1 << prefix_bits) - 1);
    value = *next_++ & prefix;
    return value != prefix || LongInteger(value);
  }

  // Reads a string (section 5.2). `string` is valid as long as this object. False: it is malformed.
  bool String(std::string_view& string);

  // Passes over a field without decoding it. The block must not be empty(). False: it is malformed,
  // or an update of the table's size.
  bool Skip();

 private:
  bool LongInteger(size_t& value);
  bool CodedString(ByteSpan& bytes, bool& huffman);

  const uint8_t* next_;
  const uint8_t* const end_;
  char* decoded_ = nullptr;
  char* decoded_end_ = nullptr;
};

bool Decoder::Block::LongInteger(size_t& value) {
  for (int shift = 0; shift < 32; shift += 7) {
    if (next_ == end_) return false;
    const uint8_t byte = *next_++;
    value += size_t{byte & 0x7fu} << shift;
    if (value > UINT32_MAX) return false;
    if (byte < 0x80) return true;
  }
  return false;
}

bool Decoder::Block::CodedString(ByteSpan& bytes, bool& huffman) {
  if (empty()) return false;
  huffman = (front() & kHuffman) != 0;
  size_t size = 0;
  if (!Integer(7, size) || size > left()) return false;
  bytes = ByteSpan(next_, size);
  next_ += size;
  return true;
}

bool Decoder::Block::Skip() {
  const uint8_t first = front();
  size_t index = 0;
  if ((first & kIndexedBit) != 0) return Integer(7, index);
  const bool incremental = (first & kIncrementalBit) != 0;
  if (!incremental && (first & kSizeUpdateBit) != 0) return false;
  ByteSpan bytes;
  bool huffman = false;
  return Integer(incremental ? 6 : 4, index) && (index != 0 || CodedString(bytes, huffman)) &&
         CodedString(bytes, huffman);
}

bool Decoder::Block::String(std::string_view& string) {
  ByteSpan bytes;
  bool huffman = false;
  if (!CodedString(bytes, huffman)) return false;
  if (!huffman) {
    string = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    return true;
  }
  if (decoded_ == nullptr) {
    // The memory is enough for this string and for all others that may follow in the block.
    decoded_ = static_cast<char*>(AllocateBlock(HuffmanBound(bytes.size() + left())));
    decoded_end_ = decoded_;
  }
  char* const end = HuffmanDecode(bytes, decoded_end_);
  if (end == nullptr) return false;
  string = {decoded_end_, static_cast<size_t>(end - decoded_end_)};
  decoded_end_ = end;
  return true;
}

Decoder::Decoder(size_t max_table_bytes)
    : max_table_bytes_(max_table_bytes), table_(max_table_bytes) {}

bool Decoder::Resize(Block& in) {
  size_t bytes = 0;
  if (!in.Integer(5, bytes) || bytes > max_table_bytes_) return false;
  table_.SetMaxBytes(bytes);
  return true;
}

// Returns what `use` returns for the field of the entry that has this index in both tables. False:
// there is none.
template <typename Use>
inline bool Decoder::WithField(size_t index, Use use) const {
  const size_t age = index - kStaticFields - 1;
  if (age < table_.count()) {
    const DynamicTable::Entry& entry = table_[age];
    return use(DecodedField{table_.Name(entry), table_.Value(entry), entry.kind, entry.form});
  }
  if (index - 1 >= kStaticFields) return false;
  const StaticField& entry = kStaticTable[index - 1];
  return use(DecodedField{entry.name, entry.value, entry.kind});
}

bool Decoder::Decode(ByteSpan block, FieldSink& sink) {
  Block in(block);
  for (int updates = 0; !in.empty() && (in.front() & 0xe0) == kSizeUpdateBit; ++updates) {
    if (updates == kMaxSizeUpdates || !Resize(in)) return false;
  }
  return Fields(in, sink);
}

bool Decoder::DecodeRest(ByteSpan rest, FieldSink& sink) {
  Block in(rest);
  return Fields(in, sink);
}

size_t Decoder::FieldsWithin(ByteSpan block, size_t limit) {
  Block in(block);
  size_t end = 0;
  while (!in.empty() && in.Skip() && block.size() - in.left() <= limit) {
    end = block.size() - in.left();
  }
  return end;
}

bool Decoder::Fields(Block& in, FieldSink& sink) {
  while (!in.empty()) {
    if ((in.front() & kIndexedBit) == 0) {
      if (!Literal(in, sink)) return false;
      continue;
    }
    size_t index = 0;
    if (!in.Integer(7, index)) return false;
    if (!WithField(index, [&](const DecodedField& field) { return sink.OnField(field); })) {
      return false;
    }
  }
  return true;
}

bool Decoder::Literal(Block& in, FieldSink& sink) {
  const uint8_t first = in.front();
  const bool incremental = (first & kIncrementalBit) != 0;
  if (!incremental && (first & kSizeUpdateBit) != 0)
    return false;  // A size update may not come after a field.

  size_t index = 0;
  if (!in.Integer(incremental ? 6 : 4, index)) return false;
  DecodedField field;
  if (index != 0) {
    const auto copy = [&](const DecodedField& entry) {
      field = entry;
      return true;
    };
    if (!WithField(index, copy)) return false;
    // The entry's value is not used here.
    if (field.form == FieldForm::kBadValue) field.form = FieldForm::kGood;
  } else {
    if (!in.String(field.name)) return false;
    field.kind = KindOfName(field.name);
    if (!IsWellFormedName(field.name)) field.form = FieldForm::kBadName;
  }
  if (!in.String(field.value)) return false;
  if (field.well_formed() && !IsWellFormedValue(field.kind, field.value))
    field.form = FieldForm::kBadValue;
  field.never_index = !incremental && (first & kNeverIndexedBit) != 0;

  if (!sink.OnField(field)) return false;
  if (incremental) table_.Insert(field.name, field.value, field.kind, field.form);
  return true;
}

}  // namespace levee::hpack
