# SPDX-License-Identifier: Apache-2.0
"""The deliberate bugs: what is replaced by what in which file, and which tests ought to notice."""

from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    file: str
    old: str  # stands there exactly once
    new: str
    tests: tuple  # of (target, arguments)


POLICY = ("policy_test", ())
CALL = ("call_test", ())
TELEMETRY = ("telemetry_test", ())
SIDECAR = ("sidecar_test", ())
LEDGER = ("ledger", ("--calls", "20000"))


def integration(*patterns):
    return ("integration_test", ("--gtest_filter=" + ":".join(patterns),))


DECISION = "proxy/policy/retry_decision.cc"
BUDGET = "proxy/policy/retry_budget.cc"
ATTEMPTS = "proxy/call/attempts.cc"
REPLAY = "proxy/call/replay_buffer.cc"
STREAM = "proxy/server/rpc_stream.cc"

MUTANTS = (
    # The retry decision.
    Mutant("retries-after-the-commit", DECISION,
           "if (facts.answered) return wanted",
           "if (facts.answered && !wanted) return wanted", (POLICY,)),
    Mutant("repeats-what-was-reset", DECISION,
           "return lists.failures.reset;", "return true;", (POLICY, LEDGER)),
    Mutant("one-attempt-too-many", DECISION,
           "facts.attempts >= listing.max_attempts", "facts.attempts > listing.max_attempts",
           (POLICY, CALL)),
    Mutant("repeats-what-must-not-be", DECISION,
           "if (policy.idempotency == IdempotencyMode::kNever && !surely_unprocessed)",
           "if (policy.idempotency == IdempotencyMode::kNever && policy.name.empty() && "
           "!surely_unprocessed)", (POLICY, LEDGER)),
    # The budget.
    Mutant("transparent-retries-are-free", DECISION,
           "if (outcome.leaving || !means.budget.RefusesStreams()) {",
           "if (outcome.leaving || !means.budget.RefusesStreams() || decision.transparent) {",
           (POLICY, CALL)),
    Mutant("the-floor-is-never-withheld", BUDGET,
           "return FloorWithheld() ? by_ratio : std::max(by_ratio, floor_);",
           "return std::max(by_ratio, floor_);", (POLICY,)),
    Mutant("a-refusal-costs", BUDGET,
           "  entry.store(before.word(), std::memory_order_seq_cst);\n  return false;",
           "  return false;", (POLICY,)),
    # The commit.
    Mutant("holds-the-head-of-open-calls", ATTEMPTS,
           "retry.commit == CommitMode::kAuto && books_.body.half_closed() &&",
           "retry.commit == CommitMode::kAuto &&", (CALL,)),
    Mutant("holds-the-head-for-ever", ATTEMPTS,
           "  if (ActiveAttempt* const held = active_.FindHeldLongEnough(now)) "
           "CommitToAnswer(held->id, now);\n", "", (CALL,)),
    # The replay.
    Mutant("the-buffer-ends-a-byte-early", REPLAY,
           "bytes_ + chunk.size() > limit_", "bytes_ + chunk.size() >= limit_", (CALL,)),
    Mutant("replay-memory-leaks", REPLAY,
           "if (bytes_ > 0) lease_.Give(sender_, static_cast<int64_t>(bytes_));",
           "if (bytes_ > 1) lease_.Give(sender_, static_cast<int64_t>(bytes_ - 1));", (CALL, LEDGER)),
    Mutant("the-replay-does-not-end", ATTEMPTS,
           "books_.body.half_closed() && i + 1 == chunks.size());", "false);", (CALL, LEDGER)),
    # The deadline.
    Mutant("each-attempt-has-all-the-time", ATTEMPTS,
           ".told = ToldDeadline(attempt_deadline),",
           ".told = ToldDeadline(attempt_deadline) + (now - books_.record.start),", (CALL,)),
    # Flow control.
    Mutant("window-is-returned-twice", STREAM,
           "CreditRequest(committed_->sent - credited_);", "CreditRequest(committed_->sent);",
           (integration("Flow.*", "WireFlow*"), LEDGER)),
    Mutant("window-is-not-returned", STREAM,
           "void RpcStream::OnSent(size_t bytes) { committed_->attempt.Credit(bytes); }",
           "void RpcStream::OnSent(size_t) {}", (integration("Flow.*", "WireFlow*"), LEDGER)),
    # The drain.
    Mutant("the-drain-waits-for-no-call", "proxy/sidecar/drain.cc",
           "const bool done = load.all() == 0 || late;",
           "const bool done = load.all() >= 0 || late;",
           (SIDECAR, integration("Drain*"), LEDGER)),
    # A reload.
    Mutant("plans-outlive-a-reload", "proxy/server/worker.cc",
           "  plans_.Clear();\n", "", (integration("Reload.*"),)),
    # Rate limits.
    Mutant("a-burst-has-one-more", "proxy/policy/gcra.cc",
           "next - rate.burst();", "next - rate.burst() - rate.permit();", (POLICY,)),
    # Metrics.
    Mutant("transparent-attempts-are-counted", "proxy/telemetry/record_call.cc",
           "if (!attempt.transparent) ++counted;", "++counted;", (TELEMETRY,)),
    Mutant("calls-stay-active", STREAM,
           "environment_.series.active_calls.Sub(1);",
           "if (record.attempts.size() < 2) environment_.series.active_calls.Sub(1);",
           (integration("Metrics*"), LEDGER)),
)
