import Foundation
import SwitchyardClient

extension CacheKey {
    private static let generator = RequestGenerator()
    private static let base = RequestURL("http://cache.invalid/").map { BaseURL($0) }

    /// Creates the key of a call; the one place in which keys are made, for storing and finding alike.
    ///
    /// `nil` when the call is not to be cached: it has no lifetime, its method may change something, or its body is not
    /// known in advance. A function, since an initialiser would take a copy of the whole configuration.
    static func of(_ configuration: APIConfiguration, policy: CachePolicy, in partition: CachePartition) -> CacheKey? {
        guard configuration.usesCache, configuration.method.isSafe || policy.allowsUnsafeMethods else { return nil }
        var body: Data?
        if !configuration.body.isNone {
            guard let bytes = bytes(of: configuration) else { return nil }
            body = bytes
        }
        var headers: [(name: String, value: String)] = []
        for field in configuration.headers where !policy.ignoredHeaders.contains(field.name.lowercased()) {
            headers.append((field.name, field.value))
        }
        if case .baseURL(let url) = configuration.server { headers.append((name: ":base", value: url.text)) }
        if policy.version != 0 { headers.append((name: ":version", value: String(policy.version))) }
        var parameters: [(name: String, value: String)] = []
        for items in [configuration.query.items, configuration.parameters.items] {
            for item in items where !policy.ignoredParameters.contains(item.key) {
                parameters.append((item.key, item.value.canonicalText))
            }
        }
        return CacheKey(
            partition,
            method: configuration.method,
            path: configuration.path,
            parameters: parameters,
            headers: headers,
            body: body
        )
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

extension ParameterValue {
    /// The value as text, injective: the kind, then the value, with lengths where values are nested.
    fileprivate var canonicalText: String {
        switch self {
        case .null: "n"
        case .bool(let value): value ? "t" : "f"
        case .integer(let value): "i" + String(value)
        case .unsigned(let value): "u\(value)"
        case .double(let value): "d\(value)"
        case .decimal(let value): "e\(value)"
        case .string(let value): "s" + value
        case .date(let value): "D\(value.timeIntervalSinceReferenceDate)"
        case .data(let value): "b" + value.base64EncodedString()
        case .array(let values): "a" + values.map { Self.framed($0.canonicalText) }.joined()
        case .dictionary(let values):
            "o"
                + values.items.sorted { $0.key < $1.key }
                .map { Self.framed($0.key) + Self.framed($0.value.canonicalText) }
                .joined()
        }
    }

    private static func framed(_ text: String) -> String { "\(text.utf8.count):\(text)" }
}
