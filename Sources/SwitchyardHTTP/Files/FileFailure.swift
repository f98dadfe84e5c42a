package import Foundation

/// Why a file cannot be written, or not be where it should.
public struct FileFailure: Error, Sendable, Hashable {
    /// The kinds of failure.
    public enum Reason: Sendable, Hashable {
        /// A file stands there already, and is not to be replaced.
        case exists
        /// A directory stands there.
        case isDirectory
        /// The directory that it belongs into is missing, or no directory.
        case directoryMissing
        /// No permission, or a volume that cannot be written to.
        case noPermission
        /// The volume, or the user's share of it, is full.
        case diskFull
        /// The file would be larger than the volume, the process or the caller allows.
        case tooLarge
        /// Another download is writing it.
        case busy
        /// The URL is not that of a file.
        case notAFileURL
        /// Anything else; the text is the system's.
        case other(String)
    }

    /// The path of the file.
    public var path: String
    /// What is wrong.
    public var reason: Reason

    /// Creates a failure.
    public init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }
}

extension FileFailure: CustomStringConvertible {
    /// What is wrong with which file.
    public var description: String {
        let what =
            switch reason {
            case .exists: "exists already"
            case .isDirectory: "is a directory"
            case .directoryMissing: "stands in a directory that does not exist"
            case .noPermission: "may not be written"
            case .diskFull: "does not fit: the disk is full"
            case .tooLarge: "is larger than allowed"
            case .busy: "is being written by another download"
            case .notAFileURL: "is not given by a file URL"
            case .other(let text): "cannot be written: \(text)"
            }
        return "the file “\(path)” \(what)"
    }
}

extension FileFailure {
    /// The failure that an error number of the system stands for.
    package init(errno code: Int32, path: String) {
        let reason: Reason =
            switch code {
            case EEXIST, ENOTEMPTY: .exists
            case EISDIR: .isDirectory
            case ENOENT, ENOTDIR: .directoryMissing
            case EACCES, EPERM, EROFS: .noPermission
            case ENOSPC, EDQUOT: .diskFull
            case EFBIG: .tooLarge
            case EWOULDBLOCK: .busy
            default: .other(String(cString: strerror(code)))
            }
        self.init(path: path, reason: reason)
    }

    /// The failure that an error of Foundation's stands for, by the number of the system's in it.
    package init(_ error: any Error, path: String) {
        // On Linux that is no `NSError`, and not to be had by a cast to one.
        let system = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
        self.init(errno: system.map { Int32(($0 as NSError).code) } ?? EIO, path: path)
    }

    /// Creates missing directories.
    package static func makeDirectory(_ directory: URL) throws(FileFailure) {
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch let error as CocoaError {
            switch error.code {
            case .fileWriteNoPermission, .fileWriteVolumeReadOnly:
                throw FileFailure(path: directory.path, reason: .noPermission)
            case .fileWriteOutOfSpace: throw FileFailure(path: directory.path, reason: .diskFull)
            case .fileWriteFileExists: throw FileFailure(path: directory.path, reason: .directoryMissing)
            default: throw FileFailure(error, path: directory.path)
            }
        } catch {
            throw FileFailure(path: directory.path, reason: .other("\(error)"))
        }
    }

    /// Whether a directory stands at the path, following links; `nil` when there is nothing.
    package static func isDirectory(_ path: String) -> Bool? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether anything stands at the path, a dangling link included.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }
}

/// Writes bodies to files.
enum FileWriting {
    /// Writes everything a reader gives to `partial` and then moves it over `file`; nothing is left behind on failure.
    static func write(_ reader: any HTTPBodyReader, to partial: URL, movingTo file: URL) async throws {
        do {
            try Data().write(to: partial)
            let handle = try FileHandle(forWritingTo: partial)
            defer { try? handle.close() }
            while let piece = try await reader.read(maximumLength: 1 << 18) {
                try handle.write(contentsOf: piece)
            }
            try handle.synchronize()
        } catch {
            try? FileManager.default.removeItem(at: partial)
            throw Self.failure(error, file)
        }
        guard rename(partial.path, file.path) == 0 else {
            try? FileManager.default.removeItem(at: partial)
            throw RequestError.file(path: file.path, reason: .unwritable(String(cString: strerror(errno))))
        }
    }

    private static func failure(_ error: any Error, _ file: URL) -> RequestError {
        (error as? RequestError) ?? .file(path: file.path, reason: .unwritable("\(error)"))
    }
}
