package import Foundation
import SwitchyardClient
package import SwitchyardHTTP
import SwitchyardServices

/// The service, environment and user that stored responses belong to.
///
/// All servers of a service share a partition, because they return the same responses. Environments and users never
/// share a partition, so that no data of one is shown to another after a switch or a logout.
public struct CachePartition: Sendable, Hashable {
    /// The service's name.
    public var service: String
    /// The environment's name.
    public var environment: String
    /// The user's identifier; `nil` for responses that are the same for all users.
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

/// The identity of a request in the cache: requests with equal keys share a response.
///
/// The key is made of the partition, the method, the path, the parameters in canonical order, the relevant header
/// fields and the body. Each part is written with its length in front, so that two different requests never have the
/// same key. The server is not part of the key.
package struct CacheKey: Sendable, Hashable {
    /// A random seed for each run, so that an attacker cannot construct keys that collide.
    private static let seed = UInt64.random(in: .min ... .max)

    private let digest: Int
    private let bytes: [UInt8]

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - partition: The service, environment and user of the response.
    ///   - method: The method.
    ///   - path: The path, or the absolute URL of a request to another host.
    ///   - parameters: Names and values as they are sent. Their order does not matter, except among parameters of the
    ///     same name.
    ///   - headers: The fields on which the response depends, such as `Accept-Language`.
    ///   - body: The request's body, if the response depends on it.
    package init(
        _ partition: CachePartition,
        method: HTTPMethod = .get,
        path: String,
        parameters: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [],
        body: Data? = nil
    ) {
        self.init(partition, method, path, query: [], parameters, headers, body)
    }

    private init(
        _ partition: CachePartition,
        _ method: HTTPMethod,
        _ path: String,
        query: [(name: String, value: String)],
        _ parameters: [(name: String, value: String)],
        _ headers: [(name: String, value: String)],
        _ body: Data?
    ) {
        var writer = CacheKeyWriter()
        writer.write(partition.service)
        writer.write(partition.environment)
        writer.write(optional: partition.user)
        writer.write(method.name)
        writer.write(path)
        writer.write(query)
        writer.write(parameters)
        writer.write(headers.isEmpty ? [] : headers.map { ($0.name.lowercased(), $0.value) })
        writer.write(optional: body)
        bytes = writer.bytes
        digest = bytes.withUnsafeBytes { Int(truncatingIfNeeded: Checksum.of($0, seed: Self.seed)) }
    }

    /// Whether both ask for the same thing.
    package static func == (left: CacheKey, right: CacheKey) -> Bool {
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
    package func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
    }

    /// A number that spreads keys evenly.
    var spread: Int { digest }

    /// The key as bytes, the same in every run.
    package var data: Data { Data(bytes) }

    /// The parts of the key by which entries are removed.
    package var parts: CacheKeyParts { CacheKeyParts(bytes) }
}

extension CacheKey {
    private static let generator = RequestGenerator()
    private static let base = RequestURL("http://cache.invalid/").map { BaseURL($0) }

    /// Creates the key of a call; storing and lookup both use this function.
    ///
    /// Returns `nil` if the call is not cached: its method may change something, its body is not known in advance, or
    /// its request is made by hand (`APIConfiguration.isMadeByHand`). It is a function because an initializer would
    /// copy the whole configuration.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - box: The policy, which lists the parts of the call on which the response does not depend.
    ///   - partition: The service, environment and user of the response.
    ///   - path: The path under which the response is stored; default is the call's own.
    ///   - server: The server that responds, if the responses of each server are stored separately.
    ///   - base: The base URL of the call at this moment, for a rule that makes the URL of the call.
    ///   - isAuthorized: Whether the client sends its credentials with the call.
    /// - Returns: The key.
    static func of(
        _ configuration: APIConfiguration,
        policy box: Boxed<CachePolicy>,
        in partition: CachePartition,
        path: String? = nil,
        server: String? = nil,
        base: @autoclosure () -> BaseURL? = CacheKey.base,
        isAuthorized: Bool = true
    ) -> CacheKey? {
        guard configuration.method.isSafe || box.value.allowsUnsafeMethods, !configuration.isMadeByHand
        else { return nil }
        var body: Data?
        if !configuration.body.isNone {
            guard let bytes = bytes(of: configuration) else { return nil }
            body = bytes
        }
        var ruled: (name: String, value: String)?
        if let rule = configuration.urlRule, let base = base() {
            // If the URL rule fails, the key is unknown, so the cache is skipped.
            do { ruled = try rule(base, configuration)?.field(from: base) } catch { return nil }
        }
        return CacheKey(
            partition,
            configuration.method,
            path ?? configuration.path,
            // Parameters may go into another part of the request than the query, so the key distinguishes them.
            query: parameters(configuration.query, box),
            parameters(configuration.parameters, box),
            fields(of: configuration, box, server, ruled, isAuthorized: isAuthorized),
            body
        )
    }

    private static func parameters(
        _ parameters: Parameters,
        _ box: Boxed<CachePolicy>
    ) -> [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        for item in parameters.items where !box.value.ignoredParameters.contains(item.key) {
            pairs.append((item.key, item.value.canonicalText))
        }
        return pairs
    }

    /// Returns the header fields on which the response depends, and its other dependencies under names that no field
    /// can have.
    private static func fields(
        of configuration: APIConfiguration,
        _ box: Boxed<CachePolicy>,
        _ server: String?,
        _ ruled: (name: String, value: String)?,
        isAuthorized: Bool
    ) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        for field in configuration.headers where !box.value.ignoredHeaders.contains(field.name.lowercased()) {
            fields.append((field.name, field.value))
        }
        if case .baseURL(let url) = configuration.server { fields.append((name: ":base", value: url.text)) }
        if configuration.usesCDN { fields.append((name: ":cdn", value: configuration.cdnURL?.text ?? "")) }
        if let ruled { fields.append(ruled) }
        if let server { fields.append((name: ":server", value: server)) }
        if let credential = configuration.credential {
            // A fingerprint, because a reader of the keys must not learn the credential.
            fields.append((name: ":credential", value: credential.scheme.fingerprint))
        } else if !isAuthorized || !configuration.usesCredentials {
            // A response to a request with a credential is not shown to a caller without one.
            fields.append((name: ":credential", value: "none"))
        }
        fields += configuration.unusualChoices
        if let tls = configuration.tls { fields.append((name: ":tls", value: tls.fingerprint)) }
        if let version = configuration.apiVersion { fields.append((name: ":api", value: version)) }
        let pathValues = configuration.pathValues
        if !pathValues.isEmpty {
            fields.append((name: ":path", value: ParameterValue.dictionary(pathValues).canonicalText))
        }
        return fields
    }

    private static func bytes(of configuration: APIConfiguration) -> Data? {
        guard let base else { return nil }
        do throws(RequestError) {
            let request = try generator.request(for: configuration, on: base)
            guard case .data(let data) = request.body else { return nil }
            return data
        } catch {
            // A request that cannot be built fails with its own error when it is sent.
            return nil
        }
    }
}

extension RequestURL {
    /// Returns the URL under names that no field can have, relative to the base URL if possible, so that all servers
    /// share it.
    fileprivate func field(from base: BaseURL) -> (name: String, value: String) {
        if text.hasPrefix(base.url.text) { return (":below", String(text.dropFirst(base.url.text.count))) }
        guard origin == base.origin else { return (":url", text) }
        return (":beside", path + (query.map { "?\($0)" } ?? ""))
    }
}
