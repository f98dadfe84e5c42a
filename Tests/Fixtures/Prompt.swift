#if canImport(Testing)
    package import Testing

    /// The tests of a suite wait for something, be it a socket or another task, and continue at once when it comes.
    ///
    /// By themselves all tests begin at once, and what wakes one of them waits after all that have not begun: on a
    /// small machine for longer than the deadline of a call. So only some of these run at a time, at a priority that
    /// has threads of its own. Before macOS 26 a task cannot raise its own priority.
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
        /// Runs beside few others, and continues at once when what it waits for comes.
        package static var prompt: Self { Self() }
    }
#endif
