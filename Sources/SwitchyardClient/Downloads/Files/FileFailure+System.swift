import Foundation

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
    static func makeDirectory(_ directory: URL) throws(FileFailure) {
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
    static func isDirectory(_ path: String) -> Bool? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether anything stands at the path, a dangling link included.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }
}
