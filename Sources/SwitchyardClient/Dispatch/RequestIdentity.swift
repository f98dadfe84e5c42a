package import SwitchyardHTTP
import SwitchyardServices

/// The identity of the request that a call makes.
///
/// Calls with equal identities make the same request. The cache and coalescing (``RequestCoalescing/identical``) both
/// use this value. A property of ``APIConfiguration`` that affects the request therefore separates calls in both.
package struct RequestIdentity: Sendable {
    /// A name and a value that requests must have in common.
    package typealias Pair = (name: String, value: String)

    /// Whether calls with equal identities share a stored response or a transfer.
    package enum Shared: Sendable {
        /// The calls share a stored response.
        case response
        /// The calls share one transfer, so their options for the transfer must be equal too.
        case transfer
    }

    package let method: HTTPMethod
    package let path: String
    package let query: [Pair]
    /// The parameters, which may be sent in another part of the request than the query.
    package let parameters: [Pair]
    package let headers: [Pair]
    /// The options whose values are not the default.
    ///
    /// Their names start with a colon, so no header field has the same name.
    package let options: [Pair]

    /// Creates the identity of a call's request, or returns `nil` if code of the app or a prebuilt request determines
    /// the request.
    ///
    /// A body, a stub response, and a URL rule are not part of the identity.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - shared: Whether calls with equal identities share a stored response or a transfer.
    ///   - isAuthorized: Whether the client sends its credentials with the call. The default is `true`.
    ///   - isIgnoredParameter: A closure that returns whether a parameter does not count. By default, all count.
    ///   - isIgnoredHeader: A closure that returns whether a header field, by its lowercase name, does not count.
    package init?(
        of call: APIConfiguration,
        for shared: Shared,
        isAuthorized: Bool = true,
        ignoringParameters isIgnoredParameter: (String) -> Bool = { _ in false },
        ignoringHeaders isIgnoredHeader: (String) -> Bool = { _ in false }
    ) {
        guard !call.isMadeByHand else { return nil }
        method = call.method
        path = call.path
        query = Self.pairs(call.query, isIgnoredParameter)
        parameters = Self.pairs(call.parameters, isIgnoredParameter)
        headers = call.headers.compactMap { field in
            isIgnoredHeader(field.name.lowercased()) ? nil : (field.name, field.value)
        }
        var options = Options(isAuthorized: isAuthorized)
        options.addRequest(of: call)
        if shared == .transfer { options.addTransfer(of: call) }
        self.options = options.pairs
    }

    /// The identity as unambiguous text, with parameters and header fields in the order of the call.
    package var text: String {
        let lists = [query, parameters, headers, options].map { pairs in
            pairs.map { $0.name.framed + $0.value.framed }.joined().framed
        }
        return ([method.name.framed, path.framed] + lists).joined()
    }

    /// Returns, as text, the options of a call that can make it fail although an equal request succeeds.
    ///
    /// These are the options of the transfer, and the retries and limits of the call itself. Calls that need the same
    /// stored response share a fetch only if these options are equal.
    package static func fetchOptions(of call: APIConfiguration) -> String {
        var options = Options(isAuthorized: true)
        options.addTransfer(of: call)
        options.addRounds(of: call)
        return options.pairs.map { $0.name.framed + $0.value.framed }.joined()
    }

    private static func pairs(_ parameters: Parameters, _ isIgnored: (String) -> Bool) -> [Pair] {
        var pairs: [Pair] = []
        for item in parameters.items where !isIgnored(item.key) { pairs.append((item.key, item.value.canonicalText)) }
        return pairs
    }
}

/// The options of a call that are part of its identity, as pairs.
///
/// If you add a property to ``APIConfiguration`` that affects the request or its transfer, add it here.
/// `RequestIdentityTests` fails until each property is in this list or among the properties that do not count.
private struct Options {
    let isAuthorized: Bool
    private(set) var pairs: [RequestIdentity.Pair] = []

    init(isAuthorized: Bool) {
        self.isAuthorized = isAuthorized
    }

    /// Adds the options that affect the request or its response.
    mutating func addRequest(of call: APIConfiguration) {
        if case .baseURL(let url) = call.server { add(":base", url.text) }
        if call.usesCDN { add(":cdn", call.cdnURL?.text ?? "") }
        if call.parameterDestination != .automatic { add(":destination", "\(call.parameterDestination)") }
        if call.upgradesToHTTPS { add(":https", "") }
        if !call.usesCookies { add(":cookies", "none") }
        guard let rare = call.rare?.value else { return addCredential(nil, usesShared: true) }
        addCredential(rare.credential, usesShared: rare.usesCredentials)
        add(":written", rare.parameterOptions.map { "\($0)" })
        add(":redirects", rare.redirects.map { "\($0.rule) \($0.limit)" })
        add(":tls", rare.tls?.fingerprint)
        add(":api", rare.apiVersion)
        if !rare.pathValues.isEmpty { add(":path", ParameterValue.dictionary(rare.pathValues).canonicalText) }
    }

    /// Adds the options that affect only how the server is reached or how the response is transferred.
    mutating func addTransfer(of call: APIConfiguration) {
        if case .named(let name) = call.server { add(":named", name) }
        if !call.usesCDN { add(":unusedCDN", call.cdnURL?.text) }
        add(":limit", call.responseBodyLimit.map { "\($0)" })
        add(":types", call.typesOfReader)
        if call.networkAccess != HTTPRequest.NetworkAccess() { add(":network", "\(call.networkAccess)") }
        add(":session", call.session)
        add(":anonymous", call.allowsAnonymous.map { "\($0)" })
        if !call.usesCredentials { add(":credentials", "none") }
        add(":connect", call.connectTimeout.map { "\($0)" })
        add(":idle", call.idleTimeout.map { "\($0)" })
        if call.priority != .normal { add(":priority", "\(call.priority)") }
        if call.outlivesLogout { add(":outlives", "") }
    }

    /// Adds the retries and limits of the call itself.
    ///
    /// A limit that is an object is identified by this object, because calls with the same object count against it
    /// together.
    mutating func addRounds(of call: APIConfiguration) {
        guard call.rare != nil else { return }
        add(":retry", call.retry.map { "\($0)" })
        for limit in call.limits {
            let object = type(of: limit) is AnyClass ? "\(ObjectIdentifier(limit as AnyObject))" : ""
            add(":requestLimit", "\(type(of: limit)) \(object)")
        }
        let retrying = call.interceptors.count { $0.retry != nil }
        if retrying > 0 { add(":retrying", "\(retrying)") }
    }

    /// Adds a fingerprint of the call's own credential.
    ///
    /// The credential itself is not added, because code that reads the identity must not learn it. A response to a
    /// request with a credential must not be used for a request without one.
    private mutating func addCredential(_ credential: Credential?, usesShared: Bool) {
        if let credential { return add(":credential", credential.scheme.fingerprint) }
        if !isAuthorized || !usesShared { add(":credential", "none") }
    }

    private mutating func add(_ name: String, _ value: String?) {
        if let value { pairs.append((name, value)) }
    }
}

extension APIConfiguration {
    /// Whether code of the app or a prebuilt request determines the request, so that equal configurations may lead to
    /// different requests.
    ///
    /// URL rules are not considered.
    fileprivate var isMadeByHand: Bool {
        guard rare != nil else { return false }
        if prebuiltRequest != nil || modifier != nil { return true }
        if let parameterOptions, !parameterOptions.isComparable { return true }
        if case .own? = redirects?.rule { return true }
        return interceptors.contains { $0.adapt != nil }
    }
}

extension ParameterEncodingOptions {
    /// Whether options with the same description encode parameters in the same way.
    ///
    /// For options with closures, the value is `false`.
    fileprivate var isComparable: Bool {
        if case .custom = arrays { return false }
        if case .custom = nesting { return false }
        if case .custom = dates { return false }
        if case .custom = data { return false }
        if case .custom = keyCase { return false }
        return true
    }
}
