public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

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

extension CacheKey {
    private static let generator = RequestGenerator()
    private static let base = RequestURL("http://cache.invalid/").map { BaseURL($0) }

    /// Creates the key of a call; the one place in which keys are made, for storing and finding alike.
    ///
    /// `nil` when the call is not to be cached: its method may change something, its body is not known in advance, or its
    /// request is made by hand (`APIConfiguration.isMadeByHand`). A function, since an initialiser would take a copy of
    /// the whole configuration.
    ///
    /// - Parameters:
    ///   - configuration: The call.
    ///   - box: The policy, which says what of the call the answer does not depend on.
    ///   - partition: Whose answers these are.
    ///   - path: The path under which the answer is stored; the call's own unless given.
    ///   - server: The server that answers, where each server's answers are stored apart.
    ///   - base: The base URL below which the call goes now, for a rule of its own that makes its URL.
    ///   - isAuthorized: Whether the client that sends the call lets credentials go with it.
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
            // What a rule leads to that cannot be told is not to be taken for what another leads to.
            do { ruled = try rule(base, configuration)?.field(from: base) } catch { return nil }
        }
        return CacheKey(
            partition,
            configuration.method,
            path ?? configuration.path,
            // They may go into another part of the request than those of the query, so they are told apart.
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

    /// The header fields on which the answer depends, and under names that no field can have, what else it depends on.
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
            // Whoever may see the keys is not to read the secret in them.
            fields.append((name: ":credential", value: credential.scheme.fingerprint))
        } else if !isAuthorized || !configuration.usesCredentials {
            // What is shown to somebody is not what is shown to everybody.
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
            // A request that cannot be built ends with its own error when it is sent; it has nothing to be cached.
            return nil
        }
    }
}

extension RequestURL {
    /// The URL, under names that no field can have, as it is the same for every server: from the base URL on that it was
    /// made of, where it was.
    fileprivate func field(from base: BaseURL) -> (name: String, value: String) {
        if text.hasPrefix(base.url.text) { return (":below", String(text.dropFirst(base.url.text.count))) }
        guard origin == base.origin else { return (":url", text) }
        return (":beside", path + (query.map { "?\($0)" } ?? ""))
    }
}
