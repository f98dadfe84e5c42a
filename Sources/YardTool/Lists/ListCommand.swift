import Foundation
import Switchyard
import SwitchyardServerLists

/// The commands for the publisher of signed server lists.
struct ListCommand: Command {
    static let name = "list"
    static let summary = "Makes keys for signed server lists, and signs, checks and shows such lists."
    static let options: [Arguments.Option] = []
    static var subcommands: [CommandEntry] {
        [
            CommandEntry(ListKeysCommand.self, of: name), CommandEntry(ListSignCommand.self, of: name),
            CommandEntry(ListCheckCommand.self, of: name), CommandEntry(ListShowCommand.self, of: name),
        ]
    }

    init(_ arguments: Arguments) throws(UsageError) {
        throw UsageError("the command after yard list is missing: must be one of keys, sign, check, show")
    }

    func run() async throws -> Int32 { 2 }
}

/// A problem of a `yard list` command, on one line.
struct ListProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Reads a server list from a file or a URL.
enum ListPlace {
    /// Returns the bytes of the list at a file path or URL.
    ///
    /// If a file is larger than allowed, only one byte more than the maximum is read.
    static func bytes(of place: String) async throws -> Data {
        guard place.hasPrefix("http://") || place.hasPrefix("https://") else {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: place))
            defer { try? handle.close() }
            return try handle.read(upToCount: ServerList.maximumSize + 1) ?? Data()
        }
        let transport = try Transports.systemDefault()
        defer { transport.shutdown() }
        let request = HTTPRequest(
            url: try RequestURL(validating: place),
            timeouts: HTTPRequest.Timeouts(total: .seconds(10)),
            responseBodyLimit: ServerList.maximumSize
        )
        let response = try await transport.send(request)
        guard response.status == 200 else {
            throw ListProblem("\(place): expected status 200, found \(response.status)")
        }
        return response.data ?? Data()
    }
}

extension Arguments {
    /// Returns the parts of a required option, which are separated by commas.
    func parts(_ name: String) throws(UsageError) -> [String] {
        let parts = try requiredText(name).split(separator: ",").map(String.init)
        guard !parts.isEmpty else { throw UsageError("--\(name) must not be empty") }
        return parts
    }

    /// Returns the only positional argument.
    func only(_ meaning: String) throws(UsageError) -> String {
        guard let word = positional.first, positional.count == 1 else {
            throw UsageError("exactly one argument is required: \(meaning)")
        }
        return word
    }
}
