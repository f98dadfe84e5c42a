import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardServices
import Testing

@testable import SwitchyardClient

/// Values with reference storage have value semantics.
@Suite struct ValueSemanticsTests {
    @Test func `changing a copied response does not change the original`() {
        let first = HTTPResponse(status: 200, headers: ["A": "1"], body: .whole(Data("one".utf8)))
        var second = first

        second.status = 404
        second.headers["A"] = nil
        second.body = .whole(Data())
        second.metrics = TransferMetrics(total: .seconds(1))

        #expect(first.status == 200)
        #expect(first.headers["A"] == "1")
        #expect(first.metrics == nil)
        guard case .whole(let body) = first.body else {
            Issue.record("expected a whole body")
            return
        }
        #expect(body == Data("one".utf8))
        #expect(second.status == 404)
    }

    @Test func `changing a copied configuration does not change the original`() {
        let first = APIConfiguration(path: "topics", query: ["page": 1], headers: ["A": "1"])
        var second = first

        second.path = "users"
        second.method = .post
        second.query = [:]
        second.headers.set("A", "2")
        second.server = .named("primary")
        second.idempotencyKey = .automatic
        second.tags = ["list"]
        second.apiVersion = "v2"
        second.timeout = .seconds(1)

        #expect(first.path == "topics")
        #expect(first.method == .get)
        #expect(first.query == ["page": 1])
        #expect(first.headers["A"] == "1")
        #expect(first.server == .automatic)
        #expect(first.idempotencyKey == .none)
        #expect(first.tags.isEmpty)
        #expect(first.apiVersion == nil)
        #expect(first.timeout == nil)
        #expect(second.headers["A"] == "2")
    }

    @Test func `changing a copied ServiceResponse does not change the original`() {
        let context = RequestContext(service: "topics", environment: .test, method: .get)
        let first = ServiceResponse(id: RequestID(), response: HTTPResponse(status: 200), context: context)
        var second = first

        second.context.attempts = 3

        #expect(first.context.attempts == 0)
        #expect(second.context.attempts == 3)
    }
}
