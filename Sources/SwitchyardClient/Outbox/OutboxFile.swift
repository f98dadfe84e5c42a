import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The file of an outbox: what was appended is on the disk when the call returns.
///
/// Used behind its owner's lock.
struct OutboxFile {
    private let url: URL
    private var handle: FileHandle
    private var length: Int
    /// Records in the file that say nothing any more.
    private var garbage = 0
    /// The largest number in the file when it was opened, be it of a write that waits or of one that is done: a number
    /// that was used again would be taken for done.
    private(set) var last: UInt64 = 0

    /// Opens the file, which is made if it is missing, and drops what a crash left torn at its end.
    static func open(_ url: URL) throws(OutboxError) -> (file: OutboxFile, entries: [OutboxEntry]) {
        do {
            if !FileManager.default.fileExists(atPath: url.path) { try replace(url, with: OutboxRecord.magic) }
            let data = try Data(contentsOf: url)
            guard let (records, length) = OutboxRecord.records(in: data) else { throw OutboxError.foreignFile }
            if length == 0 { try replace(url, with: OutboxRecord.magic) }
            let handle = try FileHandle(forUpdating: url)
            var file = OutboxFile(url: url, handle: handle, length: max(length, OutboxRecord.magic.count))
            try handle.truncate(atOffset: UInt64(file.length))
            try flush(handle)
            let entries = entries(of: records)
            file.garbage = records.count - entries.count
            file.last = records.map(\.id).max() ?? 0
            return (file, entries)
        } catch let error as OutboxError {
            throw error
        } catch {
            throw .file("\(url.path): \(error.localizedDescription)")
        }
    }

    /// Says which file it is about.
    func description(of problem: String) -> String { "\(url.path): \(problem)" }

    private init(url: URL, handle: FileHandle, length: Int) {
        self.url = url
        self.handle = handle
        self.length = length
    }

    /// Appends a record; when that fails the file is as it was.
    mutating func append(_ record: OutboxRecord) throws(OutboxError) {
        do {
            let bytes = try record.bytes
            do {
                try handle.seek(toOffset: UInt64(length))
                try handle.write(contentsOf: bytes)
                try Self.flush(handle)
            } catch {
                try handle.truncate(atOffset: UInt64(length))
                throw error
            }
            length += bytes.count
            if case .done = record { garbage += 2 }
        } catch let error as OutboxError {
            throw error
        } catch {
            throw .file(description(of: error.localizedDescription))
        }
    }

    /// Writes the file anew with nothing but what waits, when most of it says nothing any more.
    mutating func compact(keeping entries: [OutboxEntry]) throws(OutboxError) {
        guard garbage > 64, garbage > entries.count * 2 else { return }
        do {
            var data = OutboxRecord.magic
            for entry in entries { data += try OutboxRecord.stored(entry).bytes }
            handle = try Self.replace(url, with: data)
            length = data.count
            garbage = 0
        } catch {
            throw .file(description(of: error.localizedDescription))
        }
    }

    private static func entries(of records: [OutboxRecord]) -> [OutboxEntry] {
        var done: Set<UInt64> = []
        for case .done(let id) in records { done.insert(id) }
        return records.compactMap { record in
            if case .stored(let entry) = record, !done.contains(entry.id) { entry } else { nil }
        }
    }

    private static func flush(_ handle: FileHandle) throws {
        guard DiskFlush.wait(for: handle.fileDescriptor) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    /// Puts a whole file in the place of another in one step: written beside it, flushed, renamed, and the folder flushed.
    ///
    /// - Returns: The file, open: once it is in its place nothing can fail any more.
    @discardableResult
    private static func replace(_ url: URL, with data: Data) throws -> FileHandle {
        let new = url.appendingPathExtension("new")
        let isMade = FileManager.default.createFile(
            atPath: new.path,
            contents: nil,
            attributes: [.posixPermissions: 0o600]
        )
        guard isMade else { throw CocoaError(.fileWriteUnknown) }
        let handle = try FileHandle(forUpdating: new)
        try handle.write(contentsOf: data)
        try flush(handle)
        guard rename(new.path, url.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        let folder = openFolder(url.deletingLastPathComponent().path)
        if folder >= 0 {
            _ = DiskFlush.wait(for: folder)
            close(folder)
        }
        return handle
    }
}

private func openFolder(_ path: String) -> Int32 {
    open(path, O_RDONLY | O_CLOEXEC)
}
