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

    @Test func `a fault set over the endpoint is in force`() async throws {
        let answer = try await call(.put, "admin/fault?server=topics/primary&fault=status&status=418")

        #expect(answer.status == 200)
        #expect(answer.text == "{\"servers\":[\"topics/primary\"]}\n")
        #expect(yard.machines.map(\.server.fault) == [.status(418), nil, nil, nil, nil])
    }

    @Test func `a JSON body is as good as a query`() async throws {
        let answer = try await call(.put, "admin/fault", body: #"{"server": "primary", "fault": "hang"}"#)

        #expect(answer.status == 200)
        #expect(yard.machines.map(\.server.fault) == [.hang, nil, nil, .hang, nil])
    }

    @Test func `a fault with a time goes by itself`() async throws {
        _ = try await call(.put, "admin/fault?fault=refuse&for=5")
        #expect(yard.machines.allSatisfy { $0.server.fault == .refuse })

        clock.advance(by: .seconds(5))

        #expect(yard.machines.allSatisfy { $0.server.fault == nil })
        #expect(try await call(.get, "admin/fault").text == "{}\n")
    }

    @Test func `a new fault outlives the time of the old one`() async throws {
        _ = try await call(.put, "admin/fault?server=topics/primary&fault=refuse&for=5")
        _ = try await call(.put, "admin/fault?server=topics/primary&fault=hang")

        clock.advance(by: .seconds(60))

        #expect(yard.machines[0].server.fault == .hang)
    }

    @Test func `what is in force can be seen and taken away`() async throws {
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

    @Test func `a misspelt parameter takes no fault away`() async throws {
        _ = try await call(.put, "admin/fault?fault=hang")

        let answer = try await call(.delete, "admin/fault?sever=topics/primary")

        #expect(answer.status == 400)
        #expect(answer.text.contains("unknown parameter"))
        #expect(yard.faults.orders.count == 5)
    }

    @Test func `an unknown server is refused, and nothing changes`() async throws {
        let answer = try await call(.put, "admin/fault?server=quaternary&fault=hang")

        #expect(answer.status == 404)
        #expect(answer.text.contains("known: topics/primary, "))
        #expect(yard.faults.orders.isEmpty)
    }

    @Test func `a bad order is refused with what was expected`() async throws {
        let answer = try await call(.put, "admin/fault?server=primary&fault=sulk")

        #expect(answer.status == 400)
        #expect(answer.text.contains("known: refuse, "))
    }

    @Test func `the endpoint says how to use it`() async throws {
        let answer = try await call(.get, "admin")

        #expect(answer.text.contains("curl -X PUT '\(yard.admin.baseURL)/admin/fault?"))
        #expect(yard.instructions.contains(yard.machines[4].baseURL))
    }

    @Test func `the machines serve the forum`() async throws {
        let transport = try Transports.systemDefault()
        let url = try RequestURL(validating: "\(yard.machines[3].baseURL)/users/1")
        let response = try await transport.send(HTTPRequest(url: url))

        #expect(response.status == 200)
    }

    @Test func `serving ends by itself after its time`() async {
        #expect(await Yard.run(["serve", "--port", "0", "--for", "0.001"]) == 0)
    }

    private func call(
        _ method: HTTPMethod,
        _ path: String,
        body: String? = nil
    ) async throws -> (status: Int, text: String) {
        let transport = try Transports.systemDefault()
        defer { transport.shutdown() }
        let response = try await transport.send(
            HTTPRequest(
                method: method,
                url: try RequestURL(validating: "\(yard.admin.baseURL)/\(path)"),
                body: body.map { .data(Data($0.utf8)) } ?? .none
            )
        )
        guard case .whole(let data) = response.body else { return (response.status, "") }
        return (response.status, String(decoding: data, as: UTF8.self))
    }
}
