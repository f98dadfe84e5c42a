import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import Testing

@testable import SwitchyardClient

/// Cases for whole requests.
@Suite struct RequestCaseTests {
    static func request(_ configuration: APIConfiguration, _ generator: RequestGenerator) throws -> HTTPRequest {
        try generator.request(for: configuration, on: BaseURL("http://unused.example"))
    }

    @Test func `bodies and content types match Siesta`() throws {
        let keys: CaseKeys = "request expected_content_type expected_body expected_body_hex expected_error"
        try CaseFile("siesta_request_bodies").run(reading: keys) { item in
            guard let given = item["request"] else { return .notApplicable("There is no request.") }
            var generator = RequestGenerator(headers: [])
            var configuration = APIConfiguration(method: given["method"]?.string.flatMap { HTTPMethod($0) } ?? .post)
            guard try Self.read(given, into: &configuration, &generator) else {
                return .notApplicable("A part of the request is unknown.")
            }
            let request: HTTPRequest
            do { request = try Self.request(configuration, generator) } catch {
                return item["expected_error"] != nil ? .passed : .failed("threw \(error)")
            }
            if item["expected_error"] != nil { return .failed("was built") }
            let type = request.headers["Content-Type"]
            if let expected = item["expected_content_type"]?.string, type != expected {
                return CaseOutcome.failed("got \(type ?? "none")")
                    .or(
                        "The media type of forms and texts has a charset.",
                        if: type?.hasPrefix("\(expected); charset=") ?? false
                    )
            }
            if let hex = item["expected_body_hex"]?.string {
                return .compare(Self.data(request.body).hexText, hex.lowercased())
            }
            guard let expected = item["expected_body"]?.string else { return .passed }
            let body = EncodingCaseTests.text(request.body)
            return CaseOutcome.compare(body, expected).or(
                "Parameters are sorted by the bytes of their names, not by their escaped text.",
                if: body?.split(separator: "&").sorted() == expected.split(separator: "&").sorted()
            )
        }
    }

    static func data(_ body: HTTPBody) -> Data {
        if case .data(let data) = body { return data }
        return Data()
    }

    static func read(
        _ given: CaseValue,
        into configuration: inout APIConfiguration,
        _ generator: inout RequestGenerator
    ) throws -> Bool {
        for member in given.members ?? [] {
            let value = member.value
            switch member.key {
            case "method", "contentType", "encoding": break
            case "data_hex":
                let bytes = stride(from: 0, to: value.string?.count ?? 0, by: 2).compactMap { offset in
                    UInt8((value.string ?? "").dropFirst(offset).prefix(2), radix: 16)
                }
                configuration.body = .data(Data(bytes), contentType: given["contentType"]?.string)
            case "text":
                let name = given["encoding"]?.string?.lowercased() ?? "utf-8"
                let isASCII = name.contains("ascii")
                guard isASCII || ["utf8", "utf-8"].contains(name), given["contentType"] == nil else { return false }
                configuration.body = .text(value.string ?? "", encoding: isASCII ? .ascii : .utf8)
            case "json" where given["contentType"] != nil, "urlEncoded" where given["contentType"] != nil: return false
            case "json":
                do { configuration.body = .json(try CaseParameters.value(value)) } catch {
                    configuration.body = .json(CaseParameters.Unserialisable())
                }
            case "urlEncoded": configuration.body = .form(try CaseParameters.parameters(value))
            case "configured_headers":
                for field in value.members ?? [] { generator.common.headers.add(field.key, field.value.string ?? "") }
            case "ad_hoc_headers":
                for field in value.members ?? [] { configuration.headers.add(field.key, field.value.string ?? "") }
            case "configured_mutator_headers":
                let fields = (value.members ?? []).map { ($0.key, $0.value.string ?? "") }
                generator.modifiers.append { request in
                    for field in fields { request.headers.set(field.0, field.1) }
                }
            default: return false
            }
        }
        return true
    }

    @Test func `requests match AFNetworking`() throws {
        let keys: CaseKeys = """
            operation input fileName method url headers parameters encoding options options.querySerialisation response
            acceptable pinning baseURL expected expected_error expected_request expected_url expected_query expected_body
            expected_content_type expected_headers expected_valid expected_value
            """
        try CaseFile("afnetworking").run(reading: keys) { item in
            switch item["operation"]?.string {
            case "percentEscape":
                let options = ParameterEncodingOptions()
                let text = try CaseParameters.encoded(["k": item["input"]?.text], options)
                return .compare(String(text.dropFirst(2)), item["expected"]?.text)
            case "mimeTypeForFile":
                return .compare(MediaTypes.type(ofFile: item["fileName"]?.string ?? ""), item["expected"]?.string)
            case .some: return .notApplicable("Tests of other layers cover responses and trust.")
            case nil: return try Self.serialisation(item)
            }
        }
    }

    static func serialisation(_ item: CaseValue) throws -> CaseOutcome {
        var generator = RequestGenerator(headers: [])
        switch item["options"]?["querySerialisation"]?.string {
        case "join each pair as key**value":
            generator.customQuery = { query in
                query.items.map { "\($0.key)**\(($0.value).caseText)" }.joined(separator: "&")
            }
        case "returns an error": generator.customQuery = { _ in throw CaseParameters.Unknown(what: "the block error") }
        case nil where item["options"] == nil: break
        default: return .notApplicable("There is no such option.")
        }
        var configuration = APIConfiguration(
            path: item["url"]?.string ?? "",
            method: item["method"]?.string.flatMap { HTTPMethod($0) } ?? .get
        )
        guard [nil, "json"].contains(item["encoding"]?.string) else {
            return .notApplicable("There is no such encoding.")
        }
        for field in item["headers"]?.members ?? [] { configuration.headers.add(field.key, field.value.string ?? "") }
        // AFNetworking writes a null value as a name without a value.
        configuration.parameterOptions = ParameterEncodingOptions()
        configuration.parameterOptions?.nulls = .bare
        if let given = item["parameters"], given != .null {
            if item["encoding"]?.string == "json" {
                let value = try? CaseParameters.value(given)
                configuration.body = value.map { .json($0) } ?? .json(CaseParameters.Unserialisable())
            } else {
                configuration.parameters = try CaseParameters.parameters(given)
            }
        }
        if item["expected_error"] != nil {
            if item["options"] != nil, configuration.parameters.isEmpty { configuration.parameters = ["key": "value"] }
            let isUnbuildable = String(describing: item).contains("utf16be_hex")
            if isUnbuildable { return .notApplicable("Text that is not Unicode cannot be represented as a string.") }
            return (try? request(configuration, generator)) == nil ? .passed : .failed("was built")
        }
        return compare(try request(configuration, generator), item).or(
            "A request without parameters has no body and no type.",
            if: item["parameters"] == .null
        )
    }

    /// Compares a request with all expectations of a case.
    static func compare(_ request: HTTPRequest, _ item: CaseValue) -> CaseOutcome {
        var outcomes: [CaseOutcome] = []
        for member in item.members ?? [] where member.key.hasPrefix("expected_") {
            switch member.key {
            case "expected_url": outcomes.append(.compare(request.url.text, member.value.string))
            case "expected_query": outcomes.append(.compare(request.url.query, member.value.string))
            case "expected_body":
                outcomes.append(.compare(EncodingCaseTests.text(request.body), member.value.text))
            case "expected_content_type": outcomes.append(field("Content-Type", member.value, of: request))
            case "expected_headers":
                outcomes += (member.value.members ?? []).map { field($0.key, $0.value, of: request) }
            default: return .notApplicable("There is no value to compare with \(member.key).")
            }
        }
        guard !outcomes.isEmpty else { return .notApplicable("The case has no value to compare.") }
        return outcomes.first { $0 != .passed } ?? .passed
    }

    private static func field(_ name: String, _ expected: CaseValue, of request: HTTPRequest) -> CaseOutcome {
        let value = request.headers[name]
        return CaseOutcome.compare(value, expected.string).or(
            "The media type of forms and texts has a charset.",
            if: value?.hasPrefix("\(expected.string ?? ""); charset=") ?? false
        )
    }

    @Test func `tasks become requests as in Moya`() throws {
        let keys: CaseKeys = """
            baseURL path token authorizationType method endpoint endpoint.url endpoint.method endpoint.headers task
            task.kind task.data task.body task.bodyEncoding task.urlParameters task.parameters task.encodable task.json
            task.encoding filter status response operation error expected_url expected_body expected_headers
            expected_method expected_error expected_supports_multipart expected_passes expected_has_description
            expected_has_response expected_has_underlying_error
            """
        try CaseFile("moya").run(reading: keys) { item in
            if item["baseURL"] != nil {
                let configuration = APIConfiguration(path: item["path"]?.string ?? "")
                return CaseOutcome.compare(
                    JoinCaseTests.join(item["baseURL"]?.string ?? "", configuration),
                    item["expected_url"]?.string
                ).or("A question mark in a path starts its query.", if: configuration.path.contains("?"))
            }
            if let token = item["token"]?.string { return Self.authorization(item, token) }
            if let method = item["method"]?.string.flatMap({ HTTPMethod($0) }) {
                return try Self.multipart(item, method)
            }
            guard let task = item["task"] else { return .notApplicable("Tests of other layers cover responses.") }
            return try Self.task(task, item)
        }
    }

    static func authorization(_ item: CaseValue, _ token: String) -> CaseOutcome {
        guard let expected = item["expected_headers"]?["Authorization"]?.string else {
            return .notApplicable("A token is only added on request of the caller.")
        }
        switch item["authorizationType"]?["custom"]?.string ?? item["authorizationType"]?.string {
        case "bearer": return .compare(HTTPHeaders.Field.bearer(token).value, expected)
        case "basic": return .compare(HTTPHeaders.Field.authorization("Basic \(token)").value, expected)
        case let scheme?: return .compare(HTTPHeaders.Field.authorization("\(scheme) \(token)").value, expected)
        case nil: return .failed("no authorization")
        }
    }

    static func multipart(_ item: CaseValue, _ method: HTTPMethod) throws -> CaseOutcome {
        guard let expected = item["expected_supports_multipart"]?.bool else {
            return .notApplicable("The case has no value to compare.")
        }
        let body = RequestBody.multipart(MultipartForm(parts: [.field("a", "b")]))
        let isSupported = (try? request(APIConfiguration(method: method, body: body), RequestGenerator())) != nil
        return CaseOutcome.compare("\(isSupported)", "\(expected)").or(
            "A form is allowed with every method that has a defined body, including DELETE, OPTIONS and QUERY.",
            if: isSupported
        )
    }

    static func task(_ task: CaseValue, _ item: CaseValue) throws -> CaseOutcome {
        var configuration = APIConfiguration(
            path: item["endpoint"]?["url"]?.string ?? "",
            method: item["endpoint"]?["method"]?.string.flatMap { HTTPMethod($0) } ?? .get
        )
        for field in item["endpoint"]?["headers"]?.members ?? [] {
            configuration.headers.add(field.key, field.value.string ?? "")
        }
        configuration.allowsUnusualBody = true
        if let query = task["urlParameters"] { configuration.query = try CaseParameters.parameters(query) }
        let encoding = (task["bodyEncoding"] ?? task["encoding"])?.string?.lowercased() ?? ""
        if let text = task["data"]?.string {
            configuration.body = .data(Data(text.utf8), contentType: nil)
        } else if (item["expected_error"] ?? .null) != .null {
            return .notApplicable("Query and body parameters are different properties and cannot be confused.")
        } else if let body = task["body"], body != .null {
            let parameters = try CaseParameters.parameters(body)
            configuration.body = encoding.contains("json") ? .json(parameters) : .form(parameters)
        } else if task["parameters"] != nil || task["encodable"] != nil || task["json"] != nil {
            return .notApplicable("The parameter cases cover the encoders of the task.")
        }
        let request = try request(configuration, RequestGenerator(headers: []))
        var outcome = CaseOutcome.passed
        if let url = item["expected_url"]?.string { outcome = .compare(request.url.text, url) }
        if outcome == .passed, let method = item["expected_method"]?.string {
            outcome = .compare(request.method.name, method)
        }
        if outcome == .passed, let body = item["expected_body"] {
            outcome = .compare(EncodingCaseTests.text(request.body), body.string)
        }
        for field in item["expected_headers"]?.members ?? [] where outcome == .passed {
            outcome = .compare(request.headers[field.key], field.value.string)
        }
        return outcome
    }

    @Test func `requests match those of the Swift library Get`() throws {
        let keys: CaseKeys = """
            baseURL path session_headers request request.method request.url request.path request.json request.headers
            request.session_headers request.response request.responses request.as request.token
            request.cancelled_after_ms request.server_delay_s expected_url expected_error expected_headers expected_body
            expected_body_json expected_value expected_retry_consulted expected_sent_authorization
            """
        try CaseFile("get").run(reading: keys) { item in
            if let base = item["baseURL"]?.string {
                let path = item["path"]?.string ?? ""
                let actual = JoinCaseTests.join(base, APIConfiguration(path: path))
                guard item["expected_error"] == nil else { return .compare(actual, nil) }
                return CaseOutcome.compare(actual, item["expected_url"]?.string)
                    .or("An empty path is the base URL itself, without a slash.", if: path.isEmpty)
                    .or(
                        "Paths are appended by default, and resolution against the base URL is an option.",
                        if: path.hasPrefix("/") && URLCaseTests.resolve(base, path) == item["expected_url"]?.string
                    )
            }
            guard let given = item["request"], given["response"] == nil, given["responses"] == nil else {
                return .notApplicable("Tests of other layers cover responses.")
            }
            guard let json = given["json"], item["expected_url"] == nil, item["expected_error"] == nil else {
                return .notApplicable("The test covers only the creation of requests.")
            }
            return try Self.built(json, given, item)
        }
    }

    /// Compares a request of Get with the expectations of a case.
    private static func built(_ json: CaseValue, _ given: CaseValue, _ item: CaseValue) throws -> CaseOutcome {
        var generator = RequestGenerator()
        let session = (item["session_headers"] ?? given["session_headers"])?.members ?? []
        for field in session { generator.common.headers.set(field.key, field.value.string ?? "") }
        var configuration = APIConfiguration(
            path: given["path"]?.string ?? given["url"]?.string ?? "",
            method: given["method"]?.string.flatMap { HTTPMethod($0) } ?? .post
        )
        if json != .null { configuration.body = .json(try CaseParameters.value(json)) }
        // A client of Get decodes JSON from every response. Here the layer above sets the accepted type.
        configuration.acceptedTypes = "application/json"
        for field in given["headers"]?.members ?? [] {
            configuration.headers.add(field.key, field.value.string ?? "")
        }
        let request = try request(configuration, generator)
        for field in item["expected_headers"]?.members ?? [] {
            let outcome = CaseOutcome.compare(request.headers[field.key], field.value.string).or(
                "The media type of a body overrides a common header field.",
                if: !session.isEmpty && field.key.equalsIgnoringASCIICase("Content-Type")
            )
            guard outcome == .passed else { return outcome }
        }
        if let expected = item["expected_body"] {
            return CaseOutcome.compare(EncodingCaseTests.text(request.body), expected.string).or(
                "A JSON string has quotes, and raw text is another kind of body.",
                if: json.string != nil
            )
        }
        guard let expected = item["expected_body_json"] else { return .passed }
        let actual = try CaseReader.read(EncodingCaseTests.text(request.body) ?? "null")
        return EncodingCaseTests.sorted(actual) == EncodingCaseTests.sorted(expected)
            ? .passed : .failed("got \(actual)")
    }
}

extension ParameterValue {
    fileprivate var caseText: String {
        if case .string(let text) = self { return text }
        return ""
    }
}
