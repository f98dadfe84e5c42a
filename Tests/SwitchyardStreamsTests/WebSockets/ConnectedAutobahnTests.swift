import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardStreams

/// The Autobahn test suite over real connections.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct ConnectedAutobahnTests {
    @Test func `every case of the Autobahn test suite passes over a real connection`() async throws {
        let file = try CaseFile("autobahn_websocket")
        await file.runAsync { item in
            let isLarge = item["id"]?.string?.hasPrefix("9.") ?? false
            guard !isLarge else { return .notApplicable("section 9 is run against the state machine alone") }
            return try await RealCourse(item).run()
        }
    }
}

/// An Autobahn case that a server sends over a real connection.
private struct RealCourse {
    private let course: AutobahnCourse

    init(_ item: CaseValue) throws {
        course = try AutobahnCourse(item)
    }

    func run() async throws -> CaseOutcome {
        let output = Locked(Data())
        let waits = Locked<[(tag: String, position: Int)]>([])
        let course = course
        let server = try WebSocketServer { peer in
            let reader = ReadingThread(peer, output)
            for step in course.steps {
                switch step {
                case .bytes(let bytes): try peer.write(Array(bytes))
                case .wait(let tag):
                    // Time for the client to respond. The suite waits for one second.
                    Thread.sleep(forTimeInterval: 0.05)
                    if !reader.hasClose { waits.withLock { $0.append((tag, output.withLock { $0.count })) } }
                }
            }
            if course.sendsClose {
                reader.waitForMessages(course.expectedCount)
                try peer.write([0x88, 0x02, 0x03, 0xE8])
            }
            reader.waitForClose()
        }
        var options = WebSocket.Options()
        options.maximumMessageSize = 16 << 20
        let url = try #require(RequestURL("\(server.baseURL)/"))
        let socket = try WebSocket(HTTPRequest(url: url), options: options)
        do {
            while true { try await socket.send(try await socket.receive()) }
        } catch {}
        await until { server.connections == 0 }
        return try course.judge(output.withLock { $0 }, waits: waits.withLock { $0 })
    }
}

/// Reads the client's bytes while the server writes.
private final class ReadingThread: Sendable {
    private let output: Locked<Data>
    private let events = NSCondition()
    private let state = Locked((messages: 0, hasClose: false, isOver: false))

    var hasClose: Bool { state.withLock { $0.hasClose } }

    init(_ peer: WebSocketPeer, _ output: Locked<Data>) {
        self.output = output
        Thread.detachNewThread { [self] in
            while let bytes = try? peer.readBytes(), !bytes.isEmpty {
                output.withLock { $0 += bytes }
                note()
            }
            state.withLock { $0.isOver = true }
            events.broadcast()
        }
    }

    private func note() {
        let frames = Self.whole(output.withLock { $0 })
        state.withLock { state in
            state.messages = frames.count { $0.opcode != .close && $0.isFinal }
            state.hasClose = frames.contains { $0.opcode == .close }
        }
        events.broadcast()
    }

    /// The complete frames in the received bytes.
    private static func whole(_ bytes: Data) -> [SentFrame] {
        var rest = Array(bytes)[...]
        var frames: [SentFrame] = []
        while let frame = try? SentFrame({ count in
            guard rest.count >= count else { throw WebSocketPeer.Gone() }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }) {
            frames.append(frame)
        }
        return frames
    }

    func waitForMessages(_ count: Int) { wait { $0.messages >= count } }
    func waitForClose() { wait { $0.hasClose } }

    private func wait(until condition: ((messages: Int, hasClose: Bool, isOver: Bool)) -> Bool) {
        events.lock()
        let end = Date().addingTimeInterval(10)
        while !state.withLock({ condition($0) || $0.hasClose || $0.isOver }), events.wait(until: end) {}
        events.unlock()
    }
}
