import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardClient
@testable import SwitchyardTransfers

/// The cases of `resumable_download.json` and `range_header_parsing.json`.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct ResumeCaseTests {
    @Test func `resumable downloads behave as other libraries and RFC 9110 require`() async throws {
        let keys: CaseKeys = """
            operation response.http response.status response.headers bytes_received expected_resumable
            expected_validator validator.etag validator.last_modified expected_request_headers status expected_resumed
            value expected exchanges.request_headers exchanges.expected_request_headers exchanges.response.status
            exchanges.response.headers exchanges.response.body_sent exchanges.response.then expected_body
            expected_body_delivered expected_not_body expected_acceptable expected_error
            """
        await (try CaseFile("resumable_download")).runAsync(reading: keys) { item in
            switch item["operation"]?.string {
            case "may a partial download be kept for resuming?": try await judgeKeeping(item)
            case "headers of the resuming request": try await judgeHeaders(item)
            case "did the server resume?": judgeStatus(item)
            case "parse Content-Range": judgeContentRange(item)
            case "download through interruptions": try await judgeInterruptions(item)
            default: .notApplicable("an operation that is not known")
            }
        }
    }

    /// Checks the loopback server itself, so that its range responses can be trusted in other tests.
    @Test func `the loopback server parses ranges like the server of Go`() throws {
        try CaseFile("range_header_parsing").run(reading: "range length expected_ranges") { item in
            let field = try #require(item["range"]?.string)
            let ranges = ByteRanges(field, length: item["length"]?.int ?? 0)
            let expected = item["expected_ranges"]?.array?.map { $0.array?.compactMap(\.int) ?? [] }
            guard case .ranges(let actual) = ranges else { return .compare(nil, expected.map { "\($0)" }) }
            let isPartOfSet = expected == nil && actual.count < field.split(separator: ",").count
            return CaseOutcome.compare("\(actual.map { [$0.lowerBound, $0.count] })", expected.map { "\($0)" })
                .or(
                    "of several ranges one that lies in the content is enough (RFC 9110 section 14.1.2)",
                    if: isPartOfSet
                )
        }
    }

    // MARK: - Operations

    /// Breaks the body after the bytes of the case and checks the Range header of the next request.
    private func judgeKeeping(_ item: CaseValue) async throws -> CaseOutcome {
        let response = try #require(item["response"])
        let status = response["status"]?.int ?? 0
        let count = item["bytes_received"]?.int ?? 0
        var headers = HTTPHeaders(
            response["headers"]?.members?.map { .init(name: $0.key, value: $0.value.string ?? "") } ?? []
        )
        let expected = item["expected_resumable"]?.bool ?? false
        if response["http"]?.bool == false { return .notApplicable("there is no answer that is not HTTP") }
        // A 206 response is only sent to the second request, which resumes the first.
        let isPart = status == 206
        let start = isPart ? min(500, count) : 0
        if isPart { headers.set("Content-Range", "bytes \(start)-1999/2000") }
        let cut = TransportError(.truncated, message: "cut")
        let place = try StubPlace()
        var answers: [StubResponse] = []
        if isPart {
            let whole: HTTPHeaders = ["ETag": headers["ETag"] ?? "", "Content-Length": "2000"]
            answers.append(.chunks([Data(count: start)], headers: whole, failing: cut))
        }
        answers.append(
            .chunks([Data(count: count - start)], status: status, headers: headers, failing: cut)
        )
        answers.append(.failure(.connectionRefused))
        let transport = StubTransport(answers: answers)
        for _ in answers { _ = await place.download(transport, continuations: 0) }

        let last = try #require(transport.requests.last)
        let isEarly = (200..<300).contains(status) && count < 2_000
        let validator = last.headers["If-Range"]
        guard (validator != nil) == expected else {
            let outcome = CaseOutcome.failed("the next request asks for \(last.headers["Range"] ?? "everything")")
                .or("a whole body is kept when only the last step failed, and asked about", if: count == 2_000)
            return expected ? Self.discarded(headers, outcome) : isEarly ? Self.kept(headers, outcome) : outcome
        }
        return .compare(validator, item["expected_validator"]?.string ?? validator)
    }

    /// The reasons to keep a partial file that other libraries discard.
    private static func kept(_ headers: HTTPHeaders, _ outcome: CaseOutcome) -> CaseOutcome {
        outcome
            .or(
                "a server that does not speak of ranges is asked (RFC 9110 section 14.3)",
                if: headers["Accept-Ranges"] == nil
            )
            .or("of a content of unknown length the rest is asked for", if: headers["Content-Length"] == nil)
    }

    /// The reasons to discard a partial file that other libraries keep.
    private static func discarded(_ headers: HTTPHeaders, _ outcome: CaseOutcome) -> CaseOutcome {
        outcome.or(
            "a tag hides the date behind it, weak as it is (RFC 9110 section 13.1.5)",
            if: headers["ETag"]?.hasPrefix("W/") == true && headers["Last-Modified"] != nil
        )
    }

    private func judgeHeaders(_ item: CaseValue) async throws -> CaseOutcome {
        let place = try StubPlace()
        let validator = item["validator"]
        var headers = HTTPHeaders()
        headers["ETag"] = validator?["etag"]?.string
        headers["Last-Modified"] = validator?["last_modified"]?.string
        let kept = ResumeValidator(headers)
        let count = Int64(item["bytes_received"]?.int ?? 0)
        try place.keep(count, validator: kept)
        let transport = StubTransport(answers: [.failure(.connectionRefused)])
        _ = await place.download(transport, continuations: 0)
        let request = try #require(transport.requests.first)
        for member in item["expected_request_headers"]?.members ?? [] {
            let outcome = CaseOutcome.compare(request.headers[member.key], member.value.string)
            guard outcome == .passed else {
                return member.value.string == nil ? outcome : Self.discarded(headers, outcome)
            }
        }
        return .passed
    }

    private func judgeStatus(_ item: CaseValue) -> CaseOutcome {
        let question = DownloadResponse.Question(offset: 5, validator: .entityTag("\"a\""), total: 10)
        let headers: HTTPHeaders = ["Content-Range": "bytes 5-9/10", "ETag": "\"a\""]
        let answer = DownloadResponse(status: item["status"]?.int ?? 0, headers: headers, to: question)
        let isResumed = if case .rest = answer { true } else { false }
        return .compare("\(isResumed)", item["expected_resumed"]?.bool.map { "\($0)" })
    }

    private func judgeContentRange(_ item: CaseValue) -> CaseOutcome {
        let range = ContentRange(item["value"]?.string ?? "")
        guard let expected = item["expected"], expected != .null else { return .compare(range.map { "\($0)" }, nil) }
        if expected["unit"]?.string != "bytes" { return .notApplicable("only bytes are asked for") }
        let actual = [range?.bytes?.lowerBound, range?.bytes?.upperBound, range?.total].map { $0.map { Int($0) } }
        let wanted = ["first", "last", "complete_length"].map { expected[$0]?.int }
        return .compare(range == nil ? nil : "\(actual)", "\(wanted)")
    }

    private func judgeInterruptions(_ item: CaseValue) async throws -> CaseOutcome {
        let exchanges = item["exchanges"]?.array ?? []
        if exchanges.first?["response"]?["status"]?.int == 206 {
            return .notApplicable("a range of the caller's own is taken as it is")
        }
        let tag = exchanges.first?["response"]?["headers"]?.members?.first { $0.key.lowercased() == "etag" }
        let asksIfMatch = exchanges.contains { $0["expected_request_headers"]?["If-Match"]?.string != nil }
        return try await interrupted(exchanges, item)
            .or(
                "a weak tag does not say that the bytes are the same: all is asked for (RFC 9110 section 13.1.5)",
                if: tag?.value.string?.hasPrefix("W/") ?? false
            )
            .or("If-Range is asked, which brings the whole where the part is gone", if: asksIfMatch)
    }

    private func interrupted(_ exchanges: [CaseValue], _ item: CaseValue) async throws -> CaseOutcome {
        let place = try StubPlace()
        let transport = StubTransport(answers: exchanges.map(answer))
        let restarts = Recorder<DownloadEvent>()
        let result = await place.download(transport, continuations: 2) { event in
            if case .restarted = event { restarts.record(event) }
        }
        // In a successful case, every exchange of the case has happened.
        if item["expected_body"] != nil, transport.requests.count < exchanges.count {
            return .failed("only \(transport.requests.count) of \(exchanges.count) requests")
        }
        for (exchange, request) in zip(exchanges, transport.requests) {
            for member in exchange["expected_request_headers"]?.members ?? [] {
                let outcome = CaseOutcome.compare(request.headers[member.key], member.value.string)
                guard outcome == .passed else { return outcome }
            }
        }
        let body = (try? result.get()).flatMap { try? String(contentsOf: $0.url, encoding: .utf8) }
        if let expected = item["expected_body"]?.string { return .compare(body, expected) }
        if let wrong = item["expected_not_body"]?.string, body == wrong { return .failed("got \(wrong)") }
        // Every such case accepts a restart, or an error if no more content is available.
        if body == nil || !restarts.values.isEmpty { return .passed }
        let accepted = item["expected_acceptable"]?.array?.compactMap(\.string) ?? []
        return accepted.contains("complete with \(body ?? "")") ? .passed : .failed("got \(body ?? "")")
    }

    private func answer(_ exchange: CaseValue) -> StubResponse {
        let response = exchange["response"]
        let headers = response?["headers"]?.members?.map {
            HTTPHeaders.Field(name: $0.key, value: $0.value.string ?? "")
        }
        let isCut = response?["then"]?.string != nil
        return .chunks(
            [Data((response?["body_sent"]?.string ?? "").utf8)],
            status: response?["status"]?.int ?? 200,
            headers: HTTPHeaders(headers ?? []),
            failing: isCut ? TransportError(.truncated, message: "cut") : nil
        )
    }
}

/// A download destination with a stubbed client that finds its partial files again.
private final class StubPlace: Sendable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("cases-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private var configuration: DownloadConfiguration {
        DownloadConfiguration(path: "film", to: .file(folder.appendingPathComponent("film")))
    }

    func download(
        _ transport: StubTransport,
        continuations: Int,
        onEvent: @escaping @Sendable (DownloadEvent) -> Void = { _ in }
    ) async -> Result<DownloadedFile, DownloadFailure> {
        var configuration = configuration
        configuration.maximumContinuations = continuations
        configuration.onEvent = onEvent
        do throws(DownloadFailure) {
            // Three servers avoid pauses, and one attempt per server maps each response to one request.
            let service = try? Service.topics(switching: .off)
            let client = service.flatMap { try? NetworkClient(service: $0, transport: transport) }
            guard let client else {
                return .failure(DownloadFailure(.unsupported("no client"), id: RequestID(), context: .none))
            }
            return .success(try await client.download(configuration))
        } catch {
            return .failure(error)
        }
    }

    /// Creates a partial file of the given length with its record.
    func keep(_ count: Int64, validator: ResumeValidator?) throws {
        let source = TransferSubject(configuration, service: "topics", environment: "test")
        let place = PartialPlace(configuration, source: source)
        let file = try PartialFile(at: place.file)
        try file.truncate(to: count)
        guard let validator else { return }
        let record = ResumeRecord(
            source: source.digest,
            path: source.path,
            validator: validator,
            boot: BootSession.current
        )
        try record.write(to: place.record)
    }
}

extension RequestContext {
    fileprivate static let none = RequestContext(service: "", environment: .test, method: .get)
}
