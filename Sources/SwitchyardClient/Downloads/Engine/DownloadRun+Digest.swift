import Foundation
import SwitchyardServices

extension DownloadRun {
    /// Takes into the digest what is in the file and came without it: kept bytes, and parts that came side by side.
    mutating func catchUpWithDigest() async throws(DownloadFailure) {
        guard let digest = state.digest, digest.count < state.offset else { return }
        do throws(FileFailure) {
            state.digest = try await BlockingWork.run { [file, end = state.offset] () throws(FileFailure) in
                var digest = digest
                while digest.count < end {
                    digest.update(try file.read(at: digest.count, maximumLength: Int(min(1 << 18, end - digest.count))))
                }
                return digest
            }
        } catch {
            throw failure(.file(error))
        }
    }

    /// Whether the whole content has the digest that it must have; `false` when it is to be loaded anew.
    mutating func isExpected(_ response: ServiceResponse) async throws(DownloadFailure) -> Bool {
        try await catchUpWithDigest()
        guard let expected = configuration.digest, let digest = state.digest else { return true }
        let actual = ContentDigest(digest)
        guard actual != expected else { return true }
        guard configuration.request.isIdempotent, leave(response.context.server) else {
            throw failure(.digestMismatch(expected: expected, actual: actual))
        }
        configuration.onEvent?(.restarted("the content's hash is \(actual)"))
        state.startOver()
        try disk { (file) throws(FileFailure) in try file.truncate(to: 0) }
        return false
    }

    /// Takes note of who sent a content that is not the one expected; `false` when nobody else is left to ask.
    ///
    /// Where a part of it was there from before, that may be what is wrong, and the same server is asked once more.
    private mutating func leave(_ server: Server.ID?) -> Bool {
        guard state.resumed == 0 else { return true }
        guard let server, configuration.request.leavesChoice, !state.strangers.contains(server) else { return false }
        state.strangers.append(server)
        // None is left out when they are all that there is.
        return !transfer.pool.avoidable(state.strangers).isEmpty
    }
}
