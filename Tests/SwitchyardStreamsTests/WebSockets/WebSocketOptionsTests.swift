import Testing

@testable import SwitchyardClient
@testable import SwitchyardStreams

@Suite struct WebSocketOptionsTests {
    @Test(
        arguments: [
            (nil, nil), (.zero, .seconds(1)), (.seconds(-5), .seconds(1)), (.nanoseconds(1), .seconds(1)),
            (.seconds(30), .seconds(30)),
        ] as [(Duration?, Duration?)]
    )
    func `the ping interval of a WebSocket is at least one second`(interval: Duration?, expected: Duration?) {
        var options = WebSocket.Options()
        options.pingInterval = interval

        #expect(options.pingPause == expected)
    }
}
