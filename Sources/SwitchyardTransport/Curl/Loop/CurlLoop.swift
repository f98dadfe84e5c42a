#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardHTTP
    import SwitchyardServices

    /// The thread of a transport, and the functions with which other threads send commands to it.
    ///
    /// `@unchecked Sendable` is sound: `intake` is locked, and other threads only call the wake function of `loop`.
    final class CurlLoop: @unchecked Sendable {
        /// A command of another thread for the loop's thread.
        enum Command: Sendable {
            case start(CurlExchange)
            case cancel(CurlExchange)
            case resume(CurlExchange)
            case feed(CurlExchange, Result<Data?, TransportError>)
            case send(CurlExchange, Data)
        }

        /// The moment at which a loop closes.
        enum Closing: Sendable {
            /// After the active exchanges have ended.
            case whenIdle
            /// Immediately.
            case now
        }

        private struct Intake {
            var commands: [Command] = []
            var freeHandles: [CurlHandle] = []
            var closing: Closing?
            var hasThread = false
        }

        private let settings: Boxed<CurlSettings>
        private let servers: CurlServers
        private let loop: OpaquePointer
        private let intake = Locked(Intake())

        init(settings: CurlSettings, servers: CurlServers) throws(TransportError) {
            guard let loop = ycurl_loop_create() else {
                throw .notCreated("the event loop", errno: errno)
            }
            self.loop = loop
            self.settings = Boxed(settings)
            self.servers = servers
            ycurl_loop_remember(loop, servers.pointer)
            settings.apply(toLoop: loop)
            if settings.judgesChains { judgeChains() }
            recycle([CurlHandle(pointer: try makeHandle())])  // Reveals invalid options before the first request.
        }

        deinit {
            dropFreeHandles()
            ycurl_loop_destroy(loop)
        }

        /// Makes the loop compare the pins with every certificate of a chain.
        private func judgeChains() {
            let accepts: ycurl_judge = { context, bytes, count in
                guard let context, let bytes else { return false }
                let settings = Unmanaged<Boxed<CurlSettings>>.fromOpaque(context).takeUnretainedValue()
                return settings.value.configuration.tls.pins.accept(certificate: Data(bytes: bytes, count: count))
            }
            ycurl_loop_judge_chains(loop, accepts, Unmanaged.passUnretained(settings).toOpaque())
        }

        // MARK: Any thread

        /// Returns whether connections are made with this configuration.
        func uses(_ tls: TLSConfiguration) -> Bool { settings.value.configuration.tls == tls }

        /// Whether the thread has been started.
        ///
        /// The first command starts it.
        var hasThread: Bool { intake.withLock { $0.hasThread } }

        /// Gives an exchange a handle that contains the request.
        func prepare(_ exchange: CurlExchange, for request: HTTPRequest) throws(TransportError) {
            let tls = settings.value.configuration.tls
            if !tls.pins.isEmpty { try tls.check(request.url) }
            let spare = intake.withLock { $0.freeHandles.popLast() }
            let handle = if let spare { spare.pointer } else { try makeHandle() }
            exchange.handle = handle
            var writer = CurlRequest(settings: settings, exchange: exchange)
            do { try writer.write(request, to: handle, over: spare?.fields) } catch {
                exchange.handle = nil
                ycurl_exchange_destroy(handle)
                throw error
            }
        }

        private func makeHandle() throws(TransportError) -> OpaquePointer {
            guard let handle = ycurl_exchange_create(loop) else { throw .notCreated("a libcurl handle", errno: ENOMEM) }
            do { try settings.value.apply(to: handle) } catch {
                ycurl_exchange_destroy(handle)
                throw error
            }
            return handle
        }

        /// Passes a command to the loop's thread.
        ///
        /// If the thread is not running yet, it is started.
        func submit(_ command: Command) {
            let (isOpen, needsThread) = intake.withLock { intake -> (Bool, Bool) in
                // A loop that closes when it is idle must still receive commands for its active exchanges.
                guard intake.closing == nil || (intake.closing == .whenIdle && intake.hasThread) else {
                    return (false, false)
                }
                intake.commands.append(command)
                defer { intake.hasThread = true }
                return (true, !intake.hasThread)
            }
            guard isOpen else { return refuse(command, .shutDown) }
            if needsThread { startThread() } else { ycurl_loop_wake(loop) }
        }

        func close(_ closing: Closing) {
            let hasThread = intake.withLock { intake in
                if intake.closing != .now { intake.closing = closing }
                return intake.hasThread
            }
            if hasThread { ycurl_loop_wake(loop) }
        }

        /// Fails an exchange that was submitted after the loop was closed.
        ///
        /// Other commands are dropped, because they concern exchanges that have ended.
        private func refuse(_ command: Command, _ error: TransportError) {
            guard case .start(let exchange) = command else { return }
            if let handle = exchange.handle { ycurl_exchange_destroy(handle) }
            exchange.handle = nil
            DispatchQueue.global().async { exchange.fail(error) }
        }

        private func startThread() {
            let context = Unmanaged.passRetained(self)
            let failure = ycurl_start_thread(
                { context in
                    guard let context else { return }
                    Unmanaged<CurlLoop>.fromOpaque(context).takeRetainedValue().run()
                },
                context.toOpaque()
            )
            guard failure != 0 else { return }
            context.release()
            let commands = intake.withLock { intake in
                intake.hasThread = false
                defer { intake.commands = [] }
                return intake.commands
            }
            for command in commands { refuse(command, .notCreated("a thread", errno: failure)) }
        }

        // MARK: The loop's thread

        private func run() {
            let runner = CurlRunner(owner: self, loop: loop, settings: settings.value)
            var commands: [Command] = []
            ycurl_loop_begin(loop)
            while true {
                var next = Step.poll
                // Commands that completions have submitted are executed before the sockets are checked, but at most
                // four times.
                for _ in 0..<4 where next == .poll {
                    takeCommands(into: &commands)
                    for command in commands { runner.perform(command) }
                    commands.removeAll(keepingCapacity: true)  // Not retained while the loop waits.
                    ycurl_loop_push(loop)
                    runner.deliver()
                    next = nextStep(isIdle: runner.isIdle)
                }
                if next == .end { break }
                let failure = step(runner, waiting: runner.waitMilliseconds(blocks: next == .wait))
                guard failure == 0 else { return fail(runner, failure) }
                runner.closeIdleConnections()
            }
            end(runner)
        }

        /// Advances all exchanges and delivers their results.
        ///
        /// If the process was suspended, the data that has arrived is read before the deadlines are checked. Timers
        /// wait until the results of this data are delivered.
        private func step(_ runner: CurlRunner, waiting wait: Int64) -> Int32 {
            let failure = ycurl_loop_step(loop, wait)
            guard failure == Int32(YCURL_WAS_STOPPED) else {
                runner.deliver()
                return failure
            }
            return ProcessPause.readArrivedData {
                let failure = ycurl_loop_catch_up(loop)
                runner.deliver()
                return failure
            }
        }

        /// Swaps the list of commands with an empty list, so that both lists keep their memory.
        private func takeCommands(into commands: inout [Command]) {
            intake.withLock { swap(&$0.commands, &commands) }
        }

        private enum Step { case poll, wait, end }

        /// Decides under the lock whether the loop polls, waits or ends, so that no command is missed before a wait.
        private func nextStep(isIdle: Bool) -> Step {
            intake.withLock { intake in
                if intake.closing == .now { return .end }
                guard intake.commands.isEmpty else { return .poll }
                if isIdle, intake.closing == .whenIdle {
                    intake.closing = .now
                    return .end
                }
                ycurl_loop_will_wait(loop)
                return .wait
            }
        }

        /// Adds the handles of successful exchanges to the free list.
        func recycle(_ handles: [CurlHandle]) {
            guard !handles.isEmpty else { return }
            intake.withLock { $0.freeHandles.append(contentsOf: handles) }
        }

        func dropFreeHandles() {
            let handles = intake.withLock { intake in
                defer { intake.freeHandles = [] }
                return intake.freeHandles
            }
            for handle in handles { ycurl_exchange_destroy(handle.pointer) }
        }

        /// Ends the loop, because the system has no memory or no descriptors left for it.
        private func fail(_ runner: CurlRunner, _ code: Int32) {
            intake.withLock { $0.closing = .now }
            end(runner, .lost("the event loop failed: \(String(cString: strerror(code)))"))
        }

        private func end(_ runner: CurlRunner, _ error: TransportError = .shutDown) {
            var commands: [Command] = []
            takeCommands(into: &commands)
            for command in commands { refuse(command, error) }
            runner.endAll(error)
            dropFreeHandles()
            ycurl_loop_end(loop)
        }
    }

    /// A libcurl handle that no exchange uses.
    ///
    /// `@unchecked Sendable` is sound, because only one thread at a time has access. The handle is either in the free
    /// list or used by the one exchange that took it from the list.
    struct CurlHandle: @unchecked Sendable {
        let pointer: OpaquePointer
        /// The header fields that the handle contains, or `nil` if none have been written.
        var fields: [HTTPHeaders.Field]?
    }

    /// The servers that have chosen HTTP/1.1, in a table that all loops of a transport share.
    ///
    /// `@unchecked Sendable` is sound: the entries are atomic.
    final class CurlServers: @unchecked Sendable {
        fileprivate let pointer: OpaquePointer

        init() throws(TransportError) {
            guard let pointer = ycurl_servers_create() else { throw .notCreated("the table of servers", errno: ENOMEM) }
            self.pointer = pointer
        }

        deinit {
            ycurl_servers_destroy(pointer)
        }
    }

    extension TransportError {
        fileprivate static func lost(_ what: String) -> TransportError {
            TransportError(.closed, message: what, mayHaveBeenSent: false)
        }

        /// The failure of an object for which the system has no memory, descriptor or thread at the moment.
        fileprivate static func notCreated(_ what: String, errno code: Int32) -> TransportError {
            let message = "could not create \(what): \(String(cString: strerror(code)))"
            return TransportError(.resourcesExhausted, message: message, mayHaveBeenSent: false)
        }
    }
#endif
