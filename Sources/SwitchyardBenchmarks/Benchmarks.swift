import Foundation

/// Measures what the library costs, each figure against its baseline in the same process and the same minute.
@main
enum Benchmarks {
    static func main() async throws {
        var words = Array(CommandLine.arguments.dropFirst())
        let isJSON = words.contains("--json")
        words.removeAll { $0 == "--json" }
        let url = words.firstIndex(of: "--url").flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
        switch words.first {
        case "serve-bare": try serve()
        case "overhead": try await OverheadBenchmark(url: url, isJSON: isJSON).run()
        default:
            FileHandle.standardError.write(Data("usage: SwitchyardBenchmarks overhead [--json] [--url URL]\n".utf8))
            exit(2)
        }
    }

    private static func serve() throws {
        let server = try BareServer(body: SampleTopics.json)
        FileHandle.standardOutput.write(Data("\(server.port)\n".utf8))
        server.run()
    }
}
