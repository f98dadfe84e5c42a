package import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A reader of a file that must not change while it is read.
///
/// Before the reader returns the last bytes, it checks that the size and modification time of the file are unchanged
/// since it was opened.
package actor StableFileReader: HTTPBodyReader {
    /// The length of the file when it was opened.
    package nonisolated var length: Int64 { original.size }
    private let path: String
    private let descriptor: Int32
    /// The state of the file when it was opened.
    package nonisolated let original: FileState
    private var offset: Int64
    private let end: Int64

    /// The properties by which a change to a file is detected: its size and modification time.
    package struct FileState: Codable, Equatable, Sendable {
        package var size: Int64
        var seconds: Int
        var nanoseconds: Int
    }

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - range: The bytes to read. If `nil`, all bytes are read.
    /// - Throws: ``RequestError/file(path:reason:)``.
    package init(_ url: URL, from range: Range<Int64>? = nil) throws(RequestError) {
        guard url.isFileURL else { throw .file(path: url.path, reason: .notAFileURL) }
        path = url.path
        // Without O_NONBLOCK, opening a pipe would block until another process opens it for writing.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw .file(path: url.path, reason: .unreadable(String(cString: strerror(errno))))
        }
        var status = stat()
        fstat(descriptor, &status)
        original = Self.state(of: status)
        offset = range?.lowerBound ?? 0
        end = min(original.size, range?.upperBound ?? original.size)
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG else {
            // All properties are initialized here, so the deinitializer closes the descriptor even if the initializer
            // throws.
            throw .file(path: url.path, reason: kind == S_IFDIR ? .isDirectory : .unreadable("not a regular file"))
        }
    }

    deinit {
        close(descriptor)
    }

    package func read(maximumLength: Int) throws -> Data? {
        let wanted = Int(min(Int64(maximumLength), end - offset))
        guard wanted > 0 else {
            try check()
            return nil
        }
        guard let buffer = malloc(wanted) else { throw unreadable(ENOMEM) }
        var count = pread(descriptor, buffer, wanted, off_t(offset))
        while count < 0, errno == EINTR { count = pread(descriptor, buffer, wanted, off_t(offset)) }
        guard count > 0 else {
            let code = errno
            free(buffer)
            if count == 0 { throw RequestError.file(path: path, reason: .changedWhileSending) }
            throw unreadable(code)
        }
        let piece = Data(bytesNoCopy: buffer, count: count, deallocator: .free)
        offset += Int64(count)
        if offset == end { try check() }
        return piece
    }

    private func check() throws {
        var status = stat()
        guard fstat(descriptor, &status) == 0, Self.state(of: status) == original else {
            throw RequestError.file(path: path, reason: .changedWhileSending)
        }
    }

    static func state(of status: stat) -> FileState {
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        return FileState(size: Int64(status.st_size), seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec))
    }

    private func unreadable(_ code: Int32) -> RequestError {
        .file(path: path, reason: .unreadable(String(cString: strerror(code))))
    }
}
