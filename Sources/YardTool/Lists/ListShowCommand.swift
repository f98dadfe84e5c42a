import Foundation
import Switchyard
import SwitchyardServerLists

/// A command that prints the contents of a server list.
struct ListShowCommand: Command {
    static let name = "show"
    static let summary = "Prints a server list and the roles of its servers, without checking its signatures."
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
