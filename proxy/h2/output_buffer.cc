// SPDX-License-Identifier: Apache-2.0
#include "h2/output_buffer.h"

#include <algorithm>
#include <cstring>

namespace levee::h2 {
namespace {

constexpr size_t kCopied = 4096;

}  // namespace

void OutputBuffer::Append(const Chunk& body, size_t bytes) {
  if (bytes < kCopied) {
    std::memcpy(end(), body.data(), bytes);
    Advance(bytes);
    return;
  }
  EndRun();
  bodies_.push_back(body.Slice(0, bytes));
  pieces_.push_back(bodies_.back().bytes());
  size_ += bytes;
}

void OutputBuffer::EndRun() {
  if (run_begin_ == written_) return;
  pieces_.emplace_back(memory_.get() + run_begin_, written_ - run_begin_);
  bodies_.emplace_back();
  run_begin_ = written_;
}

std::vector<Chunk> OutputBuffer::Rest(size_t bytes) {
  EndRun();
  std::vector<Chunk> rest;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const size_t before = std::min(bytes, pieces_[i].size());
    bytes -= before;
    if (before == pieces_[i].size()) continue;
    rest.push_back(bodies_[i].empty() ? Chunk::Copy(pieces_[i].subspan(before))
                                      : bodies_[i].Slice(before, pieces_[i].size() - before));
  }
  return rest;
}

void OutputBuffer::Clear() {
  written_ = run_begin_ = size_ = 0;
  pieces_.clear();
  bodies_.clear();
}

}  // namespace levee::h2
