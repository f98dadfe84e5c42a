import Foundation
import Switchyard
import SwitchyardFixtures
import SwitchyardTesting
import Testing

@testable import yard

@Suite(.timeLimit(.minutes(5)), .prompt) struct AdminEndpointTests {
    private let clock = ManualClock()
    private let yard: ServedYard

    init() throws {
        yard = try ServedYard(firstPort: 0, time: clock)
    }

    @Test func `a fault that was set over the admin endpoint is in effect`() async throws {
        let answer = try await call(.put, "admin/fault?server=topics/primary&fault=status&status=418")

        #expect(answer.status == 200)
        #expect(answer.text == "{\"servers\":[\"topics/primary\"]}\n")
        #expect(yard.machines.map(\.server.fault) == [.status(418), nil, nil, nil, nil])
    }

    @Test func `if a port is in use, the error names the server that cannot start`() throws {
        let error = #expect(throws: PortError.self) {
            _ = try ServedYard([ServedMachine.standard[0]], firstPort: yard.admin.port)
        }

        let name = ServedMachine.standard[0].name
        #expect(error?.description == "server \(name) cannot start: port \(yard.admin.port) is in use")
    }

    @Test func `a fault can be set over the admin endpoint with a JSON body`() async throws {
        let answer = try await call(.put, "admin/fault", body: #"{"server": "primary", "fault": "hang"}"#)

        #expect(answer.status == 200)
        #expect(yard.machines.map(\.server.fault) == [.hang, nil, nil, .hang, nil])
    }

    @Test func `a fault with a duration ends by itself`() async throws {
        _ = try await call(.put, "admin/fault?fault=refuse&for=5")
        #expect(yard.machines.allSatisfy { $0.server.fault == .refuse })

        clock.advance(by: .seconds(5))

        #expect(yard.machines.allSatisfy { $0.server.fault == nil })
        #expect(try await call(.get, "admin/fault").text == "{}\n")
    }

    @Test func `a new fault does not end with the duration of the fault that it replaces`() async throws {
        _ = try await call(.put, "admin/fault?server=topics/primary&fault=refuse&for=5")
        _ = try await call(.put, "admin/fault?server=topics/primary&fault=hang")

        clock.advance(by: .seconds(60))

        #expect(yard.machines[0].server.fault == .hang)
    }

    @Test func `active faults can be listed and removed`() async throws {
        _ = try await call(.put, "admin/fault?server=users/primary&fault=slow&by=0.2")
        _ = try await call(.put, "admin/fault?server=tertiary&fault=hang")
        let listed = try JSONValue(parsing: Data(try await call(.get, "admin/fault").text.utf8))
        #expect(listed.object?.keys.sorted() == ["topics/tertiary", "users/primary"])
        #expect(listed["users/primary"]?["fault"]?.string == "slow")

        _ = try await call(.delete, "admin/fault?server=tertiary")
        #expect(yard.faults.orders.keys.sorted() == ["users/primary"])

        _ = try await call(.delete, "admin/fault")
        #expect(yard.machines.allSatisfy { $0.server.fault == nil })
    }

    @Test func `a request with a misspelled parameter does not remove a fault`() async throws {
        _ = try await call(.put, "admin/fault?fault=hang")

        let answer = try await call(.delete, "admin/fault?sever=topics/primary")

        #expect(answer.status == 400)
        #expect(answer.text.contains("unknown parameter"))
        #expect(yard.faults.orders.count == 5)
    }

    @Test func `a fault order for an unknown server is rejected, and no fault changes`() async throws {
        let answer = try await call(.put, "admin/fault?server=quaternary&fault=hang")

        #expect(answer.status == 404)
        #expect(answer.text.contains("must be one of topics/primary, "))
        #expect(yard.faults.orders.isEmpty)
    }

    @Test func `the error for an invalid fault order names the values that are allowed`() async throws {
        let answer = try await call(.put, "admin/fault?server=primary&fault=sulk")

        #expect(answer.status == 400)
        #expect(answer.text.contains("must be one of refuse, "))
    }

    @Test(arguments: ["admin", "admin/fault"]) func `a request whose Host field names another host is rejected`(
        path: String
    ) async throws {
        let port = yard.admin.port

        #expect(try await call(.get, path, host: "evil.example:\(port)").status == 403)
        #expect(try await call(.get, path, host: "localhost:\(port)").status == 200)
    }

    @Test func `the admin endpoint describes its use`() async throws {
        let answer = try await call(.get, "admin")

        #expect(answer.text.contains("curl -X PUT '\(yard.admin.baseURL)/admin/fault?"))
        #expect(yard.instructions.contains(yard.machines[4].baseURL))
    }

    @Test func `the servers of the serve command respond with the forum's data`() async throws {
        let transport = try Transports.systemDefault()
        let url = try RequestURL(validating: "\(yard.machines[3].baseURL)/users/1")
        let response = try await transport.send(HTTPRequest(url: url))

        #expect(response.status == 200)
    }

    @Test func `the serve command ends by itself after the given time`() async {
        #expect(await Yard.run(["serve", "--port", "0", "--for", "0.001"]) == 0)
    }

    private func call(
        _ method: HTTPMethod,
        _ path: String,
        body: String? = nil,
        host: String? = nil
    ) async throws -> (status: Int, text: String) {
        let transport = try Transports.systemDefault()
        defer { transport.shutdown() }
        var request = HTTPRequest(
            method: method,
            url: try RequestURL(validating: "\(yard.admin.baseURL)/\(path)"),
            body: body.map { .data(Data($0.utf8)) } ?? .none
        )
        if let host { request.headers.set("Host", host) }
        let response = try await transport.send(request)
        guard case .whole(let data) = response.body else { return (response.status, "") }
        return (response.status, String(decoding: data, as: UTF8.self))
    }
}
