import Foundation
package import SwitchyardHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A failure of `URLSession`, to be converted to a ``TransportError``.
package struct URLSessionFailure {
    private let code: URLError.Code
    private let text: String
    private let hasHead: Bool
    private let wasSent: Bool

    /// - Parameters:
    ///   - error: The error of `URLSession`.
    ///   - hasHead: Whether the head of the response arrived.
    ///   - wasSent: Whether the request is known to have been sent over any connection. The error of `URLSession`
    ///     covers only the last connection that it tried.
    package init(_ error: any Error, hasHead: Bool, wasSent: Bool = false) {
        self.wasSent = wasSent
        code = (error as? URLError)?.code ?? .unknown
        text = (error as NSError).localizedDescription
        self.hasHead = hasHead
    }

    /// The failure as a transport error.
    package var error: TransportError {
        let kind = kind
        return TransportError(
            kind,
            message: text,
            code: code.rawValue,
            mayHaveBeenSent: hasHead || wasSent || !Self.certainlyUnsent.contains(kind)
        )
    }

    private static let certainlyUnsent: Set<TransportError.Kind> = [
        .dnsFailure, .connectionRefused, .offline, .tlsFailure, .certificateRejected,
    ]

    private var kind: TransportError.Kind {
        #if !canImport(Darwin)
            // On Linux, most failures have the code -1 and some have a wrong code, so only libcurl's text shows the
            // kind.
            if let kind = kindOfText { return kind }
        #endif
        return kindOfCode
    }

    private var kindOfCode: TransportError.Kind {
        code == .networkConnectionLost && hasHead ? .truncated : TransportError.Kind(urlErrorCode: code.rawValue)
    }

    /// Parts of libcurl's messages.
    ///
    /// The first part that a message contains applies. The parts are short, because the messages change between
    /// versions.
    private static let texts: [(part: String, kind: TransportError.Kind)] = [
        ("Could not resolve", .dnsFailure),
        ("Failed to connect", .connectionRefused),
        ("Couldn't connect", .connectionRefused),
        ("certificate problem", .certificateRejected),
        ("no alternative certificate subject name", .certificateRejected),
        ("SSL", .tlsFailure),
        ("sigalg", .tlsFailure),
        ("Empty reply", .connectionReset),
        ("Recv failure", .connectionReset),
        ("Send failure", .connectionReset),
        ("transfer closed with", .truncated),
        ("bytes missing", .truncated),
        ("hexadecimal", .protocolViolation),
        ("hex digit", .protocolViolation),
        ("HTTP/0.9", .protocolViolation),
        ("HTTP version", .protocolViolation),
        ("Failed writing header", .protocolViolation),
        ("unencoding", .decodingFailed),
        ("content encoding", .decodingFailed),
        ("Out of memory", .headersTooLarge),
        ("Too large response headers", .headersTooLarge),
        ("grew larger than allowed", .headersTooLarge),
    ]

    private var kindOfText: TransportError.Kind? {
        guard code != .cancelled, code != .timedOut else { return nil }
        return Self.texts.first { text.localizedCaseInsensitiveContains($0.part) }?.kind
    }
}
