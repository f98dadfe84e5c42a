import Foundation
import Switchyard

/// The results of a simulation of many worlds (random scenarios), which ``WorldsCampaign`` runs.
struct WorldsReport: Codable, Sendable, Equatable {
    /// A class of violations.
    struct Fault: Codable, Sendable, Equatable {
        var name: String
        var violations: Int
        /// The number of worlds with such a violation.
        ///
        /// The first of these worlds are listed in `firstWorlds`, each by its number.
        var worlds: Int
        var firstWorlds: [UInt64]
    }

    /// A ``KnownException`` and its frequency.
    struct Exception: Codable, Sendable, Equatable {
        var name: String
        var reason: String
        var violations: Int
        var worlds: Int
        var firstWorlds: [UInt64]
        /// The number of violations in 100,000 calls that the exception accepts.
        var most: Double
        var isExcessive: Bool
    }

    /// A description of a world with a violation, reduced to the parts that are needed for it.
    struct Example: Codable, Sendable, Equatable {
        var fault: String
        var number: UInt64
        var world: [String]
        var violation: [String]
    }

    var policy: String
    var firstWorld: UInt64
    var worlds: Int
    var alikeWorlds: Int
    var calls: Int
    /// The number of calls whose response was not an error.
    ///
    /// `servedByFirstServer` is the number of calls that would receive such a response if each call were sent once, to
    /// the first server.
    var answered: Int
    var servedByFirstServer: Int
    var requestsPerCall: Double
    var shadows: Int
    var switches: Int
    var faults: [Fault]
    var exceptions: [Exception]
    var examples: [Example]
    var wallSeconds: Double

    /// Whether every violation is a known exception, and no exception exceeds its limit.
    var holds: Bool { faults.isEmpty && !exceptions.contains(where: \.isExcessive) }

    /// The maximum number of listed worlds for each class.
    private static let mostNamed = 5

    /// Summarizes a completed simulation.
    init(of campaign: WorldsCampaign, _ tally: WorldsTally, examples: [WorldsCampaign.Example], wallSeconds: Double) {
        policy = campaign.policy.name
        firstWorld = campaign.numbers.lowerBound
        worlds = tally.worlds
        alikeWorlds = tally.alikeWorlds
        calls = tally.calls
        answered = tally.answered
        servedByFirstServer = tally.servedByFirst
        requestsPerCall = Double(tally.requests) / Double(max(1, tally.calls))
        shadows = tally.shadows
        switches = tally.switches
        faults = tally.groups.map { group, entry in
            Fault(
                name: "\(group)",
                violations: entry.violations,
                worlds: entry.worlds.count,
                firstWorlds: Array(entry.worlds.prefix(Self.mostNamed))
            )
        }
        let excessive = Set(tally.excessiveExceptions.map(\.name))
        exceptions = KnownException.all.map { exception in
            let entry = tally.exceptions[exception.name] ?? WorldsTally.Entry()
            return Exception(
                name: exception.name,
                reason: exception.reason,
                violations: entry.violations,
                worlds: entry.worlds.count,
                firstWorlds: Array(entry.worlds.prefix(Self.mostNamed)),
                most: exception.mostPer100000Calls,
                isExcessive: excessive.contains(exception.name)
            )
        }
        self.examples = examples.map { example in
            Example(
                fault: "\(example.group)",
                number: example.number,
                world: "\(example.world)".components(separatedBy: "\n"),
                violation: "\(example.violation)".components(separatedBy: "\n")
            )
        }
        self.wallSeconds = wallSeconds
    }
}

extension WorldsReport {
    /// Returns the report as one line of JSON with the keys in a fixed order.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
