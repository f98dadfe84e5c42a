#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardHTTP
    import SwitchyardServices

    /// The operations of the loop's thread on its running exchanges.
    ///
    /// Only that thread uses this class.
    final class CurlRunner {
        /// An ended exchange and its result.
        private struct Outcome {
            let exchange: CurlExchange
            let result: Result<HTTPResponse, TransportError>
        }

        private let owner: CurlLoop
        private let loop: OpaquePointer
        private let settings: CurlSettings
        private var running: [CurlExchange] = []
        /// The results that ``deliver()`` processes.
        ///
        /// The array is a property so that its memory is reused.
        private var outcomes: [Outcome] = []
        private var free: [CurlHandle] = []
        /// The time when the last exchange ended while connections were open, or `nil` if no connection is open.
        private var idleSince: Int64?

        init(owner: CurlLoop, loop: OpaquePointer, settings: CurlSettings) {
            self.owner = owner
            self.loop = loop
            self.settings = settings
        }

        var isIdle: Bool { running.isEmpty }

        // MARK: Commands

        func perform(_ command: CurlLoop.Command) {
            switch command {
            case .start(let exchange): start(exchange)
            case .cancel(let exchange): end(exchange, .cancelled, "cancelled")
            case .resume(let exchange): resume(exchange)
            case .feed(let exchange, let piece): feed(exchange, piece)
            case .send(let exchange, let bytes): send(bytes, over: exchange)
            }
        }

        private func start(_ exchange: CurlExchange) {
            guard let handle = exchange.handle else { return }
            exchange.slot = running.count
            running.append(exchange)
            idleSince = nil
            // libcurl before 7.80 does not call back just before it sends the request, so this is the last moment to
            // withdraw it.
            if ycurl_version() < 0x075000, !exchange.beginSending() { return end(exchange, .cancelled, "cancelled") }
            if ycurl_loop_add(loop, handle) != 0 { end(exchange, .other, "libcurl refused the request") }
        }

        private func resume(_ exchange: CurlExchange) {
            guard exchange.slot >= 0, let handle = exchange.handle else { return }
            deliverBody(of: exchange, handle)
        }

        private func feed(_ exchange: CurlExchange, _ piece: Result<Data?, TransportError>) {
            guard exchange.slot >= 0, let handle = exchange.handle else { return }
            exchange.upload?.hasTaken()  // First, because libcurl may request more within the call.
            switch piece {
            case .success(let bytes):
                let code = (bytes ?? Data()).withUnsafeBytes { ycurl_upload_offer(handle, $0.baseAddress, $0.count) }
                if code != 0 { end(exchange, .other, CurlLibrary.text(of: code)) }
            case .failure(let error):
                end(exchange, error.kind, error.message)
            }
        }

        private func send(_ bytes: Data, over exchange: CurlExchange) {
            guard exchange.slot >= 0, let handle = exchange.handle else { return }
            let code = bytes.withUnsafeBytes { ycurl_connection_send(handle, $0.baseAddress, $0.count) }
            if code != 0 { end(exchange, .other, CurlLibrary.text(of: code)) }
        }

        /// Ends a running exchange with an error that Switchyard has detected.
        private func end(_ exchange: CurlExchange, _ kind: TransportError.Kind, _ message: String) {
            guard exchange.slot >= 0, let handle = exchange.handle else { return }
            let failure = CurlFailure(code: 0, handle: handle, usesProxy: false)
            remove(exchange)
            ycurl_loop_discard(loop, handle)
            exchange.fail(TransportError(kind, message: message, mayHaveBeenSent: failure.wasSent))
        }

        func endAll(_ error: TransportError) {
            while let exchange = running.last { end(exchange, error.kind, error.message) }
        }

        private func remove(_ exchange: CurlExchange) {
            let last = running.removeLast()
            if last !== exchange {
                running[exchange.slot] = last
                last.slot = exchange.slot
            }
            exchange.slot = -1
            exchange.handle = nil
            if running.isEmpty { idleSince = ycurl_now() }
        }

        // MARK: Results of libcurl

        /// Delivers received data and ended exchanges.
        func deliver() {
            var events: UInt32 = 0
            while let handle = ycurl_loop_next_event(loop, &events) {
                if let exchange = exchange(of: handle) { deliver(ycurl_event(events), of: exchange, handle) }
            }
            var code: Int32 = 0
            while let handle = ycurl_loop_next_finished(loop, &code) {
                guard let exchange = exchange(of: handle) else { continue }
                outcomes.append(Outcome(exchange: exchange, result: outcome(of: exchange, handle, code)))
                remove(exchange)
                guard code == 0 else {
                    ycurl_loop_discard(loop, handle)
                    continue
                }
                free.append(CurlHandle(pointer: handle, fields: exchange.fields))
            }
            guard !outcomes.isEmpty else { return }
            owner.recycle(free)  // First, so that a completion's next request finds a free handle.
            for outcome in outcomes { outcome.exchange.finish(outcome.result) }
            free.removeAll(keepingCapacity: true)
            outcomes.removeAll(keepingCapacity: true)
        }

        private func exchange(of handle: OpaquePointer) -> CurlExchange? {
            ycurl_exchange_owner(handle).map { Unmanaged<CurlExchange>.fromOpaque($0).takeUnretainedValue() }
        }

        private func deliver(_ events: ycurl_event, of exchange: CurlExchange, _ handle: OpaquePointer) {
            if events.contains(YCURL_HEAD_ARRIVED) { deliverHead(of: exchange, handle) }
            if events.contains(YCURL_BODY_ARRIVED) { deliverBody(of: exchange, handle) }
            if events.contains(YCURL_PROGRESSED) { exchange.reportProgress() }
            if events.contains(YCURL_UPLOAD_HUNGRY) { exchange.outlet?.hasSent() }
            if events.contains(YCURL_UPLOAD_HUNGRY), let upload = exchange.upload {
                upload.readNext { [owner] piece in owner.submit(.feed(exchange, piece)) }
            }
        }

        private func deliverHead(of exchange: CurlExchange, _ handle: OpaquePointer) {
            let channel = BodyChannel(
                capacity: settings.streamWindow,
                resume: { [owner] in owner.submit(.resume(exchange)) },
                cancel: { [owner] in owner.submit(.cancel(exchange)) }
            )
            exchange.channel = channel
            exchange.buffers = PieceBuffers()
            let reader = BodyReader(channel)
            if exchange.opensConnection, ycurl_status(handle) == 101 {
                let outlet = CurlOutlet { [owner] bytes in owner.submit(.send(exchange, bytes)) }
                exchange.outlet = outlet
                exchange.complete(.success(response(from: handle, body: .stream(reader.stream(of: outlet)))))
            } else {
                exchange.complete(.success(response(from: handle, body: .stream(reader.stream))))
            }
        }

        private func deliverBody(of exchange: CurlExchange, _ handle: OpaquePointer) {
            guard let channel = exchange.channel, let buffers = exchange.buffers else { return }
            let room = channel.offer(buffers.takePiece(of: handle))
            let isPaused = ycurl_body_open_window(handle, room)
            if isPaused, room > 0 { ycurl_body_resume(handle) }
        }

        private func outcome(
            of exchange: CurlExchange,
            _ handle: OpaquePointer,
            _ code: Int32
        ) -> Result<HTTPResponse, TransportError> {
            if exchange.reportsProgress { exchange.reportProgress() }
            if code != 0 {
                let usesProxy = settings.usesProxy(for: exchange.url)
                let failure = CurlFailure(code: code, handle: handle, usesProxy: usesProxy)
                guard failure.verdict == .answered else { return ended(exchange, handle, by: failure) }
            }
            guard ycurl_status(handle) != 0, ycurl_has_head(handle) else {
                // If the connection ends within the head, libcurl nevertheless reports the head as complete.
                return .failure(
                    TransportError(
                        .connectionReset,
                        message: "the connection ended before the head of the response was complete"
                    )
                )
            }
            let body = CurlResponse.takeBody(of: handle)
            if let channel = exchange.channel {
                _ = channel.offer(body)
                return .success(HTTPResponse(status: 0))  // The head has been delivered already.
            }
            return .success(response(from: handle, body: .whole(body)))
        }

        /// Returns the result of an exchange whose transfer failed.
        ///
        /// A failed transfer may still have a response.
        private func ended(
            _ exchange: CurlExchange,
            _ handle: OpaquePointer,
            by failure: CurlFailure
        ) -> Result<HTTPResponse, TransportError> {
            guard failure.hasHead, exchange.channel == nil else { return .failure(failure.error) }
            let head = response(from: handle, body: .whole(Data()))
            let error = failure.error.naming(codings: head.headers)
            let answer = HTTPResponse(head, partialBody: { CurlResponse.takeBody(of: handle) }, failedWith: error)
            return answer.map { .success($0) } ?? .failure(error)
        }

        /// Returns the response from the received head and the given body.
        private func response(from handle: OpaquePointer, body: HTTPResponse.Body) -> HTTPResponse {
            var count = 0
            let start = ycurl_head(handle, &count)
            let headers = CurlResponse.parse(UnsafeRawBufferPointer(start: start, count: count))
            let metrics = settings.configuration.collectsMetrics ? CurlResponse.metrics(of: handle) : nil
            return HTTPResponse(status: ycurl_status(handle), headers: headers, body: body, metrics: metrics)
        }

        // MARK: Idleness

        /// Returns the maximum time in milliseconds for which the loop waits for events.
        ///
        /// If connections are open, the wait ends at the idle timeout. Otherwise the wait is unlimited.
        func waitMilliseconds(blocks: Bool) -> Int64 {
            guard blocks else { return 0 }
            guard let idleSince else { return -1 }
            return max(1, (settings.idleNanoseconds - (ycurl_now() - idleSince)) / 1_000_000 + 1)
        }

        /// Closes connections that were idle for the idle timeout.
        ///
        /// libcurl would close them only when it needs a connection.
        func closeIdleConnections() {
            guard let idleSince, running.isEmpty, ycurl_now() - idleSince >= settings.idleNanoseconds else { return }
            self.idleSince = nil
            owner.dropFreeHandles()
            ycurl_loop_close_connections(loop)
        }
    }

    extension ycurl_event {
        fileprivate func contains(_ event: ycurl_event) -> Bool { rawValue & event.rawValue != 0 }
    }
#endif
