import Switchyard

/// A world: a random simulated scenario of servers, endpoints, calls and faults, in which a client is tested.
///
/// The reply of a server to a call depends only on the world, the call's number and the time. Earlier requests from the
/// client change the reply only if there is a quota. Two clients that send a call to the same server at the same time
/// therefore receive the same response.
struct World: Sendable, Equatable {
    /// The log-normal distribution of the response times of healthy servers.
    struct Latency: Sendable, Equatable {
        /// The median in seconds.
        var median: Double
        /// The standard deviation of the logarithm, or 0 if all response times are equal.
        var spread: Double
    }

    /// A path and method of the service.
    struct Endpoint: Sendable, Equatable {
        /// The form of the path in an endpoint's calls.
        enum Shape: Sendable, CaseIterable {
            /// The path is the same for every call.
            case plain
            /// The path ends with a number that differs in every call.
            case numbered
            /// The path ends with a placeholder, whose value is a number that differs in every call.
            case template
        }

        var kind: CallKind
        var shape: Shape
        /// The share of the traffic, relative to the other endpoints.
        var weight: Double
    }

    /// The number that identifies the world, which is the seed of all random draws.
    var number: UInt64
    /// The number of servers.
    ///
    /// The first server is the preferred server.
    var servers: Int
    var latency: Latency
    var endpoints: [Endpoint]
    var troubles: [Trouble]
    var traffic: Traffic
    /// The roles, groups and zones of the servers, or `nil` if all servers have the same role.
    var arrangement: Arrangement?

    /// The maximum number of servers in a world.
    static let mostServers = 4

    /// Whether all servers behave in the same way.
    ///
    /// In such a world, the client must not switch, because no other server is better.
    var isAlike: Bool { servers == 1 || troubles.allSatisfy { $0.server == nil } }
}

/// The kind of a call, which determines whether it may be resent.
enum CallKind: String, Sendable, CaseIterable {
    case read = "GET"
    case replacement = "PUT"
    case keyedWrite = "POST with key"
    case write = "POST without key"

    /// The rule for resending calls of this kind.
    var resendRule: ResendRule { ResendRule(method, hasIdempotencyKey: self == .keyedWrite) }

    /// The HTTP method.
    var method: HTTPMethod {
        switch self {
        case .read: .get
        case .replacement: .put
        case .keyedWrite, .write: .post
        }
    }
}

/// The load and the deadlines of a world (a random scenario).
struct Traffic: Sendable, Equatable {
    /// The times at which calls are made.
    enum Arrival: Sendable, Equatable {
        /// Calls are made at random times with a mean rate per second, in bursts of this size.
        case open(rate: Double, burst: Int)
        /// This number of simulated callers make one call after another. Each caller waits for its response and then
        /// pauses for this number of seconds.
        case closed(callers: Int, pause: Double)
    }

    var calls: Int
    var arrival: Arrival
    /// The range of deadlines in seconds.
    var deadlines: ClosedRange<Double>
    /// The share of the calls with low priority.
    ///
    /// The share of the calls with high priority is `highShare`.
    var lowShare: Double
    var highShare: Double
}
