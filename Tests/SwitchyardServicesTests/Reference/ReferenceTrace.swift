import Foundation
import SwitchyardServices

/// A recorded run of the reference with its calls, arguments and decisions.
struct ReferenceTrace {
    enum Step {
        case pick(tried: ServerSet, chosen: Int)
        case probe(server: Int, succeeded: Bool)
        case success(pick: Int)
        case failure(pick: Int, kind: FailureKind, hasConfirmation: Bool, retryAfter: Duration?, ejected: Bool)
        case token(granted: Bool)
        case state(ReferenceState)
    }

    var seed: UInt64
    var servers: Int
    /// Whether the parameters are those for a single client.
    var isSingle: Bool
    var steps: [(nanoseconds: Int64, step: Step)]

    static func all() throws -> [ReferenceTrace] {
        let url = Bundle.module.url(forResource: "core", withExtension: "json", subdirectory: "Traces")
        guard let url else { throw CocoaError(.fileNoSuchFile) }
        let root = try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any]
        return try (root?["traces"] as? [[String: Any]] ?? []).map { try ReferenceTrace($0) }
    }

    private init(_ json: [String: Any]) throws {
        seed = try ReferenceTrace.cast(json["seed"])
        servers = try ReferenceTrace.cast(json["servers"])
        isSingle = try ReferenceTrace.cast(json["single"])
        let rows: [[Any]] = try ReferenceTrace.cast(json["ops"])
        var time: Int64 = 0
        steps = try rows.map { row in
            if try ReferenceTrace.cast(row[0]) as String != "state" { time = try ReferenceTrace.cast(row[1]) }
            return (time, try ReferenceTrace.step(row))
        }
    }

    private static func step(_ row: [Any]) throws -> Step {
        switch try cast(row[0]) as String {
        case "pick":
            var tried = ServerSet()
            for position in try cast(row[2]) as [Int] { tried.insert(position) }
            return .pick(tried: tried, chosen: try cast(row[3]))
        case "probe": return .probe(server: try cast(row[2]), succeeded: try cast(row[3]))
        case "ok": return .success(pick: try cast(row[2]))
        case "token": return .token(granted: try cast(row[2]))
        case "state": return .state(try ReferenceState(row))
        default:
            let seconds = row[5] as? Double
            return .failure(
                pick: try cast(row[2]),
                kind: kind(try cast(row[3])),
                hasConfirmation: try cast(row[4]),
                retryAfter: seconds.map { .seconds($0) },
                ejected: try cast(row[6])
            )
        }
    }

    private static func kind(_ name: String) -> FailureKind {
        switch name {
        case "refused": .refused
        case "connect_timeout": .connectTimeout
        case "timeout": .timeout
        case "reset": .reset
        case "truncated": .truncated
        case "hedge_lost": .overtaken
        default: .http(Int(name.dropFirst(4)) ?? 0)
        }
    }

    static func cast<Value>(_ value: Any?) throws -> Value {
        guard let value = value as? Value else { throw CocoaError(.coderReadCorrupt) }
        return value
    }
}

/// The state of the reference after a step.
struct ReferenceState: Equatable {
    /// One letter per server for its state: healthy, ejected or trial.
    var states: String
    var current: Int
    var scores: [Double]
    var shares: [Double]
    var tokens: Double
    var hedgeTokens: Double

    init(_ row: [Any]) throws {
        states = try ReferenceTrace.cast(row[1])
        current = try ReferenceTrace.cast(row[2])
        scores = try ReferenceTrace.cast(row[3])
        shares = try ReferenceTrace.cast(row[4])
        tokens = try ReferenceTrace.cast(row[5])
        hedgeTokens = try ReferenceTrace.cast(row[6])
    }
}
