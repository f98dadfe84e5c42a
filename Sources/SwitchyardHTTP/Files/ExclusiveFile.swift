import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file that is locked by one holder at a time, across processes.
///
/// The lock is the system's `flock(2)`. The system releases the lock when the last descriptor of the open file is
/// closed, so a process that is killed releases its lock.
///
/// Apple systems terminate an app that is suspended while it holds a file lock in a folder of its app group (Apple,
/// "EXC_CRASH (SIGKILL)", 0xdead10cc). Types that hold a lock for long document this.
package enum ExclusiveFile {
    /// Opens or creates the file at a path, and locks it until ``unlock(_:)``.
    ///
    /// - Parameters:
    ///   - path: The path. A symbolic link at the path is not followed.
    ///   - mode: The permissions of a new file.
    /// - Returns: The descriptor, for reading and writing.
    /// - Throws: ``FileFailure``, with ``FileFailure/Reason/busy`` if the file is locked already.
    package static func open(_ path: String, mode: UInt16) throws(FileFailure) -> Int32 {
        // If the file was moved between `open` and `flock`, the path no longer refers to the file of the descriptor, so
        // both calls are tried again.
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

    /// Unlocks a file whose descriptor is about to be closed.
    ///
    /// Closing the descriptor is not enough: if another thread is starting a child process, the child has a copy of
    /// every descriptor until it runs its program.
    package static func unlock(_ descriptor: Int32) {
        flock(descriptor, LOCK_UN)
    }

    private static func isCurrent(_ descriptor: Int32, _ path: String) -> Bool {
        var (mine, named) = (stat(), stat())
        guard fstat(descriptor, &mine) == 0, lstat(path, &named) == 0 else { return false }
        return mine.st_ino == named.st_ino && mine.st_dev == named.st_dev
    }
}

private func systemOpen(_ path: String, _ mode: mode_t) -> Int32 {
    open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode)
}
