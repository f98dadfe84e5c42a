import Foundation
import Switchyard
import SwitchyardTesting

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A benchmark that compares a call through the library, a request over the bare transport, and a request with plain
/// `URLSession`.
///
/// These three contenders decode the response. The benchmark also compares the bare transport with a plain C loop on
/// libcurl. The transport and the loop do not decode the response.
struct OverheadBenchmark {
    let url: String?
    let isJSON: Bool
    /// The contender (implementation) to run alone, for a profiler, or `nil` for all contenders.
    var only: String?
    /// The numbers of concurrent requests.
    var levels = [1, 32, 256]

    func run() async throws {
        let child = url == nil ? try ChildServer() : nil
        guard let target = url ?? child?.url else { throw BenchmarkError("the child server has no URL") }
        var reports: [OverheadReport] = []
        for concurrency in levels {
            let contest = Contest(
                contenders: try await contenders(target, concurrency),
                concurrency: concurrency,
                rounds: 24,
                secondsPerTurn: 0.3,
                secondsToWarmUp: 0.1
            )
            let report = OverheadReport(concurrency: concurrency, scores: try await contest.run())
            if !isJSON { print(report.text) }
            reports.append(report)
        }
        if isJSON { print(String(decoding: try JSONEncoder().encode(reports), as: UTF8.self)) }
        withExtendedLifetime(child) {}
    }

    private func contenders(_ target: String, _ concurrency: Int) async throws -> [Contender] {
        var contenders = [
            try bareTransport(target),
            try undecoded(target),
            try await sameRequest(target),
            try plainURLSession(target),
            try throughManager(target),
        ]
        #if os(Linux)
            contenders.append(try plainLoop(target, concurrency))
        #endif
        return try contenders.chosen(only)
    }

    #if os(Linux)
        private func plainLoop(_ target: String, _ concurrency: Int) throws -> Contender {
            let loop = try PlainLoop(target, handles: concurrency)
            let length = url == nil ? SampleTopics.json.utf8.count : nil
            return Contender(name: OverheadReport.plainLoop) { _, seconds in
                try loop.run(seconds: seconds, length: length)
            }
        }
    #endif

    private func undecoded(_ target: String) throws -> Contender {
        let transport = try Transports.systemDefault()
        guard let url = RequestURL(target) else { throw BenchmarkError("not a URL: \(target)") }
        return Contender(name: OverheadReport.undecoded) {
            let response = try await transport.send(HTTPRequest(url: url))
            guard case .whole(let body) = response.body, !body.isEmpty else {
                throw BenchmarkError("the response body is incomplete")
            }
        }
    }

    private func bareTransport(_ target: String) throws -> Contender {
        guard let url = RequestURL(target) else { throw BenchmarkError("not a URL: \(target)") }
        return try decoded(OverheadReport.bare, HTTPRequest(url: url))
    }

    /// Creates a contender that sends the request of an `APIManager` over the bare transport, with its `Accept`,
    /// `Accept-Language` and `User-Agent`.
    ///
    /// The header fields matter because libcurl writes the fields of a request character by character.
    private func sameRequest(_ target: String) async throws -> Contender {
        let (base, path) = try split(target)
        let stub = StubTransport { _ in .json(SampleTopics.json) }
        let client = try NetworkClient(service: service(at: base), transport: stub)
        try check(try await SampleTopicAPI(client: client).topics(at: path))
        guard let request = stub.requests.first else { throw BenchmarkError("the client sent no request") }
        return try decoded(OverheadReport.sameRequest, request)
    }

    private func decoded(_ name: String, _ request: HTTPRequest) throws -> Contender {
        let transport = try Transports.systemDefault()
        let decoder = JSONDecoder()
        return Contender(name: name) {
            let response = try await transport.send(request)
            guard case .whole(let body) = response.body else { throw BenchmarkError("the response body is incomplete") }
            try check(try decoder.decode([SampleTopic].self, from: body))
        }
    }

    private func plainURLSession(_ target: String) throws -> Contender {
        guard let url = URL(string: target) else { throw BenchmarkError("not a URL: \(target)") }
        let session = URLSession(configuration: .default)
        let decoder = JSONDecoder()
        return Contender(name: "plain URLSession") {
            let (body, _) = try await session.data(for: URLRequest(url: url))
            try check(try decoder.decode([SampleTopic].self, from: body))
        }
    }

    private func throughManager(_ target: String) throws -> Contender {
        try manager("APIManager", over: client(of: target), target)
    }

    /// Creates a client for the server of a URL.
    func client(of target: String, interceptors: [RequestInterceptor] = []) throws -> NetworkClient {
        try NetworkClient(service: service(at: split(target).base)) { $0.interceptors = interceptors }
    }

    /// Creates a contender that makes the sample call through a manager of a client.
    func manager(_ name: String, over client: NetworkClient, _ target: String) throws -> Contender {
        let path = try split(target).path
        let manager = SampleTopicAPI(client: client)
        return Contender(name: name) { try check(try await manager.topics(at: path)) }
    }

    private func service(at base: String) throws -> Service {
        try Service(
            name: "topics",
            servers: [
                Server(name: "primary", baseURLs: [.test: try ServerURL(base)]),
                Server(name: "secondary", baseURLs: [.test: try ServerURL(base)]),
            ],
            defaultEnvironment: .test
        )
    }

    private func split(_ target: String) throws -> (base: String, path: String) {
        guard var parts = URLComponents(string: target) else { throw BenchmarkError("not a URL: \(target)") }
        let path = parts.path
        parts.path = ""
        guard let base = parts.string else { throw BenchmarkError("not a URL: \(target)") }
        return (base, path)
    }
}

private func check(_ topics: [SampleTopic]) throws {
    guard topics.count == 2, topics[0].replies == 12 else {
        throw BenchmarkError("the response must have 2 topics, the first with 12 replies")
    }
}

/// The results for one number of concurrent requests.
struct OverheadReport: Encodable {
    static let plainLoop = "plain C loop, not decoded"
    static let undecoded = "bare transport, not decoded"
    static let bare = "bare transport"
    static let sameRequest = "bare transport, same request"

    struct Row: Encodable {
        var name: String
        var perSecond: Spread
        var cpuMicroseconds: Spread
        var pageFaults: Spread
    }

    var concurrency: Int
    var rows: [Row]
    /// The ratios of the requests per second of two contenders in the same measurement, by the names of the contenders.
    var ratios: [String: Spread]

    init(concurrency: Int, scores: [String: [Score]]) {
        self.concurrency = concurrency
        rows = scores.keys.sorted().map { name in
            let own = scores[name] ?? []
            return Row(
                name: name,
                perSecond: Spread(own.map(\.perSecond)),
                cpuMicroseconds: Spread(own.map(\.cpuMicroseconds)),
                pageFaults: Spread(own.map(\.pageFaults))
            )
        }
        func ratio(_ left: String, _ right: String) -> Spread {
            Spread(zip(scores[left] ?? [], scores[right] ?? []).map { $0.perSecond / $1.perSecond })
        }
        ratios = [
            "APIManager / bare transport": ratio("APIManager", Self.bare),
            "APIManager / the same request": ratio("APIManager", Self.sameRequest),
            "APIManager / plain URLSession": ratio("APIManager", "plain URLSession"),
            "bare transport / plain URLSession": ratio(Self.bare, "plain URLSession"),
            "bare transport / plain C loop": ratio(Self.undecoded, Self.plainLoop),
        ].filter { !$0.value.median.isNaN }
    }

    var text: String {
        var lines = ["\(concurrency) concurrent"]
        for row in rows {
            lines.append(
                "  \(pad(row.name))\(number(row.perSecond.median)) requests/s  "
                    + "\(number(row.cpuMicroseconds.median)) us CPU each  "
                    + String(format: "%6.3f page faults each", row.pageFaults.median)
            )
        }
        for (name, ratio) in ratios.sorted(by: { $0.key < $1.key }) {
            let spread = String(format: "%6.2f  (%.2f ... %.2f)", ratio.median, ratio.minimum, ratio.maximum)
            lines.append("  \(pad(name))\(spread)")
        }
        return lines.joined(separator: "\n")
    }

    private func pad(_ text: String) -> String { text.padding(toLength: 36, withPad: " ", startingAt: 0) }

    private func number(_ value: Double) -> String { String(format: "%8.0f", value) }
}
