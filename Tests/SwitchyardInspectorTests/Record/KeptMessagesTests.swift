import Foundation
import SwitchyardClient
import SwitchyardHTTP
import Testing

@testable import SwitchyardInspector

@Suite struct KeptMessagesTests {
    private static func message(_ time: Double, _ text: String? = nil) -> InspectedMessage {
        InspectedMessage(number: 0, direction: .received, time: time, type: "message", size: 4, text: text)
    }

    @Test func `the inspector keeps only the newest messages of a stream`() {
        var messages = KeptMessages()

        for time in 0..<KeptMessages.limit + 50 { messages.add(Self.message(Double(time)), textLimit: 0) }

        #expect(messages.all.map(\.number) == Array(51...KeptMessages.limit + 50))
    }

    @Test func `the inspector drops the oldest message texts if all texts exceed the limit`() {
        var messages = KeptMessages()

        for time in 0..<4 { messages.add(Self.message(Double(time), "1234"), textLimit: 10) }

        #expect(messages.all.map(\.text) == [nil, nil, "1234", "1234"])
    }

    @Test func `a message that was sent earlier and is reported later is shown in order of time`() {
        var messages = KeptMessages()

        for time in [2.0, 4, 3, 1] { messages.add(Self.message(time), textLimit: 0) }

        #expect(messages.all.map(\.time) == [1, 2, 3, 4])
        #expect(messages.all.map(\.number) == [4, 1, 3, 2])
    }

    @Test(
        arguments: [
            (0, "hello", String?.none, Bool?.none), (5, "hello", "hello", nil), (3, "hello", "hel", true),
            (3, "h\u{20AC}llo", "h", true),
            (100, #"{"access_token": "c2VjcmV0", "id": 7}"#, #"{"access_token": "***", "id": 7}"#, nil),
        ]
    )
    func `a message text is redacted, and then truncated at a character boundary`(
        bytes: Int,
        text: String,
        kept: String?,
        isCut: Bool?
    ) {
        let keeper = MessageKeeper(redaction: .standard, bytes: bytes)

        let message = keeper.kept(StreamMessage(.received, type: "message", text: text), at: 1)

        #expect(message.text == kept && message.isCut == isCut)
        #expect(message.size == text.utf8.count)
    }

    @Test func `the end of an incomplete message text is not kept, because it may be a part of a secret`() {
        let keeper = MessageKeeper(redaction: .standard, bytes: 100)
        let whole = #"{"password": "\#(String(repeating: "p", count: 65_500))", "access_token": "\#(secret)"}"#
        var message = StreamMessage(.received, type: "message", text: whole)
        message.text = String(whole.prefix(keeper.neededBytes))

        let kept = keeper.kept(message, at: 1)

        #expect(kept.text == "" && kept.isCut == true)
    }

    private var secret: String { String(repeating: "s3cret", count: 100) }
}
