public import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads a file front to back without a buffer of its own.
package final class FileReader: Sendable {
    private let descriptor: Int32
    private let path: String
    private let original: StableFileReader.FileState

    /// Opens a file.
    ///
    /// - Throws: ``RequestError/file(path:reason:)``.
    package init(_ url: URL) throws(RequestError) {
        path = url.path
        // Without O_NONBLOCK a pipe would block here until someone writes to it.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .file(path: path, reason: .unreadable(Self.errorText())) }
        var status = stat()
        let isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        original = StableFileReader.state(of: status)
        // From here on the deinitialiser closes the file, also of a reader that is none.
        guard isRegular else {
            throw .file(path: path, reason: .unreadable("not a regular file"))
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The length of the file when it was opened.
    var length: Int64 { original.size }

    /// Checks that the file is as it was when it was opened.
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

/// The system's `read`, by a name that the method above does not hide.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

extension MessageDigest {
    /// The SHA-256 of a file, read in pieces; files above 4 GiB included.
    ///
    /// - Throws: ``RequestError/file(path:reason:)``.
    public static func sha256(ofFile url: URL) throws(RequestError) -> Data {
        try digest(.sha256, ofFile: url)
    }

    /// The MD5 of a file, read in pieces; files above 4 GiB included.
    ///
    /// - Throws: ``RequestError/file(path:reason:)``.
    public static func md5(ofFile url: URL) throws(RequestError) -> Data {
        try digest(.md5, ofFile: url)
    }

    private static func digest(
        _ algorithm: ContentDigest.Algorithm,
        ofFile url: URL
    ) throws(RequestError) -> Data {
        var digest = RunningDigest(algorithm)
        let reader = try FileReader(url)
        while let piece = try reader.read(maximumLength: 1 << 18) { digest.update(piece) }
        return digest.bytes
    }
}

/// Facts about a file that is to be sent.
package enum FileBody {
    /// The length of the file in bytes.
    ///
    /// - Throws: ``RequestError/file(path:reason:)`` when it is missing, a directory or unreadable.
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
