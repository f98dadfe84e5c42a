import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import SwitchyardTransport
import Testing

@Suite(.timeLimit(.minutes(5)), .prompt) struct ExpectedRequestsTests {
    private func send(_ method: HTTPMethod, _ url: String, body: String = "", _ transport: StubTransport) async -> Int?
    {
        do {
            let request = HTTPRequest(
                method: method,
                url: try RequestURL(validating: url),
                body: .data(Data(body.utf8))
            )
            return try await transport.send(request).status
        } catch {
            return nil
        }
    }

    @Test func `an expected request gets its response and causes no problem`() async {
        let expected = ExpectedRequests([
            RequestExpectation(.get, "/topics", query: ["page": "1"], answer: .status(204)),
            RequestExpectation(.post, "/topics", answer: .status(201)).body { $0 == Data("one".utf8) },
        ])
        let transport = StubTransport(expecting: expected)

        #expect(await send(.post, "http://a/topics", body: "one", transport) == 201)
        #expect(await send(.get, "http://a/topics?page=1&size=2", transport) == 204)

        #expect(expected.problems == [])
    }

    @Test(arguments: ["q=a+b&tag%5B%5D=c%2Bd", "q=a%20b&tag[]=c%2Bd", "x&tag[]=c%2Bd&q=a%20b"])
    func `the expected and the received query of a request are compared after form decoding`(query: String) async {
        let expected = ExpectedRequests([RequestExpectation(.get, "/x", query: ["q": "a b", "tag[]": "c+d"])])

        #expect(await send(.get, "http://a/x?\(query)", StubTransport(expecting: expected)) == 200)
        #expect(expected.problems == [])
    }

    @Test func `an expected query value matches any of several values with the same name`() async {
        let expected = ExpectedRequests([RequestExpectation(.get, "/x", query: ["tag": "b"], count: 1...2)])
        let transport = StubTransport(expecting: expected)

        #expect(await send(.get, "http://a/x?tag=a&tag=b", transport) == 200)
        #expect(await send(.get, "http://a/x?tag=a&tag=c", transport) == nil)

        #expect(expected.problems.first?.contains("query tag=a, c, expected b") == true)
    }

    @Test func `an unexpected request fails, and the reported problem names the difference`() async {
        let expected = ExpectedRequests([RequestExpectation(.get, "/topics", query: ["page": "1"])])
        let transport = StubTransport(expecting: expected)

        #expect(await send(.get, "http://a/topics?page=2", transport) == nil)

        #expect(expected.problems.count == 2)
        #expect(expected.problems.first?.contains("query page=2, expected 1") == true)
        #expect(expected.problems.last?.contains("was received 0 times") == true)
    }

    @Test func `the number of requests that an expectation requires is checked`() async {
        let expected = ExpectedRequests([RequestExpectation(.get, "/topics", count: 1...2)])
        let transport = StubTransport(expecting: expected)

        for _ in 0..<2 { #expect(await send(.get, "http://a/topics", transport) == 200) }
        #expect(expected.problems == [])
        #expect(await send(.get, "http://a/topics", transport) == nil)
        #expect(expected.problems.first?.contains("was already received often enough") == true)
    }

    @Test func `in ordered mode, an optional request may be missing, and a wrong order is a problem`() async {
        let list = [
            RequestExpectation(.get, "/first"), RequestExpectation(.get, "/maybe", count: 0...1),
            RequestExpectation(.get, "/last"),
        ]
        let right = ExpectedRequests(list, inOrder: true)
        let rightTransport = StubTransport(expecting: right)
        for path in ["first", "last"] { #expect(await send(.get, "http://a/\(path)", rightTransport) == 200) }
        #expect(right.problems == [])

        let wrong = ExpectedRequests(list, inOrder: true)
        #expect(await send(.get, "http://a/last", StubTransport(expecting: wrong)) == nil)
        #expect(wrong.problems.first?.contains("is expected in another order") == true)
    }

    @Test func `the matching expectation with the most details gets the request`() async {
        let expected = ExpectedRequests([
            RequestExpectation(.get, "/topics", answer: .status(201)),
            RequestExpectation(.get, "/topics", query: ["page": "2"], answer: .status(202)),
            RequestExpectation(.get, "/topics", query: ["page": "2", "size": "5"], answer: .status(203)),
        ])
        let transport = StubTransport(expecting: expected)

        #expect(await send(.get, "http://a/topics?page=2&size=5", transport) == 203)
        #expect(await send(.get, "http://a/topics?page=2&size=5", transport) == 202)
        #expect(await send(.get, "http://a/topics", transport) == 201)

        #expect(expected.problems == [])
    }

    @Test func `the first of equally detailed expectations gets the request`() async {
        let expected = ExpectedRequests([
            RequestExpectation(.get, "/topics", answer: .status(201)),
            RequestExpectation(.get, "/topics", answer: .status(202)),
        ])
        let transport = StubTransport(expecting: expected)

        #expect(await send(.get, "http://a/topics", transport) == 201)
        #expect(await send(.get, "http://a/topics", transport) == 202)
    }
}
