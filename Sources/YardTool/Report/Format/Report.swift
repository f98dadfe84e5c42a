import Foundation

/// What a report page shows, as JSON: the format `switchyard-report`, described in the article on diagnostics.
///
/// Times are seconds since the beginning of the report, waits are milliseconds, and a server is its place in ``servers``.
struct Report: Codable, Sendable, Equatable {
    /// What a report is about.
    enum Kind: String, Codable, Sendable {
        /// Real calls, each of which is kept.
        case calls
        /// A fleet of simulated clients, summed up by the second.
        case fleet
    }

    /// Something to know about the run, for its heading.
    struct Fact: Codable, Sendable, Equatable {
        var name: String
        var value: String
    }

    /// The format's name, which never changes.
    static let formatName = "switchyard-report"
    /// The version that is written; it grows when a reader of the version before would go wrong.
    static let currentVersion = 1

    var format = Report.formatName
    var version = Report.currentVersion
    var kind: Kind
    /// What made the report, such as `yard load`.
    var title: String
    var facts: [Fact]
    /// When the run began, in seconds since 1970; `nil` for one in virtual time.
    var startedAt: Double?
    /// How long it took.
    var duration: Double
    /// What happened, in one sentence.
    var summary = ""
    /// The names of the servers, in order of preference.
    var servers: [String]
    /// When which server was not well.
    var faults: [ReportFault] = []
    /// The figures before, during and after the faults, and of all.
    var phases: [ReportPhase] = []
    /// What happened to the servers, in order.
    var marks: [ReportMark] = []
    /// What each server was when.
    var states: [ReportState] = []
    /// What each server did for the callers; empty for a fleet.
    var totals: [ReportTotal] = []
    /// The calls by the server that answered, over time; `nil` for a fleet.
    var rates: ReportRates?
    /// Every call; `nil` for a fleet.
    var calls: ReportCalls?
    /// The fleet by the second; `nil` for real calls.
    var fleet: ReportFleet?
}

extension Report {
    /// The report as JSON, with the keys in a fixed order.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

extension Double {
    /// The number with so many decimal places.
    func rounded(places: Int) -> Double {
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        return (self * scale).rounded() / scale
    }
}
