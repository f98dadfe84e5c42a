public import Foundation

extension HTTPBody {
    /// The SHA-256 of the body as it will be sent, for signatures and cache keys; without a body that of no bytes.
    ///
    /// Parameters and encodable values are written with sorted names, so equal bodies have equal digests. A file is read
    /// in pieces.
    ///
    /// - Returns: 32 bytes.
    /// - Throws: ``RequestError/body(kind:reason:)`` for a stream, whose bytes do not exist yet, and
    ///   ``RequestError/file(path:reason:)``.
    public func sha256() throws(RequestError) -> Data {
        switch self {
        case .none: MessageDigest.sha256([])
        case .data(let data): MessageDigest.sha256(data)
        case .file(let url): try MessageDigest.sha256(ofFile: url)
        case .stream: throw .body(kind: "streamed", reason: .notInMemory)
        }
    }
}
