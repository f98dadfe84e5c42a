package import Foundation
package import SwitchyardClient
package import SwitchyardHTTP
package import SwitchyardServices

/// The service, environment and user that stored responses belong to.
///
/// All servers of a service share a partition, because they return the same responses. Two environments or two users
/// never share a partition. After an environment switch or a logout, no data of the previous environment or user is
/// shown.
package struct CachePartition: Sendable, Hashable {
    /// The name of the service.
    package var service: String
    /// The name of the environment.
    package var environment: String
    /// The identifier of the user, or `nil` for responses that are the same for all users.
    package var user: String?

    /// Creates a partition.
    ///
    /// By default, it belongs to no user.
    package init(service: String, environment: String, user: String? = nil) {
        self.service = service
        self.environment = environment
        self.user = user
    }

    /// The partition of the same service and environment without a user.
    package var withoutUser: CachePartition { CachePartition(service: service, environment: environment) }
}

/// The identity of a request in the cache.
///
/// Requests with equal keys share a stored response.
///
/// The key consists of the partition, the method, the path, the parameters in canonical order, the relevant header
/// fields and the body. Each part is preceded by its length, so that two different requests never have the same key.
/// The server is not part of the key.
package struct CacheKey: Sendable, Hashable {
    /// A random seed for each run, so that an attacker cannot construct keys that collide.
    private static let seed = UInt64.random(in: .min ... .max)

    private let digest: Int
    private let bytes: [UInt8]

    /// Creates a cache key.
    ///
    /// - Parameters:
    ///   - partition: The service, environment and user of the response.
    ///   - method: The method.
    ///   - path: The path, or the absolute URL of a request to another host.
    ///   - parameters: Names and values as they are sent. Their order does not matter, except among parameters of the
    ///     same name.
    ///   - headers: The request header fields on which the response depends, such as `Accept-Language`.
    ///   - body: The body of the request, if the response depends on it.
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

    /// Returns whether both keys identify the same request.
    package static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.digest == right.digest && left.hasBytes(of: right)
    }

    /// Returns whether both keys have the same bytes.
    ///
    /// It compares memory in one call (`memcmp`), which is faster than comparing arrays element by element.
    func hasBytes(of other: CacheKey) -> Bool {
        bytes.withUnsafeBytes { mine in
            other.bytes.withUnsafeBytes { others in
                guard mine.count == others.count, let first = mine.baseAddress, let second = others.baseAddress
                else { return false }
                return first == second || memcmp(first, second, mine.count) == 0
            }
        }
    }

    /// Hashes only the digest of the key, which is one number.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
    }

    /// The digest of the key, which selects the lock and the table slot of an entry.
    ///
    /// It is evenly distributed.
    var spread: Int { digest }

    /// The bytes of the key, which are the same in every run.
    package var data: Data { Data(bytes) }

    /// The parts of the key by which entries are selected for removal.
    package var parts: CacheKeyParts { CacheKeyParts(bytes) }
}

extension CacheKey {
    private static let generator = RequestGenerator()
    package static let base = RequestURL("http://cache.invalid/").map { BaseURL($0) }

    /// Returns the cache key of a call, or `nil` if the call is not cached.
    ///
    /// A call is not cached if its method is unsafe (such as POST), if its body is not known in advance, or if it has
    /// no `RequestIdentity`, because code of the app or a prebuilt request determines the request. Storing and lookup
    /// both use this function. It is not an initializer, because an initializer would copy the whole configuration.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - box: The policy, which lists the parts of the call on which the response does not depend.
    ///   - partition: The service, environment and user of the response.
    ///   - path: The path under which the response is stored, by default the call's own path.
    ///   - server: The server that responds, if the responses of each server are stored separately.
    ///   - base: The current base URL, for a rule that makes the URL of the call.
    ///   - isAuthorized: Whether the client sends its credentials with the call.
    /// - Returns: The key.
    package static func of(
        _ configuration: APIConfiguration,
        policy box: Boxed<CachePolicy>,
        in partition: CachePartition,
        path: String? = nil,
        server: String? = nil,
        base: @autoclosure () -> BaseURL? = CacheKey.base,
        isAuthorized: Bool = true
    ) -> CacheKey? {
        // Closures are passed, because a reference to a method (`ignoredParameters.contains`) would be allocated
        // (benchmark `cache`).
        guard configuration.method.isSafe || box.value.allowsUnsafeMethods,
            let identity = RequestIdentity(
                of: configuration,
                for: .response,
                isAuthorized: isAuthorized,
                ignoringParameters: { box.value.ignoredParameters.contains($0) },
                ignoringHeaders: { box.value.ignoredHeaders.contains($0) }
            )
        else { return nil }
        var body: Data?
        if !configuration.body.isNone {
            guard let bytes = bytes(of: configuration) else { return nil }
            body = bytes
        }
        // The response also depends on options of the call. They are added under names that no header field can have.
        var fields = identity.headers + identity.options
        if let server { fields.append((name: ":server", value: server)) }
        if let rule = configuration.urlRule, let base = base() {
            // If the URL rule fails, the key is unknown, so the cache is skipped.
            do { try rule(base.url, configuration).map { fields.append($0.field(from: base)) } } catch { return nil }
        }
        let path = path ?? identity.path
        return CacheKey(partition, identity.method, path, query: identity.query, identity.parameters, fields, body)
    }

    private static func bytes(of configuration: APIConfiguration) -> Data? {
        guard let base else { return nil }
        do throws(RequestError) {
            let request = try generator.request(for: configuration, on: base)
            guard case .data(let data) = request.body else { return nil }
            return data
        } catch {
            // The request cannot be built. The call is not cached, and fails with this error when it is sent.
            return nil
        }
    }
}

extension RequestURL {
    /// Returns the URL as a name and a value for the cache key.
    ///
    /// No header field can have this name. If possible, the value is relative to the base URL, so that all servers
    /// share the key.
    fileprivate func field(from base: BaseURL) -> (name: String, value: String) {
        if text.hasPrefix(base.url.text) { return (":below", String(text.dropFirst(base.url.text.count))) }
        guard origin == base.origin else { return (":url", text) }
        return (":beside", path + (query.map { "?\($0)" } ?? ""))
    }
}
