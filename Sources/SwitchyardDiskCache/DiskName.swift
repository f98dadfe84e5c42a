import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The location of an entry within the folder of a disk cache.
struct DiskName: Sendable, Hashable {
    /// The name of the partition's folder.
    let partition: String
    /// The name of the subfolder, one of 256, so that no folder has too many files.
    let shard: String
    /// The name of the file.
    let file: String

    /// Creates the name of an entry from the digest of its cache key.
    ///
    /// Computing the digest is expensive, so callers pass it.
    init(_ partition: CachePartition, digest: Data) {
        let text = digest.hexText
        self.partition = Self.folder(of: partition)
        shard = String(text.prefix(2))
        file = String(text.dropFirst(2).prefix(38))
    }

    /// Returns the name of a partition's folder.
    ///
    /// The names for all users of the same service and environment begin with the same prefix.
    static func folder(of partition: CachePartition) -> String {
        prefix(of: partition) + fingerprint([partition.user == nil ? "" : "user", partition.user ?? ""])
    }

    /// Returns the common prefix of the folder names for all users of a service and environment.
    static func prefix(of partition: CachePartition) -> String {
        fingerprint([partition.service, partition.environment]) + "-"
    }

    /// Returns whether a name has the form of a partition folder's name.
    ///
    /// The cache removes only files whose names have the right form, because other files may be in its folder.
    static func isPartition(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { isHex($0, count: 16) }
    }

    /// Returns whether a name has the form of the name of a partition's subfolder.
    static func isShard(_ name: String) -> Bool { isHex(name, count: 2) }

    /// Returns whether a name has the form of the name of an entry's file.
    static func isFile(_ name: String) -> Bool { isHex(name, count: 38) }

    private static func isHex(_ text: some StringProtocol, count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy { $0.isDigit || (0x61...0x66).contains($0) }
    }

    private static func fingerprint(_ parts: [String]) -> String {
        var writer = CacheKeyWriter()
        for part in parts { writer.write(part) }
        return String(MessageDigest.sha256(writer.bytes).hexText.prefix(16))
    }
}

extension CacheKey {
    /// The length of a digest in bytes.
    static let digestLength = 32

    /// The SHA-256 digest of the cache key.
    ///
    /// Equal cache keys have the same digest in every run of the app.
    var fingerprint: Data { MessageDigest.sha256(data) }
}
