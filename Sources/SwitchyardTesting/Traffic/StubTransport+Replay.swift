import Foundation
import SwitchyardClient
public import SwitchyardDiagnostics
public import SwitchyardHTTP
public import SwitchyardServices

extension StubTransport {
    /// When a request is one that the record has.
    public enum ReplayMatching: Sendable, Hashable {
        /// Method, URL and body are the same; the default.
        case strict
        /// Method and path are the same, and the parameters of the query in whatever order.
        ///
        /// The server may be another one, such as a loopback server on another port, and the body has no say: a date
        /// or an identifier in it may differ.
        case lenient
    }

    /// Creates a transport that answers from a record.
    ///
    /// A request gets the first answer to the same request that was not given yet, and the last one again when all were.
    /// Forms of several parts are the same whatever their boundaries are, which differ each time. What the record does
    /// not have fails.
    ///
    /// - Parameters:
    ///   - archive: The record.
    ///   - matching: What has to be the same; method, URL and body unless given.
    ///   - redaction: What was hidden when it was made; ``/SwitchyardHTTP/Redaction/standard`` unless given. Requests
    ///     are compared as they would have been recorded.
    ///   - clock: Lets answers take as long as they did; they come at once without it.
    public convenience init(
        replaying archive: HARArchive,
        matching: ReplayMatching = .strict,
        redaction: Redaction = .standard,
        on clock: (any TimeSource)? = nil
    ) {
        let lines = Locked(Replay(archive, matching))
        self.init { request in
            let asked = Replay.Key(
                HARArchive.Entry(request, .failure(Replay.none), date: Date(), elapsed: .zero, redaction: redaction),
                matching
            )
            guard let entry = lines.withLock({ $0.next(asked) }) else {
                return .failure(
                    TransportError(
                        .other,
                        message: "the record has no \(request)",
                        mayHaveBeenSent: false
                    )
                )
            }
            let answer = entry.stubAnswer
            guard let clock, entry.time > 0 else { return answer }
            // A year is as good as for ever, and more than that may be more than a duration holds.
            return .delayed(by: .seconds(min(entry.time / 1_000, 31_536_000)), on: clock, answer)
        }
    }
}

/// The entries of a record by what was asked, each with how many were given.
private struct Replay {
    struct Key: Hashable {
        let method: String
        let url: String
        let body: Data?

        init(_ entry: HARArchive.Entry, _ matching: StubTransport.ReplayMatching) {
            method = entry.request.method
            switch matching {
            case .strict:
                url = entry.request.url
                let type = entry.request.postData?.mimeType ?? ""
                body = entry.request.body.map { MultipartBoundaries.removed(from: $0, contentType: type) }
            case .lenient:
                url = Self.place(of: entry.request.url)
                body = nil
            }
        }

        /// The path, and the sorted parameters of the query.
        private static func place(of text: String) -> String {
            guard let url = RequestURL(text) else { return text }
            let query = (url.query ?? "").split(separator: "&").sorted().joined(separator: "&")
            return "\(url.path.isEmpty ? "/" : url.path)?\(query)"
        }
    }

    static let none = TransportError(.other, message: "")

    private var lines: [Key: (entries: [HARArchive.Entry], given: Int)] = [:]

    init(_ archive: HARArchive, _ matching: StubTransport.ReplayMatching) {
        for entry in archive.entries { lines[Key(entry, matching), default: ([], 0)].entries.append(entry) }
    }

    mutating func next(_ key: Key) -> HARArchive.Entry? {
        guard let line = lines[key] else { return nil }
        lines[key]?.given += 1
        return line.entries[min(line.given, line.entries.count - 1)]
    }
}

extension HARArchive.Entry {
    /// The recorded outcome as an answer of a stub.
    public var stubAnswer: StubAnswer {
        guard response.status > 0 else {
            let kind = response.errorKind.flatMap(TransportError.Kind.init(rawValue:)) ?? .other
            return .failure(kind)
        }
        let headers = HTTPHeaders(response.headers.map { HTTPHeaders.Field(name: $0.name, value: $0.value) })
        return .status(response.status, headers: headers, body: response.body ?? Data())
    }
}
