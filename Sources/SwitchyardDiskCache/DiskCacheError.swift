/// The reason why an operation of a disk cache failed.
public struct DiskCacheError: Error, Sendable, Hashable {
    /// The kind of failure.
    public enum Kind: Sendable, Hashable {
        /// There is a file, not a folder, at the folder's path.
        case notAFolder
        /// The process has no permission to read or write.
        case accessDenied
        /// The disk is full.
        case diskFull
        /// The entry is larger than `DiskCache.Limits.entryCost`.
        case tooLarge
        /// Encrypting the entry failed.
        case sealFailed
        /// Another system error occurred. Its number is in ``DiskCacheError/code``.
        case system
    }

    /// The kind of failure.
    public var kind: Kind
    /// The path of the file or folder.
    public var path: String
    /// The system's error number, or 0 if there is none.
    public var code: Int32

    /// Creates an error.
    ///
    /// The system's error number is 0 by default.
    public init(_ kind: Kind, path: String, code: Int32 = 0) {
        self.kind = kind
        self.path = path
        self.code = code
    }
}

extension DiskCacheError: CustomStringConvertible {
    /// A description of the error with the path.
    public var description: String {
        let number = code == 0 ? "" : " (error \(code))"
        return switch kind {
        case .notAFolder: "\(path) is a file: must be a folder"
        case .accessDenied: "no permission to access \(path)\(number)"
        case .diskFull: "the disk is full and has no space for \(path)\(number)"
        case .tooLarge: "\(path) exceeds the size limit of an entry"
        case .sealFailed: "\(path) cannot be encrypted"
        case .system: "the system cannot access \(path)\(number)"
        }
    }
}
