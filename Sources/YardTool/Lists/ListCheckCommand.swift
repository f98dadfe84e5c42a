import Foundation
import Switchyard
import SwitchyardServerLists

/// A command that checks a server list as an app does.
struct ListCheckCommand: Command {
    static let name = "check"
    static let summary = "Checks a server list as an app does: its signature, service, version, expiry and hosts."
    static let positional = "LIST"
    static let options: [Arguments.Option] = [
        .value("service", "FILE", "The service file of the app."),
        .value("trust", "NAME:KEY,...", "The public keys of the app, as yard list keys prints them."),
        .value("hosts", "HOST,...", "The host patterns of the app, such as *.example.com."),
        .value("after", "N", "The version of the newest list that apps already have (default: 0)."),
    ]

    private let place: String
    private let serviceFile: String
    private let keys: [ServerListKey]
    private let hosts: [String]
    private let newest: Int

    init(_ arguments: Arguments) throws(UsageError) {
        place = try arguments.only("the file or the URL of the list")
        serviceFile = try arguments.requiredText("service")
        keys = try arguments.parts("trust").map { (text) throws(UsageError) in try Self.key(text) }
        hosts = try arguments.parts("hosts")
        newest = try arguments.integer("after", in: 0...Int.max - 1) ?? 0
    }

    private static func key(_ text: String) throws(UsageError) -> ServerListKey {
        guard let colon = text.firstIndex(of: ":") else {
            throw UsageError("--trust requires NAME:KEY, found \"\(text)\"")
        }
        let key = String(text[text.index(after: colon)...])
        do throws(ServerListError) {
            return try ServerListKey(name: String(text[..<colon]), publicKey: key)
        } catch {
            throw UsageError("--trust: \(error)")
        }
    }

    func run() async throws -> Int32 {
        let rules = try ServerListRules(
            service: try ServiceCatalog.service(contentsOf: URL(fileURLWithPath: serviceFile)),
            keys: keys,
            hosts: hosts,
            insecureHTTP: .local,
            grace: .zero,
            builtInVersion: newest + 1
        )
        let list: ServerListDocument
        do throws(ServerListRefusal) {
            list = try ServerListDocument(await bytes(), signedBy: keys)
            try rules.check(list, newest: nil, date: Date())
        } catch {
            throw ListProblem("\(place): \(error)")
        }
        Terminal.standardOutput.write(ListText(list).text + "The list is valid.\n")
        return 0
    }

    private func bytes() async throws(ServerListRefusal) -> Data {
        do {
            return try await ListPlace.bytes(of: place)
        } catch {
            throw .malformed("\(error)")
        }
    }
}
