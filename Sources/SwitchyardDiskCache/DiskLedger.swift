import Foundation

/// The total size of a folder's entries in bytes, counted across all processes that share the folder.
///
/// The size is stored in a file under a system lock, which is released if the process is killed. The size is increased
/// before an entry is moved to its final path. If the process is killed between the two steps, the stored size is too
/// high, but never too low. A cache measures the entries again after it opens the folder and each time it evicts
/// entries. The lock is held only while one entry is added or removed. If there is too little space for the entry,
/// other entries are evicted under the lock too.
final class DiskLedger: Sendable {
    private let file: Int32

    /// Opens the file that stores the total size of a folder's entries.
    init(of folder: DiskFolder) throws(DiskCacheError) {
        let path = "\(folder.path)/.size"
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw DiskCacheError(errno, path) }
    }

    deinit {
        if file >= 0 { close(file) }
    }

    /// Changes the total size under the system lock, so that no other process changes it at the same time.
    ///
    /// - Parameter change: A closure that receives the size, which is `nil` if unknown, and sets the new size.
    /// - Throws: The error that `change` throws.
    func update<Failure: Error>(_ change: (inout Int?) throws(Failure) -> Void) throws(Failure) {
        // If the system provides no lock, as on some network folders, the size may become inexact but nothing else
        // breaks.
        while flock(file, LOCK_EX) != 0, errno == EINTR {}
        defer { flock(file, LOCK_UN) }
        var count = read()
        defer { write(count) }
        try change(&count)
    }

    /// Returns the stored size, or `nil` if the file is incomplete or was not written by this type.
    ///
    /// The size is stored together with its bitwise complement. In a file that this type did not write, the two values
    /// do not match.
    private func read() -> Int? {
        var words: (UInt64, UInt64) = (0, 0)
        let length = withUnsafeMutableBytes(of: &words) { pread(file, $0.baseAddress, 16, 0) }
        guard length == 16, words.0 == ~words.1 else { return nil }
        return Int(exactly: UInt64(littleEndian: words.0))
    }

    private func write(_ count: Int?) {
        let word = UInt64(max(0, count ?? 0)).littleEndian
        // If the size is unknown, two words that are not bitwise complements are written, so that the next reader
        // counts the entries again.
        var words = (word, count == nil ? word : ~word)
        _ = withUnsafeBytes(of: &words) { pwrite(file, $0.baseAddress, 16, 0) }
    }
}
