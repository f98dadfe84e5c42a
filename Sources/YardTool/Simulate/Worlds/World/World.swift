import Switchyard

/// A world that a client is put into: servers, endpoints, callers, and what goes wrong.
///
/// What a server does with a call follows from the world, the call's number and the time alone, and not from what the
/// client did before; only a quota counts. So two clients that send a call to one server at one time get one answer.
struct World: Sendable, Equatable {
    /// The usual time of an answer: a log-normal distribution.
    struct Latency: Sendable, Equatable {
        /// The median in seconds.
        var median: Double
        /// The standard deviation of the logarithm; 0 for answers that all take as long.
        var spread: Double
    }

    /// A path of the service with one method.
    struct Endpoint: Sendable, Equatable {
        /// How its calls are written down.
        enum Shape: Sendable, CaseIterable {
            /// The path is the same for every call.
            case plain
            /// The path ends with a number, another one in every call.
            case numbered
            /// The same number, as the value of a placeholder.
            case template
        }

        var kind: CallKind
        var shape: Shape
        /// Its part of the traffic, relative to the others'.
        var weight: Double
    }

    /// Names the world, and is the seed of all that is drawn while it is played.
    var number: UInt64
    /// How many servers there are; the first one is preferred.
    var servers: Int
    var latency: Latency
    var endpoints: [Endpoint]
    var troubles: [Trouble]
    var traffic: Traffic

    /// The most servers of a world.
    static let mostServers = 4

    /// Whether no server differs from another: then nobody may be blamed, and nothing may switch.
    var isAlike: Bool { servers == 1 || troubles.allSatisfy { $0.server == nil } }
}

/// What kind of call it is, as far as that decides whether it may be sent twice.
enum CallKind: String, Sendable, CaseIterable {
    case read = "GET"
    case replacement = "PUT"
    case keyedWrite = "POST with key"
    case write = "POST without key"

    /// When its calls may be sent again.
    var resendRule: ResendRule { ResendRule(method, hasIdempotencyKey: self == .keyedWrite) }

    /// The method.
    var method: HTTPMethod {
        switch self {
        case .read: .get
        case .replacement: .put
        case .keyedWrite, .write: .post
        }
    }
}

/// Who calls, how often, and how long they wait.
struct Traffic: Sendable, Equatable {
    /// When calls begin.
    enum Arrival: Sendable, Equatable {
        /// At random times, so many per second on average, and so many at once.
        case open(rate: Double, burst: Int)
        /// Each caller waits for its answer, then so many seconds, and calls again.
        case closed(callers: Int, pause: Double)
    }

    var calls: Int
    var arrival: Arrival
    /// Deadlines are drawn from here, in seconds.
    var deadlines: ClosedRange<Double>
    /// The parts of the calls that are of low and of high priority.
    var lowShare: Double
    var highShare: Double
}
