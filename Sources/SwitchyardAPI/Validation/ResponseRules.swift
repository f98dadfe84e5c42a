public import Foundation
import SwitchyardClient
import SwitchyardHTTP

/// The checks that a response must pass before it is decoded, and the preprocessing of its body.
///
///     var rules = ResponseRules.strict
///     rules.contentType = .lenient
public struct ResponseRules: Sendable {
    /// The accepted statuses; 200 to 299 by default.
    public var status: StatusPolicy
    /// The accepted content types; the serialiser's content types by default.
    public var contentType: ContentTypePolicy
    /// The handling of an empty body; by default, it depends on the value.
    public var emptyBody: EmptyBodyPolicy
    /// A closure that changes the body before it is decoded, for example to remove a prefix; default is none.
    public var preprocess: (@Sendable (Data) throws -> Data)?
    /// A closure that inspects every response before decoding, an empty one too, and may refuse it with any error;
    /// default is none.
    public var inspect: (@Sendable (RawResponse) throws -> Void)?
    /// The shape that a JSON body must have; none unless set.
    package var bodyShape: (any BodyShape)?

    /// Creates rules.
    public init(
        status: StatusPolicy = .success,
        contentType: ContentTypePolicy = .strict,
        emptyBody: EmptyBodyPolicy = .byValue
    ) {
        self.status = status
        self.contentType = contentType
        self.emptyBody = emptyBody
    }

    /// Status 200 to 299 and the content types of the serialiser.
    public static let strict = ResponseRules()
    /// Status 200 to 299 and the content types that servers send in place of the right ones.
    public static let lenient = ResponseRules(contentType: .lenient)
    /// Every status and every content type.
    public static let off = ResponseRules(status: .any, contentType: .any)
}

extension ResponseRules {
    /// Takes a prefix off each body that has it, such as `)]}',` and a line end, which keep JSON from being run as a
    /// script.
    public mutating func removePrefix(_ prefix: String) {
        let bytes = Data(prefix.utf8)
        preprocess = { $0.starts(with: bytes) ? Data($0.dropFirst(bytes.count)) : $0 }
    }

    /// Returns the body of a refused response for a decoder; `nil` if it cannot be read or errors keep only a part of
    /// it.
    func readable(_ response: RawResponse) -> Data? {
        guard response.data.count <= APIError.Context.bodyLimit else { return nil }
        var prepared = response
        if let preprocess {
            guard let data = try? preprocess(response.data) else { return nil }
            prepared.data = data
        }
        return try? TextEncoding.utf8(prepared)
    }

    /// Checks the status.
    func checkStatus(_ response: RawResponse) throws(APIError) {
        guard status.accepts(response.status) else { throw APIError(.status(response.status)) }
    }

    /// Checks the content type; `acceptable` are the serialiser's types, `nil` is any.
    func checkContentType(_ response: RawResponse, acceptable: [MediaType]?) throws(APIError) {
        guard !response.data.isEmpty else { return }
        guard let types = acceptedTypes(response, acceptable: acceptable) else { return }
        let received = response.headers.contentType
        let accepts: Bool =
            if let received {
                MediaType(received).map { includes($0, types, response) } ?? (contentType == .lenient)
            } else {
                // A response without a content type may be of any type (RFC 9110 section 8.3).
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

    private func acceptedTypes(_ response: RawResponse, acceptable: [MediaType]?) -> [MediaType]? {
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
    /// The content types of JSON: the registered one, those with the suffix (RFC 6839 section 3.1), and two that
    /// servers used earlier.
    static let jsonTypes = ["application/json", "*/*+json", "text/json", "text/javascript"].compactMap {
        MediaType($0)
    }

    /// The value of `Accept` for JSON.
    static let jsonRange = "application/json"

    /// Returns the value of `Accept` for content types; `nil` for any type.
    ///
    /// For JSON only the registered type is requested, because the others are what servers send instead.
    static func accept(_ types: [MediaType]) -> String? {
        if types == jsonTypes { return jsonRange }
        // `*+json` is no range of media types (RFC 9110 section 12.5.1).
        let ranges = types.filter { !$0.subtype.hasPrefix("*+") }.map(\.description)
        return ranges.isEmpty || types.contains(.any) ? nil : ranges.joined(separator: ", ")
    }

    /// Returns the value of `Accept` for content types that any of several readers accepts; `nil` for any type.
    ///
    /// Types that a reader names come before types that another reader would also accept.
    static func accept(ofAny accepts: [String?]) -> String? {
        guard accepts.contains(where: { $0 != nil }) else { return nil }
        var ranges: [Substring] = []
        for range in accepts.flatMap({ ($0 ?? "*/*;q=0.5").split(separator: ", ") }) where !ranges.contains(range) {
            ranges.append(range)
        }
        return ranges.joined(separator: ", ")
    }
}
