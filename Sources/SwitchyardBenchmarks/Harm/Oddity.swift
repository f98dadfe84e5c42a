import Foundation
import Switchyard
import SwitchyardTesting

/// The misbehavior of one endpoint (the odd endpoint) on servers that are otherwise healthy.
struct Oddity: Sendable {
    private enum Behaviour: Sendable {
        case fault(Fault)
        case answer(LoopbackResponse)
    }

    let name: String
    /// The status of the responses of the endpoint that misbehaves, if it responds.
    let status: Int
    /// Whether callers of a client with switching must not notice the misbehavior if only one server has it.
    let isMasked: Bool
    /// The mean pause of the callers of the endpoint that misbehaves, or `nil` if it is the same as for other callers.
    let pause: Duration?
    private let behaviour: Behaviour

    /// Makes an endpoint of a server misbehave.
    func begin(_ route: LoopbackRoute, on server: LoopbackServer) {
        switch behaviour {
        case .fault(let fault): server.setFault(fault, on: route)
        case .answer(let response): server.route(route.method, route.pattern, answering: response)
        }
    }

    private init(_ name: String, _ fault: Fault, status: Int = 200, isMasked: Bool = false) {
        self.name = name
        self.status = status
        self.isMasked = isMasked
        pause = nil
        behaviour = .fault(fault)
    }

    private init(_ name: String, _ answer: LoopbackResponse, pause: Duration?) {
        self.name = name
        status = 200
        isMasked = false
        self.pause = pause
        behaviour = .answer(answer)
    }
}

extension Oddity {
    /// The number of bytes in a large body.
    static let largeCount = 5_000_000

    static let tooMany = refusal(429)
    static let tooManyAfter = refusal(429, retryAfter: 30)
    static let unavailable = refusal(503, isMasked: true)
    static let unavailableAfter = refusal(503, retryAfter: 30)
    static let failing = refusal(500, isMasked: true)
    static let badGateway = refusal(502)
    static let unauthorized = refusal(401)
    static let missing = refusal(404)
    static let slow = Oddity("slow", .slow(by: .seconds(2)), isMasked: true)
    static let hanging = Oddity("hang", .hang, isMasked: true)
    static let reset = Oddity("reset", .resetBeforeHead)
    static let truncated = Oddity("truncated", .truncate())
    static let garbage = Oddity("garbage", .garbage)
    /// Response bodies of 5 MB.
    ///
    /// There are so few calls that the machine can transfer the bodies for three clients at the same time.
    static let large = Oddity("large", .data(Data(count: largeCount)), pause: .seconds(1))
    static let redirect = Oddity(
        "redirect",
        .status(307, headers: ["Location": "/\(HarmServers.wellEndpoints[0])/1"]),
        pause: nil
    )
    /// An oddity that fails a fifth of the calls on every server.
    static let flaky = Oddity("flaky", .percentage(20, of: .status(500), seed: .random(in: .min ... .max)))

    static let all = [
        tooMany, tooManyAfter, unavailable, unavailableAfter, failing, badGateway, unauthorized, missing, slow, hanging,
        reset, truncated, garbage, large, redirect,
    ]

    private static func refusal(_ status: Int, retryAfter: Int? = nil, isMasked: Bool = false) -> Oddity {
        let name = "\(status)" + (retryAfter == nil ? "" : "-after")
        return Oddity(name, .status(status, retryAfter: retryAfter), status: status, isMasked: isMasked)
    }
}
