import Foundation
import Switchyard
import SwitchyardInspector

/// A check of service files and the servers that they name.
struct ServiceCheck: Sendable {
    /// The environment whose servers are checked.
    ///
    /// If `nil`, the default environment of each service is used.
    var environment: ServiceEnvironment?
    /// The maximum time for a server to respond.
    var timeout: Duration

    /// A service and the file that contains it.
    private struct Found: Sendable {
        var file: String
        var service: Service
        var environment: ServiceEnvironment
        /// A description of the server list in the file, or `nil` if the file is a service file.
        var list: String?
    }

    /// Validates every service file, and checks all servers of the valid files at the same time.
    ///
    /// - Parameter urls: Service files and folders of service files. If a file is named several times, it is checked
    ///   once.
    /// - Returns: The results. An invalid file is listed in the results and does not cause an error.
    /// - Throws: ``TransportError`` if no transport can be created.
    func report(on urls: [URL]) async throws -> CheckReport {
        var report = CheckReport()
        var seen: Set<String> = []
        let services = urls.flatMap { self.services(at: $0, except: &seen, &report.problems) }
        report.lists = services.compactMap(\.list)
        report.partialEnvironments = services.flatMap { Self.partialEnvironments(of: $0.service) }
        report.roleWarnings = services.flatMap(Self.roleWarnings)
        let transport = try Transports.systemDefault()
        defer { transport.shutdown() }
        let clients = services.map { client(for: $0, over: transport, &report.problems) }
        report.rows = await withTaskGroup(of: (Int, CheckReport.Row).self) { group in
            var number = 0
            for (found, client) in zip(services, clients) {
                guard let client else { continue }
                for server in found.service.servers(in: found.environment) {
                    group.addTask { [number] in (number, await ask(server, of: found, through: client)) }
                    number += 1
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
        report.problems += report.rows.compactMap(\.problem)
        return report
    }

    private static func roleWarnings(of found: Found) -> [String] {
        // A server list has no policy, so whether its weights have an effect depends on the app.
        let weights = found.list == nil ? WeightCheck(found.service, in: found.file).warning : nil
        return RoleCheck(service: found.service).warnings
            + PatternCheck(found.service.servers, in: found.file).warnings + [weights].compactMap(\.self)
    }

    private static func partialEnvironments(of service: Service) -> [String] {
        service.environments.compactMap { environment in
            let names = service.servers(in: environment).map(\.name)
            guard names.count < service.servers.count else { return nil }
            let count = "\(names.count) of \(service.servers.count) servers"
            return "\(service.name): environment \(environment) has \(count): \(names.joined(separator: ", "))"
        }
    }

    /// Returns the valid services in a file or a folder, except those in files that were checked before.
    ///
    /// Invalid files are added to the problems.
    private func services(at url: URL, except seen: inout Set<String>, _ problems: inout [String]) -> [Found] {
        do throws(CatalogError) {
            let files = try ServiceCatalog.files(at: url)
            let new = files.filter { seen.insert($0.resolvingSymlinksInPath().standardizedFileURL.path).inserted }
            return new.compactMap { file in
                do throws(CatalogError) {
                    let found = try found(in: file)
                    let mistakes = insecureURLs(of: found)
                    problems += mistakes.map(\.error.description)
                    problems += PatternCheck(found.service.servers, in: found.file).problems.map(\.description)
                    return mistakes.contains { $0.environment == found.environment } ? nil : found
                } catch {
                    problems.append(error.description)
                    return nil
                }
            }
        } catch {
            problems.append(error.description)
            return []
        }
    }

    /// Returns errors for the URLs that a client rejects by default, in all environments: plain http to a host outside
    /// this machine and the local network.
    private func insecureURLs(of found: Found) -> [(environment: ServiceEnvironment, error: CatalogError)] {
        found.service.servers.enumerated().flatMap { index, server in
            [("baseURLs", server.baseURLs), ("cdnURLs", server.cdnURLs)].flatMap { key, urls in
                found.service.environments.compactMap { environment in
                    guard let url = urls[environment], let origin = RequestURL(url.text)?.origin,
                        !InsecureHTTPRule.local.permits(origin)
                    else { return nil }
                    let error = CatalogError(
                        .invalidURL,
                        file: found.file,
                        at: "servers[\(index)].\(key).\(environment)",
                        expected: "https, or http to a host on this machine or in the local network",
                        found: url.text
                    )
                    return (environment, error)
                }
            }
        }
    }

    /// Returns the client for a service.
    ///
    /// If the client cannot be created, returns `nil` and adds a description to the problems.
    private func client(
        for found: Found,
        over transport: any Transport,
        _ problems: inout [String]
    ) -> NetworkClient? {
        do throws(ClientError) {
            return try NetworkClient(service: found.service, environment: found.environment, transport: transport)
        } catch {
            problems.append("\(found.file): \(error)")
            return nil
        }
    }

    private func found(in file: URL) throws(CatalogError) -> Found {
        let (service, list) = try Self.service(in: file)
        let name = file.lastPathComponent
        let environment = try Self.environment(environment, of: service, in: name)
        return Found(file: name, service: service, environment: environment, list: list)
    }

    /// Returns an environment of a service.
    ///
    /// - Parameters:
    ///   - wanted: The environment, or `nil` for the default environment of the service.
    ///   - service: The service.
    ///   - file: The name of the service file in errors.
    /// - Returns: The environment.
    /// - Throws: A ``CatalogError`` if the service does not have the environment.
    static func environment(
        _ wanted: ServiceEnvironment?,
        of service: Service,
        in file: String
    ) throws(CatalogError) -> ServiceEnvironment {
        let wanted = wanted ?? service.defaultEnvironment
        guard service.environments.contains(wanted) else {
            throw CatalogError(
                .missingEnvironment,
                file: file,
                at: "servers[0].baseURLs.\(wanted)",
                expected: "a base URL for the requested environment",
                found: "only " + service.environments.map(\.rawValue).joined(separator: ", ")
            )
        }
        return wanted
    }

    /// Sends a read request that a server serves: to its base URL if it serves everything or all reads, otherwise to an
    /// example path of one of its patterns.
    ///
    /// Any response is a success, and its body is ignored. A server that serves only writes gets no request.
    private func ask(_ server: Server, of found: Found, through client: NetworkClient) async -> CheckReport.Row {
        var configuration = APIConfiguration(path: server.serves.sample?.path ?? "", timeout: timeout)
        if let method = server.serves.sample?.method { configuration.method = HTTPMethod(method) ?? .get }
        configuration.server = .named(server.name)
        configuration.delivery = .stream
        var row = CheckReport.Row(
            service: found.service.name,
            server: server.name,
            url: server.baseURLs[found.environment]?.text ?? "-"
        )
        guard server.serves.sample != nil else {
            row.state = "writes only"
            return row
        }
        do throws(RequestFailure) {
            let answer = try await client.send(configuration)
            row.state = "\(answer.status)"
            row.latency = answer.context.elapsed
        } catch {
            row.state = VerdictText.failure(error.reason.word)
            let position = found.service.servers.firstIndex(of: server) ?? 0
            row.problem =
                "\(found.file): servers[\(position)].baseURLs.\(found.environment): "
                + "expected a response from \(row.url) within \(timeout.figure), found \(row.state)"
        }
        return row
    }
}
