#if canImport(Testing)
    package import Testing

    /// The tests of a suite wait for a socket or another task, and continue immediately when it is ready.
    ///
    /// By default all tests start at the same time, and a test that becomes ready waits for all those that have not
    /// started. On a small machine this takes longer than the deadline of a call. So only some of these tests run at
    /// the same time, at a priority with its own threads. Before macOS 26 a task cannot raise its own priority.
    ///
    /// A test waits for its place before its time limit starts. Otherwise, a test would exceed its limit on a machine
    /// on which the run of all tests takes longer than the limit.
    package struct Prompt: TestTrait, SuiteTrait, TestScoping {
        /// The places of test functions, which are taken outside the time limit.
        private static let tests = Places(16)
        /// The places of test cases, because a test function may have many.
        private static let cases = Places(16)
        private static let testsWithProcess = Places(1)
        private static let casesWithProcess = Places(1)
        /// The priority of user interaction, which no other code of these tests has.
        ///
        /// On Linux, each priority has as many threads as the machine has processors. A test that blocks a thread
        /// therefore does not block the handlers of a server, which have a high priority.
        private static let priority = TaskPriority(rawValue: 33)

        package var isRecursive: Bool { true }

        package func scopeProvider(for test: Test, testCase: Test.Case?) -> Prompt? { test.isSuite ? nil : self }

        package func provideScope(
            for test: Test,
            testCase: Test.Case?,
            performing function: @Sendable () async throws -> Void
        ) async throws {
            let startsProcess = test.traits.contains { $0 is StartsProcess }
            guard testCase != nil else {
                return try await (startsProcess ? Self.testsWithProcess : Self.tests).take(function)
            }
            try await (startsProcess ? Self.casesWithProcess : Self.cases).take {
                if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                    withUnsafeCurrentTask { $0?.escalatePriority(to: Self.priority) }
                }
                try await function()
            }
        }

        private actor Places {
            private var free: Int
            private var waiting: [CheckedContinuation<Void, Never>] = []

            init(_ count: Int) { free = count }

            func take(_ function: @Sendable () async throws -> Void) async throws {
                if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
                defer { leave() }
                try await function()
            }

            private func leave() {
                if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
            }
        }
    }

    /// The test runs a part of itself in another process (`processExitsWith`).
    ///
    /// The testing library blocks a thread of the test's priority until the process ends. Only one of these tests runs
    /// at a time in the suites with ``Prompt``, because two would block all threads of a machine with two processors.
    package struct StartsProcess: TestTrait {}

    extension Trait where Self == StartsProcess {
        /// Runs with no other test that starts a process.
        package static var startsProcess: Self { Self() }
    }

    extension Trait where Self == Prompt {
        /// Runs with few other tests at a time, and continues immediately when it is ready.
        package static var prompt: Self { Self() }
    }
#endif
