import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct ConnectionFaultTests {
    let server: LoopbackServer

    init() throws {
        server = try .running()
    }

    // MARK: refuse

    @Test func `a server with the refusal fault frees its port and closes its connections`() async throws {
        let socket = try server.connect()
        _ = try await socket.get("/fixed")

        server.fault = .refuse

        #expect(throws: RawSocket.Failure.refused) { try server.connect() }
        #expect(try await socket.receiveToEnd().text.isEmpty)
        let other = LoopbackServer(port: server.port)
        try other.start()
        #expect(server.isRunning)
    }

    #if os(Linux)
        @Test func `the system does not assign the port of a server with the refusal fault to another socket`()
            async throws
        {
            let server = try LoopbackServer.runningApart()
            server.fault = .refuse

            // The system assigns only ports that can be bound without SO_REUSEADDR.
            #expect(try Self.codeOfBinding(to: server.port) == EADDRINUSE)

            server.stop()
            // A child process that another test starts has a copy of the socket until its program runs.
            await until { (try? Self.codeOfBinding(to: server.port)) == 0 }
        }

        /// Binds its own socket to a port, and returns the error code or 0.
        private static func codeOfBinding(to port: UInt16) throws -> Int32 {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 ? 0 : errno
                }
            }
        }
    #endif

    @Test func `after the refusal fault, a server accepts connections on the same port again`() async throws {
        let port = server.port

        server.fault = .refuse
        server.fault = nil

        #expect(server.port == port)
        #expect(try await server.connect().get("/fixed").text == "fixed")
    }

    @Test func `after the refusal fault, a server whose port was taken accepts connections when the port is free`()
        async throws
    {
        let other = LoopbackServer(port: server.port)
        other.route(.get, "/fixed", answering: .text("other"))
        server.fault = .refuse
        try other.start()

        server.fault = nil
        #expect(try await server.connect().get("/fixed").text == "other")
        other.stop()

        #expect(try await server.connectWhenListening().get("/fixed").text == "fixed")
    }

    @Test func `a fault that is set before the start is in effect from the start`() throws {
        let server = LoopbackServer()
        server.fault = .refuse

        try server.start()

        #expect(server.port != 0)
        #expect(throws: RawSocket.Failure.refused) { try server.connect() }
    }

    // MARK: black hole

    #if os(Linux)
        @Test func `no connection to a server with the black hole fault is established`() throws {
            server.fault = .blackHole

            for _ in 0..<3 {
                #expect(throws: RawSocket.Failure.connectTimeout) {
                    try server.connect(timeout: .milliseconds(30))
                }
            }
            #expect(server.statistics.connectionsAccepted == 0)
        }

        @Test func `a server accepts connections again after the black hole fault ends`() async throws {
            for _ in 0..<3 {
                server.fault = .blackHole
                server.fault = nil
                #expect(try await server.connect().get("/fixed").text == "fixed")
            }
            #expect(server.statistics.connectionsAccepted == 3)
        }
    #endif

    @Test func `open connections stop responding during the black hole fault and continue afterwards`() async throws {
        let socket = try server.connect()
        _ = try await socket.get("/fixed")

        server.fault = .blackHole
        try await socket.send(RawSocket.request("/fixed"))
        #expect(try await socket.staysSilent())
        #expect(server.statistics.requestsReceived == 1)
        server.fault = nil

        #expect(try await socket.receiveResponse().text == "fixed")
    }

    @Test func `a response in progress is held back during the black hole fault`() async throws {
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        server.route(.get, "/gate") { _ in
            for await _ in opened {}
            return .text("late")
        }
        let socket = try server.connect()
        try await socket.send(RawSocket.request("/gate"))
        await server.waitForRequests(1)

        server.fault = .blackHole
        open.finish()
        #expect(try await socket.staysSilent())
        server.fault = nil

        #expect(try await socket.receiveResponse().text == "late")
    }

    @Test func `a server can switch between the black hole fault and refusing connections`() async throws {
        for fault in [Fault.blackHole, .refuse, .blackHole, .refuse] { server.fault = fault }

        #expect(throws: RawSocket.Failure.refused) { try server.connect() }
        server.fault = nil
        #expect(try await server.connect().get("/fixed").text == "fixed")
    }

    // MARK: hang

    @Test func `a hanging server reads a request and does not respond`() async throws {
        server.fault = .hang
        let socket = try server.connect()

        try await socket.send(RawSocket.request("/echo", method: "POST", body: "hello"))
        await server.waitForRequests(1)

        #expect(try await socket.staysSilent())
        #expect(server.requests.map(\.text) == ["hello"])
        #expect(server.requests.map(\.status) == [nil])
    }

    @Test func `requests that a hanging server holds are processed when the hang ends`() async throws {
        server.fault = .hang
        let sockets = try (0..<3).map { _ in try server.connect() }
        for socket in sockets { try await socket.send(RawSocket.request("/topics")) }
        await server.waitForRequests(3)

        server.fault = nil

        for socket in sockets { #expect(try await socket.receiveResponse().status == 200) }
    }

    @Test func `a hanging server drops the request of a client that disconnects`() async throws {
        server.fault = .hang
        do {
            let socket = try server.connect()
            try await socket.send(RawSocket.request("/topics"))
            await server.waitForRequests(1)
        }

        #expect(await server.wait { $0.connectionsOpen == 0 && $0.requestsInProgress == 0 })
    }

    @Test func `the fault that replaces a hang applies to the held requests`() async throws {
        server.fault = .hang
        let socket = try server.connect()
        try await socket.send(RawSocket.request("/topics"))
        await server.waitForRequests(1)

        server.fault = .status(503)

        #expect(try await socket.receiveResponse().status == 503)
    }
}

extension LoopbackServer {
    /// Connects as soon as the server listens.
    ///
    /// A refusal returns immediately.
    func connectWhenListening() throws -> RawSocket {
        while true {
            do {
                return try connect()
            } catch RawSocket.Failure.refused {
                try Task.checkCancellation()
            }
        }
    }
}
