import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads a file front to back without a buffer of its own.
final class FileReader: Sendable {
    private let descriptor: Int32
    private let path: String

    /// Opens a file.
    ///
    /// - Throws: ``RequestError/file(path:reason:)``.
    init(_ url: URL) throws(RequestError) {
        path = url.path
        // Without O_NONBLOCK a pipe would block here until someone writes to it.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .file(path: path, reason: .unreadable(Self.errorText())) }
        var status = stat()
        // From here on the deinitialiser closes the file, also of a reader that is none.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .file(path: path, reason: .unreadable("not a regular file"))
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Returns the next bytes, at most `maximumLength`, or `nil` at the end.
    ///
    /// - Throws: ``RequestError/file(path:reason:)``.
    func read(maximumLength: Int) throws(RequestError) -> Data? {
        guard maximumLength > 0, let buffer = malloc(maximumLength) else { return nil }
        var count = systemRead(descriptor, buffer, maximumLength)
        while count < 0, errno == EINTR { count = systemRead(descriptor, buffer, maximumLength) }
        guard count > 0 else {
            free(buffer)
            if count == 0 { return nil }
            throw .file(path: path, reason: .unreadable(Self.errorText()))
        }
        return Data(bytesNoCopy: buffer, count: count, deallocator: .free)
    }

    private static func errorText() -> String {
        String(cString: strerror(errno))
    }
}

/// The system's `read`, by a name that the method above does not hide.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
