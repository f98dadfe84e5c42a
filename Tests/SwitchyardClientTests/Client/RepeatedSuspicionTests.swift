import Dispatch
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import Testing

/// Suspicion probes that prove nothing about the first server, which hangs.
///
/// Without another pair of probes, a call would wait for the first server until its deadline.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RepeatedSuspicionTests {
    private static let list = APIConfiguration(path: "list", timeout: .seconds(60))
    private static let write = APIConfiguration(path: "write", method: .post, timeout: .seconds(60))

    private let time = ManualClock()
    /// The servers that do not respond to probes and writes.
    private let hungServers = Locked<Set<String>>([])
    /// The number of requests to the second server.
    private let secondCount = Locked(0)

    /// A client whose first server does not respond to reads of the list, which the second server rejects.
    ///
    /// The request to the second server with the number `lost` gets no response.
    private func client(
        hung: Set<String>,
        lost: Int = 0
    ) throws -> (client: NetworkClient, transport: StubTransport) {
        hungServers.withLock { $0 = hung }
        let transport = StubTransport(completion: .inline, time: time) { [hungServers, secondCount] request in
            let (server, isList) = (request.server, request.url.path.hasSuffix("list"))
            let isHung = isList ? server == "primary" : hungServers.withLock { $0.contains(server) }
            let number = server == "secondary" ? Self.next(secondCount) : -1
            return isHung || number == lost ? .never : .status(isList ? 404 : 200)
        }
        let service = try Service.topics(servers: 2)
        let options = NetworkClient.Options(seed: 1)
        return (try NetworkClient(service: service, transport: transport, options: options, time: time), transport)
    }

    private static func next(_ count: Locked<Int>) -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }

    @Test(arguments: [(list, 4), (write, 3)])
    func `the servers are probed again if neither has responded to the first probes`(
        _ configuration: APIConfiguration,
        count: Int
    ) throws {
        let (client, transport) = try client(hung: ["primary", "secondary"])
        client.send(configuration, on: .global()) { _ in }

        time.advance(by: .milliseconds(500))
        #expect(transport.requestCount == count)
        time.advance(by: .milliseconds(1_000))
        #expect(transport.requestCount == count)
        hungServers.withLock { _ = $0.remove("secondary") }
        time.advance(by: .seconds(2))

        #expect(transport.requestCount >= count + 2)
        client.cancelAll()
    }

    @Test func `a held 4xx response is returned before the deadline if the process was paused during the first probes`()
        async throws
    {
        let (client, transport) = try client(hung: ["primary"])
        let (answers, continuation) = AsyncStream.makeStream(of: ServiceResponse?.self)
        client.send(Self.list, on: .global()) { continuation.yield(try? $0.get()) }
        time.advance(by: .milliseconds(500))
        #expect(transport.requestCount == 4)

        time.pauseProcess(for: .seconds(30))
        time.advance(by: .seconds(20))

        let answer = try #require(await answers.first { _ in true } ?? nil)
        #expect(answer.status == 404)
        #expect(answer.context.elapsed < .seconds(45))
        #expect(client.servers[0].state == .ejected)
    }

    @Test func `the servers are not probed again if the first server has responded to the first probes`() throws {
        let (client, transport) = try client(hung: [])
        client.send(Self.list, on: .global()) { _ in }
        time.advance(by: .milliseconds(500))
        #expect(transport.requestCount == 4)

        time.advance(by: .seconds(50))

        #expect(transport.requestCount == 4)
        client.cancelAll()
    }

    @Test func `each pause between two pairs of probes is as long as the call has taken so far`() throws {
        let (client, transport) = try client(hung: ["primary", "secondary"])
        client.send(Self.write, on: .global()) { _ in }

        var counts: [Int] = []
        for pause in [500, 1_500, 2_000, 1_000] {
            time.advance(by: .milliseconds(pause))
            counts.append(transport.requestCount)
        }

        #expect(counts == [3, 5, 5, 7])
        client.cancelAll()
    }

    @Test func `a call whose probes could not begin sends probes later`() throws {
        let (client, transport) = try client(hung: ["primary", "secondary"])
        client.send(Self.write, on: .global()) { _ in }
        time.advance(by: .milliseconds(100))
        client.send(Self.write, on: .global()) { _ in }

        time.advance(by: .milliseconds(900))
        #expect(transport.requestCount == 4)
        time.advance(by: .milliseconds(500))

        #expect(transport.requestCount == 6)
        client.cancelAll()
    }

    @Test func `probes that follow a failed probe of the first server are repeated too`() throws {
        let (client, transport) = try client(hung: ["primary"], lost: 2)
        client.send(Self.write, on: .global()) { _ in }

        time.advance(by: .milliseconds(1_500))
        #expect(transport.requestCount == 5)
        time.advance(by: .milliseconds(1_500))

        #expect(transport.requestCount > 5)
        client.cancelAll()
    }
}
