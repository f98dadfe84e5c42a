import Foundation
import Switchyard
import SwitchyardTesting

/// What is wrong with servers as a whole, from the start of a world on.
struct Weather: Sendable {
    /// How many seconds an answer is delayed, by its number on its server, from 1, and the seconds since the start.
    var delay: (@Sendable (_ answer: Int, _ elapsed: Double) -> Double)?
    /// How many of the servers delay answers.
    var delayed = 3
    /// Breaks and mends servers, until its task is cancelled.
    var breaks: (@Sendable ([LoopbackServer]) async throws -> Void)?

    /// How long all is well before a server goes down for good.
    private static let peace = Duration.seconds(1)
}

extension Weather {
    /// Every 20th answer takes 200 to 900 ms.
    static func spikes(on servers: Int) -> Weather {
        Weather(
            delay: { answer, _ in answer.isMultiple(of: 20) ? .random(in: 0.2...0.9) : 0 },
            delayed: servers
        )
    }

    /// Answers take 220 ms with a deviation of 70 ms, and one in 70 is stalled by 1 to 3 s.
    static let mobile = Weather(delay: { answer, _ in
        max(0.02, normal(0.22, deviation: 0.07)) + (answer.isMultiple(of: 70) ? .random(in: 1...3) : 0)
    })

    /// For 0.4 s of every 2 s all answers take 50 to 300 ms, beginning after so many seconds.
    static func slowSeconds(from start: Double) -> Weather {
        Weather(delay: { _, elapsed in
            elapsed >= start && (elapsed - start).truncatingRemainder(dividingBy: 2) < 0.4 ? .random(in: 0.05...0.3) : 0
        })
    }

    /// A server suffers a fault, after a while of peace, to the end.
    static func fault(_ fault: Fault, on server: Int) -> Weather {
        Weather(breaks: { servers in
            // Weather happens in real time, to real servers.
            try await Task.sleep(for: peace, tolerance: .zero)
            servers[server].fault = fault
        })
    }

    /// The server of each turn restarts: every 2 s it is away for 0.3 s.
    static func restarts(of turns: [Int]) -> Weather {
        Weather(breaks: { servers in
            for turn in 0... {
                let server = servers[turns[turn % turns.count]]
                // As above: the time for which it is up, then the time for which it is away.
                try await Task.sleep(for: .milliseconds(1_700), tolerance: .zero)
                server.fault = .refuse
                try await Task.sleep(for: .milliseconds(300), tolerance: .zero)
                server.fault = nil
            }
        })
    }

    /// Both at once.
    func and(_ other: Weather) -> Weather {
        Weather(delay: delay ?? other.delay, delayed: delayed, breaks: breaks ?? other.breaks)
    }

    /// A number of the normal distribution (Box and Muller 1958).
    private static func normal(_ mean: Double, deviation: Double) -> Double {
        let radius = (-2 * log(1 - Double.random(in: 0..<1))).squareRoot()
        return mean + deviation * radius * cos(2 * .pi * Double.random(in: 0..<1))
    }
}
