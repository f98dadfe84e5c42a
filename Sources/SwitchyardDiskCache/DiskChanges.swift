public import Foundation
public import SwitchyardAPI
import SwitchyardClient

/// When paths were changed, for the runs to come: a file of 65,536 times, 8 bytes each, of which a path has one by its
/// fingerprint.
///
/// The file never grows and needs no care. Paths that share a time cost each other a request, which is what a change that
/// nobody made does; none is ever forgotten. What was never written is a hole in the file and takes no room.
struct DiskChanges: Sendable {
    private static let count: UInt64 = 65_536

    private let path: String

    init(of folder: DiskFolder) {
        path = "\(folder.path)/.changes"
    }

    /// Writes down when a path was changed, in place of an earlier time.
    func note(_ path: String, in partition: CachePartition, at date: Date) throws(DiskCacheError) {
        let file = open(self.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw DiskCacheError(errno, self.path) }
        defer { close(file) }
        // 0 is what was never written.
        let bits = date.timeIntervalSince1970.bitPattern.littleEndian
        let offset = Self.offset(of: path, in: partition)
        let written = withUnsafeBytes(of: bits) { pwrite(file, $0.baseAddress, 8, offset) }
        guard written == 8 else { throw DiskCacheError(written < 0 ? errno : ENOSPC, self.path) }
    }

    /// When a path was changed; `nil` when it never was.
    func last(_ path: String, in partition: CachePartition) -> Date? {
        let file = open(self.path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let offset = Self.offset(of: path, in: partition)
        var bits: UInt64 = 0
        let read = withUnsafeMutableBytes(of: &bits) { pread(file, $0.baseAddress, 8, offset) }
        guard read == 8, bits != 0 else { return nil }
        return Date(timeIntervalSince1970: Double(bitPattern: UInt64(littleEndian: bits)))
    }

    private static func offset(of path: String, in partition: CachePartition) -> off_t {
        var writer = CacheKeyWriter()
        for part in [partition.service, partition.environment, path] { writer.write(part) }
        return off_t(writer.bytes.withUnsafeBytes { Checksum.of($0, seed: 0) } % count) * 8
    }
}

extension DiskCache {
    /// Takes note that a call has changed what a path answers, for the runs to come.
    public func noteChange(of path: String, in partition: CachePartition, at date: Date) {
        writing.async { [self] in
            do throws(DiskCacheError) {
                try DiskChanges(of: folder).note(path, in: partition, at: date)
            } catch {
                note { $0.failed(error) }
            }
        }
    }

    /// When a call changed what a path answers, in whatever run or process; at the latest, since paths share times.
    public func lastChange(of path: String, in partition: CachePartition) async -> Date? {
        DiskChanges(of: folder).last(path, in: partition)
    }
}
