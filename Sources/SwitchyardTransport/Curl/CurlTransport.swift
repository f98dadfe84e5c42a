#if os(Linux)
    import Foundation
    public import SwitchyardHTTP

    /// The transport for Linux, on the system's libcurl.
    ///
    /// One thread drives all exchanges of a transport; it starts with the first request. Connections are kept and used
    /// again, so make one transport and share it. Releasing the last reference lets what is in flight run to its end
    /// and then closes everything; ``shutdown()`` ends it at once.
    ///
    /// A request whose method is not idempotent is sent at most once: when a kept-alive connection turns out to be dead
    /// as such a request goes out, it fails with ``TransportError/Kind/connectionReset`` instead of being sent again. An
    /// idempotent one is sent again by libcurl on a fresh connection.
    ///
    /// Its connections are closed in programs that the process starts; a pair of sockets that libcurl keeps to wake
    /// itself is not (seen with 7.88). After a fork without an exec, the child must not use a transport of its parent:
    /// the thread is the parent's.
    ///
    /// The memory that libcurl gives back with each response is kept for its next requests: a buffer of 16 KiB for each
    /// that is under way and 64 beyond, and 64 pieces of each size up to 2 KiB, until the thread ends or has been idle for
    /// ``Configuration/idleConnectionTimeout``. For that the first transport of a process sets libcurl up with memory
    /// functions of its own, unless somebody has set it up before. All memory is `malloc`'s, for whoever else uses
    /// libcurl in the process as well.
    ///
    /// Nothing is added to a request but `Host`, the framing of its body and, with
    /// ``Configuration/decompressesResponses``, `Accept-Encoding`.
    public final class CurlTransport: Transport {
        private let loops: CurlLoops
        /// The transports of requests whose TLS configuration is another.
        private let others: TransportsByTLS

        /// Creates a transport.
        ///
        /// - Parameter configuration: What holds for all its exchanges.
        /// - Throws: ``TransportError`` with ``TransportError/Kind/closed`` when libcurl is missing, older than 7.68 or
        ///   cannot be set up (the message says what to install) or a file of the configuration cannot be read, and with
        ///   ``TransportError/Kind/unsupported`` when it cannot do what the configuration asks for.
        public init(configuration: Configuration = Configuration()) throws(TransportError) {
            let library = try CurlLibrary.open()
            loops = try CurlLoops(settings: CurlSettings(configuration, library: library))
            others = TransportsByTLS { tls throws(TransportError) in
                var configuration = configuration
                configuration.tls = tls
                return try CurlTransport(configuration: configuration)
            }
        }

        /// Starts an exchange and returns at once.
        ///
        /// - Parameters:
        ///   - request: What to send.
        ///   - progress: Told about bytes sent and received, in order, on the transport's thread.
        ///   - completion: Called once, on the transport's thread: it must not block.
        /// - Returns: A handle that cancels the exchange.
        public func start(
            _ request: HTTPRequest,
            progress: TransferProgressHandler?,
            completion: @escaping @Sendable (Result<HTTPResponse, TransportError>) -> Void
        ) -> any TransportTask {
            let lease = loops.current
            let loop = lease.loop
            defer { withExtendedLifetime(lease) {} }
            if let tls = request.tls, !loop.uses(tls) {
                return others.start(request, tls, progress: progress, completion: completion)
            }
            let exchange = CurlExchange(of: request, on: loop, progress: progress, completion: completion)
            do throws(TransportError) {
                try loop.prepare(exchange, for: request)
                loop.submit(.start(exchange))
                return exchange
            } catch {
                return RefusedExchange(error, completion: completion)
            }
        }

        /// Has the requests from now on go out on new connections; those under way go on, on theirs.
        ///
        /// A transport that has sent nothing yet, or to which the system gives no more descriptors, stays as it is.
        public func retireConnections() {
            loops.renew()
            others.retireConnections()
        }

        /// Ends the transport: what is in flight ends with ``TransportError/Kind/closed``, as does every later request.
        public func shutdown() {
            loops.close()
            others.shutdown()
        }
    }
#endif
