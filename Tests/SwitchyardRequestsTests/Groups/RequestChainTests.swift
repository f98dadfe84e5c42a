import Dispatch
import SwitchyardAPI
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardServices
import SwitchyardTesting
import Testing

@testable import SwitchyardRequests

@Suite(.timeLimit(.minutes(5)), .prompt) struct RequestChainTests {
    @Test func `each step of a request chain can use its value to add the next request`() async {
        let diary = Diary()
        let chain = RequestChain(options: .test())
        chain.add(APIRequest<Int>.ready(1)) { number, chain in
            diary.write("first \(number)")
            chain.add(APIRequest<String>.ready("\(number + 1)")) { text, chain in
                diary.write("second \(text)")
                chain.add(APIRequest<Int>.ready(3).onSuccess { diary.write("third \($0)") })
            }
        }

        let report = await chain.finished()

        #expect(report.outcome == .succeeded)
        #expect(diary.entries == ["first 1", "second 2", "third 3"])
    }

    @Test func `the first failure ends the chain, and the report names the failed request`() async {
        let dropped = ManualMemberRequest.make()
        let chain = RequestChain(options: .test())
        chain.add(APIRequest<Int>.ready(1))
        chain.add(APIRequest<Int>.failing(.status(404)))
        chain.add(dropped)

        let report = await chain.finished()

        #expect(report.outcome == .failed(member: 1))
        #expect(report.members == [.succeeded, .failed(.status(404)), .cancelled])
        #expect(dropped.state == .cancelled)
    }

    @Test func `cancelling a request chain cancels its active step and drops the remaining steps`() async {
        let gate = Gate()
        let diary = Diary()
        let chain = RequestChain(options: .test())
            .adding(DiaryAccessory(diary: diary, name: "chain"))
            .onFinish { diary.write("\($0.outcome)") }
        chain.add(APIRequest<Int>.gated(1, gate)) { _, _ in diary.write("step") }
        chain.add(APIRequest<Int>.ready(2))
        chain.resume()
        await gate.waitForArrivals(1)

        chain.cancel()
        await withCheckedContinuation { continuation in chain.whenEnded { _ in continuation.resume() } }

        #expect(diary.entries == ["chain willStart", "chain willStop", "cancelled", "chain didStop"])
        gate.open()
    }

    @Test func `accessories are called before and after a request chain, whether it succeeds or fails`() async {
        for fails in [false, true] {
            let diary = Diary()
            let chain = RequestChain(options: .test())
                .adding(DiaryAccessory(diary: diary, name: "chain"))
                .onFinish { diary.write("finish \($0.outcome)") }
            chain.add(APIRequest<Int>.ready(1)) { _, _ in diary.write("step") }
            chain.add(fails ? APIRequest<Int>.failing() : .ready(2))
            chain.resume()

            await withCheckedContinuation { continuation in chain.whenEnded { _ in continuation.resume() } }

            let end = "finish \(fails ? GroupOutcome.failed(member: 1) : .succeeded)"
            #expect(diary.entries == ["chain willStart", "step", "chain willStop", end, "chain didStop"])
        }
    }

    @Test func `an empty request chain succeeds immediately, and a chain starts only once`() async {
        let chain = RequestChain(options: .test())

        #expect(await chain.finished().members == [])
        #expect(!chain.resume())
        #expect(!chain.add(APIRequest<Int>.ready(1)))
    }

    @Test func `a step of a request chain may cancel the chain`() async {
        let chain = RequestChain(options: .test())
        chain.add(APIRequest<Int>.ready(1)) { _, chain in chain.cancel() }
        chain.add(APIRequest<Int>.ready(2))

        #expect(await chain.finished() == GroupReport(outcome: .cancelled, members: [.succeeded, .cancelled]))
    }

    @Test func `the requests of a chain run one at a time and in order`() async {
        let diary = Diary()
        let chain = RequestChain(options: .test())
        for number in 0..<100 {
            chain.add(
                APIRequest(on: .global()) {
                    diary.write("\(number)")
                    return number
                }
            )
        }

        #expect(await chain.finished().outcome == .succeeded)
        #expect(diary.entries == (0..<100).map(String.init))
    }

    @Test func `a request chain that was never started is not kept in memory`() {
        weak var released: RequestGroup?
        do {
            let chain = RequestChain(options: .test())
            chain.add(APIRequest<Int>.ready(1)) { _, chain in chain.cancel() }
            released = chain.group
        }
        #expect(released == nil)
    }
}

private enum ManualMemberRequest {
    /// A request that fails the test if it is sent.
    static func make() -> APIRequest<Int> {
        APIRequest(on: .global()) {
            Issue.record("the request was sent")
            return 0
        }
    }
}
