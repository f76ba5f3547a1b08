// SPDX-License-Identifier: Apache-2.0
#include "dedupe/key_keeper.h"

#include <algorithm>
#include <utility>

namespace levee {

void KeyKeeper::Take(KeyCommand command, Instant now) {
  Know(command.table, now);
  auto held = std::make_unique<KeyCommand>(std::move(command));
  if (held->kind == KeyCommand::Kind::kLook) {
    const Instant due = now + held->after;
    later_.emplace(due, std::move(held));
  } else {
    Send(std::move(held));
  }
}

void KeyKeeper::Know(const std::weak_ptr<DedupeTable>& table, Instant now) {
  const bool known = std::ranges::any_of(tables_, [&](const std::weak_ptr<DedupeTable>& other) {
    return !other.owner_before(table) && !table.owner_before(other);
  });
  if (known) return;
  tables_.push_back(table);
  renew_at_ = std::min(renew_at_, now + kRenewEvery);
}

void KeyKeeper::Send(CommandPtr command) {
  const KeyCommand& sent = *command;
  wire_.Send(sent, [this, command = std::move(command)](const absl::StatusOr<KeyReply>& reply,
                                                        Instant now) mutable {
    OnReply(std::move(command), reply, now);
  });
}

void KeyKeeper::OnReply(CommandPtr command, const absl::StatusOr<KeyReply>& reply, Instant now) {
  using Kind = KeyCommand::Kind;
  if (command->kind == Kind::kAsk) {
    if (const auto table = command->table.lock()) table->OnReply(*command, reply, now);
    return;
  }
  const bool must_not_be_lost = command->kind == Kind::kKeep || command->kind == Kind::kRelease;
  if (reply.ok() || !must_not_be_lost || now + kRepeatAfter >= command->give_up) return;
  later_.emplace(now + kRepeatAfter, std::move(command));
}

void KeyKeeper::OnTimer(Instant now) {
  if (now >= renew_at_) Renew(now);
  while (!later_.empty() && now >= later_.begin()->first) {
    CommandPtr command = std::move(later_.extract(later_.begin()).mapped());
    if (command->kind != KeyCommand::Kind::kLook) {
      Send(std::move(command));
    } else if (const auto table = command->table.lock()) {
      table->Look(command->key);
    }
  }
}

void KeyKeeper::Renew(Instant now) {
  std::erase_if(tables_, [](const auto& table) { return table.expired(); });
  for (const std::weak_ptr<DedupeTable>& held : tables_) {
    if (const auto table = held.lock()) table->Renew(now);
  }
  renew_at_ = tables_.empty() ? Instant::Infinite() : now + kRenewEvery;
}

Instant KeyKeeper::NextTimer() const {
  return later_.empty() ? renew_at_ : std::min(renew_at_, later_.begin()->first);
}

}  // namespace levee
