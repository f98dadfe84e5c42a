import Foundation
import SwitchyardClient
import SwitchyardServices

/// A command that the page sends to the client.
struct InspectorCommand: Decodable, Sendable {
    /// An error that tells the page why a command cannot be executed.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    private enum CodingKeys: String, CodingKey {
        case action = "do"
        case name, kind, status, calls, server
    }

    private let action: String
    private let name: String?
    private let kind: String?
    private let status: Int?
    private let calls: Int?
    private let server: String?

    /// Decodes a command.
    static func read(_ data: Data) throws(Refusal) -> InspectorCommand {
        do { return try JSONDecoder().decode(InspectorCommand.self, from: data) } catch {
            throw Refusal(description: "the body must be a JSON object with a command in \"do\"")
        }
    }

    /// Executes the command.
    func run(on client: NetworkClient, _ faults: FaultController) throws(Refusal) {
        switch action {
        case "server": try run { () throws(ClientError) in try client.switchServer(to: name ?? "") }
        case "environment":
            let environment = ServiceEnvironment(rawValue: name ?? "")
            try run { () throws(ClientError) in try client.switchEnvironment(to: environment) }
        case "fault" where kind == "none": faults.clear()
        case "fault": faults.order(try fault(of: client))
        default: throw Refusal(description: "unknown command \"\(action)\": must be one of server, environment, fault")
        }
    }

    private func run(_ body: () throws(ClientError) -> Void) throws(Refusal) {
        do throws(ClientError) { try body() } catch { throw Refusal(description: "\(error)") }
    }

    private func fault(of client: NetworkClient) throws(Refusal) -> CallFault {
        if let server, !client.service.servers.contains(where: { $0.name == server }) {
            let known = client.service.servers.map(\.name).joined(separator: ", ")
            throw Refusal(description: "unknown server \"\(server)\": must be one of \(known)")
        }
        let calls = calls ?? 1
        guard (1...10_000).contains(calls) else { throw Refusal(description: "calls must be a number from 1 to 10000") }
        return CallFault(kind: try faultKind, calls: calls, server: server)
    }

    private var faultKind: CallFault.Kind {
        get throws(Refusal) {
            switch kind {
            case "refused": return .refused
            case "timeout": return .timeout
            case "slow": return .slow
            case "status":
                guard let status, (200...599).contains(status) else {
                    throw Refusal(description: "status must be a number from 200 to 599")
                }
                return .status(status)
            default:
                throw Refusal(
                    description: "unknown fault \"\(kind ?? "")\": must be one of refused, timeout, slow, status, none"
                )
            }
        }
    }
}
