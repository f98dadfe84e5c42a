import Foundation
import Switchyard
import SwitchyardTesting

/// Faults and delays that affect whole servers during a scenario.
struct ServerConditions: Sendable {
    /// A function that returns the delay of a response in seconds.
    ///
    /// Its parameters are the position of the response among the responses of its server (counted from 1), and the
    /// seconds since the start.
    var delay: (@Sendable (_ answer: Int, _ elapsed: Double) -> Double)?
    /// The number of servers that delay responses.
    var delayed = 3
    /// A function that makes servers fail and recover until its task is cancelled.
    var breaks: (@Sendable ([LoopbackServer]) async throws -> Void)?

    /// How long all servers are healthy at the start of a scenario in which a server then fails until the end.
    private static let peace = Duration.seconds(1)
}

extension ServerConditions {
    /// Delays every 20th response of these servers by 200 to 900 ms.
    static func spikes(on servers: Int) -> ServerConditions {
        ServerConditions(
            delay: { answer, _ in answer.isMultiple(of: 20) ? .random(in: 0.2...0.9) : 0 },
            delayed: servers
        )
    }

    /// Delays responses by 220 ms with a standard deviation of 70 ms, and stalls one response in 70 by 1 to 3 s.
    static let mobile = ServerConditions(delay: { answer, _ in
        max(0.02, normal(0.22, deviation: 0.07)) + (answer.isMultiple(of: 70) ? .random(in: 1...3) : 0)
    })

    /// Delays all responses by 50 to 300 ms during 0.4 s of every 2 s, from `start` seconds on.
    static func slowSeconds(from start: Double) -> ServerConditions {
        ServerConditions(delay: { _, elapsed in
            elapsed >= start && (elapsed - start).truncatingRemainder(dividingBy: 2) < 0.4 ? .random(in: 0.05...0.3) : 0
        })
    }

    /// Sets a fault on a server one second after the start, until the end of the scenario.
    static func fault(_ fault: Fault, on server: Int) -> ServerConditions {
        ServerConditions(breaks: { servers in
            // The servers are real, so the conditions use real time.
            try await Task.sleep(for: peace, tolerance: .zero)
            servers[server].fault = fault
        })
    }

    /// Restarts one server every 2 s, in the order of `turns`.
    ///
    /// The server is down for 0.3 s.
    static func restarts(of turns: [Int]) -> ServerConditions {
        ServerConditions(breaks: { servers in
            for turn in 0... {
                let server = servers[turns[turn % turns.count]]
                // The server is up for 1.7 s in real time, then down for 0.3 s.
                try await Task.sleep(for: .milliseconds(1_700), tolerance: .zero)
                server.fault = .refuse
                try await Task.sleep(for: .milliseconds(300), tolerance: .zero)
                server.fault = nil
            }
        })
    }

    /// Returns conditions that combine these conditions and `other`.
    func and(_ other: ServerConditions) -> ServerConditions {
        ServerConditions(delay: delay ?? other.delay, delayed: delayed, breaks: breaks ?? other.breaks)
    }

    /// Returns a normally distributed number (Box and Muller 1958).
    private static func normal(_ mean: Double, deviation: Double) -> Double {
        let radius = (-2 * log(1 - Double.random(in: 0..<1))).squareRoot()
        return mean + deviation * radius * cos(2 * .pi * Double.random(in: 0..<1))
    }
}
