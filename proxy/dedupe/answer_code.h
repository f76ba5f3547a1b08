// SPDX-License-Identifier: Apache-2.0
// Stored answers as bytes, for stores outside the process.
#pragma once

#include <string>
#include <string_view>

#include "dedupe/stored_answer.h"

namespace levee {

std::string EncodeAnswer(const StoredAnswer& answer);

// Returns nullptr if the bytes are not of that form.
StoredAnswerPtr DecodeAnswer(std::string_view bytes);

}  // namespace levee
