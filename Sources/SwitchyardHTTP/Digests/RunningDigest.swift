package import Foundation

/// The digest of a content that comes piece by piece.
package struct RunningDigest: Sendable {
    package let algorithm: ContentDigest.Algorithm
    /// The bytes so far.
    package private(set) var count: Int64 = 0
    private var hash: any BlockHash

    package init(_ algorithm: ContentDigest.Algorithm) {
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
    package mutating func update(_ piece: Data) {
        count += Int64(piece.count)
        hash.update([UInt8](piece))
    }
}
