package import Foundation

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
