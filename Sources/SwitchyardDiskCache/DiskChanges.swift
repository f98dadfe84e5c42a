package import Foundation
package import SwitchyardAPI
import SwitchyardClient

/// A file that records when the resource at each request path was last changed by a call, for later runs of the app.
///
/// The file is an array of 65,536 times of 8 bytes each, and a hash of the path selects the element. The file never
/// grows and needs no maintenance. If two paths share an element, a write request to one path also counts as a change
/// of the other path. The only cost is an unnecessary request. No change is ever lost. Elements that were never written
/// are holes in the file and take no space.
struct DiskChanges: Sendable {
    private static let count: UInt64 = 65_536

    private let path: String

    init(of folder: DiskFolder) {
        path = "\(folder.path)/.changes"
    }

    /// Records the time at which the resource at a request path was changed, replacing an earlier time.
    func note(_ path: String, in partition: CachePartition, at date: Date) throws(DiskCacheError) {
        let file = open(self.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw DiskCacheError(errno, self.path) }
        defer { close(file) }
        // The value 0 means that no time was written.
        let bits = date.timeIntervalSince1970.bitPattern.littleEndian
        let offset = Self.offset(of: path, in: partition)
        let written = withUnsafeBytes(of: bits) { pwrite(file, $0.baseAddress, 8, offset) }
        guard written == 8 else { throw DiskCacheError(written < 0 ? errno : ENOSPC, self.path) }
    }

    /// Returns the last recorded time for a request path, or `nil` if there is none.
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
    /// Records for later runs that a call, such as a PUT, has changed the resource at a request path.
    package func recordChange(of path: String, in partition: CachePartition, at date: Date) {
        writing.async { [self] in
            do throws(DiskCacheError) {
                try DiskChanges(of: folder).note(path, in: partition, at: date)
            } catch {
                note { $0.failed(error) }
            }
        }
    }

    /// Returns the time at which a call last changed the resource at a request path, in any run or process.
    ///
    /// The returned time may be later than the true time, because several paths may share one recorded time.
    package func lastChange(of path: String, in partition: CachePartition) async -> Date? {
        DiskChanges(of: folder).last(path, in: partition)
    }
}
