import SwitchyardDiagnostics
import SwitchyardHTTP
import SwitchyardServices

extension InspectedAttempt {
    /// Takes note of how an exchange of the attempt ended.
    ///
    /// - Parameters:
    ///   - entry: The exchange.
    ///   - start: When it began.
    ///   - end: When it ended.
    mutating func ended(_ entry: HARArchive.Entry, from start: Double, to end: Double) {
        self.end = end
        guard entry.response.status > 0 else {
            status = nil
            error = entry.response.errorKind ?? "other"
            isCut = entry.response.errorKind == TransportError.Kind.cancelled.rawValue ? true : nil
            return
        }
        status = entry.response.status
        version = Self.name(ofVersion: entry.response.httpVersion)
        phases += entry.timings.phases(from: start)
    }

    /// Takes note of what the transport measured.
    mutating func measured(_ metrics: TransferMetrics) {
        reused = metrics.reusedConnection
        sent = metrics.bytesSent
        received = metrics.bytesReceived
    }

    /// A version of HTTP as people write it; transports and browsers say `h2`.
    static func name(ofVersion text: String) -> String {
        switch text.lowercased() {
        case "h2", "http/2.0": "HTTP/2"
        case "h3", "http/3.0": "HTTP/3"
        case let text: text.uppercased()
        }
    }
}

extension HARTimings {
    /// The parts that took any time, one after the other.
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
