import Foundation
import SwitchyardClient
import SwitchyardHTTP

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The file of an outbox.
///
/// ``append(_:)`` returns only when the record is on disk.
///
/// The file is locked until it is released, so that two outboxes, even of two processes, never write to the same file.
/// The outbox that owns this value protects it with a lock.
struct OutboxFile {
    private let url: URL
    private var handle: FileHandle
    private var length: Int
    private var isReleased = false
    /// The number of obsolete records in the file.
    private var garbage = 0
    /// The largest request number that the file has ever contained, even if that request is no longer stored.
    ///
    /// Numbers are not reused. If a new request reused a number, the records in the file would mark it as sent or
    /// dropped, and an app that has kept the number would mistake the new request for the old request.
    private(set) var last: UInt64 = 0
    /// The last time reading in the file.
    private(set) var reading: OutboxTimeline.Reading?

    /// Opens the file, and drops an incomplete record that a crash left at its end.
    ///
    /// A missing file is created.
    ///
    /// - Throws: ``OutboxError``. The error is ``OutboxError/busy`` if another outbox has the file open.
    static func open(_ url: URL) throws(OutboxError) -> (file: OutboxFile, entries: [OutboxEntry]) {
        // Compaction replaces the file. If the path is a symbolic link, compaction must replace the target of the link.
        let url = url.resolvingSymlinksInPath()
        var locked: FileHandle?
        do {
            let handle = try Self.locked(url)
            locked = handle
            let data = try handle.readToEnd() ?? Data()
            guard let (records, length) = OutboxRecord.records(in: data) else { throw OutboxError.foreignFile }
            var file = OutboxFile(url: url, handle: handle, length: length)
            let entries = entries(of: records)
            file.last = records.map(\.id).max() ?? 0
            file.reading = records.last { $0.reading != nil }?.reading
            if data.starts(with: OutboxRecord.magic) {
                try file.handle.truncate(atOffset: UInt64(file.length))
                try flush(file.handle)
                file.garbage = records.count - entries.count
            } else {
                try file.replace(with: try file.contents(of: entries))
            }
            return (file, entries)
        } catch {
            if let locked { ExclusiveFile.unlock(locked.fileDescriptor) }
            throw failure(error, at: url)
        }
    }

    /// Opens and locks a file.
    private static func locked(_ url: URL) throws(FileFailure) -> FileHandle {
        FileHandle(fileDescriptor: try ExclusiveFile.open(url.path, mode: 0o600), closeOnDealloc: true)
    }

    private static func failure(_ error: any Error, at url: URL) -> OutboxError {
        switch error {
        case let error as OutboxError: error
        case let failure as FileFailure: failure.reason == .busy ? .busy : .file("\(failure)")
        default: .file("\(url.path): \(error.localizedDescription)")
        }
    }

    /// Releases the file, so that another outbox can open it.
    mutating func release() {
        guard !isReleased else { return }
        isReleased = true
        letGo()
    }

    private func letGo() {
        ExclusiveFile.unlock(handle.fileDescriptor)
        try? handle.close()
    }

    /// Returns a description of the problem that starts with the path of the file.
    func description(of problem: String) -> String { "\(url.path): \(problem)" }

    private init(url: URL, handle: FileHandle, length: Int) {
        self.url = url
        self.handle = handle
        self.length = length
    }

    /// Appends a record.
    ///
    /// If the append fails, the file is unchanged.
    mutating func append(_ record: OutboxRecord) throws(OutboxError) {
        guard !isReleased else { throw .closed }
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
            last = max(last, record.id)
            reading = record.reading ?? reading
            switch record {
            case .stored: break
            case .begun, .time: garbage += 1
            case .done: garbage += 2
            }
        } catch {
            throw Self.failure(error, at: url)
        }
    }

    /// Rewrites the file with only the stored requests if most of its records are obsolete.
    mutating func compact(keeping entries: [OutboxEntry]) throws(OutboxError) {
        guard !isReleased, garbage > 64, garbage > entries.count * 2 else { return }
        do {
            try replace(with: try contents(of: entries))
            garbage = 0
        } catch {
            throw Self.failure(error, at: url)
        }
    }

    /// Returns the contents of a file with only the time, the last number and the stored requests.
    private func contents(of entries: [OutboxEntry]) throws -> Data {
        var data = OutboxRecord.magic
        if let reading { data += try OutboxRecord.time(reading).bytes }
        if last > 0, !entries.contains(where: { $0.id == last }) { data += try OutboxRecord.done(last).bytes }
        for entry in entries { data += try OutboxRecord.stored(entry).bytes }
        return data
    }

    /// Returns the stored requests.
    ///
    /// A request that was in flight when the app was killed may have been executed.
    ///
    /// The record of a newer request also replaces older requests with the same replacement key. A crash between
    /// storing the newer request and dropping an older request therefore does no harm.
    private static func entries(of records: [OutboxRecord]) -> [OutboxEntry] {
        var (begun, done): (Set<UInt64>, Set<UInt64>) = ([], [])
        var newest: [OutboxEntry.Slot: UInt64] = [:]
        for record in records {
            switch record {
            case .stored(let entry): if let slot = entry.slot { newest[slot] = max(newest[slot] ?? 0, entry.id) }
            case .begun(let id): begun.insert(id)
            case .done(let id): done.insert(id)
            case .time: break
            }
        }
        return records.compactMap { record in
            guard case .stored(var entry) = record, !done.contains(entry.id) else { return nil }
            if let slot = entry.slot, newest[slot] != entry.id { return nil }
            if begun.contains(entry.id) { entry.hasBegun = true }
            entry.mayHaveBeenExecuted = entry.hasBegun == true
            return entry
        }
    }

    private static func flush(_ handle: FileHandle) throws {
        guard DiskFlush.wait(for: handle.fileDescriptor) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    /// Replaces the file atomically.
    ///
    /// The new file is written next to the old file, flushed and renamed, and then the folder is flushed. The new file
    /// is locked before it is renamed, and the old file is released afterwards. After the rename, no step can fail.
    private mutating func replace(with data: Data) throws {
        let new = url.appendingPathExtension("new")
        let handle = try Self.locked(new)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: data)
        try Self.flush(handle)
        guard rename(new.path, url.path) == 0 else { throw FileFailure(errno: errno, path: url.path) }
        letGo()
        self.handle = handle
        length = data.count
        let folder = openFolder(url.deletingLastPathComponent().path)
        if folder >= 0 {
            _ = DiskFlush.wait(for: folder)
            close(folder)
        }
    }
}

extension OutboxRecord {
    /// The time reading in the record.
    ///
    /// For a stored request, it is the time of storing.
    fileprivate var reading: OutboxTimeline.Reading? {
        switch self {
        case .time(let reading): reading
        case .stored(let entry): entry.elapsed.map { OutboxTimeline.Reading(elapsed: $0, date: entry.storedAt) }
        case .begun, .done: nil
        }
    }
}

private func openFolder(_ path: String) -> Int32 {
    open(path, O_RDONLY | O_CLOEXEC)
}
