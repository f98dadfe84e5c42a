import Foundation
import SwitchyardClient
package import SwitchyardDiagnostics
package import SwitchyardHTTP

extension InspectorRecord {
    /// Creates a record from an archive.
    ///
    /// Entries that this library has recorded contain the number of their call. Every other entry becomes a separate
    /// call.
    ///
    /// - Parameters:
    ///   - archive: The archive.
    ///   - name: The name of the record.
    ///   - redaction: The rules by which credentials are hidden. The default is ``/SwitchyardHTTP/Redaction/standard``.
    package init(
        of archive: HARArchive,
        name: String,
        redaction: Redaction = .standard
    ) {
        var groups: [String: [ArchivedExchange]] = [:]
        var order: [String] = []
        var problems = archive.omissions.map { ($0.entry, redaction.text("\($0)")) }
        let numbers = Self.numbers(of: archive)
        let starts = archive.entries.map { ArchivedDate.milliseconds($0.startedDateTime) }
        // Entries are usually in the order of their dates. An entry without a date gets the start of the entry before
        // it.
        var start = starts.lazy.compactMap(\.self).first ?? 0
        for (index, entry) in archive.entries.enumerated() {
            if let known = starts[index] {
                start = known
            } else {
                let text = redaction.text(entry.startedDateTime)
                problems.append((numbers[index], "entry \(numbers[index]) has an invalid start date \"\(text)\""))
            }
            let exchange = ArchivedExchange(entry, number: numbers[index], start: start, redaction)
            if groups[exchange.call] == nil { order.append(exchange.call) }
            groups[exchange.call, default: []].append(exchange)
        }
        let calls = order.compactMap { groups[$0]?.sorted { $0.rank < $1.rank } }
            .sorted { ($0.first?.start ?? 0) < ($1.first?.start ?? 0) }
        let known = groups.values.lazy.compactMap { $0.first?.place }.first
        self.init(
            name: name,
            place: known.map { ($0.service, $0.environment) } ?? (redaction.text(archive.log.creator.name), "recorded"),
            details: calls.enumerated().map { CallDetail(number: $0.offset + 1, $0.element) }
        )
        leftOut = problems.min { $0.0 < $1.0 }.map { LeftOut(count: problems.count, first: $0.1) }
    }

    /// Returns the numbers of the entries in the file, counted from 1.
    ///
    /// Entries that could not be read have numbers too, but are not returned.
    private static func numbers(of archive: HARArchive) -> [Int] {
        let missing = Set(archive.omissions.map(\.entry))
        return (1..<(archive.entries.count + missing.count + 1)).filter { !missing.contains($0) }
    }
}

/// An exchange from an archive, with the data that was parsed from its comment.
struct ArchivedExchange {
    /// The service, the environment and the server, parsed from the comment of an entry that this library has recorded.
    struct Place {
        var service: String
        var environment: String
        var server: String?
    }

    let kept: KeptExchange
    /// The messages of the WebSocket that the exchange opened.
    let messages: [InspectedMessage]
    /// The start of the exchange in milliseconds since 1970.
    let start: Double
    /// The identifier of the call that the exchange belongs to.
    let call: String
    private(set) var place: Place?
    private(set) var round = 1
    private(set) var attempt = 1
    /// The reason for the attempt, or `nil` in archives of earlier versions and of other tools.
    private(set) var kind: InspectedAttempt.Kind?
    private let number: Int

    init(_ entry: HARArchive.Entry, number: Int, start: Double, _ redaction: Redaction) {
        kept = KeptExchange(entry: entry.redacted(redaction).bounded)
        messages = InspectedMessage.all(in: entry, start: start, redaction)
        self.start = start
        self.number = number
        let form = #/#(\d+) ([^\/]+)\/([^\/]+)\/(.+), round (\d+), attempt (\d+)(?:, ([a-z]+))?/#
        guard let parts = kept.entry.comment?.wholeMatch(of: form)?.output else {
            call = "entry \(number)"
            return
        }
        call = "#\(parts.1)"
        place = Place(
            service: String(parts.2),
            environment: String(parts.3),
            server: parts.4 == "-" ? nil : String(parts.4)
        )
        (round, attempt) = (Int(parts.5) ?? 1, Int(parts.6) ?? 1)
        kind = parts.7.flatMap { InspectedAttempt.Kind(rawValue: String($0)) }
    }

    /// The position of the exchange within its call; dates are too coarse to order the exchanges.
    var rank: (round: Int, attempt: Int, number: Int) { (round, attempt, number) }

    /// The end of the exchange in milliseconds since 1970.
    var end: Double { start + max(0, kept.entry.time) }

    /// Whether the exchange was still active when it was recorded.
    var isPending: Bool { kept.entry.response.error == ExchangeKeeper.pending.message }
}

extension HARArchive.Entry {
    /// The exchange with its durations limited to a year, so that a page can draw them.
    fileprivate var bounded: HARArchive.Entry {
        let year = 31_536_000_000.0
        var entry = self
        entry.time = min(time, year)
        for part in [\HARTimings.blocked, \.dns, \.connect, \.ssl, \.send, \.wait, \.receive] {
            entry.timings[keyPath: part] = min(entry.timings[keyPath: part], year)
        }
        return entry
    }
}
