import SwitchyardDiagnostics
import SwitchyardHTTP
import SwitchyardServices

extension InspectedAttempt {
    /// Records how an exchange of the attempt ended.
    ///
    /// - Parameters:
    ///   - entry: The exchange.
    ///   - start: The start of the exchange, in milliseconds since 1970.
    ///   - end: The end of the exchange, in milliseconds since 1970.
    mutating func ended(_ entry: HARArchive.Entry, from start: Double, to end: Double) {
        self.end = end
        guard entry.response.status > 0 else {
            status = nil
            error = entry.response.errorKind ?? entry.response.error.map(Self.name(ofError:)) ?? "other"
            isCut = error == TransportError.Kind.cancelled.rawValue ? true : nil
            return
        }
        status = entry.response.status
        let media = entry.response.content.mimeType.prefix { $0 != ";" }
        type = media.isEmpty ? nil : media.lowercased()
        version = Self.name(ofVersion: entry.response.httpVersion)
        phases += entry.timings.phases(from: start)
    }

    /// Records the metrics of the transport.
    mutating func measured(_ metrics: TransferMetrics) {
        reused = metrics.reusedConnection
        sent = metrics.bytesSent
        received = metrics.bytesReceived
    }

    /// Returns the name of an error that another program has described: `connectionRefused` for
    /// `net::ERR_CONNECTION_REFUSED`.
    ///
    /// The text of an unknown browser error is used as its name. Any other description becomes `other`.
    private static func name(ofError text: String) -> String {
        guard text.hasPrefix("net::ERR_") else { return TransportError.Kind.other.rawValue }
        let name = text.dropFirst(9)
        let kind: TransportError.Kind? =
            switch name {
            case "ABORTED": .cancelled
            case "CONNECTION_REFUSED", "ADDRESS_UNREACHABLE": .connectionRefused
            case "CONNECTION_RESET", "CONNECTION_CLOSED", "EMPTY_RESPONSE": .connectionReset
            case "CONNECTION_TIMED_OUT": .connectTimeout
            case "TIMED_OUT": .timeout
            case "NAME_NOT_RESOLVED", "NAME_RESOLUTION_FAILED": .dnsFailure
            case "CONTENT_LENGTH_MISMATCH", "INCOMPLETE_CHUNKED_ENCODING": .truncated
            case let name where name.hasPrefix("CERT_"): .certificateRejected
            case let name where name.hasPrefix("SSL_"): .tlsFailure
            case let name where name.hasPrefix("HTTP2_") || name.hasPrefix("QUIC_"): .protocolViolation
            default: nil
            }
        return kind?.rawValue ?? text
    }

    /// Returns the usual name of an HTTP version: for example, transports and browsers write `h2` for HTTP/2.
    static func name(ofVersion text: String) -> String {
        switch text.lowercased() {
        case "h2", "http/2.0": "HTTP/2"
        case "h3", "http/3.0": "HTTP/3"
        case let text: text.uppercased()
        }
    }
}

extension HARTimings {
    /// Returns the phases whose duration is above zero.
    ///
    /// Each phase starts when the previous phase ends.
    fileprivate func phases(from start: Double) -> [InspectedAttempt.Phase] {
        let handshake = max(0, ssl)
        let parts: [(InspectedAttempt.Phase.Name, Double)] = [
            (.lookup, dns), (.connect, connect - handshake), (.tls, handshake), (.send, send), (.wait, wait),
            (.receive, receive),
        ]
        var phases: [InspectedAttempt.Phase] = []
        var begin = start + max(0, blocked)
        for (name, length) in parts where length > 0 {
            phases.append(InspectedAttempt.Phase(name: name, start: begin, end: begin + length))
            begin += length
        }
        return phases
    }
}
