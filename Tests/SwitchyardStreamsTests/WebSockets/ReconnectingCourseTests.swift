import SwitchyardClient
import SwitchyardHTTP
import Testing

@testable import SwitchyardStreams

@Suite struct ReconnectingCourseTests {
    @Test func `a Retry-After delays one reconnection of a WebSocket only`() {
        var course = ReconnectingCourse(ReconnectingWebSocket.Options())
        let refusal = ServiceResponse(
            id: RequestID(),
            response: HTTPResponse(status: 503, headers: ["Retry-After": "600"]),
            context: RequestContext(service: "chat", environment: "test", method: .get)
        )
        #expect(course.mayGoOn(after: .refused(refusal)) == true)
        #expect(course.pause == .seconds(600))

        #expect(course.mayFailAgain() == true)

        #expect(course.pause <= .seconds(2))
    }
}
