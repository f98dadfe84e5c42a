import Foundation
import SwitchyardServices

extension RequestInterceptor {
    /// Says in `Content-Digest` what the bytes of an upload are; they are read once for all rounds.
    static func sendingDigest(_ algorithm: ContentDigest.Algorithm, of source: UploadSource) -> RequestInterceptor {
        let known = Locked<ContentDigest?>(nil)
        return .adapting("content digest") { configuration, _ in
            let digest: ContentDigest
            if let before = known.withLock({ $0 }) {
                digest = before
            } else {
                digest = try await source.digest(algorithm)
            }
            known.withLock { $0 = digest }
            configuration.setField("Content-Digest", digest.fieldValue)
        }
    }
}

extension UploadSource {
    /// The digest of the bytes, read front to back.
    fileprivate func digest(_ algorithm: ContentDigest.Algorithm) async throws -> ContentDigest {
        var digest = RunningDigest(algorithm)
        guard let reader = try body().makeReader() else { return ContentDigest(digest) }
        while let piece = try await reader.read(maximumLength: 1 << 18) {
            guard !Task.isCancelled else { throw RequestFailure.Reason.cancelled }
            digest.update(piece)
        }
        return ContentDigest(digest)
    }

    /// The bytes, watched by nobody.
    private func body() throws(RequestError) -> HTTPBody {
        switch kind {
        case .data(let data): .data(data)
        case .file(let url): .file(url)
        case .stream(let stream): .stream(stream)
        case .form(let form): try form.body()
        }
    }
}
