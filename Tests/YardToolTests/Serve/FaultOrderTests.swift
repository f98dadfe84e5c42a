import Foundation
import SwitchyardTesting
import Testing

@testable import yard

@Suite struct FaultOrderTests {
    @Test func `a fault order has the same meaning as a query and as a JSON object`() throws {
        let query = try FaultOrder(
            query: [
                URLQueryItem(name: "server", value: "primary"), URLQueryItem(name: "fault", value: "hang"),
                URLQueryItem(name: "for", value: "5"),
            ],
            json: Data()
        )
        let json = try FaultOrder(query: [], json: Data(#"{"server": "primary", "fault": "hang", "for": 5}"#.utf8))

        #expect(query == json)
        #expect(query.for == 5)
    }

    @Test func `null values in the JSON of a fault order count as missing`() throws {
        let order = try FaultOrder(query: [], json: Data(#"{"fault": "hang", "server": null, "for": null}"#.utf8))

        #expect(order == (try FaultOrder(query: [], json: Data(#"{"fault": "hang"}"#.utf8))))
    }

    @Test func `the query of a fault order takes precedence over the body`() throws {
        let order = try FaultOrder(
            query: [URLQueryItem(name: "fault", value: "refuse")],
            json: Data(#"{"fault": "hang"}"#.utf8)
        )

        #expect(order.fault == "refuse")
    }

    @Test(arguments: [
        ("refuse", Fault.refuse), ("black-hole", .blackHole), ("hang", .hang), ("reset", .resetBeforeHead),
        ("reset-in-body", .resetInBody()), ("truncate", .truncate()), ("status", .status(503)),
        ("slow", .slow(by: .seconds(1))), ("drip", .drip(bytes: 1, every: .milliseconds(100))),
        ("wrong-length", .wrongContentLength()), ("garbage", .garbage),
    ])
    func `every fault has a name`(name: String, fault: Fault) throws {
        let order = try FaultOrder(query: [], json: Data(#"{"fault": "\#(name)"}"#.utf8))

        #expect(order.ordered == fault)
        #expect(FaultOrder.names.contains(name))
    }

    @Test func `a fault order may combine a percentage of requests with a flapping period`() throws {
        let json = Data(#"{"fault": "status", "status": 500, "percent": 30, "flap": 2}"#.utf8)
        let order = try FaultOrder(query: [], json: json)

        #expect(order.ordered == .flap(.percentage(30, of: .status(500)), period: .seconds(2)))
    }

    @Test(arguments: [
        ("", "expected a query, or a JSON object"),
        ("[1]", "expected a JSON object"),
        ("{}", #"the parameter "fault" is missing or not a string: must be one of refuse, "#),
        (#"{"fault": 3}"#, #"the parameter "fault" is missing or not a string: must be one of refuse, "#),
        (#"{"fault": "sulk"}"#, "unknown fault \"sulk\": must be one of refuse, "),
        (#"{"fault": "hang", "until": 5}"#, "unknown parameter \"until\": must be one of server, "),
        (#"{"fault": "hang", "server": ["primary"]}"#, #"the parameter "server" must be a string"#),
        (#"{"fault": "hang", "server": 1}"#, #"the parameter "server" must be a string"#),
        (#"{"fault": "hang", "for": -1}"#, #"the parameter "for" must be a number from 0 to 86400"#),
        (#"{"fault": "hang", "for": "soon"}"#, #"the parameter "for" must be a number from 0 to 86400"#),
        (#"{"fault": "hang", "percent": 101}"#, #"the parameter "percent" must be a number from 0 to 100"#),
        (#"{"fault": "status", "status": 99}"#, #"the parameter "status" must be a number from 100 to 999"#),
        (#"{"fault": "status", "status": 503.7}"#, #"the parameter "status" must be a whole number"#),
        (#"{"fault": "drip", "bytes": 1e300}"#, #"the parameter "bytes" must be a number from 0 to 1000000000"#),
    ])
    func `the error for an invalid fault command states what was expected`(json: String, message: String) {
        let problem = #expect(throws: FaultOrder.Problem.self) {
            try FaultOrder(query: [], json: Data(json.utf8))
        }

        #expect(problem?.description.hasPrefix(message) == true, "\(problem?.description ?? "")")
    }
}
