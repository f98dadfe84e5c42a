import Foundation
package import SwitchyardDiagnostics
package import SwitchyardHTTP

/// Why an archive cannot be shown.
package enum ArchiveProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// An entry, counted from 1, has no date that can be read.
    case date(entry: Int, text: String)

    /// What is wrong, in words.
    package var description: String {
        switch self {
        case .date(let entry, let text): "entry \(entry) began at \"\(text)\", which is no date"
        }
    }
}

extension InspectorRecord {
    /// Makes a record of an archive.
    ///
    /// Entries that this library has recorded say which call they belong to. Every other one is a call.
    ///
    /// - Parameters:
    ///   - archive: The archive.
    ///   - name: What it is called.
    ///   - redaction: What is hidden; ``/SwitchyardHTTP/Redaction/standard`` unless given.
    /// - Throws: ``ArchiveProblem``.
    package init(
        of archive: HARArchive,
        name: String,
        redaction: Redaction = .standard
    ) throws(ArchiveProblem) {
        var groups: [String: [ArchivedExchange]] = [:]
        var order: [String] = []
        for (index, entry) in archive.entries.enumerated() {
            let exchange = try ArchivedExchange(entry, number: index + 1, redaction)
            if groups[exchange.call] == nil { order.append(exchange.call) }
            groups[exchange.call, default: []].append(exchange)
        }
        let calls = order.compactMap { groups[$0]?.sorted { $0.rank < $1.rank } }
            .sorted { ($0.first?.start ?? 0) < ($1.first?.start ?? 0) }
        let known = groups.values.lazy.compactMap { $0.first?.place }.first
        self.init(
            name: name,
            place: known.map { ($0.service, $0.environment) } ?? (archive.log.creator.name, "recorded"),
            details: calls.enumerated().map { CallDetail(number: $0.offset + 1, $0.element) }
        )
    }
}

/// An exchange of an archive, and what its comment says about it.
struct ArchivedExchange {
    /// The names in the comment of an entry that this library has recorded.
    struct Place {
        var service: String
        var environment: String
        var server: String?
    }

    let kept: KeptExchange
    /// When it began, in milliseconds since 1970.
    let start: Double
    /// Tells the calls apart.
    let call: String
    private(set) var place: Place?
    private(set) var round = 1
    private(set) var attempt = 1
    private let number: Int

    init(_ entry: HARArchive.Entry, number: Int, _ redaction: Redaction) throws(ArchiveProblem) {
        kept = KeptExchange(entry: entry.redacted(redaction))
        guard let start = Self.milliseconds(entry.startedDateTime) else {
            throw .date(entry: number, text: entry.startedDateTime)
        }
        self.start = start
        self.number = number
        let form = #/#(\d+) ([^\/]+)\/([^\/]+)\/(.+), round (\d+), attempt (\d+)/#
        guard let parts = entry.comment?.wholeMatch(of: form)?.output else {
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
    }

    /// Its place within the call: dates are too coarse to tell what came first.
    var rank: (round: Int, attempt: Int, number: Int) { (round, attempt, number) }

    /// When it ended, in milliseconds since 1970.
    var end: Double { start + max(0, kept.entry.time) }

    /// Whether it had not ended when it was recorded.
    var isPending: Bool { kept.entry.response.error == ExchangeKeeper.pending.message }

    /// A date in ISO 8601, with any number of digits for the fraction of a second.
    private static func milliseconds(_ text: String) -> Double? {
        guard let parts = text.wholeMatch(of: #/(\d+-\d+-\d+T\d+:\d+:\d+)(\.\d+)?(.*)/#)?.output,
            let date = ISO8601DateFormatter().date(from: "\(parts.1)\(parts.3)")
        else { return nil }
        return (date.timeIntervalSince1970 + (parts.2.flatMap { Double("0\($0)") } ?? 0)) * 1_000
    }
}

extension HARArchive.Entry {
    /// The exchange without the credentials that whoever recorded it may have left in.
    fileprivate func redacted(_ redaction: Redaction) -> HARArchive.Entry {
        func fields(_ fields: [HARField]) -> [HARField] {
            fields.map { field in
                var field = field
                field.value = redaction.value(field.value, ofHeader: field.name)
                return field
            }
        }
        var entry = self
        entry.request.url = redaction.url(request.url)
        entry.request.headers = fields(request.headers)
        entry.response.headers = fields(response.headers)
        if let data = request.postData {
            entry.request.postData?.text = Self.shown(data.text, in: data.encoding) {
                redaction.body($0, contentType: data.mimeType)
            }
        }
        let content = response.content
        entry.response.content.text = content.text.map { text in
            Self.shown(text, in: content.encoding) { redaction.answer($0, contentType: content.mimeType) }
        }
        return entry
    }

    /// A text after a redaction, which sees through base64.
    private static func shown(_ text: String, in encoding: String?, _ redacted: (Data) -> Data) -> String {
        guard encoding == "base64", let data = Data(base64Encoded: text) else {
            return String(decoding: redacted(Data(text.utf8)), as: UTF8.self)
        }
        return redacted(data).base64EncodedString()
    }
}
