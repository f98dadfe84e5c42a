public import Foundation
import SwitchyardClient
public import SwitchyardHTTP

/// What a test expects of one request, and the answer that it gets.
///
///     RequestExpectation(.post, "/v1/topics", headers: ["Content-Type": "application/json"], answer: .status(201))
///         .body { $0 == Data(#"{"title":"one"}"#.utf8) }
public struct RequestExpectation: Sendable {
    /// How many times it is expected.
    public var count: ClosedRange<Int>
    let answer: StubAnswer
    private var method: HTTPMethod
    private var path: String
    private var query: [String: String]
    private var headers: HTTPHeaders
    private var body: (@Sendable (Data) -> Bool)?

    /// Creates an expectation.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The whole path of the URL, percent-encoded, without the query.
    ///   - query: Values that the query has, among others, also of the same name.
    ///   - headers: Fields that the request has, among others.
    ///   - count: How many times it is expected; once unless given.
    ///   - answer: What it is answered; 200 without a body unless given.
    public init(
        _ method: HTTPMethod = .get,
        _ path: String,
        query: [String: String] = [:],
        headers: HTTPHeaders = [:],
        count: ClosedRange<Int> = 1...1,
        answer: StubAnswer = .status(200)
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.count = count
        self.answer = answer
    }

    /// Expects a body as well; a body that is read while it is sent counts as empty.
    public func body(_ condition: @escaping @Sendable (Data) -> Bool) -> RequestExpectation {
        var copy = self
        copy.body = condition
        return copy
    }

    /// What is different about a request; empty when it is the one expected.
    func differences(from request: HTTPRequest) -> [String] {
        let url = URLComponents(string: request.url.text)
        var differences: [String] = []
        if request.method != method { differences.append("method \(request.method.name)") }
        let path = url?.percentEncodedPath ?? ""
        if path != self.path { differences.append("path \(path)") }
        // As a form: a plus is a space, as the library writes it where it is told to.
        let given = Parameters(parsing: request.url.query ?? "")
        for (name, value) in query.sorted(by: { $0.key < $1.key }) {
            let found = given.items.filter { $0.key == name }.map(\.value)
            guard !found.contains(.string(value)) else { continue }
            let texts = found.compactMap { if case .string(let text) = $0 { text } else { nil } }
            let shown = texts.map { Redaction.standard.value($0, ofParameter: name) }
            let list = shown.isEmpty ? "nothing" : shown.joined(separator: ", ")
            let expected = Redaction.standard.value(value, ofParameter: name)
            differences.append("query \(name)=\(list) in place of \(expected)")
        }
        for field in headers.fields {
            let found = request.headers.values(of: field.name)
            guard !found.contains(field.value) else { continue }
            let shown = found.map { Redaction.standard.value($0, ofHeader: field.name) }.joined(separator: ", ")
            let expected = Redaction.standard.value(field.value, ofHeader: field.name)
            differences.append("\(field.name): \(found.isEmpty ? "nothing" : shown) in place of \(expected)")
        }
        if let body, !body(request.bytes) { differences.append("body of \(request.bytes.count) bytes") }
        return differences
    }

    var name: String { "\(method.name) \(path)" }

    /// How much it asks for beside the method and the path.
    var conditions: Int { query.count + headers.fields.count + (body == nil ? 0 : 1) }
}

extension HTTPRequest {
    /// The bytes of a body in memory.
    var bytes: Data {
        if case .data(let data) = body { data } else { Data() }
    }
}
