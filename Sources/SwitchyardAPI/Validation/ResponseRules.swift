public import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// The checks that a response must pass before it is decoded, and the preprocessing of its body.
///
///     var rules = ResponseRules.strict
///     rules.contentType = .lenient
public struct ResponseRules: Sendable {
    /// The accepted statuses, 200 to 299 by default.
    public var status: StatusPolicy
    /// The accepted content types, by default the serializer's.
    public var contentType: ResponseRules.ContentTypeRule
    /// The handling of an empty body.
    ///
    /// By default, it depends on the value.
    public var emptyBody: ResponseRules.EmptyBodyRule
    /// A closure that changes the body before it is decoded, for example to remove a prefix; `nil` by default.
    public var preprocess: (@Sendable (Data) throws -> Data)?
    /// A closure that inspects every response before it is decoded, including an empty one.
    ///
    /// There is none by default.
    ///
    /// If the closure throws, the call fails with its error.
    public var inspect: (@Sendable (RawResponse) throws -> Void)?
    /// The shape that a JSON body must have.
    ///
    /// If `nil` (the default), any body is accepted.
    package var bodyShape: (any BodyShape)?

    /// Creates rules with the default values of the properties.
    public init(
        status: StatusPolicy = .success,
        contentType: ResponseRules.ContentTypeRule = .strict,
        emptyBody: ResponseRules.EmptyBodyRule = .byValue
    ) {
        self.status = status
        self.contentType = contentType
        self.emptyBody = emptyBody
    }

    /// Rules that accept the statuses 200 to 299 and the content types of the serializer.
    public static let strict = ResponseRules()
    /// Rules that accept the statuses 200 to 299, the content types of the serializer, and the wrong content types that
    /// servers often send for them.
    public static let lenient = ResponseRules(contentType: .lenient)
    /// Rules that accept every status and every content type.
    public static let off = ResponseRules(status: .any, contentType: .any)
}

extension ResponseRules {
    /// Makes these rules remove a prefix from each body that has it.
    ///
    /// Some servers send a prefix such as `)]}',` with a line end, which prevents JSON from being run as a script.
    public mutating func removePrefix(_ prefix: String) {
        let bytes = Data(prefix.utf8)
        preprocess = { $0.starts(with: bytes) ? Data($0.dropFirst(bytes.count)) : $0 }
    }

    /// Returns the body of a rejected response in the form that a decoder can read.
    ///
    /// The result is `nil` if the body cannot be read, or if it is longer than the part that an error stores.
    func readable(_ response: RawResponse) -> Data? {
        guard response.data.count <= APIError.Context.bodyLimit else { return nil }
        var prepared = response
        if let preprocess {
            guard let data = try? preprocess(response.data) else { return nil }
            prepared.data = data
        }
        return try? TextEncoding.utf8(prepared)
    }

    /// Throws an error if the rules do not accept the status.
    func checkStatus(_ response: RawResponse) throws(APIError) {
        guard status.accepts(response.status) else { throw APIError(.status(response.status)) }
    }

    /// Throws an error if the rules do not accept the content type.
    ///
    /// `acceptable` contains the serializer's content types, or is `nil` if the serializer accepts any type.
    func checkContentType(_ response: RawResponse, acceptable: [MediaType]?) throws(APIError) {
        guard !response.data.isEmpty else { return }
        guard let types = contentType == .strict ? acceptable : acceptedTypes(response, acceptable) else { return }
        let received = response.headers.contentType
        let accepts: Bool =
            if let received {
                MediaType(received).map { includes($0, types, response) } ?? (contentType == .lenient)
            } else {
                // A response without `Content-Type` may be of any type (RFC 9110 section 8.3).
                contentType == .strict || contentType == .lenient || types.contains(.any)
            }
        guard !accepts else { return }
        throw APIError(.body(.contentType(received: received, acceptable: types.map(\.description).sorted())))
    }

    private func includes(_ type: MediaType, _ types: [MediaType], _ response: RawResponse) -> Bool {
        guard types.contains(where: { $0.includes(type) }) else { return false }
        guard case .requested = contentType, let accept = response.accept else { return true }
        return type.isWanted(by: accept)
    }

    private func acceptedTypes(_ response: RawResponse, _ acceptable: [MediaType]?) -> [MediaType]? {
        switch contentType {
        case .any: return nil
        case .strict: return acceptable
        case .lenient: return acceptable.map { $0 + Self.lenientTypes }
        case .only(let types): return types
        case .requested:
            let list = response.accept.map(MediaType.list) ?? []
            return list.isEmpty ? nil : list
        }
    }

    private static let lenientTypes = [
        MediaType(type: "text", subtype: "*"), MediaType(type: "application", subtype: "octet-stream"),
        MediaType(type: "application", subtype: "javascript"), MediaType(type: "application", subtype: "x-javascript"),
    ]
}

extension MediaType {
    /// The content types of JSON: the registered type, types with its suffix (RFC 6839 section 3.1), and two that
    /// servers used earlier.
    static let jsonTypes = ["application/json", "*/*+json", "text/json", "text/javascript"].compactMap {
        MediaType($0)
    }

    /// The value of `Accept` for JSON.
    static let jsonRange = "application/json"

    /// Returns the value of `Accept` for content types, or `nil` for any type.
    ///
    /// For JSON, only the registered type is requested. The other types are only accepted because servers send them
    /// instead.
    static func accept(_ types: [MediaType]) -> String? {
        if types == jsonTypes { return jsonRange }
        // `*+json` is not a valid media range (RFC 9110 section 12.5.1).
        let ranges = types.filter { !$0.subtype.hasPrefix("*+") }.map(\.description)
        return ranges.isEmpty || types.contains(.any) ? nil : ranges.joined(separator: ", ")
    }

    /// Returns the value of `Accept` for the content types that any of several serializers accepts, or `nil` for any
    /// type.
    ///
    /// A type that one serializer names comes before types that another serializer accepts only by a wildcard.
    static func accept(ofAny accepts: [String?]) -> String? {
        guard accepts.contains(where: { $0 != nil }) else { return nil }
        var ranges: [Substring] = []
        for range in accepts.flatMap({ ($0 ?? "*/*;q=0.5").split(separator: ", ") }) where !ranges.contains(range) {
            ranges.append(range)
        }
        return ranges.joined(separator: ", ")
    }
}
