import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import SwitchyardTesting
import SwitchyardTransport
import Testing

/// A coalesced write that is cancelled while it starts says whether a server may have executed it.
@Suite(.timeLimit(.minutes(5)), .prompt) struct SharedWriteTests {
    @Test func `the error of a shared write that is cancelled while it starts says whether the write was sent`()
        async throws
    {
        var lies = 0
        for round in 0..<Rounds.count(400, thorough: 1_500) {
            let (client, transport) = try NetworkClient.stubbed(switching: .off, servers: 1) { _ in .never }
            var write = APIConfiguration(path: "pay", method: .post, timeout: .seconds(60))
            write.sharing = .named("pay")
            let configuration = write
            let id = RequestID()
            let result = Task.detached { () -> RequestFailure? in
                do throws(RequestFailure) {
                    _ = try await client.send(configuration, id: id)
                    return nil
                } catch { return error }
            }
            let canceller = Task.detached {
                for _ in 0..<(round % 200) { _ = client.isLoading }
                result.cancel()
                client.cancelAll()
            }
            await canceller.value
            client.cancelAll()
            let failure = try #require(await result.value)
            if transport.requestCount > 0, !failure.mayHaveBeenExecuted { lies += 1 }
        }
        #expect(lies == 0)
    }
}
