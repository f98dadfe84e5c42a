import Foundation
import Switchyard

/// The contenders (implementations) that produce text, in pairs: first the baseline, then the library.
///
/// The library creates a whole request each time: URL, header fields and body.
enum TextContenders {
    private static let pairs: [(name: String, value: String)] = (0..<20).map { index in
        switch index % 4 {
        case 0: ("filter\(index)", "open topics")
        case 1: ("page\(index)", "\(index * 37)")
        case 2: ("name\(index)", "Zoë & Müller/+\(index)")
        default: ("token\(index)", "abcdefghijklmnopqrstuvwxyz0123456789")
        }
    }
    private static let parameters = Parameters(pairs.map { Parameters.Item(key: $0.name, value: .string($0.value)) })
    private static let items = pairs.map { URLQueryItem(name: $0.name, value: $0.value) }

    static func query() throws -> [Contender] {
        let generator = RequestGenerator()
        let base = try BaseURL("https://api.example.com/v1")
        let configuration = APIConfiguration(path: "topics", query: parameters)
        return [
            repeated(200, "URLComponents") {
                var components = URLComponents(string: "https://api.example.com/v1/topics")
                components?.queryItems = items
                return components?.string?.utf8.count ?? 0
            },
            repeated(200, "RequestGenerator") {
                try generator.request(for: configuration, on: base).url.text.utf8.count
            },
        ]
    }

    static func form() throws -> [Contender] {
        let generator = RequestGenerator()
        let base = try BaseURL("https://api.example.com/v1")
        let configuration = APIConfiguration(path: "topics", method: .post, body: .form(parameters))
        return [
            repeated(200, "URLComponents") {
                var components = URLComponents()
                components.queryItems = items
                return Data((components.percentEncodedQuery ?? "").utf8).count
            },
            repeated(200, "RequestGenerator") {
                try size(generator.request(for: configuration, on: base).body)
            },
        ]
    }

    static func json() throws -> [Contender] {
        let generator = RequestGenerator()
        let base = try BaseURL("https://api.example.com/v1")
        let topics = (0..<20).map { EncodedTopic(id: $0) }
        let encoder = generator.jsonOptions.makeEncoder()
        return [
            repeated(20, "JSONEncoder") { try encoder.encode(topics).count },
            repeated(20, "RequestGenerator") {
                let configuration = APIConfiguration(path: "topics", method: .post, body: .json(topics))
                return try size(generator.request(for: configuration, on: base).body)
            },
        ]
    }

    private static func size(_ body: HTTPBody) throws -> Int {
        guard case .data(let data) = body else { throw BenchmarkError("the body is not in memory") }
        return data.count
    }

    /// Returns a contender that repeats its work many times between two readings of the clock, so that the cost of
    /// reading the clock is negligible.
    private static func repeated(_ count: Int, _ name: String, _ work: @escaping @Sendable () throws -> Int)
        -> Contender
    {
        Contender(name: name) {
            var bytes = 0
            for _ in 0..<count { bytes += try work() }
            guard bytes > 0 else { throw BenchmarkError("\(name) wrote no bytes") }
        }
    }
}

/// A topic that is sent to a server.
private struct EncodedTopic: Encodable, Sendable {
    var id: Int
    var title = "A topic with a title of ordinary length"
    var author = "someone@example.com"
    var replies = 12
    var tags = ["swift", "linux"]
    var isPinned = false
}
