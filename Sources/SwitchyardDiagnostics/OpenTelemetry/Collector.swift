import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

/// The collector that receives spans and metrics, over HTTP in JSON.
///
/// The collector has a client of its own, without interceptors, so its requests are never traced.
///
/// Source: OpenTelemetry Protocol Specification, OTLP/HTTP.
struct Collector: Sendable {
    /// The fate of a batch.
    enum Delivery: Sendable, Hashable {
        /// The collector has accepted the batch, except this number of its elements.
        case accepted(rejected: Int)
        /// The batch was dropped: the collector refused it, or did not accept it within five tries.
        case failed
    }

    private enum Verdict {
        case ended(Delivery)
        /// The batch must be sent again, but not before this time has passed, if it is not `nil`.
        case again(after: Duration?)
    }

    /// The maximum number of times that a batch is sent.
    private static let tries = 5
    private static let firstPause = Duration.seconds(1)
    /// The longest `Retry-After` that is waited for in full.
    private static let longestPause = Duration.seconds(300)
    /// The statuses after which a batch is sent again.
    ///
    /// After any other status, the batch is dropped.
    private static let transient: Set = [429, 502, 503, 504]

    private let client: NetworkClient
    private let headers: HTTPHeaders
    private let resource: JSONValue

    init(client: NetworkClient, headers: HTTPHeaders, resource: Attributes) {
        (self.client, self.headers, self.resource) = (client, headers, ["attributes": resource.json])
    }

    /// Ends all requests, and refuses later ones.
    func shutdown() { client.shutdown() }

    /// Sends spans.
    func send(_ spans: [Span]) async -> Delivery {
        await post("v1/traces", Self.envelope("resourceSpans", "scopeSpans", "spans", spans.map(\.json), resource))
    }

    /// Sends metrics.
    func send(_ metrics: [JSONValue]) async -> Delivery {
        await post("v1/metrics", Self.envelope("resourceMetrics", "scopeMetrics", "metrics", metrics, resource))
    }

    /// Returns elements within two JSON objects, as OTLP requires: the resource of the elements, and the scope that
    /// created them.
    private static func envelope(
        _ outer: String,
        _ inner: String,
        _ name: String,
        _ elements: [JSONValue],
        _ resource: JSONValue
    ) -> JSONValue {
        var scope: JSONMembers = ["scope": ["name": "Switchyard"]]
        scope[name] = .array(elements)
        var origin: JSONMembers = ["resource": resource]
        origin[inner] = [.object(scope)]
        var request = JSONMembers()
        request[outer] = [.object(origin)]
        return .object(request)
    }

    private func post(_ path: String, _ body: JSONValue) async -> Delivery {
        var configuration = APIConfiguration(path: path, method: .post, headers: headers)
        configuration.body = .data(body.data, contentType: "application/json")
        var pause = Self.firstPause
        for number in 1...Self.tries {
            let wanted: Duration?
            switch await verdict(on: configuration) {
            case .ended(let delivery): return delivery
            case .again(let after): wanted = after
            }
            guard number < Self.tries, !Task.isCancelled else { break }
            let jittered = pause * Double.random(in: 0.5...1)
            await client.time.pause(for: max(jittered, min(wanted ?? .zero, Self.longestPause)))
            guard !Task.isCancelled else { break }
            pause *= 2
        }
        return .failed
    }

    private func verdict(on configuration: APIConfiguration) async -> Verdict {
        let response: ServiceResponse
        do throws(RequestFailure) {
            response = try await client.send(configuration)
        } catch {
            switch error.reason {
            case .transport, .deadlineExceeded: return .again(after: nil)
            default: return .ended(.failed)
            }
        }
        switch response.status {
        case 200..<300: return .ended(.accepted(rejected: Self.rejected(in: response.data)))
        case let status where Self.transient.contains(status):
            return .again(after: RetryAfter.duration(in: response.headers, now: Date()))
        default: return .ended(.failed)
        }
    }

    /// Returns the number of elements that the collector has rejected.
    ///
    /// A collector may reject a part of a batch and still respond with status 200.
    private static func rejected(in body: Data?) -> Int {
        guard let body, let response = try? JSONValue(parsing: body), let part = response["partialSuccess"] else {
            return 0
        }
        let count = part["rejectedSpans"] ?? part["rejectedDataPoints"]
        return max(0, count?.int ?? count?.string.flatMap { Int($0) } ?? 0)
    }
}
