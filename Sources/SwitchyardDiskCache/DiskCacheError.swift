/// Why a disk cache cannot do what it should.
public struct DiskCacheError: Error, Sendable, Hashable {
    /// What is in the way.
    public enum Kind: Sendable, Hashable {
        /// There is a file where the folder should be.
        case notAFolder
        /// Reading or writing is not allowed.
        case accessDenied
        /// The disk has no room left.
        case diskFull
        /// The answer is larger than the cache may become.
        case tooLarge
        /// The seal refused to work.
        case sealFailed
        /// The system refused for another reason; ``DiskCacheError/code`` says which.
        case system
    }

    /// What is in the way.
    public var kind: Kind
    /// The file or folder that it is about.
    public var path: String
    /// The system's error number; 0 when the system said nothing.
    public var code: Int32

    /// Creates an error.
    public init(_ kind: Kind, path: String, code: Int32 = 0) {
        self.kind = kind
        self.path = path
        self.code = code
    }
}

extension DiskCacheError: CustomStringConvertible {
    /// What is in the way, and where.
    public var description: String {
        let number = code == 0 ? "" : " (error \(code))"
        return switch kind {
        case .notAFolder: "\(path) is a file where a folder is needed"
        case .accessDenied: "no access to \(path)\(number)"
        case .diskFull: "no room left for \(path)\(number)"
        case .tooLarge: "\(path) is larger than the cache may become"
        case .sealFailed: "\(path) cannot be sealed"
        case .system: "the system refuses \(path)\(number)"
        }
    }
}
