import Foundation
import Switchyard

/// A benchmark of the time until a client is created and the time until it has its first response, for many clients one
/// after another.
struct StartupBenchmark {
    let isJSON: Bool
    var clients = 300

    func run() async throws {
        let server = try ChildServer()
        let service = try Service(
            name: "topics",
            servers: [
                Server(name: "primary", baseURLs: [.test: try ServerURL(server.origin)]),
                Server(name: "secondary", baseURLs: [.test: try ServerURL(server.origin)]),
            ],
            defaultEnvironment: .test
        )
        // The first client of the process loads libcurl and its dependencies, including TLS.
        let first = try await measure(service)
        var (made, answered) = ([Double](), [Double]())
        for _ in 0..<clients {
            let figures = try await measure(service)
            made.append(figures.made)
            answered.append(figures.answered)
        }
        var sheet = FigureSheet(isJSON: isJSON)
        sheet.add("client (limit: 200 us)", "created", Spread(made), "us")
        sheet.add("client and first response (limit: 2000 us)", "created and responded", Spread(answered), "us")
        sheet.add("first client of the process", "created", first.made, "us")
        sheet.add("first client of the process", "created and responded", first.answered, "us")
        try sheet.finish()
        withExtendedLifetime(server) {}
    }

    /// Returns the microseconds until a client is created and until it has its first response.
    private func measure(_ service: Service) async throws -> (made: Double, answered: Double) {
        let start = ContinuousClock.now
        let client = try NetworkClient(service: service)
        let made = ContinuousClock.now - start
        let answer = try await client.send(APIConfiguration(path: "topics"))
        let answered = ContinuousClock.now - start
        guard answer.status == 200 else { throw BenchmarkError("the server responded with \(answer.status)") }
        return (made / .microseconds(1), answered / .microseconds(1))
    }
}
