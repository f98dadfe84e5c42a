import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import SwitchyardTransport
import Testing

/// Limits bound how much a server can make a client receive.
@Suite(.timeLimit(.minutes(5)), .prompt) struct LimitConformanceTests {
    @Test(arguments: Subject.allCases, [HTTPRequest.Delivery.whole, .stream])
    func `a response body over the limit is an error`(_ subject: Subject, _ delivery: HTTPRequest.Delivery) async throws
    {
        try await Lab.run(subject) { lab in
            let request = try lab.request("/large", delivery: delivery, limit: Lab.large.count - 1)

            #expect(await lab.failure(of: request)?.kind == .bodyTooLarge)
        }
    }

    @Test(arguments: Subject.allCases, [HTTPRequest.Delivery.whole, .stream])
    func `a response body of exactly the limit is accepted`(_ subject: Subject, _ delivery: HTTPRequest.Delivery)
        async throws
    {
        try await Lab.run(subject) { lab in
            let request = try lab.request("/large", delivery: delivery, limit: Lab.large.count)

            #expect(try await lab.transport.send(request).bytes() == Lab.large)
        }
    }

    @Test(arguments: Subject.networked, [HTTPRequest.Delivery.whole, .stream])
    func `the size limit of a response body applies to the decompressed body`(
        _ subject: Subject,
        _ delivery: HTTPRequest.Delivery
    ) async throws {
        try await Lab.run(subject) { server in
            server.route(.get, "/bomb", answering: Compressed.response(Compressed.hellos))
        } _: { lab in
            let request = try lab.request("/bomb", delivery: delivery, limit: 5999)

            #expect(await lab.failure(of: request)?.kind == .bodyTooLarge)
        }
    }

    @Test(arguments: Subject.networked)
    func `an oversized response head is an error`(_ subject: Subject) async throws {
        try await Lab.run(subject) { server in
            var response = LoopbackResponse.text("hi")
            for index in 0..<2000 { response.headers.add("X-\(index)", String(repeating: "x", count: 1000)) }
            server.route(.get, "/head", answering: response)
        } _: { lab in
            let request = try lab.request("/head")

            #expect(await lab.failure(of: request)?.kind == .headersTooLarge)
        }
    }

    @Test(arguments: Subject.networked)
    func `the size limit of a response head applies to each response separately`(
        _ subject: Subject
    ) async throws {
        try await Lab.run(subject) { server in
            var response = LoopbackResponse.text("hi")
            for index in 0..<40 { response.headers.add("X-\(index)", String(repeating: "x", count: 1000)) }
            server.route(.get, "/head", answering: response)
        } _: { lab in
            let request = try lab.request("/head")

            for _ in 0..<5 { #expect(try await lab.transport.send(request).status == 200) }
        }
    }

    @Test(arguments: Subject.networked)
    func `an oversized header line is an error`(_ subject: Subject) async throws {
        try await Lab.run(subject) { server in
            var response = LoopbackResponse.text("hi")
            response.headers.add("X-Long", String(repeating: "x", count: 2_000_000))
            server.route(.get, "/head", answering: response)
        } _: { lab in
            let request = try lab.request("/head")

            #expect(await lab.failure(of: request)?.kind == .headersTooLarge)
        }
    }
}
