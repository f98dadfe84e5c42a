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

/// The file that holds what has come of a download.
///
/// It is locked as long as it is open, so that two downloads, of two processes even, never write into one. Its length is
/// the number of bytes that are there: what was written survives the end of the process, however it comes.
final class PartialFile: Sendable {
    let url: URL
    private let descriptor: Int32

    /// Opens the file, or makes a new one.
    ///
    /// - Throws: ``FileFailure``; with ``FileFailure/Reason/busy`` when another download has it.
    init(at url: URL) throws(FileFailure) {
        self.url = url
        descriptor = try Self.open(url)
    }

    /// Opens the file; one that has another name as well is left to that.
    ///
    /// It is whole, and got its place when the process ended before the name here was taken away.
    private static func open(_ url: URL) throws(FileFailure) -> Int32 {
        let descriptor = try ExclusiveFile.open(url.path, mode: 0o666)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_nlink > 1 else { return descriptor }
        unlink(url.path)
        ExclusiveFile.unlock(descriptor)
        close(descriptor)
        return try ExclusiveFile.open(url.path, mode: 0o666)
    }

    /// Takes a descriptor over, to write to whatever it is open for.
    init(descriptor: Int32, path: String) {
        url = URL(fileURLWithPath: path)
        self.descriptor = descriptor
    }

    deinit {
        guard descriptor >= 0 else { return }
        ExclusiveFile.unlock(descriptor)
        close(descriptor)
    }

    /// The bytes that are there.
    var length: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Cuts the file to a length, and goes on writing there.
    func truncate(to length: Int64) throws(FileFailure) {
        guard ftruncate(descriptor, off_t(length)) == 0, lseek(descriptor, off_t(length), SEEK_SET) >= 0 else {
            throw FileFailure(errno: errno, path: url.path)
        }
    }

    /// Writes bytes behind those that are there, all of them.
    func append(_ bytes: Data) throws(FileFailure) {
        try writeAll(bytes) { [descriptor] bytes, count, _ in systemWrite(descriptor, bytes, count) }
    }

    /// Writes bytes at a place, all of them; from several threads, if the places differ.
    func write(_ bytes: Data, at offset: Int64) throws(FileFailure) {
        try writeAll(bytes) { [descriptor] bytes, count, done in
            pwrite(descriptor, bytes, count, off_t(offset + Int64(done)))
        }
    }

    /// Reads bytes at a place, at least one of them.
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

    /// Waits until the bytes are on the disk; blocks its thread meanwhile.
    func synchronize() throws(FileFailure) {
        guard DiskFlush.wait(for: descriptor) != 0 else { return }
        // Pipes and devices cannot be synchronised, and need not be.
        guard errno == EINVAL || errno == EROFS else { throw FileFailure(errno: errno, path: url.path) }
    }

    /// Removes the file.
    func remove() {
        unlink(url.path)
    }
}

/// The system's `write`.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
