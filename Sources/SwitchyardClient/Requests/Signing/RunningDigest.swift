import Foundation

/// The digest of a content that comes piece by piece.
struct RunningDigest: Sendable {
    let algorithm: ContentDigest.Algorithm
    /// The bytes so far.
    private(set) var count: Int64 = 0
    private var hash: any BlockHash

    init(_ algorithm: ContentDigest.Algorithm) {
        self.algorithm = algorithm
        hash =
            switch algorithm {
            case .sha256: SHA256()
            case .md5: MD5()
            }
    }

    /// The digest of the bytes so far.
    var bytes: Data {
        var hash = hash
        return Data(hash.finish())
    }

    /// Takes the next bytes in.
    mutating func update(_ piece: Data) {
        count += Int64(piece.count)
        hash.update([UInt8](piece))
    }
}
