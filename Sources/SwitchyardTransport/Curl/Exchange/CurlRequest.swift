#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardHTTP
    import SwitchyardServices

    /// Writes a request into a libcurl handle.
    ///
    /// This runs on the caller's thread, so that the loop's thread has less work.
    struct CurlRequest {
        /// The maximum size of a body that is copied.
        ///
        /// A larger body is sent from its own memory.
        private static let largestCopiedBody = 64 << 10

        private let settings: Boxed<CurlSettings>
        private let exchange: CurlExchange
        private var form = ycurl_request()

        init(settings: Boxed<CurlSettings>, exchange: CurlExchange) {
            self.settings = settings
            self.exchange = exchange
        }

        /// Prepares `handle` for the loop.
        ///
        /// - Parameters:
        ///   - request: The request.
        ///   - handle: The handle to write to.
        ///   - written: The header fields of the previous request, which the handle still contains, or `nil` if the
        ///     handle is new.
        /// - Throws: ``TransportError`` if the request cannot be sent, or its body cannot be opened.
        mutating func write(
            _ request: HTTPRequest,
            to handle: OpaquePointer,
            over written: [HTTPHeaders.Field]?
        ) throws(TransportError) {
            // Most calls of one service share the same array of header fields.
            let hasFields = written.map { request.headers.fields.isStored(with: $0) } ?? false
            if !hasFields { try validate(request.headers) }
            try validate(request)
            try writeBody(of: request)
            writeLimits(of: request)
            if !hasFields { writeFields(of: request, to: handle) }
            form.owner = Unmanaged.passUnretained(exchange).toOpaque()
            form.may_send = { owner in
                owner.map { Unmanaged<CurlExchange>.fromOpaque($0).takeUnretainedValue().beginSending() } ?? false
            }
            if request.opensConnection { return try open(request, handle) }
            let code =
                if form.body == YCURL_BODY_COPIED, case .data(let data) = request.body {
                    data.withUnsafeBytes { prepare(handle, for: request, body: $0.baseAddress) }
                } else {
                    prepare(handle, for: request, body: form.body_bytes)
                }
            try check(code)
        }

        private func check(_ code: Int32) throws(TransportError) {
            guard code != 100 else {
                throw invalid(
                    "the head of the request is too large: must have at most \(YCURL_MOST_REQUEST_HEAD) bytes"
                )
            }
            guard code == 0 else { throw CurlFailure(code: code).error }
        }

        /// Makes the handle open a connection for another protocol.
        private mutating func open(_ request: HTTPRequest, _ handle: OpaquePointer) throws(TransportError) {
            let head = try CurlOpening.head(of: request)
            form.decompress = false
            form.skip_redirect_body = false
            let code = head.withUnsafeBytes { bytes in
                form.opening = bytes.baseAddress
                form.opening_count = bytes.count
                return prepare(handle, for: request, body: nil)
            }
            form.opening = nil
            try check(code)
        }

        private func writeFields(of request: HTTPRequest, to handle: OpaquePointer) {
            ycurl_forget_headers(handle)
            for index in request.headers.fields.indices where !isFraming(request.headers.fields[index].name) {
                let field = request.headers.fields[index]
                field.name.withContiguousCharacters { name in
                    field.withBytes { value in
                        ycurl_add_header(handle, name.baseAddress, name.count, value.baseAddress, value.count)
                    }
                }
            }
        }

        // MARK: Checks

        private func validate(_ headers: HTTPHeaders) throws(TransportError) {
            guard let field = headers.firstInvalidField else { return }
            throw invalid("the header field \(field.name.debugDescription) \(field.refusal.message)")
        }

        private func validate(_ request: HTTPRequest) throws(TransportError) {
            guard request.method.name != "CONNECT" else {
                throw TransportError(
                    .unsupported,
                    message: "not supported: the method CONNECT, which is only for requests to proxies",
                    mayHaveBeenSent: false
                )
            }
            guard request.networkAccess.isUnlimited else {
                let message =
                    "libcurl does not report which network a connection uses, so networkAccess cannot be limited"
                throw TransportError(.unsupported, message: message, mayHaveBeenSent: false)
            }
            if case .none = request.body { return }
            guard request.method != .head else { throw invalid("a HEAD request must not have a body") }
        }

        private func invalid(_ message: String) -> TransportError {
            TransportError(.invalidRequest, message: message, mayHaveBeenSent: false)
        }

        /// Returns whether a header field determines where a body ends.
        ///
        /// The transport sets these fields itself.
        private func isFraming(_ name: String) -> Bool {
            switch name.utf8.count {
            case 14: name.equalsIgnoringASCIICase("Content-Length")
            case 17: name.equalsIgnoringASCIICase("Transfer-Encoding")
            default: false
            }
        }

        private func checkFraming(of request: HTTPRequest, length: Int64?) throws(TransportError) {
            for field in request.headers.fields where isFraming(field.name) {
                let value = field.value
                if field.name.equalsIgnoringASCIICase("Transfer-Encoding") {
                    guard length == nil, value.equalsIgnoringASCIICase("chunked") else {
                        throw invalid(
                            "Transfer-Encoding is \(value): must be chunked, and only if the body's length is unknown"
                        )
                    }
                } else if length == nil || length != Int64(value) {
                    let own = length.map(String.init) ?? "unknown"
                    throw invalid("Content-Length is \(value), but the length of the body is \(own)")
                }
            }
        }

        // MARK: Body

        private mutating func writeBody(of request: HTTPRequest) throws(TransportError) {
            form.body_file = -1
            var length: Int64? = 0
            switch request.body {
            case .none where request.method == .head:
                form.body = YCURL_BODY_HEAD_ONLY
            case .none where request.method == .post || request.method == .put || request.method == .patch:
                form.body = YCURL_BODY_COPIED  // Sends Content-Length: 0 (RFC 9110 section 8.6).
            case .none:
                form.body = YCURL_BODY_NONE
            case .data(let data):
                length = Int64(data.count)
                writeBytes(data)
            case .file(let url):
                length = try writeFile(url)
            case .stream(let stream):
                length = stream.length
                try writeStream(stream)
            }
            do { try checkFraming(of: request, length: length) } catch {
                if form.body_file >= 0 { close(form.body_file) }
                throw error
            }
        }

        private mutating func writeStream(_ stream: HTTPBody.Stream) throws(TransportError) {
            if let enclosure = stream.enclosure { return try writeEnclosure(enclosure) }
            guard stream.length.map({ $0 >= 0 }) ?? true else {
                throw invalid("the length of the body is negative: must be at least 0")
            }
            form.body = YCURL_BODY_FED
            form.body_length = stream.length ?? -1
            exchange.upload = try CurlUpload(stream)
        }

        /// Makes libcurl read a file, and returns the file's length.
        private mutating func writeFile(_ url: URL) throws(TransportError) -> Int64 {
            (form.body_file, form.body_file_length) = try Self.open(url)
            form.body_length = form.body_file_length
            form.body = YCURL_BODY_FILE
            return form.body_length
        }

        private mutating func writeEnclosure(_ enclosure: FileEnclosure) throws(TransportError) {
            guard try writeFile(enclosure.file) == enclosure.length else {
                close(form.body_file)
                throw TransportError(
                    .requestBodyFailed,
                    message: "the body's file changed before it was sent",
                    mayHaveBeenSent: false
                )
            }
            let rest = (enclosure.before + enclosure.after) as NSData
            exchange.borrowedBody = rest
            form.body_bytes = rest.bytes
            form.body_before = enclosure.before.count
            form.body_length += Int64(rest.length)
        }

        private mutating func writeBytes(_ data: Data) {
            form.body_length = Int64(data.count)
            guard data.count > Self.largestCopiedBody || exchange.reportsProgress else {
                form.body = YCURL_BODY_COPIED
                return
            }
            // The bytes of an NSData do not move while it exists.
            let bytes = data as NSData
            exchange.borrowedBody = bytes
            form.body = YCURL_BODY_BORROWED
            form.body_bytes = bytes.bytes
        }

        private func prepare(_ handle: OpaquePointer, for request: HTTPRequest, body: UnsafeRawPointer?) -> Int32 {
            var form = form
            form.body_bytes = body
            return request.url.text.withCString { url in
                request.method.name.withCString { method in
                    form.url = url
                    form.method = method
                    return ycurl_prepare(handle, &form)
                }
            }
        }

        private static func open(_ url: URL) throws(TransportError) -> (descriptor: Int32, length: Int64) {
            // Without O_NONBLOCK, opening a pipe would block until a process writes to it.
            let descriptor = openDescriptor(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            var status = stat()
            guard url.isFileURL, descriptor >= 0, fstat(descriptor, &status) == 0 else {
                let reason = String(cString: strerror(errno))
                if descriptor >= 0 { close(descriptor) }
                throw unreadable(url, reason)
            }
            guard status.st_mode & S_IFMT == S_IFREG else {
                close(descriptor)
                throw unreadable(url, "not a regular file")
            }
            return (descriptor, Int64(status.st_size))
        }

        private static func unreadable(_ url: URL, _ reason: String) -> TransportError {
            let message = "\(url.path) cannot be sent: \(reason)"
            return TransportError(.requestBodyFailed, message: message, mayHaveBeenSent: false)
        }

        // MARK: Limits

        private mutating func writeLimits(of request: HTTPRequest) {
            form.body_limit = request.responseBodyLimit.map { Int64(max(0, $0)) } ?? -1
            form.head_limit = max(1024, settings.value.configuration.maximumHeadSize)
            form.stream_window = exchange.isStreamed ? settings.value.streamWindow : 0
            form.skip_redirect_body = request.skipsRedirectBody && !exchange.isStreamed
            form.once = !exchange.mayBeSentAgain
            form.fresh = request.needsNewConnection
            form.may_be_multiplexed = settings.value.offersHTTP2 && request.url.isSecure
            form.shares = form.may_be_multiplexed && settings.value.configuration.waitsForMultiplexing
            form.bypasses_proxy = -1
            if settings.value.configuration.proxy != .none {
                form.bypasses_proxy = settings.value.bypassesProxy(for: request.url).map { $0 ? 1 : 0 } ?? -1
            }
            form.decompress = settings.value.configuration.decompressesResponses
            form.report_progress = exchange.reportsProgress
            let timeouts = request.timeouts
            let connect = timeouts.connect ?? settings.value.configuration.connectTimeout
            form.connect_timeout_ms =
                connect.map { (max(1, $0.clampedNanoseconds) - 1) / 1_000_000 + 1 } ?? 0
            form.idle_limit = timeouts.idle.map { max(1, $0.clampedNanoseconds) } ?? 0
            let start = MonotonicTime(nanoseconds: ycurl_now())
            form.connect_deadline = connect.map { start.advanced(by: $0).nanoseconds } ?? .max
            form.deadline = timeouts.total.map { start.advanced(by: $0).nanoseconds } ?? .max
        }
    }

    /// Calls the system's function `open`.
    ///
    /// This type has a method `open` that hides it.
    private func openDescriptor(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }

    extension [HTTPHeaders.Field] {
        /// Returns whether both arrays share their storage.
        ///
        /// If they do, they are equal and need no comparison.
        fileprivate func isStored(with other: Self) -> Bool {
            withUnsafeBufferPointer { own in
                other.withUnsafeBufferPointer { own.baseAddress == $0.baseAddress && own.count == $0.count }
            }
        }
    }

    extension HTTPHeaders.Field {
        /// Calls a closure with the bytes of the value as they are sent.
        func withBytes(_ body: (UnsafeBufferPointer<CChar>) -> Void) {
            guard isLatin1 || OpaqueText.hasMarks(value) else { return value.withContiguousCharacters(body) }
            OpaqueText.bytes(of: echo).withUnsafeBufferPointer { $0.withMemoryRebound(to: CChar.self, body) }
        }
    }

    extension String {
        /// Calls a closure with the bytes of the text as a C buffer.
        fileprivate func withContiguousCharacters(_ body: (UnsafeBufferPointer<CChar>) -> Void) {
            withContiguousUTF8 { bytes in bytes.withMemoryRebound(to: CChar.self, body) }
        }
    }
#endif
