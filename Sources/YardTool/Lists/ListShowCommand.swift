import Foundation
import Switchyard
import SwitchyardServerLists

/// A command that prints the contents of a server list.
struct ListShowCommand: Command {
    static let name = "show"
    static let summary = "Prints the contents of a server list without checking its signatures."
    static let positional = "LIST"
    static let options: [Arguments.Option] = []

    private let place: String

    init(_ arguments: Arguments) throws(UsageError) {
        place = try arguments.only("the file or the URL of the list")
    }

    func run() async throws -> Int32 {
        let list = try ServerListDocument(unverified: try await ListPlace.bytes(of: place))
        Terminal.standardOutput.write(ListText(list).text)
        return 0
    }
}

/// The contents of a server list as text.
struct ListText {
    /// The lines, each with a line end.
    let text: String

    init(_ list: ServerListDocument) {
        var table = TextTable(["server": .left, "environment": .left, "URL": .left])
        for server in list.servers {
            for (environment, url) in server.baseURLs.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                table.add([server.name, environment.rawValue, url.text])
            }
        }
        let head = [
            "service:   \(list.service)", "version:   \(list.version)", "issued:    \(list.issued.iso8601)",
            "expires:   \(list.expires.iso8601)", "signed by: \(list.signers.joined(separator: ", "))", "",
        ]
        text = (head + table.lines).map { $0 + "\n" }.joined()
    }
}
