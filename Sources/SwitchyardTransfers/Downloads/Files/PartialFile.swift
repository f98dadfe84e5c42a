import Foundation
import SwitchyardHTTP
import SwitchyardServices

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The file that contains the received bytes of a download.
///
/// The file is locked while it is open, so two downloads never write to the same file, even in different processes. The
/// file's length is the number of received bytes. Written bytes survive the end of the process, even a crash.
final class PartialFile: Sendable {
    let url: URL
    private let descriptor: Int32

    /// Opens the file, or creates it if it does not exist.
    ///
    /// - Throws: ``FileFailure``. Its reason is ``FileFailure/Reason/busy`` if another download has locked the file.
    init(at url: URL) throws(FileFailure) {
        self.url = url
        descriptor = try Self.open(url)
    }

    /// Opens the file.
    ///
    /// If the file has a second hard link, removes the name at `url` and creates a new file there.
    ///
    /// A file with a second hard link is complete: the process ended after the file had been linked at its destination
    /// but before its partial name was removed.
    private static func open(_ url: URL) throws(FileFailure) -> Int32 {
        let descriptor = try ExclusiveFile.open(url.path, mode: 0o666)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_nlink > 1 else { return descriptor }
        unlink(url.path)
        ExclusiveFile.unlock(descriptor)
        close(descriptor)
        return try ExclusiveFile.open(url.path, mode: 0o666)
    }

    /// Takes ownership of an open file descriptor.
    init(descriptor: Int32, path: String) {
        url = URL(fileURLWithPath: path)
        self.descriptor = descriptor
    }

    deinit {
        guard descriptor >= 0 else { return }
        ExclusiveFile.unlock(descriptor)
        close(descriptor)
    }

    /// The number of bytes in the file.
    var length: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Truncates the file to a length, and continues writing at its end.
    func truncate(to length: Int64) throws(FileFailure) {
        guard ftruncate(descriptor, off_t(length)) == 0, lseek(descriptor, off_t(length), SEEK_SET) >= 0 else {
            throw FileFailure(errno: errno, path: url.path)
        }
    }

    /// Appends all the bytes to the file.
    func append(_ bytes: Data) throws(FileFailure) {
        try writeAll(bytes) { [descriptor] bytes, count, _ in systemWrite(descriptor, bytes, count) }
    }

    /// Writes all the bytes at an offset.
    ///
    /// Several threads may call this method if their ranges do not overlap.
    func write(_ bytes: Data, at offset: Int64) throws(FileFailure) {
        try writeAll(bytes) { [descriptor] bytes, count, done in
            pwrite(descriptor, bytes, count, off_t(offset + Int64(done)))
        }
    }

    /// Reads at least one byte at an offset, and at most `maximumLength` bytes.
    func read(at offset: Int64, maximumLength: Int) throws(FileFailure) -> Data {
        var bytes = Data(count: maximumLength)
        var count: Int
        repeat {
            count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, maximumLength, off_t(offset)) }
        } while count < 0 && errno == EINTR
        guard count > 0 else { throw FileFailure(errno: count < 0 ? errno : EIO, path: url.path) }
        return bytes.prefix(count)
    }

    private func writeAll(
        _ bytes: Data,
        with write: (UnsafeRawPointer, Int, Int) -> Int
    ) throws(FileFailure) {
        let failure: Int32? = bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while let base = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
                let count = write(base, rest.count, buffer.count - rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count < 0 ? errno : EIO }
                rest = rest.dropFirst(count)
            }
            return nil
        }
        if let failure { throw FileFailure(errno: failure, path: url.path) }
    }

    /// Flushes the bytes to the disk, and blocks the calling thread until then.
    func synchronize() throws(FileFailure) {
        guard DiskFlush.wait(for: descriptor) != 0 else { return }
        // Pipes and devices cannot be synchronized (EINVAL, EROFS), so these errors are ignored.
        guard errno == EINVAL || errno == EROFS else { throw FileFailure(errno: errno, path: url.path) }
    }

    func remove() {
        unlink(url.path)
    }
}

/// Calls the system's `write`.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
