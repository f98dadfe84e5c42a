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

/// The file of an outbox: what was appended is on the disk when the call returns.
///
/// It is locked until it is let go, so that two outboxes, of two processes even, never write into one. Used behind its
/// owner's lock.
struct OutboxFile {
    private let url: URL
    private var handle: FileHandle
    private var length: Int
    private var isReleased = false
    /// Records in the file that say nothing any more.
    private var garbage = 0
    /// The largest number that was in the file, be it of a write that waits or of one that is done: a number that was used
    /// again would be taken for done, and be that of another write to whoever has kept it.
    private(set) var last: UInt64 = 0
    /// The last reading of the time that was in the file, or was written since.
    private(set) var reading: OutboxTimeline.Reading?

    /// Opens the file, which is made if it is missing, and drops what a crash left torn at its end.
    ///
    /// - Throws: ``OutboxError``; with ``OutboxError/busy`` when another outbox has it.
    static func open(_ url: URL) throws(OutboxError) -> (file: OutboxFile, entries: [OutboxEntry]) {
        // The file is replaced now and then, which must not take a link's place.
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

    /// Opens a file for this outbox alone.
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

    /// Lets go of the file, which another outbox may open then.
    mutating func release() {
        guard !isReleased else { return }
        isReleased = true
        letGo()
    }

    private func letGo() {
        ExclusiveFile.unlock(handle.fileDescriptor)
        try? handle.close()
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

    /// Writes the file anew with nothing but what waits, when most of it says nothing any more.
    mutating func compact(keeping entries: [OutboxEntry]) throws(OutboxError) {
        guard !isReleased, garbage > 64, garbage > entries.count * 2 else { return }
        do {
            try replace(with: try contents(of: entries))
            garbage = 0
        } catch {
            throw Self.failure(error, at: url)
        }
    }

    /// A file with nothing but the time, the last number and what waits.
    private func contents(of entries: [OutboxEntry]) throws -> Data {
        var data = OutboxRecord.magic
        if let reading { data += try OutboxRecord.time(reading).bytes }
        if last > 0, !entries.contains(where: { $0.id == last }) { data += try OutboxRecord.done(last).bytes }
        for entry in entries { data += try OutboxRecord.stored(entry).bytes }
        return data
    }

    /// What waits; a write that was on its way when the app was ended may have arrived, whatever became of it.
    ///
    /// The record of a write is all that replaces an older one, so that no crash comes between the two.
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

    /// Puts a whole file in the place of this one in one step: written beside it, flushed, renamed, and the folder flushed.
    ///
    /// The new one is locked before it has its name, and the old one is let go after that. Once the file is in its place
    /// nothing can fail any more.
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
    /// What the record says of the time; a write says when it was stored.
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
