package import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A reader that reads a file from start to end without a buffer of its own.
package final class FileReader: Sendable {
    private let descriptor: Int32
    private let path: String
    private let original: StableFileReader.FileState

    /// Opens a file.
    ///
    /// - Throws: ``RequestError/file(path:reason:)``.
    package init(_ url: URL) throws(RequestError) {
        path = url.path
        // Without O_NONBLOCK, opening a pipe would block until another process opens it for writing.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .file(path: path, reason: .unreadable(Self.errorText())) }
        var status = stat()
        let isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        original = StableFileReader.state(of: status)
        // All properties are initialized here, so the deinitializer closes the descriptor even if the initializer
        // throws.
        guard isRegular else {
            throw .file(path: path, reason: .unreadable("not a regular file"))
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The length of the file when it was opened.
    var length: Int64 { original.size }

    /// Checks that the file has not changed since it was opened.
    ///
    /// - Throws: ``RequestError/file(path:reason:)``.
    func check() throws(RequestError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, StableFileReader.state(of: status) == original else {
            throw .file(path: path, reason: .changedWhileSending)
        }
    }

    /// Returns the next bytes, at most `maximumLength`, or `nil` at the end.
    ///
    /// - Throws: ``RequestError/file(path:reason:)``.
    package func read(maximumLength: Int) throws(RequestError) -> Data? {
        guard maximumLength > 0 else { return nil }
        guard let buffer = malloc(maximumLength) else { throw .file(path: path, reason: .unreadable(Self.errorText())) }
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

/// Calls the system's `read`, which the method `read(maximumLength:)` shadows.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

extension MessageDigest {
    /// Returns the SHA-256 digest of a file, which is read in chunks and may be larger than 4 GiB.
    ///
    /// - Throws: ``RequestError/file(path:reason:)``.
    package static func sha256(ofFile url: URL) throws(RequestError) -> Data {
        try digest(.sha256, ofFile: url)
    }

    /// Returns the MD5 digest of a file, which is read in chunks and may be larger than 4 GiB.
    ///
    /// - Throws: ``RequestError/file(path:reason:)``.
    package static func md5(ofFile url: URL) throws(RequestError) -> Data {
        try digest(.md5, ofFile: url)
    }

    private static func digest(
        _ algorithm: DigestAlgorithm,
        ofFile url: URL
    ) throws(RequestError) -> Data {
        var digest = RunningDigest(algorithm)
        let reader = try FileReader(url)
        while let piece = try reader.read(maximumLength: 1 << 18) { digest.update(piece) }
        return digest.bytes
    }
}

/// Checks of a file that is the body of a request.
package enum FileBody {
    /// Returns the length of a file in bytes.
    ///
    /// - Throws: ``RequestError/file(path:reason:)`` if the file is missing, a directory or unreadable.
    package static func length(of url: URL) throws(RequestError) -> Int64 {
        guard url.isFileURL else { throw .file(path: url.path, reason: .notAFileURL) }
        let path = url.path
        let attributes: [FileAttributeKey: Any]
        do {
            attributes = try FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
        } catch {
            throw .file(path: path, reason: .unreadable(reason(of: error)))
        }
        if attributes[.type] as? FileAttributeType == .typeDirectory { throw .file(path: path, reason: .isDirectory) }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw .file(path: path, reason: .unreadable("no permission to read it"))
        }
        guard let size = (attributes[.size] as? NSNumber)?.int64Value else {
            throw .file(path: path, reason: .unreadable("its size is unknown"))
        }
        return size
    }

    private static func reason(of error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile?, .fileNoSuchFile?: "there is no such file"
        case .fileReadNoPermission?: "no permission to read it"
        default: "\(error)"
        }
    }
}
