import Foundation

/// How many bytes the entries of a folder take, counted by all processes that share it.
///
/// The count stands in a file under a lock of the system, which a process that is killed lets go. It is raised before an
/// entry is put in place, so that it may be too high after a kill but never too low; whoever opens the folder and every
/// sweep count anew. The lock is held while one entry is put in place, with the sweep that this may take, or removed,
/// and not between.
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

    /// Does something that changes the count, while no other process does.
    ///
    /// - Parameter change: Is given the count, `nil` when it is not known, and leaves the new one.
    /// - Throws: What `change` throws.
    func update<Failure: Error>(_ change: (inout Int?) throws(Failure) -> Void) throws(Failure) {
        // A lock that the system does not give, as some network folders, costs no more than an inexact count.
        while flock(file, LOCK_EX) != 0, errno == EINTR {}
        defer { flock(file, LOCK_UN) }
        var count = read()
        defer { write(count) }
        try change(&count)
    }

    /// The count with its complement, which tells a torn or foreign file.
    private func read() -> Int? {
        var words: (UInt64, UInt64) = (0, 0)
        let length = withUnsafeMutableBytes(of: &words) { pread(file, $0.baseAddress, 16, 0) }
        guard length == 16, words.0 == ~words.1 else { return nil }
        return Int(exactly: UInt64(littleEndian: words.0))
    }

    private func write(_ count: Int?) {
        let word = UInt64(max(0, count ?? 0)).littleEndian
        // Without a count the words do not fit each other, and the next one counts anew.
        var words = (word, count == nil ? word : ~word)
        _ = withUnsafeBytes(of: &words) { pwrite(file, $0.baseAddress, 16, 0) }
    }
}
