import Switchyard
import SwitchyardServerLists

/// The contents of a server list as text: the list, the URLs of its servers, their roles, and mistakes in the roles.
struct ListText {
    /// The lines, each with a line end.
    let text: String

    init(_ list: ServerListDocument) {
        let patterns = PatternCheck(list.servers)
        let parts = [
            Self.head(of: list), Self.addresses(of: list.servers), Self.roles(of: list.servers),
            Self.rewrites(of: list.servers), patterns.problems.map { "warning: \($0)" },
            patterns.warnings.map { "warning: \($0)" },
        ]
        text = parts.filter { !$0.isEmpty }.map { $0.map { $0 + "\n" }.joined() }.joined(separator: "\n")
    }

    private static func head(of list: ServerListDocument) -> [String] {
        [
            "service:   \(list.service)", "version:   \(list.version)", "issued:    \(list.issued.iso8601)",
            "expires:   \(list.expires.iso8601)", "signed by: \(list.signers.joined(separator: ", "))",
        ]
    }

    private static func addresses(of servers: [Server]) -> [String] {
        var table = TextTable(["server": .left, "environment": .left, "URL": .left])
        for server in servers {
            for (environment, url) in server.baseURLs.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                table.add([server.name, environment.rawValue, url.text])
                if let cdn = server.cdnURLs[environment] { table.add([server.name, "\(environment) (CDN)", cdn.text]) }
            }
        }
        return table.lines
    }

    private static func roles(of servers: [Server]) -> [String] {
        var table = TextTable([
            "server": .left, "priority": .right, "weight": .right, "zone": .left, "serves": .left,
        ])
        for server in servers {
            let weight = "\(server.weight)"
            table.add([
                server.name, server.priority.map(String.init) ?? "-",
                weight.hasSuffix(".0") ? String(weight.dropLast(2)) : weight, server.zone ?? "-",
                server.serves.texts.joined(separator: ", "),
            ])
        }
        return table.lines
    }

    private static func rewrites(of servers: [Server]) -> [String] {
        guard servers.contains(where: { !$0.rewrites.isEmpty }) else { return [] }
        var table = TextTable(["server": .left, "path of the service": .left, "path of the server": .left])
        for server in servers {
            for (source, target) in server.rewrites.sorted(by: { $0.key < $1.key }) {
                table.add([server.name, source, target])
            }
        }
        return table.lines
    }
}
