#if canImport(Testing)
    package import Foundation
    package import Testing

    /// A folder for the files that a test's cases speak of, which goes away with the test.
    package struct CaseFolder: TestTrait, SuiteTrait, TestScoping {
        @TaskLocal private static var folder: TemporaryFolder?

        /// A new folder within the running test's.
        package static var current: CaseFolder.Place? { folder.map { Place(folder: $0) } }

        /// A place for one file, whatever others are called.
        package struct Place {
            fileprivate let folder: TemporaryFolder

            package func file(_ name: String, _ bytes: Data) throws -> URL {
                let own = UUID().uuidString
                try FileManager.default.createDirectory(
                    at: folder.url.appending(path: own),
                    withIntermediateDirectories: true
                )
                return try folder.file("\(own)/\(name)", bytes)
            }
        }

        package var isRecursive: Bool { true }

        package func provideScope(
            for test: Test,
            testCase: Test.Case?,
            performing function: @Sendable () async throws -> Void
        ) async throws {
            try await Self.$folder.withValue(TemporaryFolder.made()) { try await function() }
        }
    }

    extension Trait where Self == CaseFolder {
        /// A folder for the files of a test's cases.
        package static var caseFolder: Self { Self() }
    }
#endif
