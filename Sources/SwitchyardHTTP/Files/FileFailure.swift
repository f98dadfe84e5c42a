package import Foundation

/// An error that prevents a file from being written or moved to its destination.
public struct FileFailure: Error, Sendable, Hashable {
    /// The reason for a failure.
    public enum Reason: Sendable, Hashable {
        /// A file already exists at the path and must not be replaced.
        case exists
        /// There is a directory at the path.
        case isDirectory
        /// The parent directory does not exist or is not a directory.
        case directoryMissing
        /// There is no write permission, or the volume is read-only.
        case noPermission
        /// The volume or the user's quota is full.
        case diskFull
        /// The file would exceed a size limit of the volume, of the process or of the operation.
        case tooLarge
        /// Another download is writing the file, or the file is locked by another holder, in any process.
        case busy
        /// The URL is not a file URL.
        case notAFileURL
        /// Another error; the associated value is the system's error text.
        case other(String)
    }

    /// The path of the file.
    public var path: String
    /// The reason for the failure.
    public var reason: Reason

    /// Creates a failure.
    package init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }
}

extension FileFailure: CustomStringConvertible {
    /// A description of the failure with the path of the file.
    public var description: String {
        let what =
            switch reason {
            case .exists: "exists already and must not be replaced"
            case .isDirectory: "is a directory: must be a regular file"
            case .directoryMissing: "is in a directory that does not exist"
            case .noPermission: "cannot be written: no permission"
            case .diskFull: "does not fit: the disk is full"
            case .tooLarge: "exceeds a size limit of the volume, the process or the operation"
            case .busy: "is being written by another download"
            case .notAFileURL: "cannot be used: its URL is not a file URL"
            case .other(let text): "cannot be written: \(text)"
            }
        return "the file “\(path)” \(what)"
    }
}

extension FileFailure {
    /// Creates the failure for a system error number.
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

    /// Creates the failure for a Foundation error, from the system error number of its underlying error.
    package init(_ error: any Error, path: String) {
        // On Linux the underlying error is not an `NSError`, and a conditional cast to `NSError` fails.
        let system = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
        self.init(errno: system.map { Int32(($0 as NSError).code) } ?? EIO, path: path)
    }

    /// Creates a directory and its missing parent directories.
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

    /// Whether there is a directory at the path, following symbolic links, or `nil` if nothing exists there.
    package static func isDirectory(_ path: String) -> Bool? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether anything exists at the path, including a dangling symbolic link.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }
}

enum FileWriting {
    /// Writes all bytes of a reader to `partial`, and then moves that file to `file`, replacing an existing file.
    ///
    /// If writing or moving fails, `partial` is removed.
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
