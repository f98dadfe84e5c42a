import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file that one owner has at a time, in this process or another.
///
/// The lock is the system's (flock(2)): it goes with the last descriptor of the opening, so that a process that is killed
/// lets go of it.
///
/// An app of an Apple system that is suspended while it has a locked file in a folder of its app group is ended (Apple,
/// "EXC_CRASH (SIGKILL)", 0xdead10cc). Whoever keeps a lock for long says so in its documentation.
package enum ExclusiveFile {
    /// Opens the file at a path, or makes a new one, and locks it until ``unlock(_:)``.
    ///
    /// - Parameters:
    ///   - path: The path; a link there is not followed.
    ///   - mode: The permissions of a new file.
    /// - Returns: The descriptor, for reading and writing.
    /// - Throws: ``FileFailure``; with ``FileFailure/Reason/busy`` when somebody has the file.
    package static func open(_ path: String, mode: UInt16) throws(FileFailure) -> Int32 {
        // A name that is moved away between open and lock belongs to another file by now: look again.
        for _ in 0..<16 {
            let descriptor = systemOpen(path, mode_t(mode))
            guard descriptor >= 0 else { throw FileFailure(errno: errno, path: path) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let code = errno
                close(descriptor)
                throw FileFailure(errno: code, path: path)
            }
            if isCurrent(descriptor, path) { return descriptor }
            unlock(descriptor)
            close(descriptor)
        }
        throw FileFailure(path: path, reason: .busy)
    }

    /// Lets go of a file whose descriptor is about to be closed.
    ///
    /// Closing would not be enough: a program that is just being started, from any thread, has a copy of every descriptor
    /// until its own code runs.
    package static func unlock(_ descriptor: Int32) {
        flock(descriptor, LOCK_UN)
    }

    private static func isCurrent(_ descriptor: Int32, _ path: String) -> Bool {
        var (mine, named) = (stat(), stat())
        guard fstat(descriptor, &mine) == 0, lstat(path, &named) == 0 else { return false }
        return mine.st_ino == named.st_ino && mine.st_dev == named.st_dev
    }
}

/// The system's `open`.
private func systemOpen(_ path: String, _ mode: mode_t) -> Int32 {
    open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode)
}
