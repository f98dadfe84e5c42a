#if os(Linux)
    import Foundation
    import Glibc
    import SwitchyardClient
    import SwitchyardFixtures
    import SwitchyardHTTP
    import SwitchyardServices
    import SwitchyardTesting
    import Testing

    @testable import SwitchyardOutbox

    /// A write whose start the file cannot record.
    @Suite(.timeLimit(.minutes(5)), .prompt) struct OutboxFullDiskTests {
        private let folder: TemporaryFolder
        private var file: URL { folder.url.appending(path: "outbox") }

        init() throws {
            folder = try TemporaryFolder.made()
        }

        /// Makes every further write to the open file fail, as a full disk does.
        private func fillDisk() throws {
            let full = open("/dev/full", O_RDWR | O_CLOEXEC)
            defer { close(full) }
            let path = file.resolvingSymlinksInPath().path
            for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
                guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"),
                    target == path, let descriptor = Int32(name)
                else { continue }
                #expect(dup2(full, descriptor) == descriptor)
            }
        }

        @Test func `a write is not sent unless the outbox file records that it may have been executed`() async throws {
            let (client, transport) = try NetworkClient.stubbed(switching: .off, servers: 1) { _ in .status(201) }
            let outbox = try Outbox(file: file, client: client)
            try outbox.store(APIConfiguration(path: "a", method: .put), replacementKey: "k")
            try fillDisk()

            let failure = await #expect(throws: OutboxError.self) { try await outbox.flush() }
            // The app is killed, and its file is opened again.
            let copy = folder.url.appending(path: "copy")
            try FileManager.default.copyItem(at: file, to: copy)
            let entry = try #require(try Outbox(file: copy, client: client).entries.first)

            #expect(entry.mayHaveBeenExecuted || transport.requestCount == 0)
            if case .file = failure {} else { Issue.record("\(String(describing: failure))") }
        }
    }
#endif
