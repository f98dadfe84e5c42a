import Testing

@testable import yard

@Suite struct YardTests {
    @Test(arguments: Yard.commands.map(\.name))
    func `the help of every command names the command and its options`(name: String) async throws {
        let command = try #require(Yard.commands.first { $0.name == name })

        #expect(command.help.hasPrefix("usage: yard \(name)"))
        #expect(command.help.contains(command.summary))
        #expect(await Yard.run([name, "--help"]) == 0)
        #expect(await Yard.run([name, "-h"]) == 0)
    }

    @Test func `the message of every error begins with the name of the command`() {
        #expect(Yard.message(of: UsageError("--name is missing"), in: "list") == "yard list: --name is missing")
        #expect(Yard.message(of: ListProblem("the key is invalid"), in: "list") == "yard list: the key is invalid")
    }

    @Test func `all commands of yard have different names`() {
        let names = Yard.commands.map(\.name)

        #expect(Set(names).count == names.count)
        #expect(Set(["demo", "check", "serve", "load"]).isSubset(of: names))
    }

    @Test(arguments: [
        [], ["dance"], ["demo", "--yaml"], ["demo", "now"], ["load", "now"], ["check", "--timeout", "soon"],
        ["check", "--timeout", "0"], ["serve", "--port", "-1"], ["serve", "--port", "65531"], ["serve", "--for", "-1"],
        ["load"], ["check", "-x"], ["check", "-timeout", "5"], ["demo", "-j"], ["check", ""],
        ["check", "--environment="], ["serve", ""], ["serve", "--environment", "test"],
    ])
    func `invalid arguments end with exit code 2`(words: [String]) async {
        #expect(await Yard.run(words) == 2)
    }

    @Test func `help with a command's name prints the help of that command`() async {
        #expect(await Yard.run(["help", "load"]) == 0)
        #expect(Yard.help(on: ["load"])?.hasPrefix("usage: yard load") == true)
        #expect(Yard.help(on: [])?.hasPrefix("usage: yard COMMAND") == true)
        #expect(await Yard.run(["help", "dance"]) == 2)
    }

    @Test(arguments: ["--help", "-h", "help"])
    func `a request for help ends with exit code 0`(word: String) async {
        #expect(await Yard.run([word]) == 0)
    }
}
