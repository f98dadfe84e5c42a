/// An error in the definition of a service, with its location.
public struct CatalogError: Error, Sendable, Hashable {
    /// The kinds of errors.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The file or the folder cannot be read.
        case unreadable
        /// The file is empty.
        case emptyFile
        /// The file is not valid JSON; the message names the line.
        case malformed
        /// A key occurs twice in one object.
        case duplicateKey
        /// The format has no such key.
        case unknownKey
        /// A required key is missing.
        case missingKey
        /// A value has the wrong type.
        case wrongType
        /// A value has the right type but is not allowed.
        case invalidValue
        /// A base URL is not http or https, or has no host.
        case invalidURL
        /// The list of servers is empty.
        case noServers
        /// Two servers have the same name.
        case duplicateServer
        /// A server lacks an environment that other servers have, or that the service needs.
        case missingEnvironment
        /// The name of the file, without `.json`, differs from the name of the service.
        case nameMismatch
        /// The folder contains no service file.
        case emptyCatalog
        /// The catalog contains no service with this name.
        case unknownService
    }

    /// The kind of error.
    public var kind: Kind
    /// The file as given, or `nil` for a service that was defined in Swift.
    public var file: String?
    /// The path of the key from the root of the file, such as `servers[1].baseURLs.test`; empty for the file as a
    /// whole.
    public var keyPath: String
    /// A description of the expected value.
    public var expected: String
    /// The value that was found, if it helps to explain the error.
    public var found: String?

    /// Creates an error.
    package init(_ kind: Kind, file: String? = nil, at keyPath: String = "", expected: String, found: String? = nil) {
        self.kind = kind
        self.file = file
        self.keyPath = keyPath
        self.expected = expected
        self.found = found
    }
}

extension CatalogError: CustomStringConvertible {
    /// One line with the file, the key, the expected value and the value that was found.
    public var description: String {
        let place = [file, keyPath.isEmpty ? nil : keyPath].compactMap { $0 }.joined(separator: ": ")
        let complaint = "expected \(expected)" + (found.map { ", found \($0)" } ?? "")
        let text = place.isEmpty ? complaint : "\(place): \(complaint)"
        // A value from a file may contain line breaks.
        return String(text.map { $0.isNewline ? " " : $0 })
    }
}
