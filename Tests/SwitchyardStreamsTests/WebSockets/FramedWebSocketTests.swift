import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardStreams

/// A WebSocket connection over a link that the test controls, with a manual clock.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct FramedWebSocketTests {
    private static func socket(
        _ link: HeldLink,
        _ clock: ManualClock = ManualClock(),
        compression: Handshake.Compression? = nil,
        _ change: (inout WebSocket.Options) -> Void = { _ in }
    ) -> FramedWebSocket {
        var options = WebSocket.Options()
        change(&options)
        return FramedWebSocket(over: link, options: options, compression: compression, time: clock)
    }

    @Test func `a long WebSocket message is sent in fragments of the configured size`() async throws {
        let link = HeldLink()
        let socket = Self.socket(link) { $0.fragmentSize = 4 }

        try await socket.send(.text("0123456789"))

        let frames = try SentFrame.frames(in: link.written)
        #expect(frames.map(\.opcode) == [.text, .continuation, .continuation])
        #expect(frames.map(\.isFinal) == [false, false, true])
        #expect(frames.map { String(decoding: $0.payload, as: UTF8.self) } == ["0123", "4567", "89"])
        #expect(frames.map(\.isMasked) == [true, true, true])
    }

    @Test func `a pong is sent between the fragments of a WebSocket message`() async throws {
        let link = HeldLink(holdsWrites: true)
        let socket = Self.socket(link) { $0.fragmentSize = 2 }
        let sending = Task { try await socket.send(.text("abcd")) }
        await until { link.writes == 1 }

        link.give(SentFrame.serverFrame(.ping, [7]))
        await link.waitUntilRead()
        link.releaseWrites()
        try await sending.value

        #expect(try SentFrame.frames(in: link.written).map(\.opcode) == [.text, .pong, .continuation])
    }

    @Test func `a send that is cancelled before its first byte sends nothing`() async throws {
        let link = HeldLink(holdsWrites: true)
        let socket = Self.socket(link)
        let first = Task { try await socket.send(.text("first")) }
        await until { link.writes == 1 }
        let second = Task { try await socket.send(.text("second")) }
        try await calm()

        second.cancel()
        let error = await #expect(throws: TransportError.self) { try await second.value }
        link.releaseWrites()
        try await first.value

        #expect(error?.kind == .cancelled)
        #expect(error?.mayHaveBeenSent == false)
        #expect(try SentFrame.frames(in: link.written).count == 1)
    }

    @Test func `a message that was partly sent when the connection broke may have been sent`() async throws {
        let link = HeldLink(holdsWrites: true)
        let socket = Self.socket(link) { $0.fragmentSize = 2 }
        let begun = Task { try await socket.send(.text("abcd")) }
        await until { link.writes == 1 }
        let waiting = Task { try await socket.send(.text("later")) }
        try await calm()

        link.fail(TransportError(.connectionReset, message: "reset"))

        let first = await #expect(throws: TransportError.self) { try await begun.value }
        let second = await #expect(throws: TransportError.self) { try await waiting.value }
        #expect(first?.mayHaveBeenSent == true)
        #expect(second?.mayHaveBeenSent == false)
    }

    @Test func `reading from the connection pauses while too many bytes wait for the receiver`() async throws {
        let link = HeldLink()
        let socket = Self.socket(link) { $0.maximumMessageSize = 64 << 10 }
        let frame = SentFrame.serverFrame(.binary, [UInt8](repeating: 1, count: 40_000))
        for _ in 0..<5 { link.give(frame) }
        await until { link.unread <= 3 }
        // Gives a reader that does not pause the time to read the rest.
        try await calm()

        #expect(link.unread == 3)

        for _ in 0..<5 { _ = try await socket.receive() }
        #expect(link.unread == 0)
    }

    @Test func `reading from the connection pauses while too many empty messages wait for the receiver`() async throws {
        let link = HeldLink()
        let socket = Self.socket(link) { $0.maximumMessageSize = 16 }
        for _ in 0..<2000 { link.give(SentFrame.serverFrame(.text, [])) }
        try await calm()

        #expect(link.unread > 0)
        withExtendedLifetime(socket) {}
    }

    // MARK: Closing

    @Test func `close sends a Close frame after the queued messages and ends at the server's Close frame`() async throws
    {
        let link = HeldLink()
        let socket = Self.socket(link)

        try await socket.send(.text("last"))
        socket.close(.goingAway, reason: "done")
        await until { (try? SentFrame.frames(in: link.written).count) == 2 }
        link.give(SentFrame.serverFrame(.close, [3, 0xE9]))
        let error = await #expect(throws: TransportError.self) { try await socket.receive() }

        let close = try #require(try SentFrame.frames(in: link.written).last)
        #expect(close.opcode == .close)
        #expect(close.payload == [3, 0xE9] + Array("done".utf8))
        #expect(error?.kind == .closed)
        #expect(socket.closure == WebSocket.Closure(code: .goingAway, isByServer: false, isClean: true))
    }

    @Test func `a WebSocket ends after the close timeout if the server sends no Close frame`() async throws {
        let (link, clock) = (HeldLink(), ManualClock())
        let socket = Self.socket(link, clock) { $0.closeTimeout = .seconds(3) }

        socket.close(.normal, reason: "")
        await until { clock.nextDeadline == clock.now.advanced(by: .seconds(3)) }
        clock.advance(by: .seconds(3))

        await until { link.isEnded }
        #expect(socket.closure?.isClean == false)
        #expect(link.fault == nil)
    }

    @Test(arguments: [1000, 1001, 1011, 3000, 4999])
    func `the server's close code and reason are reported, and the code is echoed`(code: UInt16) async throws {
        let link = HeldLink()
        let socket = Self.socket(link)

        link.give(SentFrame.serverFrame(.close, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array("bye".utf8)))
        let error = await #expect(throws: TransportError.self) { try await socket.receive() }

        #expect(error?.kind == .closed)
        #expect(socket.closure?.code.rawValue == code)
        #expect(socket.closure?.reason == "bye")
        await until { !link.written.isEmpty }
        #expect(try SentFrame.frames(in: link.written).first?.payload == [UInt8(code >> 8), UInt8(code & 0xFF)])
    }

    @Test func `WebSocket messages that arrived before the end of the connection are received first`() async throws {
        let link = HeldLink()
        let socket = Self.socket(link)

        link.give(SentFrame.serverFrame(.text, [65]) + SentFrame.serverFrame(.text, [66]))
        link.finish()

        #expect(try await socket.receive() == .text("A"))
        #expect(try await socket.receive() == .text("B"))
        let error = await #expect(throws: TransportError.self) { try await socket.receive() }
        #expect(error?.kind == .connectionReset)
        #expect(socket.closure?.code == .abnormal)
        await until { link.isEnded }
        #expect(link.fault?.kind == .connectionReset)
    }

    @Test(
        arguments: [
            ([0x81, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0], TransportError.Kind.bodyTooLarge, 1009),
            ([0x83, 0x00], .protocolViolation, 1002),
            ([0x81, 0x80, 0, 0, 0, 0], .protocolViolation, 1002),
            ([0xC1, 0x00], .protocolViolation, 1002),
            ([0x81, 0x01, 0xFF], .protocolViolation, 1007),
            ([0x81, 0x7F, 0xFF, 0, 0, 0, 0, 0, 0, 0], .protocolViolation, 1002),
            ([0x09, 0x00], .protocolViolation, 1002),
        ] as [([UInt8], TransportError.Kind, Int)]
    )
    func `a protocol violation ends a WebSocket with the close code for the violation`(
        bytes: [UInt8],
        kind: TransportError.Kind,
        code: Int
    ) async throws {
        let link = HeldLink()
        let socket = Self.socket(link) { $0.maximumMessageSize = 1000 }

        link.give(bytes)
        let error = await #expect(throws: TransportError.self) { try await socket.receive() }

        #expect(error?.kind == kind)
        await until { !link.written.isEmpty }
        let payload = try #require(try SentFrame.frames(in: link.written).first?.payload)
        #expect(Int(payload[0]) << 8 | Int(payload[1]) == code)
        link.finish()
        await until { link.isEnded }
        #expect(link.fault?.kind == (kind == .bodyTooLarge ? nil : kind))
    }

    // MARK: Time

    @Test func `a ping without a pong ends a WebSocket with a timeout`() async throws {
        let (link, clock) = (HeldLink(), ManualClock())
        let socket = Self.socket(link, clock) { $0.pingInterval = .seconds(10) }
        let receiving = Task { try await socket.receive() }

        clock.advance(by: .seconds(10))
        await until { (try? SentFrame.frames(in: link.written).map(\.opcode)) == [.ping] }
        clock.advance(by: .seconds(10))

        let error = await #expect(throws: TransportError.self) { try await receiving.value }
        #expect(error?.kind == .timeout)
        await until { link.isEnded }
        #expect(link.fault?.kind == .timeout)
    }

    @Test func `pings continue while the server sends pongs`() async throws {
        let (link, clock) = (HeldLink(), ManualClock())
        let socket = Self.socket(link, clock) { $0.pingInterval = .seconds(10) }

        for round in 1...3 {
            clock.advance(by: .seconds(9))
            clock.advance(by: .seconds(1))
            await until { (try? SentFrame.frames(in: link.written).count) == round }
            clock.advance(by: .milliseconds(1))
            link.give(SentFrame.serverFrame(.pong, []))
            await link.waitUntilRead()
            try await calm()
        }

        #expect(socket.closure == nil)
    }

    @Test func `a WebSocket without traffic ends after the idle timeout`() async throws {
        let (link, clock) = (HeldLink(), ManualClock())
        let socket = Self.socket(link, clock) { $0.idleTimeout = .seconds(30) }
        let receiving = Task { try await socket.receive() }

        clock.advance(by: .seconds(30))

        let error = await #expect(throws: TransportError.self) { try await receiving.value }
        #expect(error?.kind == .timeout)
    }

    @Test func `the idle timeout of a WebSocket does not run while messages wait for the receiver`() async throws {
        let (link, clock) = (HeldLink(), ManualClock())
        let socket = Self.socket(link, clock) { options in
            options.idleTimeout = .seconds(30)
            options.maximumMessageSize = 64 << 10
        }
        for _ in 0..<4 { link.give(SentFrame.serverFrame(.binary, [UInt8](repeating: 1, count: 40_000))) }
        // The first message has been stored when the second is read.
        await until { link.unread == 2 }

        for _ in 0..<4 { clock.advance(by: .seconds(30)) }
        try await calm()

        #expect(socket.closure == nil)
        #expect(!link.isEnded)
    }

    // MARK: Compression

    @Test func `a WebSocket message is the same after compression and decompression`() async throws {
        let link = HeldLink()
        let socket = Self.socket(link, compression: Handshake.Compression())
        let text = String(repeating: "the same words again, ", count: 200)

        try await socket.send(.text(text))
        try await socket.send(.text("short"))

        let frames = try SentFrame.frames(in: link.written)
        #expect(frames.map(\.isCompressed) == [true, false])
        #expect(frames[0].payload.count < 400)
        var inflater = Inflater(keepsContext: false)
        #expect(try inflater.message(Data(frames[0].payload), limit: 10_000) == Data(text.utf8))
    }

    @Test func `a compressed message that inflates above the size limit ends the connection`() async throws {
        let link = HeldLink()
        let socket = Self.socket(link, compression: Handshake.Compression()) { $0.maximumMessageSize = 1000 }
        let bomb = Deflate.flushed([UInt8](repeating: 0, count: 1 << 20))
        var frame = SentFrame.serverFrame(.binary, Array(bomb.prefix(1000)))
        frame[0] |= 0x40

        link.give(frame)
        let error = await #expect(throws: TransportError.self) { try await socket.receive() }

        #expect(error?.kind == .bodyTooLarge)
    }
}
