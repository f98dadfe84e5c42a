#if canImport(Testing)
    package import Foundation
    package import Testing

    /// A folder for the files of a test's cases, which is removed after the test.
    package struct CaseFolder: TestTrait, SuiteTrait, TestScoping {
        @TaskLocal private static var folder: TemporaryFolder?

        /// A new folder inside the running test's folder.
        package static var current: CaseFolder.Place? { folder.map { Place(folder: $0) } }

        /// A place for one file, independent of the names of other files.
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
