#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardHTTP

    /// A failure of libcurl, to be converted to a ``TransportError``.
    ///
    /// The conversion uses result codes and the system's error numbers, not the messages, which change between
    /// versions.
    struct CurlFailure {
        /// The result code of libcurl (CURLcode), or -1 if a deadline of Switchyard ended the exchange.
        var code: Int32
        /// The reason why a callback or a deadline of Switchyard ended the exchange.
        var verdict = ycurl_verdict.none
        /// The `errno` of the failed system call.
        var systemError: Int32 = 0
        /// The status of the proxy's response to CONNECT, or 0 if there was none.
        var connectStatus = 0
        /// The reason why a SOCKS proxy made no connection (CURLproxycode), or 0 if the proxy gave none.
        var proxyError = 0
        /// libcurl's message for the failure, or an empty text if there is none.
        var words = ""
        /// Whether this process has no file descriptors left.
        var isExhausted = false
        /// Whether the complete head of the final response had arrived.
        var hasHead = false
        /// Whether the response's body is chunked.
        var isChunked = false
        /// Whether bytes of the request were sent, or may have been sent.
        var wasSent = false
        /// Whether a proxy is used.
        var usesProxy = false
        /// Whether this machine has no network interface to the outside, so that names cannot be looked up.
        var isOffline = false

        init(code: Int32) {
            self.code = code
        }

        init(code: Int32, handle: OpaquePointer, usesProxy: Bool) {
            var diagnosis = ycurl_diagnosis()
            ycurl_diagnose(handle, &diagnosis)
            self.code = code
            self.usesProxy = usesProxy
            verdict = diagnosis.verdict
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

        /// The failure as a transport error.
        var error: TransportError {
            if let own = ownFailure {
                return TransportError(own.kind, message: own.message, code: nil, mayHaveBeenSent: wasSent)
            }
            let system = systemError == 0 ? "" : " (\(String(cString: strerror(systemError))))"
            let lost =
                isNewConnection ? "the connection was lost during the request, and a new connection failed: " : ""
            let kind = kindOfFailure
            let lack = "this machine has no file descriptor or memory left for a connection: "
            let message = lost + (kind == .resourcesExhausted ? lack : "") + words(for: kind) + system
            return TransportError(kind, message: message, code: Int(code), mayHaveBeenSent: wasSent)
        }

        /// Whether a second connection failed after the first one was lost.
        ///
        /// libcurl sends a request that may be repeated again on a new connection.
        private var isNewConnection: Bool { wasSent && [5, 6, 7, 28, 35, 60, 97].contains(code) }

        /// Returns libcurl's text for the code, with libcurl's message if it is more specific.
        private func words(for kind: TransportError.Kind) -> String {
            // For a line that is too long, libcurl reports that there is no memory (code 27).
            if kind == .headersTooLarge, code == 27 { return "the head of the response has a line that is too long" }
            let text = CurlLibrary.text(of: code)
            let hasReason = isOfProxy || kind == .tlsFailure || kind == .certificateRejected
            return hasReason && !words.isEmpty && words != text ? "\(text): \(words)" : text
        }

        // MARK: Failures of callbacks

        /// The kind and the message of a failure that the verdict names, or `nil` if libcurl itself reports the
        /// failure.
        private var ownFailure: (kind: TransportError.Kind, message: String)? {
            switch verdict {
            case .headTooLarge: (.headersTooLarge, "the head of the response is larger than allowed")
            case .bodyTooLarge: (.bodyTooLarge, "the body of the response is larger than allowed")
            case .uploadUnreadable:
                (.requestBodyFailed, "the body's file could not be read: \(String(cString: strerror(systemError)))")
            case .uploadShort: (.requestBodyFailed, "the body's file became shorter while it was sent")
            case .uploadChanged: (.requestBodyFailed, "the body's file changed while it was sent")
            case .wouldSendTwice:
                (.connectionReset, "the connection was lost during the request, which must not be sent twice")
            case .refused: (.connectionReset, "the server did not process the request, not even on a new connection")
            case .deadlinePassed: (.timeout, "the exchange took longer than its total timeout")
            case .idleTooLong: (.timeout, "nothing was received for longer than the idle timeout")
            case .notConnected: (.connectTimeout, "no connection was established within the connect timeout")
            case .lengthContradicted:
                (.protocolViolation, "the Content-Length of the response is not a number, or is repeated")
            case .unaskedProtocol:
                (.protocolViolation, "the server switched to a protocol that was not requested (status 101)")
            case .notPinned: (.certificateRejected, "no certificate in the server's chain matches a pin")
            case .noMemory: (.other, "out of memory")
            case .withdrawn: (.cancelled, "cancelled")
            case .none, .answered: nil
            }
        }

        // MARK: Failures of libcurl

        private var kindOfFailure: TransportError.Kind {
            if !wasSent, isExhausted || (code == 7 && Descriptors.lack(systemError)) { return .resourcesExhausted }
            return kindBeyondProxy ?? kindOfCode
        }

        private var kindOfCode: TransportError.Kind {
            switch code {
            case 1: wasSent ? .protocolViolation : .unsupported  // UNSUPPORTED_PROTOCOL, also for an HTTP/0.9 response
            case 3: .invalidRequest  // URL_MALFORMAT
            case 4: .unsupported  // NOT_BUILT_IN
            case 5: isOffline ? .offline : .proxyFailure  // COULDNT_RESOLVE_PROXY
            case 6: isOffline ? .offline : .dnsFailure  // COULDNT_RESOLVE_HOST
            case 7: kindOfFailedConnection  // COULDNT_CONNECT
            case 8: .protocolViolation  // WEIRD_SERVER_REPLY
            case 18: hasHead ? .truncated : .connectionReset  // PARTIAL_FILE, also for an end within HTTP/2
            case 23: .decodingFailed  // WRITE_ERROR of a decoder: our callbacks set a verdict
            case 26: .requestBodyFailed  // READ_ERROR
            case 27: hasHead || !wasSent ? .other : .headersTooLarge  // OUT_OF_MEMORY: also a line over 100 KiB
            case 28: .connectTimeout  // OPERATION_TIMEDOUT: libcurl has only this timeout
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
            // Without a system error, a chunked body has invalid framing, and any other body was truncated. Some TLS
            // libraries report an end without a closing alert as an error (seen with libcurl 8.23).
            return isChunked ? .protocolViolation : .truncated
        }
    }
#endif
