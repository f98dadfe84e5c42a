/// What is wrong with the definition of a service, and where.
public struct CatalogError: Error, Sendable, Hashable {
    /// The kinds of mistakes.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The file or the folder cannot be read.
        case unreadable
        /// The file is empty.
        case emptyFile
        /// The file is not JSON: cut off, or malformed at the place that the message names.
        case malformed
        /// A key stands twice in one object.
        case duplicateKey
        /// A key that the format does not know.
        case unknownKey
        /// A key that has to be there is missing.
        case missingKey
        /// A value has the wrong type.
        case wrongType
        /// A value has the right type but is not allowed.
        case invalidValue
        /// A base URL is not http or https, or has no host.
        case invalidURL
        /// The list of servers is empty.
        case noServers
        /// Two servers have one name.
        case duplicateServer
        /// An environment that other servers have is missing on one.
        case missingEnvironment
        /// The file's name is not the service's name.
        case nameMismatch
        /// The folder holds no service file.
        case emptyCatalog
        /// Nothing in the catalogue has this name.
        case unknownService
    }

    /// What kind of mistake it is.
    public var kind: Kind
    /// The file, as it was given; `nil` for a service that was written in Swift.
    public var file: String?
    /// The key, from the top of the file, such as `servers[1].baseURLs.test`; empty for the file as a whole.
    public var keyPath: String
    /// What was expected there, in words.
    public var expected: String
    /// What was found instead, when that says more.
    public var found: String?

    /// Creates an error.
    public init(_ kind: Kind, file: String? = nil, at keyPath: String = "", expected: String, found: String? = nil) {
        self.kind = kind
        self.file = file
        self.keyPath = keyPath
        self.expected = expected
        self.found = found
    }
}

extension CatalogError: CustomStringConvertible {
    /// One line: file, key, what was expected and what was found.
    public var description: String {
        let place = [file, keyPath.isEmpty ? nil : keyPath].compactMap { $0 }.joined(separator: ": ")
        let complaint = "expected \(expected)" + (found.map { ", found \($0)" } ?? "")
        let text = place.isEmpty ? complaint : "\(place): \(complaint)"
        // What stands in a file may have ends of lines.
        return String(text.map { $0.isNewline ? " " : $0 })
    }
}
