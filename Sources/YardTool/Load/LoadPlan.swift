import Foundation
import Switchyard

/// The settings of a run of `yard load`, from the command line.
struct LoadPlan: Sendable {
    var service: Service
    var environment: ServiceEnvironment
    var path: String
    var method: HTTPMethod
    /// The number of requests per second in the open loop, or 0 for no open loop.
    var rate: Double
    /// The number of workers in the closed loop.
    var concurrency: Int
    /// The pause of a worker between two requests in seconds.
    var think: Double
    /// The time of the first request in seconds since 1970.
    ///
    /// If `nil`, the first request is sent as soon as the client is ready.
    var start: Double?
    var duration: Double
    /// The deadline of a call.
    ///
    /// If `nil`, the client's default applies.
    var timeout: Duration?

    init(_ arguments: Arguments) throws(UsageError) {
        let file = try arguments.requiredText("service")
        path = try arguments.requiredText("path")
        guard let seconds = try arguments.number("duration", in: 0.001...86_400) else {
            throw UsageError("--duration is missing")
        }
        duration = seconds
        rate = try arguments.number("rate", in: 0...100_000) ?? 0
        concurrency = try arguments.integer("concurrency", in: 0...10_000) ?? 0
        think = try arguments.number("think", in: 0...3_600) ?? 0
        start = try arguments.number("start", in: 0...1e11)
        timeout = try arguments.number("timeout", in: 0.001...86_400).map { .seconds($0) }
        guard rate > 0 || concurrency > 0 else { throw UsageError("--rate or --concurrency is required") }
        let name = arguments.text("method") ?? "GET"
        guard let method = HTTPMethod(name) else {
            throw UsageError("--method requires an HTTP method, found \"\(name)\"")
        }
        self.method = method
        service = try Self.service(at: file, policy: arguments.text("policy"))
        environment =
            arguments.text("environment").map(ServiceEnvironment.init(rawValue:)) ?? service.defaultEnvironment
        guard service.environments.contains(environment) else {
            let known = service.environments.map(\.rawValue).joined(separator: ", ")
            throw UsageError("--environment requires one of \(known), found \"\(environment)\"")
        }
    }

    private static func service(at file: String, policy: String?) throws(UsageError) -> Service {
        do throws(CatalogError) {
            let service = try ServiceCatalog.service(contentsOf: URL(fileURLWithPath: file))
            guard let policy else { return service }
            guard let switching = SwitchPolicy.named(policy) else {
                let known = SwitchPolicy.names.joined(separator: ", ")
                throw CatalogError(.invalidValue, at: "--policy", expected: "one of \(known)", found: policy)
            }
            return try Service(
                name: service.name,
                servers: service.servers,
                defaultEnvironment: service.defaultEnvironment,
                switching: switching
            )
        } catch {
            throw UsageError("\(error)")
        }
    }

    /// Returns the configuration of the request with this number.
    func configuration(_ number: Int) -> APIConfiguration {
        APIConfiguration(
            path: path.replacingOccurrences(of: "{n}", with: String(number)),
            method: method,
            timeout: timeout
        )
    }
}
