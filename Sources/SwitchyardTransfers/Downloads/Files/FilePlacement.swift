import Foundation
import SwitchyardHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// An operation that moves a complete file to its destination in one step.
///
/// Readers see either the old file or the new file, never a part of it.
struct FilePlacement: Sendable {
    var rule: ExistingFileRule
    var createsDirectories: Bool

    /// Throws if an existing file or directory prevents the move.
    ///
    /// This method is called before the request is sent.
    func check(_ target: URL) throws(FileFailure) {
        guard target.isFileURL else { throw FileFailure(path: target.absoluteString, reason: .notAFileURL) }
        if FileFailure.isDirectory(target.path) == true { throw FileFailure(path: target.path, reason: .isDirectory) }
        if rule == .refuse, FileFailure.exists(target.path) { throw FileFailure(path: target.path, reason: .exists) }
        try prepare(target.deletingLastPathComponent())
    }

    /// Ensures that a directory exists.
    ///
    /// If the directory is missing, it is created if `createsDirectories` is set. Otherwise, an error is thrown.
    func prepare(_ directory: URL) throws(FileFailure) {
        guard directory.isFileURL else { throw FileFailure(path: directory.absoluteString, reason: .notAFileURL) }
        switch FileFailure.isDirectory(directory.path) {
        case true?: return
        case false?: throw FileFailure(path: directory.path, reason: .directoryMissing)
        case nil where createsDirectories: try FileFailure.makeDirectory(directory)
        case nil: throw FileFailure(path: directory.path, reason: .directoryMissing)
        }
    }

    /// Moves a file to its destination.
    ///
    /// - Returns: The location of the file. The location differs from the target only with
    ///   ``ExistingFileRule/makeUnique``.
    func place(_ file: URL, at target: URL) throws(FileFailure) -> URL {
        try check(target)
        if try isOnDevice(of: target, file), let place = try movedAtOnce(file, target) { return place }
        let near = try copied(file, beside: target)
        do throws(FileFailure) {
            let place = try moved(near, target)
            synchronizeDirectory(of: place)
            unlink(file.path)
            return place
        } catch {
            unlink(near.path)
            throw error
        }
    }

    /// Moves a file within a device.
    ///
    /// Returns `nil` if the target is on another mount of the device, because `rename` cannot cross mounts.
    private func movedAtOnce(_ file: URL, _ target: URL) throws(FileFailure) -> URL? {
        do throws(FileFailure) {
            let place = try moved(file, target)
            synchronizeDirectory(of: place)
            return place
        } catch {
            guard error.reason == FileFailure(errno: EXDEV, path: "").reason else { throw error }
            return nil
        }
    }

    private func moved(_ file: URL, _ target: URL) throws(FileFailure) -> URL {
        switch rule {
        case .replace:
            guard rename(file.path, target.path) == 0 else { throw FileFailure(errno: errno, path: target.path) }
            return target
        case .refuse:
            try moveExclusively(file, target)
            return target
        case .makeUnique:
            for number in 1...10_000 {
                let name = target.lastPathComponent
                let candidate =
                    number == 1
                    ? target
                    : target.deletingLastPathComponent()
                        .appendingPathComponent(SuggestedFileName.numbered(name, number))
                do throws(FileFailure) {
                    try moveExclusively(file, candidate)
                    return candidate
                } catch  where error.reason == .exists {
                    continue
                }
            }
            throw FileFailure(path: target.path, reason: .exists)
        }
    }

    /// Moves a file to a path where no file exists, and throws if a file exists there.
    private func moveExclusively(_ file: URL, _ target: URL) throws(FileFailure) {
        // A hard link fails if the name exists, whereas a rename would replace the existing file.
        if link(file.path, target.path) == 0 {
            unlink(file.path)
            return
        }
        let code = errno
        guard code == EPERM || code == ENOTSUP || code == EMLINK, !FileFailure.exists(target.path) else {
            throw FileFailure(errno: code, path: target.path)
        }
        // On a file system without hard links, `rename` is used. Another process might create the file between the
        // check and the rename.
        guard rename(file.path, target.path) == 0 else { throw FileFailure(errno: errno, path: target.path) }
    }

    /// Returns whether a file is on the same device as the target.
    private func isOnDevice(of target: URL, _ file: URL) throws(FileFailure) -> Bool {
        let directory = target.deletingLastPathComponent()
        var (here, there) = (stat(), stat())
        guard stat(file.path, &here) == 0 else { throw FileFailure(errno: errno, path: file.path) }
        guard stat(directory.path, &there) == 0 else { throw FileFailure(errno: errno, path: directory.path) }
        return here.st_dev == there.st_dev
    }

    /// Copies the file to the directory of the target.
    private func copied(_ file: URL, beside target: URL) throws(FileFailure) -> URL {
        let directory = target.deletingLastPathComponent()
        let copy = directory.appendingPathComponent(".switchyard-\(UUID().uuidString).part")
        do throws(FileFailure) {
            try Self.copy(file, to: copy)
        } catch {
            unlink(copy.path)
            throw error
        }
        return copy
    }

    private static func copy(_ source: URL, to target: URL) throws(FileFailure) {
        let output = open(target.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
        guard output >= 0 else { throw FileFailure(errno: errno, path: target.path) }
        let copy = PartialFile(descriptor: output, path: target.path)
        let reader: FileReader
        do throws(RequestError) { reader = try FileReader(source) } catch { throw Self.unreadable(source, error) }
        while true {
            let piece: Data?
            do throws(RequestError) {
                piece = try reader.read(maximumLength: 1 << 18)
            } catch {
                throw Self.unreadable(source, error)
            }
            guard let piece else { return try copy.synchronize() }
            try copy.append(piece)
        }
    }

    private static func unreadable(_ source: URL, _ error: RequestError) -> FileFailure {
        FileFailure(path: source.path, reason: .other(error.message))
    }

    private func synchronizeDirectory(of file: URL) {
        let descriptor = open(file.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        // The file is in place even if the flush fails. Some file systems cannot flush a directory.
        _ = DiskFlush.wait(for: descriptor)
        close(descriptor)
    }
}
