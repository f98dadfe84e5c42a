import Foundation
import SwitchyardClient
public import SwitchyardDiagnostics
public import SwitchyardHTTP
public import SwitchyardServices

extension StubTransport {
    /// The rule that decides whether a request matches a recorded request.
    public enum ReplayMatching: Sendable, Hashable {
        /// The method, the URL and the body must be the same; the default.
        case strict
        /// The method, the path and the query parameters must be the same.
        ///
        /// The order of the query parameters is ignored.
        ///
        /// The host and the port can differ, for example for a loopback server on another port. The body is ignored
        /// because it may contain a date or an identifier that differs in every run.
        case lenient
    }

    /// Creates a transport that replays recorded responses.
    ///
    /// A request receives the first recorded response to the same request that has not been used yet. When all
    /// responses to that request have been used, the last response is repeated. The boundaries of multipart forms are
    /// ignored because they differ each time. A request without a recorded response fails.
    ///
    /// - Parameters:
    ///   - archive: The recorded traffic.
    ///   - matching: The rule for matching requests. By default, the method, URL and body must be the same.
    ///   - redaction: The rules for redaction with which the archive was recorded. The default is
    ///     ``/SwitchyardHTTP/Redaction/standard``. Requests are redacted in the same way before they are compared.
    ///   - clock: The clock on which each response is delayed by its recorded duration. If it is `nil`, responses are
    ///     immediate.
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
                        message: "the archive has no response left for \(request)",
                        mayHaveBeenSent: false
                    )
                )
            }
            let answer = entry.stubbedResponse
            guard let clock, entry.time > 0 else { return answer }
            // The delay is limited to one year because a `Duration` cannot hold every recorded number.
            return .delayed(by: .seconds(min(entry.time / 1_000, 31_536_000)), on: clock, answer)
        }
    }
}

/// The recorded entries, grouped by request, and for each request the number of entries that have been used.
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

        /// Returns the path and the sorted query parameters of a URL.
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
    /// The recorded result as a scripted response for a `StubTransport`.
    public var stubbedResponse: StubResponse {
        guard response.status > 0 else {
            let kind = response.errorKind.flatMap(TransportError.Kind.init(rawValue:)) ?? .other
            return .failure(kind)
        }
        let headers = HTTPHeaders(response.headers.map { HTTPHeaders.Field(name: $0.name, value: $0.value) })
        return .status(response.status, headers: headers, body: response.body ?? Data())
    }
}
