import Foundation
import SwitchyardClient
import SwitchyardHTTP
import Testing

@testable import SwitchyardTesting

@Suite struct ReplyTests {
    private let head = RequestHead(
        method: .get,
        target: "/",
        minorVersion: 1,
        headers: ["Host": "x"],
        framing: .length(0),
        raw: Data()
    )

    private func reply(_ response: LoopbackResponse, _ fault: FaultEffect?) -> Reply {
        Reply(response, to: head, closes: false, fault: fault)
    }

    @Test func `without a fault, a server sends its response completely, and the connection stays open`() {
        var reply = reply(.text("hello"), nil)

        #expect(reply.opening().ending == nil)
        #expect(reply.body(Data("hello".utf8)) == Reply.Output(bytes: Data("hello".utf8)))
        #expect(reply.end() == Reply.Output(bytes: Data(), ending: .keepAlive))
    }

    @Test(arguments: [(nil, "he"), (0, ""), (3, "hel"), (99, "hell")] as [(Int?, String)])
    func `a body with the truncation fault lacks at least its last byte`(count: Int?, sent: String) {
        var reply = reply(.text("hello"), .cut(after: count, byReset: true))

        #expect(reply.opening().ending == nil)
        #expect(reply.body(Data("hello".utf8)) == Reply.Output(bytes: Data(sent.utf8), ending: .reset))
    }

    @Test func `with the truncation fault, a response without a body is truncated inside its head`() {
        let reply = reply(LoopbackResponse(status: 204), .cut(after: nil, byReset: false))

        let whole = Reply(LoopbackResponse(status: 204), to: head, closes: false, fault: nil).opening().bytes
        #expect(reply.opening() == Reply.Output(bytes: whole.prefix(whole.count / 2), ending: .close))
    }

    @Test func `the truncation fault can cut a streamed body inside any chunk`() {
        var reply = reply(.stream { _ in }, .cut(after: 5, byReset: false))

        #expect(reply.body(Data("abc".utf8)) == Reply.Output(bytes: Data("3\r\nabc\r\n".utf8)))
        #expect(reply.body(Data("def".utf8)) == Reply.Output(bytes: Data("2\r\nde\r\n".utf8), ending: .close))
    }

    @Test func `a streamed body that is shorter than its truncation point still ends abnormally`() {
        var reply = reply(.stream { _ in }, .cut(after: 50, byReset: true))

        _ = reply.body(Data("abc".utf8))

        #expect(reply.end() == Reply.Output(bytes: Data(), ending: .reset))
    }
}
