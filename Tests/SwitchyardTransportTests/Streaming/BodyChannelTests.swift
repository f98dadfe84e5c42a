import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import Testing

@testable import SwitchyardClient
@testable import SwitchyardTransport

@Suite(.timeLimit(.minutes(5)), .prompt) struct BodyChannelTests {
    private static let piece = Data(count: 60_000)

    private let resumes = Locked(0)
    private let channel: BodyChannel

    init() {
        channel = BodyChannel(capacity: 100_000, resume: { [resumes] in resumes.withLock { $0 += 1 } }, cancel: {})
    }

    @Test func `an exchange resumes when half of its buffered data has been read`() async throws {
        #expect(channel.offer(Self.piece) == 40_000)
        #expect(!channel.isPaused)
        #expect(channel.offer(Self.piece) == 0)
        #expect(channel.isPaused)

        _ = try await channel.next()
        #expect(resumes.withLock { $0 } == 0)
        _ = try await channel.next()

        #expect(resumes.withLock { $0 } == 1)
        #expect(!channel.isPaused)
    }

    @Test func `data that arrives during a pause does not prevent the resumption`() async throws {
        _ = channel.offer(Self.piece)
        _ = channel.offer(Self.piece)
        _ = try await channel.next()

        #expect(channel.offer(Data(count: 10_000)) == 30_000)
        #expect(channel.isPaused)
        _ = try await channel.next()

        #expect(resumes.withLock { $0 } == 1)
        #expect(!channel.isPaused)
    }

    @Test func `a reader that has stopped gets no data, not even data that arrived before`() async throws {
        _ = channel.offer(Self.piece)

        channel.abandon()

        #expect(channel.backlog == 0)
        await #expect(throws: TransportError.self) { try await channel.next() }
    }

    @Test func `an exchange that has ended is not paused for its slow reader`() {
        _ = channel.offer(Self.piece)
        _ = channel.offer(Self.piece)

        channel.finish(.success(()))

        #expect(!channel.isPaused)
    }
}
