import Foundation

/// The benchmarks of the library's cost.
///
/// Each measurement and its baseline are made in the same process, one shortly after the other.
@main
enum Benchmarks {
    static func main() async {
        do {
            try await run()
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func run() async throws {
        var words = Words(Array(CommandLine.arguments.dropFirst()))
        let isJSON = words.flag("--json")
        let url = words.value("--url")
        let name = words.next()
        words.check(for: name ?? "")
        if url != nil, name != "overhead" { fail() }
        switch name {
        case "serve-bare":
            let server = try BareServer(body: SampleTopics.json)
            announce(server.port)
            server.run()
        case "serve-drain":
            let server = try DrainServer()
            announce(server.port)
            server.run()
        case "serve-hold":
            let server = try HoldServer()
            announce(server.port)
            server.run()
        case "hold":
            guard let layer = words.next().flatMap(WaitingRequests.Layer.init), let origin = words.next() else {
                fail()
            }
            try await WaitingRequests(layer: layer, origin: origin, count: words.next().flatMap { Int($0) } ?? 0).run()
        case "inflight": try InflightBenchmark(isJSON: isJSON, count: words.count() ?? 10_000).run()
        case "startup": try await StartupBenchmark(isJSON: isJSON).run()
        case "transfer":
            var transfer = TransferBenchmark(isJSON: isJSON)
            transfer.mebibytes = words.number("--mib") ?? transfer.mebibytes
            transfer.folder = words.value("--folder").map { URL(fileURLWithPath: $0) } ?? transfer.folder
            transfer.only = Set(words.rest)
            try await transfer.run()
        case "overhead":
            var overhead = OverheadBenchmark(url: url, isJSON: isJSON)
            overhead.only = words.value("--only")
            overhead.levels = words.count().map { [$0] } ?? overhead.levels
            try await overhead.run()
        case "inspector":
            var inspector = InspectorBenchmark(isJSON: isJSON)
            inspector.levels = words.count().map { [$0] } ?? inspector.levels
            try await inspector.run()
        case "tracing":
            var tracing = TracingBenchmark(isJSON: isJSON)
            tracing.levels = words.count().map { [$0] } ?? tracing.levels
            try await tracing.run()
        case "pipeline": try await PipelineBenchmark(isJSON: isJSON, only: words.value("--only")).run()
        case "encoding":
            var encoding = EncodingBenchmark(isJSON: isJSON)
            encoding.fileSize = words.number("--size") ?? encoding.fileSize
            encoding.only = Set(words.rest)
            try await encoding.run()
        case "dispatch": try await DispatchBenchmark(count: words.count() ?? 100_000, isJSON: isJSON).run()
        case "refusals": try await RefusalsBenchmark(count: words.count() ?? 10_000, isJSON: isJSON).run()
        case "soak": try await SoakBenchmark(count: words.count() ?? 200_000, isJSON: isJSON).run()
        case "faults":
            var faults = FaultsBenchmark()
            faults.isJSON = isJSON
            faults.method = words.value("--method") ?? "GET"
            faults.policy = words.value("--policy") ?? "recommended"
            faults.parallel = words.number("--parallel") ?? 3
            faults.workers = words.number("--workers") ?? 4
            faults.only = Set(words.rest)
            try await faults.run()
        case "burst":
            var burst = BurstBenchmark()
            burst.isJSON = isJSON
            burst.bad = words.number("--bad") ?? burst.bad
            burst.calls = words.count() ?? 20
            burst.only = Set(words.rest)
            try await burst.run()
        #if os(Linux)
            case "sharing":
                var sharing = SharingBenchmark()
                sharing.isJSON = isJSON
                sharing.calls = words.count() ?? sharing.calls
                try await sharing.run()
        #endif
        case "harm":
            if words.flag("--list") { return print(HarmWorld.all.map(\.name).joined(separator: "\n")) }
            var harm = HarmBenchmark()
            harm.isJSON = isJSON
            harm.seconds = words.number("--seconds") ?? harm.seconds
            harm.policies = words.value("--policy").map { [$0] } ?? harm.policies
            harm.worlds = try HarmWorld.chosen(words.rest)
            try await harm.run()
        case "harm-client":
            guard let player = HarmPlayer(words.next(), words.next(), seconds: words.next()),
                let start = words.next().flatMap(Double.init)
            else { fail() }
            try await player.run(at: start)
        case "switching":
            var switching = SwitchingBenchmark()
            switching.isJSON = isJSON
            try switching.run()
        case "cache": try await CacheBenchmark(isJSON: isJSON, only: words.value("--only")).run()
        case "decode": try await DecodeBenchmark(isJSON: isJSON, isLarge: words.flag("--large")).run()
        case "pages": try await PagesBenchmark(isJSON: isJSON).run()
        case "disk":
            let folder = words.value("--folder").map { URL(fileURLWithPath: $0) }
            var disk = DiskBenchmark(isJSON: isJSON, parent: folder ?? FileManager.default.temporaryDirectory)
            disk.entries = words.number("--entries") ?? disk.entries
            try await disk.run()
        case "disk-writer":
            let folder = words.next() ?? ""
            try await DiskBenchmark.write(to: folder, seed: words.next().flatMap { UInt64($0) } ?? 0)
        default: fail()
        }
    }

    static func fail() -> Never {
        FileHandle.standardError.write(Data((usage + "\n").utf8))
        exit(2)
    }

    private static let usage = """
        usage: SwitchyardBenchmarks overhead [CONCURRENT] [--json] [--url URL] [--only CONTENDER]
               SwitchyardBenchmarks inspector [CONCURRENT] [--json]
               SwitchyardBenchmarks tracing [CONCURRENT] [--json]
               SwitchyardBenchmarks inflight [COUNT] [--json]
               SwitchyardBenchmarks startup [--json]
               SwitchyardBenchmarks transfer [--json] [--mib N] [--folder PATH] [down] [down-file] [up]
               SwitchyardBenchmarks pipeline [--json] [--only CONTENDER]
               SwitchyardBenchmarks encoding [--json] [--size MIB] [query] [form] [json] [multipart]
               SwitchyardBenchmarks dispatch [COUNT] [--json]
               SwitchyardBenchmarks refusals [COUNT] [--json]
               SwitchyardBenchmarks soak [COUNT] [--json]
               SwitchyardBenchmarks faults [--json] [--method M] [--policy P] [--parallel N] [--workers N] [FAULT ...]
               SwitchyardBenchmarks burst [--json] [--bad N] [COUNT [FAULT ...]]
               SwitchyardBenchmarks sharing [COUNT] [--json]
               SwitchyardBenchmarks harm [--json] [--list] [--seconds N] [--policy P] [WORLD ...]
               SwitchyardBenchmarks switching [--json]
               SwitchyardBenchmarks cache [--json] [--only hit|get|store|ratio]
               SwitchyardBenchmarks decode [--json] [--large]
               SwitchyardBenchmarks pages [--json]
               SwitchyardBenchmarks disk [--json] [--folder PATH] [--entries N]
        """

    /// Reports the port of a server to the parent process.
    private static func announce(_ port: UInt16) {
        FileHandle.standardOutput.write(Data("\(port)\n".utf8))
    }
}

/// The words of the command line.
///
/// Reading a word removes it.
///
/// An invalid word ends the process with the usage text. A benchmark takes minutes, so it must not start with other
/// settings than intended.
struct Words {
    private(set) var rest: [String]

    /// The options of all benchmarks.
    private static let options: Set<String> = [
        "--json", "--url", "--only", "--mib", "--folder", "--size", "--method", "--policy", "--parallel", "--workers",
        "--large", "--entries", "--bad", "--list", "--seconds",
    ]

    /// The options without a value.
    private static let flags: Set<String> = ["--large", "--list"]

    /// For each benchmark: its options in addition to `--json` and `--url`, and the maximum number of words after its
    /// name.
    private static let taken: [String: (options: Set<String>, words: Int)] = [
        "inflight": ([], 1), "startup": ([], 0), "transfer": (["--mib", "--folder"], .max), "overhead": (["--only"], 1),
        "inspector": ([], 1), "tracing": ([], 1), "pipeline": (["--only"], 0),
        "encoding": (["--size"], .max), "dispatch": ([], 1), "refusals": ([], 1),
        "soak": ([], 1), "faults": (["--method", "--policy", "--parallel", "--workers"], .max),
        "burst": (["--bad"], .max), "sharing": ([], 1), "harm": (["--list", "--seconds", "--policy"], .max),
        "switching": ([], 0),
        "cache": (["--only"], 0), "decode": (["--large"], 0),
        "pages": ([], 0), "disk": (["--folder", "--entries"], 0),
    ]

    init(_ words: [String]) {
        rest = words
        if words.contains(where: { $0.hasPrefix("-") && !Self.options.contains($0) }) { Benchmarks.fail() }
    }

    /// Checks the words of the command line that remain for a benchmark.
    ///
    /// A benchmark accepts only its own options, each option at most once, and a limited number of words.
    func check(for benchmark: String) {
        let (options, count) = Self.taken[benchmark] ?? ([], .max)
        var seen: Set<String> = []
        var words = rest.count
        for word in rest where word.hasPrefix("-") {
            guard options.contains(word), seen.insert(word).inserted else { Benchmarks.fail() }
            words -= Self.flags.contains(word) ? 1 : 2
        }
        guard words <= count else { Benchmarks.fail() }
    }

    /// Removes a flag and returns whether it was present.
    mutating func flag(_ name: String) -> Bool {
        guard let index = rest.firstIndex(of: name) else { return false }
        rest.remove(at: index)
        return true
    }

    /// Removes an option and returns its value.
    mutating func value(_ name: String) -> String? {
        guard let index = rest.firstIndex(of: name) else { return nil }
        guard index + 1 < rest.count, !rest[index + 1].hasPrefix("--") else { Benchmarks.fail() }
        defer { rest.removeSubrange(index...(index + 1)) }
        return rest[index + 1]
    }

    /// Removes an option whose value is a positive integer and returns the value.
    mutating func number(_ name: String) -> Int? {
        value(name).map(Self.count)
    }

    /// Removes the next word and returns it as a number, or `nil` if no word remains.
    ///
    /// The word must be a positive integer.
    mutating func count() -> Int? {
        next().map(Self.count)
    }

    /// Removes and returns the next word.
    mutating func next() -> String? {
        rest.isEmpty ? nil : rest.removeFirst()
    }

    private static func count(_ text: String) -> Int {
        guard let count = Int(text), (1...1_000_000_000).contains(count) else { Benchmarks.fail() }
        return count
    }
}
