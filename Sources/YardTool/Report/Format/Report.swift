import Foundation
import SwitchyardInspector

/// The data of a report page, in the JSON format `switchyard-report` that the article on diagnostics describes.
///
/// Times are seconds since the start of the report. Waits are milliseconds. A server is identified by its index in
/// ``servers``.
struct Report: Codable, Sendable, Equatable {
    /// The subject of a report.
    enum Kind: String, Codable, Sendable {
        /// Real calls, which are recorded one by one.
        case calls
        /// A fleet of simulated clients, summarized by second.
        case fleet
    }

    /// A setting of the run, as a name and a value, for the heading of the page.
    struct Fact: Codable, Sendable, Equatable {
        var name: String
        var value: String
    }

    /// The name of the format, which never changes.
    static let formatName = "switchyard-report"
    /// The version of the format.
    ///
    /// It increases when a reader of the previous version would misread the data.
    static let currentVersion = 1

    var format = Report.formatName
    var version = Report.currentVersion
    var kind: Kind
    /// The program that created the report, such as `yard load`.
    var title: String
    var facts: [Fact]
    /// The start of the run in seconds since 1970, or `nil` for a run in virtual time.
    var startedAt: Double?
    /// The duration of the run in seconds.
    var duration: Double
    /// The result of the run in one sentence.
    var verdict = Verdict(level: .none, headline: "")
    /// A detailed summary of the run in one sentence.
    var summary = ""
    /// The effect of each fault on the calls.
    ///
    /// Empty for a fleet.
    var impacts: [ReportImpact] = []
    /// The names of the servers in order of preference.
    var servers: [String]
    /// The times at which servers were faulty.
    var faults: [ReportFault] = []
    /// The statistics before, during and after the faults, and of the whole run.
    var phases: [ReportPhase] = []
    /// The events of the servers in order.
    var marks: [ReportMark] = []
    /// The states of each server over time.
    var states: [ReportState] = []
    /// The totals of each server.
    ///
    /// Empty for a fleet.
    var totals: [ReportTotal] = []
    /// The number of calls over time for each responding server, or `nil` for a fleet.
    var rates: ReportRates?
    /// The waiting times that the page marks with a line, or `nil` if there are none.
    var limits: [ReportLimit]?
    /// All calls, or `nil` for a fleet.
    var calls: ReportCalls?
    /// The numbers of the fleet (``ReportFleet``) for each second, or `nil` for real calls.
    var fleet: ReportFleet?
}

extension Report {
    /// The number of calls that succeeded although their first server had failed.
    var saved: SavedCalls {
        guard let calls else { return SavedCalls() }
        let hedged = (calls.saved ?? []).count { calls.way[$0] == CallWay.hedged.rawValue }
        return SavedCalls(failedOver: (calls.saved ?? []).count - hedged, hedged: hedged)
    }

    /// Returns the report as JSON with the keys in a fixed order.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
