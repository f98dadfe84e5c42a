import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardStreams
import SwitchyardTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt)
struct EventSourceCacheFieldTests {
    // HTML Standard, section 9.2.2: the cache mode is "no-store".
    // Fetch Standard, "HTTP-network-or-cache fetch": a request in this mode has `Cache-Control: no-cache` and
    // `Pragma: no-cache`. The directive `no-store` alone allows an intermediate cache to return a stored response
    // (RFC 9111 section 5.2.1.5).
    @Test func `an event source sends Cache-Control: no-cache`() async throws {
        let transport = StubTransport(answers: [.status(204)])
        let service = try Service.topics(switching: .off, servers: 1)
        let client = try NetworkClient(service: service, transport: transport, time: ManualClock())

        for try await _ in client.eventSource(APIConfiguration(path: "news")) {}

        let directives = transport.requests.first?.headers.elements(of: "Cache-Control") ?? []
        #expect(directives == ["no-cache"])
    }
}
