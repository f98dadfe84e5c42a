import Foundation

/// A measurement of short work that several implementations (runners) do alternately, in nanoseconds of processor time
/// per repetition.
///
/// Processor time is used because other processes on the machine affect it less than elapsed time. A race is for work
/// that is too short for a ``Contest``, because in a contest reading the clock would take a significant part of the
/// time.
struct Race {
    /// An implementation of the work that repeats it a given number of times.
    struct Runner: Sendable {
        let name: String
        let run: @Sendable (Int) async throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (Int) async throws -> Void) {
            self.name = name
            self.run = run
        }
    }

    var runners: [Runner]
    var times: Int
    var rounds = 7

    /// Makes the measurements, each of which runs every runner once.
    ///
    /// Returns the name and the nanoseconds of each runner, in the given order.
    func run() async throws -> [(name: String, nanoseconds: Spread)] {
        var figures = [[Double]](repeating: [], count: runners.count)
        for runner in runners { try await runner.run(times) }
        for round in 0..<rounds {
            for offset in runners.indices {
                let index = (offset + round) % runners.count
                let start = ProcessUsage.current.cpuSeconds
                try await runners[index].run(times)
                figures[index].append((ProcessUsage.current.cpuSeconds - start) * 1e9 / Double(times))
            }
        }
        return zip(runners, figures).map { ($0.name, Spread($1)) }
    }
}

/// A table of results that is printed as text or as JSON.
struct FigureSheet: Encodable {
    struct Row: Encodable {
        var title: String
        var name: String
        var unit: String
        var value: Spread
    }

    private(set) var rows: [Row] = []
    let isJSON: Bool

    init(isJSON: Bool) {
        self.isJSON = isJSON
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rows)
    }

    /// Adds a result, and prints it unless the output is JSON.
    mutating func add(_ title: String, _ name: String, _ value: Spread, _ unit: String) {
        if !isJSON {
            if rows.last?.title != title { print(title) }
            let figures = String(format: "%10.3f %@  (%.3f ... %.3f)", value.median, unit, value.minimum, value.maximum)
            print("  \(name.padding(toLength: 44, withPad: " ", startingAt: 0))\(figures)")
        }
        rows.append(Row(title: title, name: name, unit: unit, value: value))
    }

    mutating func add(_ title: String, _ name: String, _ value: Double, _ unit: String) {
        add(title, name, Spread([value]), unit)
    }

    mutating func add(_ title: String, _ race: Race) async throws {
        for (name, nanoseconds) in try await race.run() { add(title, name, nanoseconds, "ns") }
    }

    /// Prints all results if the output is JSON.
    func finish() throws {
        if isJSON { print(String(decoding: try JSONEncoder().encode(self), as: UTF8.self)) }
    }
}
