#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardHTTP

    /// Says in the words of ``TransportError`` why libcurl ended an exchange.
    ///
    /// Goes by result codes and the system's error numbers, never by text, which changes from version to version.
    struct CurlFailure {
        /// Why one of our callbacks or deadlines ended an exchange; the numbers of `ycurl_verdict`.
        enum Verdict: Int32, Sendable {
            case none
            case headTooLarge
            case bodyTooLarge
            case uploadUnreadable
            case uploadShort
            case wouldSendTwice
            case deadlinePassed
            case idleTooLong
            case noMemory
            case notConnected
            case uploadChanged
            case answered
            case lengthContradicted
            case notPinned
            case withdrawn
            case unaskedProtocol
            case refused
        }

        /// libcurl's result code; -1 when one of our deadlines ended the exchange.
        var code: Int32
        /// What our callbacks decided, if they ended the exchange.
        var verdict = Verdict.none
        /// `errno` of the system call that failed.
        var systemError: Int32 = 0
        /// The proxy's answer to CONNECT; 0 when there was none.
        var connectStatus = 0
        /// Why a SOCKS proxy made no connection (CURLproxycode); 0 when it gave no reason.
        var proxyError = 0
        /// libcurl's words for the failure; empty when it has none.
        var words = ""
        /// Whether this process lacks file descriptors.
        var isExhausted = false
        /// Whether the final head was complete.
        var hasHead = false
        /// Whether the response's body comes in chunks.
        var isChunked = false
        /// Whether bytes of the request were sent, or may have been.
        var wasSent = false
        /// Whether a proxy stands between.
        var usesProxy = false
        /// Whether nothing leads away from this machine, so that no name can be looked up.
        var isOffline = false

        init(code: Int32) {
            self.code = code
        }

        init(code: Int32, handle: OpaquePointer, usesProxy: Bool) {
            var diagnosis = ycurl_diagnosis()
            ycurl_diagnose(handle, &diagnosis)
            self.code = code
            self.usesProxy = usesProxy
            verdict = Verdict(rawValue: diagnosis.verdict) ?? .none
            systemError = diagnosis.os_error
            connectStatus = diagnosis.connect_status
            proxyError = diagnosis.proxy_error
            words = diagnosis.words.map { String(cString: $0) } ?? ""
            hasHead = diagnosis.head_complete
            isChunked = diagnosis.chunked
            wasSent = diagnosis.request_sent
            isOffline = (code == 5 || code == 6) && !NetworkInterfaces.leadAway
            isExhausted = [5, 6, 7, 35, 58, 77].contains(code) && !wasSent && Descriptors.areExhausted
        }

        /// The failure as callers see it.
        var error: TransportError {
            if let kind = kindOfVerdict {
                return TransportError(kind, message: messageOfVerdict, code: nil, mayHaveBeenSent: wasSent)
            }
            let system = systemError == 0 ? "" : " (\(String(cString: strerror(systemError))))"
            let lost = isNewConnection ? "the connection was lost under the request, and a new one failed: " : ""
            let kind = kindOfFailure
            let message = lost + Self.message(of: kind, words(for: kind)) + system
            return TransportError(kind, message: message, code: Int(code), mayHaveBeenSent: wasSent)
        }

        /// Whether it was a connection after the first that failed: libcurl sends what may be sent twice again when the
        /// connection that it was on has died.
        private var isNewConnection: Bool { wasSent && [5, 6, 7, 28, 35, 60, 97].contains(code) }

        /// libcurl's text for the code, and its own words where they name what the text does not.
        private func words(for kind: TransportError.Kind) -> String {
            let text = CurlLibrary.text(of: code)
            let hasReason = isOfProxy || kind == .tlsFailure || kind == .certificateRejected
            return hasReason && !words.isEmpty && words != text ? "\(text): \(words)" : text
        }

        private static func message(of kind: TransportError.Kind, _ words: String) -> String {
            kind == .resourcesExhausted
                ? "this machine has no file descriptor or memory left for a connection: \(words)" : words
        }

        // MARK: What our own callbacks decided

        private var kindOfVerdict: TransportError.Kind? {
            switch verdict {
            case .headTooLarge: .headersTooLarge
            case .bodyTooLarge: .bodyTooLarge
            case .uploadUnreadable, .uploadShort, .uploadChanged: .requestBodyFailed
            case .wouldSendTwice, .refused: .connectionReset
            case .deadlinePassed, .idleTooLong: .timeout
            case .notConnected: .connectTimeout
            case .lengthContradicted, .unaskedProtocol: .protocolViolation
            case .notPinned: .certificateRejected
            case .noMemory: .other
            case .withdrawn: .cancelled
            case .none, .answered: nil
            }
        }

        private var messageOfVerdict: String {
            switch verdict {
            case .headTooLarge: "the response's head is larger than allowed"
            case .bodyTooLarge: "the response's body is larger than allowed"
            case .uploadUnreadable: "the body's file could not be read: \(String(cString: strerror(systemError)))"
            case .uploadShort: "the body's file became shorter while it was sent"
            case .uploadChanged: "the body's file changed while it was sent"
            case .wouldSendTwice: "the connection was lost under the request, which must not be sent twice"
            case .deadlinePassed: "the exchange took longer than its total timeout"
            case .idleTooLong: "nothing was received for longer than the idle timeout"
            case .notConnected: "no connection came about within the connect timeout"
            case .lengthContradicted: "the response's Content-Length is no number, or more than one"
            case .notPinned: "no certificate of the server's chain has one of the pins"
            case .withdrawn: "cancelled"
            case .refused: "the server refused the request unprocessed, on a new connection as well"
            case .unaskedProtocol: "the server switched to another protocol (101), for which nobody has asked"
            case .noMemory, .none, .answered: "out of memory"
            }
        }

        // MARK: What libcurl found

        private var kindOfFailure: TransportError.Kind {
            if !wasSent, isExhausted || (code == 7 && Descriptors.lack(systemError)) { return .resourcesExhausted }
            return kindBehindProxy ?? kindOfCode
        }

        private var kindOfCode: TransportError.Kind {
            switch code {
            case 1: wasSent ? .protocolViolation : .unsupported  // UNSUPPORTED_PROTOCOL, also for an HTTP/0.9 answer
            case 3: .invalidRequest  // URL_MALFORMAT
            case 4: .unsupported  // NOT_BUILT_IN
            case 5: isOffline ? .offline : .proxyFailure  // COULDNT_RESOLVE_PROXY
            case 6: isOffline ? .offline : .dnsFailure  // COULDNT_RESOLVE_HOST
            case 7: kindOfFailedConnection  // COULDNT_CONNECT
            case 8: .protocolViolation  // WEIRD_SERVER_REPLY
            case 18: hasHead ? .truncated : .connectionReset  // PARTIAL_FILE, also for an end within HTTP/2
            case 23: .decodingFailed  // WRITE_ERROR: ours have a verdict, so it was a decoder's
            case 26: .requestBodyFailed  // READ_ERROR
            case 27: hasHead || !wasSent ? .other : .headersTooLarge  // OUT_OF_MEMORY: also a line over 100 KiB
            case 28: .connectTimeout  // OPERATION_TIMEDOUT, the one timeout that libcurl is given
            case 35, 53, 54, 58, 59, 64, 66, 77, 80, 82, 98: .tlsFailure
            case 43: wasSent ? .protocolViolation : .invalidRequest  // BAD_FUNCTION_ARGUMENT, also for a bad trailer
            case 51, 60, 83, 90, 91: .certificateRejected
            case 52, 55, 65: .connectionReset  // GOT_NOTHING, SEND_ERROR, SEND_FAIL_REWIND
            case 56: kindOfFailedReceive  // RECV_ERROR
            case 61: .decodingFailed  // BAD_CONTENT_ENCODING
            case 63: .bodyTooLarge  // FILESIZE_EXCEEDED
            case 16, 92: hasHead ? .truncated : .connectionReset  // HTTP2, also after a GOAWAY; HTTP2_STREAM
            case 97: .proxyFailure  // PROXY
            case 95, 96: .connectionReset  // HTTP3, QUIC_CONNECT_ERROR
            case 100: wasSent ? .headersTooLarge : .invalidRequest  // TOO_LARGE
            default: .other
            }
        }

        private var kindOfFailedConnection: TransportError.Kind {
            guard !usesProxy else { return .proxyFailure }
            switch systemError {
            case ECONNREFUSED, EHOSTUNREACH, EHOSTDOWN, ENOENT: return .connectionRefused
            case ENETUNREACH, ENETDOWN, EADDRNOTAVAIL: return .offline
            case ETIMEDOUT: return .connectTimeout
            case ECONNRESET, ECONNABORTED, EPIPE: return .connectionReset
            default: return .other
            }
        }

        private var kindOfFailedReceive: TransportError.Kind {
            if connectStatus >= 300 { return .proxyFailure }
            guard systemError == 0 && hasHead else { return .connectionReset }
            // Without an error of the system it was the framing of the body that broke. What has none was cut, where TLS
            // takes an end without a last word for an error (seen with libcurl 8.23).
            return isChunked ? .protocolViolation : .truncated
        }
    }
#endif
