import Foundation
import Switchyard

/// A measurement, in a separate process, of many requests that wait at the same time.
struct WaitingRequests {
    /// The growth of the process's memory and threads while ``count`` requests are in progress.
    struct Report: Codable {
        var bytes: Int
        var threads: Int
    }

    /// The part of the library through which the requests are sent: libcurl alone, the transport, the client or the
    /// manager.
    enum Layer: String, CaseIterable {
        case libcurl = "libcurl's own handles"
        case transport = "bare transport"
        case transportTasks = "bare transport, a task each"
        case client = "NetworkClient, completion form"
        case tasks = "NetworkClient, a task each"
        case manager = "APIManager, a task each"
    }

    let layer: Layer
    /// The origin of a server that never responds.
    let origin: String
    /// The number of requests that wait at the same time.
    let count: Int

    /// Sends the requests.
    ///
    /// When the server has received all of them, prints the report as JSON.
    func run() async throws {
        ChildProcess.raiseDescriptorLimit()
        let threads = ProcessMemory.threads
        let transport = try Transports.systemDefault()
        // Sends a first request, so that the resources that are created only once are not counted.
        _ = try await held(by: transport)
        let bytes = ProcessMemory.resident
        let requests = try await send(over: transport)
        // The server cannot notify this process, so this loop asks for the count. The loop asks rarely, so that the
        // processor is free for the arriving requests.
        while try await held(by: transport) < count { try await Task.sleep(for: .milliseconds(50)) }
        let report = Report(bytes: ProcessMemory.resident - bytes, threads: ProcessMemory.threads - threads)
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
        withExtendedLifetime(requests) {}
        // The process exits immediately, without ending ten thousand requests one by one.
        exit(0)
    }

    private func held(by transport: any Transport) async throws -> Int {
        guard let url = RequestURL(origin + "/count") else { throw BenchmarkError("not a URL: \(origin)") }
        guard case .whole(let body) = try await transport.send(HTTPRequest(url: url)).body,
            let count = Int(String(decoding: body, as: UTF8.self))
        else { throw BenchmarkError("the server did not report the number of held requests") }
        return count
    }

    /// Sends all requests, and returns the objects that must stay alive.
    private func send(over transport: any Transport) async throws -> Any {
        guard let url = RequestURL(origin + "/held") else { throw BenchmarkError("not a URL: \(origin)") }
        switch layer {
        case .libcurl:
            #if os(Linux)
                let loop = try PlainLoop(origin + "/held", handles: count)
                Thread.detachNewThread { try? loop.hold() }
                return loop
            #else
                throw BenchmarkError("libcurl is available only on Linux")
            #endif
        case .transport:
            return (0..<count).map { _ in transport.start(HTTPRequest(url: url), progress: nil) { _ in } }
        case .transportTasks:
            return (0..<count).map { _ in Task { _ = try await transport.send(HTTPRequest(url: url)) } }
        case .client:
            let client = try client(over: transport)
            let queue = DispatchQueue(label: "waiting")
            for _ in 0..<count { client.send(APIConfiguration(path: "held"), on: queue) { _ in } }
            return client
        case .tasks:
            let client = try client(over: transport)
            return (0..<count).map { _ in Task { _ = try await client.send(APIConfiguration(path: "held")) } }
        case .manager:
            let manager = SampleTopicAPI(client: try client(over: transport))
            return (0..<count).map { _ in Task { _ = try await manager.topics(at: "held") } }
        }
    }

    private func client(over transport: any Transport) throws -> NetworkClient {
        let server = Server(name: "primary", baseURLs: [.test: try ServerURL(origin)])
        let service = try Service(name: "waiting", servers: [server], defaultEnvironment: .test)
        return try NetworkClient(service: service, transport: transport)
    }
}
