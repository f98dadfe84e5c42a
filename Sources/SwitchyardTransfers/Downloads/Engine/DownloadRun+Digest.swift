import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension DownloadRun {
    /// So many bytes are read from the file and hashed between two looks at whether the download goes on.
    private static let hashedAtOnce: Int64 = 16 << 20
    /// How often a content of several answers may be another than the one expected.
    private static let maximumMixtures = 2

    /// Takes the bytes of an earlier download into the digest; those that cannot be read are loaded anew.
    mutating func hashKeptBytes() async throws(DownloadFailure) {
        do throws(DownloadFailure) { try await catchUpWithDigest() } catch {
            guard case .file(let problem) = error.reason else { throw error }
            try startOver("\(problem)")
        }
    }

    /// Takes into the digest what is in the file and came without it: kept bytes, and parts that came side by side.
    private mutating func catchUpWithDigest() async throws(DownloadFailure) {
        while let digest = state.digest, digest.count < state.offset {
            let end = min(state.offset, digest.count + Self.hashedAtOnce)
            do throws(FileFailure) {
                state.digest = try await BlockingWork.run { [file] () throws(FileFailure) in
                    var digest = digest
                    while digest.count < end {
                        let rest = Int(min(1 << 18, end - digest.count))
                        digest.update(try file.read(at: digest.count, maximumLength: rest))
                    }
                    return digest
                }
            } catch {
                throw failure(.file(error))
            }
            try checkRunning()
        }
    }

    /// Whether the whole content has the digest that it must have; `false` when it is to be loaded anew.
    mutating func isExpected(_ response: ServiceResponse) async throws(DownloadFailure) -> Bool {
        try await catchUpWithDigest()
        guard let expected = configuration.digest, let digest = state.digest else { return true }
        let actual = ContentDigest(digest)
        guard actual != expected else { return true }
        guard configuration.request.isIdempotent, state.isMixed ? mayMixAgain() : leave(response.context.server) else {
            throw failure(.digestMismatch(expected: expected, actual: actual))
        }
        configuration.onEvent?(.restarted("the content's hash is \(actual)"))
        state.startOver()
        try disk { (file) throws(FileFailure) in try file.truncate(to: 0) }
        return false
    }

    /// Takes note of who sent a content that is not the one expected, or none when others had to be asked; `false` when
    /// nobody else is left.
    mutating func leave(_ server: Server.ID?) -> Bool {
        guard let server, configuration.request.leavesChoice, !state.strangers.contains(server) else { return false }
        state.strangers.append(server)
        return transfer.pool.hasOthers(than: state.strangers)
    }

    /// A content of several answers, of which nobody knows who is to blame, is loaded anew as one.
    private mutating func mayMixAgain() -> Bool {
        usesOneConnection = true
        state.mixtures += 1
        return state.mixtures <= Self.maximumMixtures
    }
}
