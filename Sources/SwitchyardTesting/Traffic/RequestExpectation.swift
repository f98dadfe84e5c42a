public import Foundation
import SwitchyardClient
public import SwitchyardHTTP

/// An expected request and the response to it.
///
///     RequestExpectation(.post, "/v1/topics", headers: ["Content-Type": "application/json"], answer: .status(201))
///         .body { $0 == Data(#"{"title":"one"}"#.utf8) }
public struct RequestExpectation: Sendable {
    /// The number of times that the request is expected.
    public var count: ClosedRange<Int>
    let answer: StubResponse
    private var method: HTTPMethod
    private var path: String
    private var query: [String: String]
    private var headers: HTTPHeaders
    private var body: (@Sendable (Data) -> Bool)?

    /// Creates an expectation.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The complete percent-encoded path of the URL, without the query.
    ///   - query: Values that the query must contain. The query can have additional values, even with the same names.
    ///   - headers: Header fields that the request must contain. The request can have additional fields.
    ///   - count: The number of times that the request is expected. The default is once.
    ///   - answer: The response. The default is status 200 without a body.
    public init(
        _ method: HTTPMethod = .get,
        _ path: String,
        query: [String: String] = [:],
        headers: HTTPHeaders = [:],
        count: ClosedRange<Int> = 1...1,
        answer: StubResponse = .status(200)
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.count = count
        self.answer = answer
    }

    /// Returns the expectation with an additional condition on the request's body.
    ///
    /// A streamed body counts as empty.
    public func body(_ condition: @escaping @Sendable (Data) -> Bool) -> RequestExpectation {
        var copy = self
        copy.body = condition
        return copy
    }

    /// Returns descriptions of how a request differs from the expectation, or an empty array if the request matches.
    func differences(from request: HTTPRequest) -> [String] {
        let url = URLComponents(string: request.url.text)
        var differences: [String] = []
        if request.method != method { differences.append("method \(request.method.name)") }
        let path = url?.percentEncodedPath ?? ""
        if path != self.path { differences.append("path \(path)") }
        // The query is parsed as a form, where a plus sign is a space, because the library can encode spaces as plus
        // signs.
        let given = Parameters(parsing: request.url.query ?? "")
        for (name, value) in query.sorted(by: { $0.key < $1.key }) {
            let found = given.items.filter { $0.key == name }.map(\.value)
            guard !found.contains(.string(value)) else { continue }
            let texts = found.compactMap { if case .string(let text) = $0 { text } else { nil } }
            let shown = texts.map { Redaction.standard.value($0, ofParameter: name) }
            let list = shown.isEmpty ? "nothing" : shown.joined(separator: ", ")
            let expected = Redaction.standard.value(value, ofParameter: name)
            differences.append("query \(name)=\(list), expected \(expected)")
        }
        for field in headers.fields {
            let found = request.headers.values(of: field.name)
            guard !found.contains(field.value) else { continue }
            let shown = found.map { Redaction.standard.value($0, ofHeader: field.name) }.joined(separator: ", ")
            let expected = Redaction.standard.value(field.value, ofHeader: field.name)
            differences.append("\(field.name): \(found.isEmpty ? "nothing" : shown), expected \(expected)")
        }
        if let body, !body(request.bytes) { differences.append("the body, which has \(request.bytes.count) bytes") }
        return differences
    }

    var name: String { "\(method.name) \(path)" }

    /// The number of conditions, not counting the method and the path.
    var conditions: Int { query.count + headers.fields.count + (body == nil ? 0 : 1) }
}

extension HTTPRequest {
    /// The bytes of the body if it is in memory; otherwise, empty data.
    var bytes: Data {
        if case .data(let data) = body { data } else { Data() }
    }
}
