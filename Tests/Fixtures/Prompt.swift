#if canImport(Testing)
    package import Testing

    /// The tests of a suite wait for a socket or another task, and continue at once when it is ready.
    ///
    /// By default all tests start at once, and a test that becomes ready waits for all those that have not started. On
    /// a small machine this takes longer than the deadline of a call. So only some of these tests run at a time, at a
    /// priority with its own threads. Before macOS 26 a task cannot raise its own priority.
    package struct Prompt: TestTrait, SuiteTrait, TestScoping {
        private static let places = Places()

        package var isRecursive: Bool { true }

        package func provideScope(
            for test: Test,
            testCase: Test.Case?,
            performing function: @Sendable () async throws -> Void
        ) async throws {
            try await Self.places.take {
                if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                    withUnsafeCurrentTask { $0?.escalatePriority(to: .high) }
                }
                try await function()
            }
        }

        private actor Places {
            private var free = 16
            private var waiting: [CheckedContinuation<Void, Never>] = []

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

    extension Trait where Self == Prompt {
        /// Runs with few other tests at a time, and continues at once when it is ready.
        package static var prompt: Self { Self() }
    }
#endif
