import Foundation
import Testing

@testable import SwitchyardClient
@testable import SwitchyardHTTP
@testable import SwitchyardTransfers

#if canImport(Glibc)
    import Glibc
#endif

@Suite struct ExclusiveFileTests {
    private let path = NSTemporaryDirectory() + "exclusive-\(UUID().uuidString)"

    @Test func `a file has one owner at a time`() throws {
        defer { unlink(path) }
        let first = try ExclusiveFile.open(path, mode: 0o600)
        defer { close(first) }

        #expect { try ExclusiveFile.open(path, mode: 0o600) } throws: { ($0 as? FileFailure)?.reason == .busy }
    }

    // What a program that is being started has of every descriptor of this process, for a moment.
    @Test func `a file that was let go has none, although someone has a copy of the descriptor`() throws {
        defer { unlink(path) }
        let first = try ExclusiveFile.open(path, mode: 0o600)
        let copy = dup(first)
        defer { close(copy) }

        ExclusiveFile.unlock(first)
        close(first)

        close(try ExclusiveFile.open(path, mode: 0o600))
    }

    @Test func `nor has the file of a download whose owner is gone`() throws {
        defer { unlink(path) }
        let descriptor = try ExclusiveFile.open(path, mode: 0o600)
        let copy = dup(descriptor)
        defer { close(copy) }

        _ = PartialFile(descriptor: descriptor, path: path)

        close(try ExclusiveFile.open(path, mode: 0o600))
    }
}
