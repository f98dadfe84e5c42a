public import Foundation
import SwitchyardClient
public import SwitchyardHTTP

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

    /// The part that is no named user's.
    package var withoutUser: CachePartition { CachePartition(service: service, environment: environment) }
}

/// What makes two requests ask for the same thing.
///
/// The key is made of the partition, the method, the path, the parameters in canonical order, the header fields that
/// matter and a body; every part is written with its length in front, so that two different requests never have one
/// key. The server is not part of it.
public struct CacheKey: Sendable, Hashable {
    /// Another one in each run, so that nobody outside can make keys that all fall together.
    private static let seed = UInt64.random(in: .min ... .max)

    private let digest: Int
    private let bytes: [UInt8]

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
        var writer = CacheKeyWriter()
        writer.write(partition.service)
        writer.write(partition.environment)
        writer.write(optional: partition.user)
        writer.write(method.name)
        writer.write(path)
        writer.write(parameters)
        writer.write(headers.isEmpty ? [] : headers.map { ($0.name.lowercased(), $0.value) })
        writer.write(optional: body)
        bytes = writer.bytes
        digest = bytes.withUnsafeBytes { Int(truncatingIfNeeded: Checksum.of($0, seed: Self.seed)) }
    }

    /// Whether both ask for the same thing.
    public static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.digest == right.digest && left.hasBytes(of: right)
    }

    /// Whether the bytes are the same: all at once, where an array would compare one after the other.
    func hasBytes(of other: CacheKey) -> Bool {
        bytes.withUnsafeBytes { mine in
            other.bytes.withUnsafeBytes { others in
                guard mine.count == others.count, let first = mine.baseAddress, let second = others.baseAddress
                else { return false }
                return first == second || memcmp(first, second, mine.count) == 0
            }
        }
    }

    /// Hashes the key, at the cost of one number.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
    }

    /// A number that spreads keys evenly.
    var spread: Int { digest }

    /// The key as bytes, the same in every run.
    package var data: Data { Data(bytes) }

    /// The parts of the key by which entries are removed.
    package var parts: CacheKeyParts { CacheKeyParts(bytes) }
}
