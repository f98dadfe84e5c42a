public import Foundation
public import SwitchyardClient

/// Whose answers these are: those of one service in one environment, for one user.
///
/// All servers of a service share a partition, since they give the same answers. Environments and users never do, so
/// that nothing of one is shown to another after a switch or a log-out.
public struct CachePartition: Sendable, Hashable {
    /// The service's name.
    public var service: String
    /// The environment's name.
    public var environment: String
    /// The user's id; `nil` for answers that are the same for everybody.
    public var user: String?

    /// Creates a partition.
    public init(service: String, environment: String, user: String? = nil) {
        self.service = service
        self.environment = environment
        self.user = user
    }
}

/// What makes two requests ask for the same thing.
///
/// The key is made of the partition, the method, the path, the parameters in canonical order, the header fields that
/// matter and a body; every part is written with its length in front, so that two different requests never have one
/// key. The server is not part of it.
public struct CacheKey: Sendable, Hashable {
    /// The key as text.
    public let text: String
    private let digest: Int

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - partition: Whose answers these are.
    ///   - method: The method.
    ///   - path: The path, or the absolute URL of a foreign request.
    ///   - parameters: Names and values as they are sent. Their order does not matter, except among those of one name.
    ///   - headers: The fields on which the answer depends, such as `Accept-Language`.
    ///   - body: The request's body, when the answer depends on it.
    public init(
        _ partition: CachePartition,
        method: HTTPMethod = .get,
        path: String,
        parameters: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [],
        body: Data? = nil
    ) {
        var text = ""
        text.reserveCapacity(96)
        text.appendPart(partition.service)
        text.appendPart(partition.environment)
        text.appendPart(partition.user.map { "u" + $0 } ?? "")
        text.appendPart(method.name)
        text.appendPart(path)
        text.appendList(parameters)
        text.appendList(headers.map { ($0.name.lowercased(), $0.value) })
        text.appendPart(body.map { $0.base64EncodedString() } ?? "")
        self.init(text: text)
    }

    /// Creates a key from its text.
    init(text: String) {
        self.text = text
        var hasher = Hasher()
        hasher.combine(text)
        digest = hasher.finalize()
    }

    /// Whether both ask for the same thing.
    public static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.digest == right.digest && left.text == right.text
    }

    /// Hashes the key, at the cost of one number.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
    }

    /// A number that spreads keys evenly.
    var spread: Int { digest }

    /// The parts of the key, in the order in which they were written.
    var parts: Parts { Parts(text) }

    /// The parts of a key.
    struct Parts {
        let partition: CachePartition
        let method: String
        let path: String

        init(_ text: String) {
            var rest = text[...]
            let parts = (0..<5).map { _ in rest.takePart() }
            let user = parts[2].isEmpty ? nil : String(parts[2].dropFirst())
            partition = CachePartition(service: String(parts[0]), environment: String(parts[1]), user: user)
            method = String(parts[3])
            path = String(parts[4])
        }
    }
}

extension String {
    /// Appends a part with its length in bytes in front.
    fileprivate mutating func appendPart(_ part: String) {
        append(String(part.utf8.count))
        append(":")
        append(part)
    }

    /// Appends the number of pairs, and the pairs in the order of their names.
    fileprivate mutating func appendList(_ list: [(name: String, value: String)]) {
        append(String(list.count))
        append(";")
        let sorted = list.enumerated().sorted { left, right in
            left.element.name == right.element.name
                ? left.offset < right.offset : left.element.name < right.element.name
        }
        for (_, pair) in sorted {
            appendPart(pair.name)
            appendPart(pair.value)
        }
    }
}

extension Substring {
    /// Takes the next part off the front; empty when there is none.
    fileprivate mutating func takePart() -> Substring {
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")), let length = Int(self[..<colon]) else { return "" }
        let start = utf8.index(after: colon)
        guard let end = utf8.index(start, offsetBy: length, limitedBy: utf8.endIndex) else { return "" }
        defer { self = self[end...] }
        return self[start..<end]
    }
}
