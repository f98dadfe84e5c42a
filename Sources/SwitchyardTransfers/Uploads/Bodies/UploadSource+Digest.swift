import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension RequestInterceptor {
    /// Says in `Content-Digest` what the bytes of an upload are; they are read anew for each round.
    static func sendingDigest(
        _ algorithm: ContentDigest.Algorithm,
        of source: UploadSource,
        _ monitor: TransferMonitor?
    ) -> RequestInterceptor {
        .adapting("content digest") { configuration, _ in
            configuration.setField("Content-Digest", try await source.digest(algorithm, monitor).fieldValue)
        }
    }
}

extension UploadSource {
    /// The digest of the bytes, read as they are when they are sent.
    fileprivate func digest(
        _ algorithm: ContentDigest.Algorithm,
        _ monitor: TransferMonitor?
    ) async throws -> ContentDigest {
        var digest = RunningDigest(algorithm)
        let body = try opened(UploadLedger { _ in }, monitor)
        guard let reader = try body.makeReader() else { return ContentDigest(digest) }
        while let piece = try await reader.read(maximumLength: 1 << 20) {
            guard !Task.isCancelled else { throw RequestFailure.Reason.cancelled }
            // Hashing takes its time, which the threads of tasks are not for.
            digest = await BlockingWork.run { [digest] in
                var digest = digest
                digest.update(piece)
                return digest
            }
        }
        return ContentDigest(digest)
    }
}
