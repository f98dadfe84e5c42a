import Foundation

/// The total size of a folder's entries in bytes, counted across all processes that share the folder.
///
/// The count is stored in a file under a system lock, which is released if the process is killed. The count is raised
/// before an entry is moved to its final path. After a kill it may therefore be too high but never too low. A cache
/// counts the entries again after it opens the folder and in every sweep. The lock is held only while one entry is
/// added, including a sweep if needed, or removed.
final class DiskLedger: Sendable {
    private let file: Int32

    /// Opens the ledger of a folder.
    init(of folder: DiskFolder) throws(DiskCacheError) {
        let path = "\(folder.path)/.size"
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw DiskCacheError(errno, path) }
    }

    deinit {
        if file >= 0 { close(file) }
    }

    /// Changes the count while no other process does.
    ///
    /// - Parameter change: Receives the count, which is `nil` if unknown, and sets the new one.
    /// - Throws: The error that `change` throws.
    func update<Failure: Error>(_ change: (inout Int?) throws(Failure) -> Void) throws(Failure) {
        // If the system provides no lock, as on some network folders, only the exactness of the count is lost.
        while flock(file, LOCK_EX) != 0, errno == EINTR {}
        defer { flock(file, LOCK_UN) }
        var count = read()
        defer { write(count) }
        try change(&count)
    }

    /// Returns the count; its complement is stored with it, to detect an incomplete or foreign file.
    private func read() -> Int? {
        var words: (UInt64, UInt64) = (0, 0)
        let length = withUnsafeMutableBytes(of: &words) { pread(file, $0.baseAddress, 16, 0) }
        guard length == 16, words.0 == ~words.1 else { return nil }
        return Int(exactly: UInt64(littleEndian: words.0))
    }

    private func write(_ count: Int?) {
        let word = UInt64(max(0, count ?? 0)).littleEndian
        // If the count is unknown, words that do not match are written, so that the next reader counts the entries
        // again.
        var words = (word, count == nil ? word : ~word)
        _ = withUnsafeBytes(of: &words) { pwrite(file, $0.baseAddress, 16, 0) }
    }
}
