import Foundation
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import Testing

@testable import SwitchyardClient
@testable import SwitchyardTransport

/// Each server fault has its error kind and reports whether the request may have been sent.
@Suite(.timeLimit(.minutes(5)), .prompt) struct FaultConformanceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let fault: Fault
        let kind: TransportError.Kind
        var mayHaveBeenSent = true
        var endsProcessOnLinux = false
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "refuse", fault: .refuse, kind: .connectionRefused, mayHaveBeenSent: false),
        Case(name: "reset before the head", fault: .resetBeforeHead, kind: .connectionReset),
        Case(name: "reset in the body", fault: .resetInBody(after: 10_000), kind: .connectionReset),
        Case(name: "truncate", fault: .truncate(after: 10_000), kind: .truncated),
        Case(name: "length too large", fault: .wrongContentLength(by: 1), kind: .timeout),
        Case(name: "garbage", fault: .garbage, kind: .protocolViolation),
        Case(name: "close without a word", fault: .garbage(Data()), kind: .connectionReset),
        Case(
            name: "end within the head",
            fault: .garbage(Data("HTTP/1.1 200 OK\r\nContent-".utf8)),
            kind: .connectionReset,
            endsProcessOnLinux: true
        ),
        Case(
            name: "chunks without a size",
            fault: .garbage(Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n".utf8)),
            kind: .protocolViolation
        ),
        Case(
            name: "chunks cut short",
            fault: .garbage(Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n".utf8)),
            kind: .truncated
        ),
        Case(name: "hang", fault: .hang, kind: .timeout),
    ]

    @Test(arguments: Subject.networked, cases)
    func `each server fault has the expected kind of TransportError`(_ subject: Subject, _ fault: Case) async throws {
        guard !(subject.isLimited && fault.endsProcessOnLinux) else { return limit("this ends the process") }
        try await Lab.run(subject) { lab in
            lab.server.fault = fault.fault

            let idle: Duration = fault.kind == .timeout ? .milliseconds(300) : .seconds(30)
            let request = try lab.request("/large", timeouts: .init(idle: idle))
            let error = await lab.failure(of: request)

            #expect(error?.kind == fault.kind)
            #expect(error?.mayHaveBeenSent == fault.mayHaveBeenSent)
        }
    }

    @Test(arguments: Subject.networked, cases.filter { $0.kind == .truncated || $0.name.contains("in the body") })
    func `a truncated streamed body throws after the bytes that arrived`(_ subject: Subject, _ fault: Case) async throws
    {
        try await Lab.run(subject) { lab in
            lab.server.fault = fault.fault

            let response = try await lab.transport.send(try lab.request("/large", delivery: .stream))

            #expect(response.status == 200)
            await #expect { try await response.bytes() } throws: { ($0 as? TransportError)?.kind == fault.kind }
        }
    }

    @Test(arguments: Subject.networked)
    func `an unknown host is a DNS failure`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            var request = try lab.request("/")
            request.url = try #require(RequestURL("http://no-such-host.invalid/"))

            let error = await lab.failure(of: request)

            // On a machine without a network, the libcurl transport reports the failure as offline.
            let isOffline = subject != .urlSession && !NetworkInterfaces.leadAway
            #expect(error?.kind == (isOffline ? .offline : .dnsFailure))
            #expect(error?.mayHaveBeenSent == false)
        }
    }

    @Test(arguments: Subject.networked)
    func `TLS to a server without TLS is a TLS failure`(_ subject: Subject) async throws {
        try await Lab.run(subject) { lab in
            var request = try lab.request("/")
            request.url = try #require(RequestURL("https://127.0.0.1:\(lab.server.port)/"))

            let error = await lab.failure(of: request)

            #expect(error?.kind == .tlsFailure)
            #expect(error?.mayHaveBeenSent == false)
        }
    }

    @Test(arguments: Subject.networked)
    func `an early response to a large upload is returned as the response`(_ subject: Subject) async throws {
        try await Lab.run(subject) { server in
            server.route(.post, "/full") { _ in
                var response = LoopbackResponse(status: 413)
                response.closesConnection = true
                return response
            }
        } _: { lab in
            let request = try lab.request("/full", method: .post, body: .data(Data(count: 8 << 20)))

            // The server may close the connection before the client has read the response, which no client can prevent.
            do throws(TransportError) {
                #expect(try await lab.transport.send(request).status == 413)
            } catch {
                #expect(error.kind == .connectionReset)
            }
        }
    }
}
