import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// Where an entry lies within the folder of a disk cache.
struct DiskName: Sendable, Hashable {
    /// The folder of the partition.
    let partition: String
    /// The folder within, one of 256, so that none becomes long.
    let shard: String
    /// The file.
    let file: String

    /// Creates the name of a key, whose digest is given since it costs a little.
    init(_ partition: CachePartition, digest: Data) {
        let text = digest.hexText
        self.partition = Self.folder(of: partition)
        shard = String(text.prefix(2))
        file = String(text.dropFirst(2).prefix(38))
    }

    /// The folder of a partition; those of all users of a service and environment begin alike.
    static func folder(of partition: CachePartition) -> String {
        prefix(of: partition) + fingerprint([partition.user == nil ? "" : "user", partition.user ?? ""])
    }

    /// What the folders of all users of a service and environment begin with.
    static func prefix(of partition: CachePartition) -> String {
        fingerprint([partition.service, partition.environment]) + "-"
    }

    /// Whether a name can be that of a partition's folder: what others keep beside is not the cache's to remove.
    static func isPartition(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { isHex($0, count: 16) }
    }

    /// Whether a name can be that of a folder within a partition.
    static func isShard(_ name: String) -> Bool { isHex(name, count: 2) }

    /// Whether a name can be that of an entry.
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

    /// A fingerprint of the key, the same in every run: its SHA-256.
    var fingerprint: Data { MessageDigest.sha256(data) }
}
