import Foundation
import Switchyard

/// Looks at service files, and at the servers behind them.
struct ServiceCheck: Sendable {
    /// The environment whose servers are asked; each service's default when `nil`.
    var environment: ServiceEnvironment?
    /// How long a server may take to answer.
    var timeout: Duration

    /// A service, with the file in which it stands.
    private struct Found: Sendable {
        var file: String
        var service: Service
        var environment: ServiceEnvironment
    }

    /// Validates every service file, and asks every server of the valid ones at the same time.
    ///
    /// - Parameter url: A folder of service files, or one file.
    /// - Returns: What was found; a file that is not valid is a problem in it, not an error.
    /// - Throws: ``TransportError`` or ``ClientError`` when nothing can be asked at all.
    func report(on url: URL) async throws -> CheckReport {
        var report = CheckReport()
        let services = services(at: url, &report.problems)
        let transport = try Transports.systemDefault()
        defer { transport.shutdown() }
        report.rows = try await withThrowingTaskGroup(of: (Int, CheckReport.Row).self) { group in
            var number = 0
            for found in services {
                let client = try NetworkClient(
                    service: found.service,
                    environment: found.environment,
                    transport: transport
                )
                for server in found.service.servers {
                    group.addTask { [number] in (number, await ask(server, of: found, through: client)) }
                    number += 1
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
        report.problems += report.rows.compactMap(\.problem)
        return report
    }

    private func services(at url: URL, _ problems: inout [String]) -> [Found] {
        do throws(CatalogError) {
            return try ServiceCatalog.files(at: url).compactMap { file in
                do throws(CatalogError) {
                    return try found(in: file)
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

    private func found(in file: URL) throws(CatalogError) -> Found {
        let service = try ServiceCatalog.service(contentsOf: file)
        let wanted = environment ?? service.defaultEnvironment
        guard service.environments.contains(wanted) else {
            throw CatalogError(
                .missingEnvironment,
                file: file.lastPathComponent,
                at: "servers[0].baseURLs.\(wanted)",
                expected: "a base URL, for the environment asked for",
                found: "only " + service.environments.map(\.rawValue).joined(separator: ", ")
            )
        }
        return Found(file: file.lastPathComponent, service: service, environment: wanted)
    }

    /// Asks a server for its base URL; any answer is a sign of life, and its body does not matter.
    private func ask(_ server: Server, of found: Found, through client: NetworkClient) async -> CheckReport.Row {
        var configuration = APIConfiguration(timeout: timeout)
        configuration.server = .named(server.name)
        configuration.delivery = .stream
        var row = CheckReport.Row(
            service: found.service.name,
            server: server.name,
            url: server.baseURLs[found.environment]?.text ?? "-"
        )
        do throws(RequestFailure) {
            let answer = try await client.send(configuration)
            row.state = "\(answer.status)"
            row.latency = answer.context.elapsed
        } catch {
            row.state = error.reason.word
            let position = found.service.servers.firstIndex(of: server) ?? 0
            row.problem =
                "\(found.file): servers[\(position)].baseURLs.\(found.environment): "
                + "expected an answer of \(row.url) within \(timeout.figure), found \(row.state)"
        }
        return row
    }
}
