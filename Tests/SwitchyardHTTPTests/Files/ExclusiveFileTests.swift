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

    @Test func `only one ExclusiveFile at a time can own a file`() throws {
        defer { unlink(path) }
        let first = try ExclusiveFile.open(path, mode: 0o600)
        defer { close(first) }

        #expect { try ExclusiveFile.open(path, mode: 0o600) } throws: { ($0 as? FileFailure)?.reason == .busy }
    }

    // A child process that is being started briefly has copies of all descriptors of this process.
    @Test
    func `an ExclusiveFile that was unlocked and closed can be opened again even if its descriptor was duplicated`()
        throws
    {
        defer { unlink(path) }
        let first = try ExclusiveFile.open(path, mode: 0o600)
        let copy = dup(first)
        defer { close(copy) }

        ExclusiveFile.unlock(first)
        close(first)

        close(try ExclusiveFile.open(path, mode: 0o600))
    }

    @Test
    func `a partial file can be opened again after its owner was released even if the descriptor was duplicated`()
        throws
    {
        defer { unlink(path) }
        let descriptor = try ExclusiveFile.open(path, mode: 0o600)
        let copy = dup(descriptor)
        defer { close(copy) }

        _ = PartialFile(descriptor: descriptor, path: path)

        close(try ExclusiveFile.open(path, mode: 0o600))
    }
}
