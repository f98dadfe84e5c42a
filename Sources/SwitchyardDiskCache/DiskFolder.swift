import Foundation
import SwitchyardClient

/// The folder of a disk cache: its layout, and atomic reads and writes of its files.
///
///     <partition>/<first byte of the digest>/<other bytes of the digest>    entries (digest of the cache key)
///     .new/                                                                 files being written
///     .size                                                                 see DiskLedger
///     .changes                                                              see DiskChanges
struct DiskFolder: Sendable {
    /// The file of an entry.
    struct File: Sendable {
        var path: String
        var size: Int
        /// The time at which the file was last stored or read, in seconds since 1970.
        ///
        /// Reads update the time at most once a minute.
        var used: Int
    }

    let path: String

    /// Opens the folder, and creates it if it does not exist.
    ///
    /// - Parameters:
    ///   - url: The folder.
    ///   - replacesFile: Whether a file at the folder's path is removed.
    /// - Throws: ``DiskCacheError``.
    init(_ url: URL, replacesFile: Bool) throws(DiskCacheError) {
        path = url.path
        do throws(DiskCacheError) {
            try Self.make(path)
        } catch  where error.kind == .notAFolder && replacesFile {
            guard unlink(path) == 0 else { throw DiskCacheError(errno, path) }
            try Self.make(path)
        }
        #if canImport(Darwin)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            var folder = url
            // A failure is ignored. The only effect is that the cache may be included in a backup.
            try? folder.setResourceValues(values)
        #endif
    }

    /// Returns the path of an entry.
    func path(of name: DiskName) -> String {
        "\(path)/\(name.partition)/\(name.shard)/\(name.file)"
    }

    /// Returns the bytes of a file, or `nil` if the file does not exist or is larger than `limit` bytes.
    ///
    /// If `marksUse` is `true`, a file that was last used more than a minute ago is marked as used.
    func read(_ path: String, limit: Int, marksUse: Bool) throws(DiskCacheError) -> Data? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw DiskCacheError(errno, path) }
            return nil
        }
        defer { close(file) }
        var facts = stat()
        guard fstat(file, &facts) == 0 else { throw DiskCacheError(errno, path) }
        guard facts.st_size <= limit else { return nil }
        // In a read-only folder this call fails. The time of use is not needed there, because nothing is evicted.
        if marksUse, time(nil) - facts.modified > 60 { _ = futimens(file, nil) }
        return try Self.bytes(of: file, count: Int(facts.st_size), path)
    }

    /// Writes a file to a temporary path, and waits until the system has passed it to the disk.
    ///
    /// On Apple systems, the disk may still lose the file in a power failure. A stronger flush than `fsync` is too
    /// expensive for a cache (Apple, fsync(2)). A file damaged in this way is detected by its checksum and not used.
    ///
    /// - Returns: The temporary path.
    /// - Throws: ``DiskCacheError``. In this case, no file is left.
    func writeTemporary(_ bytes: Data, as name: String) throws(DiskCacheError) -> String {
        let path = "\(path)/.new/\(name)"
        var file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        if file < 0, errno == ENOENT {
            try Self.make("\(self.path)/.new")
            file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        }
        guard file >= 0 else { throw DiskCacheError(errno, path) }
        var failure = Self.write(bytes, to: file)
        if failure == 0, fsync(file) != 0 { failure = errno }
        close(file)
        guard failure == 0 else {
            unlink(path)
            throw DiskCacheError(failure, path)
        }
        return path
    }

    /// Moves a temporary file to the path of an entry atomically.
    func move(_ aside: String, to name: DiskName) throws(DiskCacheError) {
        let path = path(of: name)
        if rename(aside, path) == 0 { return }
        if errno == ENOENT {
            try Self.make("\(self.path)/\(name.partition)/\(name.shard)")
            if rename(aside, path) == 0 { return }
        }
        let failure = errno
        unlink(aside)
        throw DiskCacheError(failure, path)
    }

    /// Returns the size of a file, or 0 if the file does not exist.
    func size(of path: String) -> Int {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int(facts.st_size) : 0
    }

    private static func bytes(of file: Int32, count: Int, _ path: String) throws(DiskCacheError) -> Data? {
        var data = Data(count: count)
        var done = 0
        while done < count {
            let got = data.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { Foundation.read(file, $0 + done, count - done) } ?? 0
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw DiskCacheError(errno, path) }
            // The file has become shorter since its size was read, because another process has truncated it.
            guard got > 0 else { return data.prefix(done) }
            done += got
        }
        return data
    }

    /// Writes all bytes, and returns 0 or the system's error number.
    private static func write(_ bytes: Data, to file: Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count, let base = bytes.baseAddress {
                let count = Foundation.write(file, base + done, bytes.count - done)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count < 0 ? errno : ENOSPC }
                done += count
            }
            return 0
        }
    }

    /// Creates a folder and its parent folders.
    private static func make(_ path: String) throws(DiskCacheError) {
        if mkdir(path, 0o700) == 0 { return }
        let failure = errno
        var facts = stat()
        if stat(path, &facts) == 0 {
            guard facts.st_mode & S_IFMT == S_IFDIR else { throw DiskCacheError(.notAFolder, path: path) }
            return
        }
        let above = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard failure == ENOENT, above != path, !above.isEmpty else { throw DiskCacheError(failure, path) }
        try make(above)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw DiskCacheError(errno, path) }
    }
}

extension DiskCacheError {
    /// Creates an error from the system's error number.
    init(_ number: Int32, _ path: String) {
        let kind: Kind =
            switch number {
            case ENOTDIR: .notAFolder
            case EACCES, EPERM, EROFS: .accessDenied
            case ENOSPC, EDQUOT: .diskFull
            default: .system
            }
        self.init(kind, path: path, code: number)
    }
}

extension stat {
    /// The time at which the file was last changed or marked as used, in seconds since 1970.
    var modified: Int {
        #if canImport(Darwin)
            st_mtimespec.tv_sec
        #else
            st_mtim.tv_sec
        #endif
    }
}

extension DiskFolder {
    /// The files of all entries, in no particular order.
    ///
    /// Files that another process removes in the meantime are left out.
    var files: [File] {
        partitions(beginningWith: "").flatMap { files(of: $0) }
    }

    /// Returns the names of the partitions' folders that begin with a prefix.
    func partitions(beginningWith prefix: String) -> [String] {
        Self.names(in: path).filter { $0.hasPrefix(prefix) && DiskName.isPartition($0) }
    }

    /// Returns the files of the entries of one partition.
    func files(of partition: String) -> [File] {
        let folder = "\(path)/\(partition)"
        return Self.names(in: folder).filter(DiskName.isShard).flatMap { shard in
            Self.names(in: "\(folder)/\(shard)").filter(DiskName.isFile)
                .compactMap { Self.file("\(folder)/\(shard)/\($0)") }
        }
    }

    /// Removes temporary files that are older than ten minutes, because their writers were killed.
    func removeLeftovers() {
        for name in Self.names(in: "\(path)/.new") {
            guard let file = Self.file("\(path)/.new/\(name)"), time(nil) - file.used > 600 else { continue }
            unlink(file.path)
        }
    }

    private static func file(_ path: String) -> File? {
        var facts = stat()
        guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        return File(path: path, size: Int(facts.st_size), used: facts.modified)
    }

    /// Returns the names in a folder except `.` and `..`, or an empty array if the folder cannot be read.
    private static func names(in folder: String) -> [String] {
        guard let handle = opendir(folder) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
