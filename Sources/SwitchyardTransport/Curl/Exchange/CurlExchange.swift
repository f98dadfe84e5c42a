#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardHTTP
    import Synchronization

    /// One exchange, from the request that was prepared to the completion that was called.
    ///
    /// @unchecked is sound: the constants are set before the exchange is submitted, under the intake's lock, and what
    /// varies is touched by the loop's thread only from then on.
    final class CurlExchange: TransportTask, @unchecked Sendable {
        typealias Completion = @Sendable (Result<HTTPResponse, TransportError>) -> Void

        /// libcurl's side; `nil` before it is prepared and after it has ended.
        var handle: OpaquePointer?
        /// The place among the running exchanges; -1 when it is not running.
        var slot = -1
        /// The buffer of a streamed response, once its head has arrived.
        var channel: BodyChannel?
        /// The memory of its pieces.
        var buffers: PieceBuffers?
        /// What feeds a streamed request.
        var upload: CurlUpload?
        /// Sends over a connection that has been handed over.
        var outlet: CurlOutlet?
        /// Keeps the bytes of a large body where libcurl reads them.
        var borrowedBody: NSData?

        private let loop: CurlLoop
        let url: RequestURL
        /// The header fields as they are in the handle.
        let fields: [HTTPHeaders.Field]
        let isStreamed: Bool
        let opensConnection: Bool
        /// Whether libcurl may send it again when the connection is lost under it.
        let mayBeSentAgain: Bool
        private let progress: TransferProgressHandler?
        private var reportedProgress = CurlProgress()
        private var completion: Completion?
        /// What any thread may ask for: whether the request goes out is decided once.
        private let sending = Atomic<Sending>(.undecided)

        private enum Sending: UInt8, AtomicRepresentable { case undecided, begun, withdrawn }

        init(
            of request: HTTPRequest,
            on loop: CurlLoop,
            progress: TransferProgressHandler?,
            completion: @escaping Completion
        ) {
            self.loop = loop
            url = request.url
            fields = request.headers.fields
            isStreamed = request.delivery == .stream || request.opensConnection
            opensConnection = request.opensConnection
            mayBeSentAgain = request.resendRule == .anytime
            self.progress = progress
            self.completion = completion
        }

        var reportsProgress: Bool { progress != nil }

        func cancel() {
            loop.submit(.cancel(self))
        }

        func withdraw() -> Bool {
            defer { cancel() }
            let (_, original) = sending.compareExchange(
                expected: .undecided,
                desired: .withdrawn,
                ordering: .relaxed
            )
            return original != .begun
        }

        /// Whether the request may go out, just before it does.
        func beginSending() -> Bool {
            let (_, original) = sending.compareExchange(expected: .undecided, desired: .begun, ordering: .relaxed)
            return original != .withdrawn
        }

        /// Calls the completion, unless that was done.
        func complete(_ result: Result<HTTPResponse, TransportError>) {
            guard let completion else { return }
            self.completion = nil
            completion(result)
        }

        /// Ends all that the caller may still wait for, and lets go of the request's body.
        func finish(_ result: Result<HTTPResponse, TransportError>) {
            upload?.stop()
            upload = nil
            borrowedBody = nil
            outlet?.finish(result)
            outlet = nil  // It holds the exchange, to send.
            let channel = channel
            self.channel = nil  // It holds the exchange, to cancel it.
            buffers = nil
            channel?.finish(result.map { _ in })
            complete(result)
        }

        /// Ends what the caller still waits for: the response, or the rest of its body.
        func fail(_ error: TransportError) {
            finish(.failure(error))
        }

        /// Tells about the bytes moved since the last report.
        func reportProgress() {
            guard let progress, let handle else { return }
            for report in reportedProgress.reports(of: handle) { progress(report) }
        }
    }

    /// Turns libcurl's counts, which start over when a request is sent again, into reports that never go back.
    struct CurlProgress {
        private var sent: Int64 = 0
        private var received: Int64 = 0

        mutating func reports(of handle: OpaquePointer) -> [TransferProgress] {
            var counts = ycurl_progress()
            ycurl_progress_read(handle, &counts)
            var reports: [TransferProgress] = []
            if counts.sent > sent {
                sent = counts.sent
                let total = counts.to_send > 0 ? counts.to_send : nil
                reports.append(TransferProgress(direction: .upload, completed: sent, total: total))
            }
            if counts.received > received {
                received = counts.received
                let total = counts.to_receive > 0 ? counts.to_receive : nil
                reports.append(TransferProgress(direction: .download, completed: received, total: total))
            }
            return reports
        }
    }
#endif
