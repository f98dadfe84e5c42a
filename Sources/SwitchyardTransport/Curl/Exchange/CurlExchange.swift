#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardHTTP
    import Synchronization

    /// One exchange, from the prepared request to the completion.
    ///
    /// `@unchecked Sendable` is sound. The constants are set before the exchange is submitted under the lock of the
    /// loop's intake. After that, only the loop's thread accesses the mutable state.
    final class CurlExchange: TransportTask, @unchecked Sendable {
        typealias Completion = @Sendable (Result<HTTPResponse, TransportError>) -> Void

        /// The libcurl handle, or `nil` before the exchange is prepared and after it has ended.
        var handle: OpaquePointer?
        /// The index among the running exchanges, or -1 if the exchange is not running.
        var slot = -1
        /// The buffer of a streamed response, or `nil` until the head has arrived.
        var channel: BodyChannel?
        /// The memory for the chunks of a streamed response.
        var buffers: PieceBuffers?
        /// The source of a streamed request body.
        var upload: CurlUpload?
        /// The sending half of a connection that has switched to another protocol.
        var outlet: CurlOutlet?
        /// The bytes of a large request body, retained while libcurl reads them.
        var borrowedBody: NSData?

        private let loop: CurlLoop
        let url: RequestURL
        /// The header fields that are stored in the handle.
        let fields: [HTTPHeaders.Field]
        let isStreamed: Bool
        let opensConnection: Bool
        /// Whether libcurl may send the request again if the connection is lost.
        let mayBeSentAgain: Bool
        private let progress: TransferProgressHandler?
        private var reportedProgress = CurlProgress()
        private var completion: Completion?
        /// Whether the request is sent or was withdrawn.
        ///
        /// The value is set only once, by the first thread that decides.
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

        /// Returns whether the request may be sent.
        ///
        /// The loop calls this method just before it sends the request.
        func beginSending() -> Bool {
            let (_, original) = sending.compareExchange(expected: .undecided, desired: .begun, ordering: .relaxed)
            return original != .withdrawn
        }

        /// Calls the completion, unless it has already been called.
        func complete(_ result: Result<HTTPResponse, TransportError>) {
            guard let completion else { return }
            self.completion = nil
            completion(result)
        }

        /// Ends the response body, the request body and the sending half, and releases the request's body.
        func finish(_ result: Result<HTTPResponse, TransportError>) {
            upload?.stop()
            upload = nil
            borrowedBody = nil
            outlet?.finish(result)
            outlet = nil  // Breaks a retain cycle.
            let channel = channel
            self.channel = nil  // Breaks a retain cycle.
            buffers = nil
            channel?.finish(result.map { _ in })
            complete(result)
        }

        /// Ends the exchange with a failure, either before the response or in the middle of its body.
        func fail(_ error: TransportError) {
            finish(.failure(error))
        }

        /// Reports the bytes transferred since the last report.
        func reportProgress() {
            guard let progress, let handle else { return }
            for report in reportedProgress.reports(of: handle) { progress(report) }
        }
    }

    /// Converts libcurl's byte counts to progress reports.
    ///
    /// libcurl's counts restart if a request is sent again, but reports never decrease.
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
